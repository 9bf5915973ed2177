//! Which addresses accept a connection. All are tried at the same time, on threads of their own,
//! because each attempt may take as long as the connect time-out.

use dyno_drive::{Stop, StopSignal};
use dyno_model::units::format_duration;
use dyno_model::{Message, Nanos, SEC, message};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Once an address has accepted, the others have this much more time.
const OTHERS_WITHIN: Nanos = 2 * SEC;
/// How often a request to stop is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Connects to each address, within a time; nothing if the run was asked to stop.
pub(super) fn try_all(
    addresses: &[SocketAddr],
    within: Nanos,
    stop: &StopSignal,
) -> Option<Vec<(SocketAddr, Result<(), Message>)>> {
    let (tell, told) = channel();
    for (index, address) in addresses.iter().copied().enumerate() {
        let mine = tell.clone();
        let attempt = move || {
            let result = TcpStream::connect_timeout(&address, Duration::from_nanos(within.max(1)));
            // Nobody listens any more if it took too long.
            let _ = mine.send((index, result.map(drop)));
        };
        if let Err(error) = thread::Builder::new().name("connect".to_owned()).spawn(attempt) {
            let _ = tell.send((index, Err(error)));
        }
    }
    drop(tell);
    let mut results: Vec<Option<io::Result<()>>> = addresses.iter().map(|_| None).collect();
    let begun = Instant::now();
    let (mut waited, mut allowed) = (within, Duration::from_nanos(within));
    while results.iter().any(Option::is_none) && begun.elapsed() < allowed {
        if stop.get() > Stop::No {
            return None;
        }
        match told.recv_timeout(LOOK_EVERY.min(allowed.saturating_sub(begun.elapsed()))) {
            Ok((index, result)) => {
                if result.is_ok() {
                    waited = within.min(OTHERS_WITHIN);
                    allowed = allowed.min(begun.elapsed() + Duration::from_nanos(waited));
                }
                results[index] = Some(result);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let late = || {
        let time = format_duration(waited);
        Err(message!("no connection within {time}", "{time} 内未能建立连接"))
    };
    let outcome = |result: Option<io::Result<()>>| match result {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) if error.kind() != ErrorKind::TimedOut => Err(Message::of(error)),
        _ => late(),
    };
    Some(addresses.iter().copied().zip(results.into_iter().map(outcome)).collect())
}
