//! A connection to the bus, and the thread that it lives on.

use super::error::BusError;
use super::options::{BusOptions, Entry, no_credentials};
use async_nats::connection::State;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, Subscriber};
use dyno_model::{Message, message};
use std::error::Error;
use std::future::Future;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, UnboundedReceiver};

/// What every message on the bus must fit into.
const LEAST_PAYLOAD: usize = 8 << 10;
/// A server that has not answered for so long is tried again.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// Notices connections that are dead without having been closed, and keeps idle ones known to what is
/// between.
const PING: Duration = Duration::from_secs(10);
/// How long a message may wait for the connection.
const SEND_WITHIN: Duration = Duration::from_secs(1);

/// How long the last messages may take.
const TO_END: Duration = Duration::from_secs(2);

/// Waits until a connection's thread has sent what was said last.
pub(super) fn end(thread: Option<JoinHandle<()>>) {
    let Some(thread) = thread else { return };
    let until = Instant::now() + TO_END;
    while !thread.is_finished() {
        if Instant::now() >= until {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
    let _ = thread.join();
}

/// The thread of a connection is gone.
pub(super) fn thread_ended() -> BusError {
    BusError::Own(message!("its thread has ended", "其线程已结束"))
}

/// Why a packet was not taken.
pub(super) fn untaken<T>(error: &mpsc::error::TrySendError<T>) -> Message {
    match error {
        mpsc::error::TrySendError::Full(_) => {
            message!("the bus takes nothing", "总线不再接收消息")
        }
        mpsc::error::TrySendError::Closed(_) => message!("the bus is closed", "总线已关闭"),
    }
}

/// The connection changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is there, again.
    Up,
    /// It is gone, for now.
    Down,
    /// The server does not allow something.
    Forbidden(String),
}

/// A connection that repairs itself.
pub(super) struct Connection {
    client: Client,
    events: UnboundedReceiver<Event>,
    servers: String,
    up: bool,
}

/// Runs a task of the bus on a thread of its own.
pub(super) fn spawn<F>(
    name: &str,
    task: impl FnOnce() -> F + Send + 'static,
) -> Result<JoinHandle<()>, BusError>
where
    F: Future<Output = ()>,
{
    let own = |error: std::io::Error| BusError::Own(Message::of(error));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(own)?;
    let run = move || {
        runtime.block_on(task());
        // A name that is still being looked up holds nobody up.
        runtime.shutdown_background();
    };
    thread::Builder::new().name(name.into()).spawn(run).map_err(own)
}

/// Connects once. Later interruptions are repaired, and told by [`Connection::changed`].
pub(super) async fn connect(options: &BusOptions, name: &str) -> Result<Connection, BusError> {
    let (tell, events) = mpsc::unbounded_channel();
    let callback = move |event| {
        let tell = tell.clone();
        async move {
            let _ = tell.send(event);
        }
    };
    let servers = options.shown();
    let connecting = let_in(options)?
        .name(name)
        .connection_timeout(CONNECT_WITHIN)
        .ping_interval(PING)
        .event_callback(callback)
        .reconnect_delay_callback(|attempts| Duration::from_millis(50 * attempts.min(5) as u64));
    let addresses: Result<Vec<ServerAddr>, _> = options.urls().map(|url| url.parse()).collect();
    let addresses = addresses.map_err(|error| BusError::Own(Message::of(error)))?;
    let client = connecting.connect(addresses).await.map_err(|error| failed(&servers, &error))?;
    let allowed = client.max_payload();
    if allowed < LEAST_PAYLOAD {
        return Err(BusError::SmallPayload { servers, allowed, needed: LEAST_PAYLOAD });
    }
    Ok(Connection { client, events, servers, up: true })
}

fn let_in(options: &BusOptions) -> Result<ConnectOptions, BusError> {
    let mut connecting = ConnectOptions::new();
    connecting = match &options.entry {
        Entry::Open => connecting,
        Entry::User(user, password) => connecting.user_and_password(user.clone(), password.told()),
        Entry::Token(token) => connecting.token(token.told()),
        Entry::Nkey(seed) => connecting.nkey(seed.told()),
        Entry::Creds(creds, file) => {
            let (flag, file) = ("--bus-creds", file.clone());
            let unfit = |_| BusError::File { flag, file, why: no_credentials() };
            connecting.credentials(&creds.told()).map_err(unfit)?
        }
    };
    if let Some(ca) = &options.ca {
        connecting = connecting.add_root_certificates(ca.clone());
    }
    if let Some((cert, key)) = &options.client {
        connecting = connecting.add_client_certificate(cert.clone(), key.clone());
    }
    Ok(connecting)
}

/// Why there is no connection. The error never contains what was sent to be let in.
fn failed(servers: &str, error: &async_nats::ConnectError) -> BusError {
    let (servers, why) = (servers.to_owned(), Message::quoted(causes(error)));
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            BusError::Denied { servers, why }
        }
        _ => BusError::Unreachable { servers, why },
    }
}

/// An error with its causes, each said once.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = inner.source();
    }
    text
}

impl Connection {
    /// The largest message that the server takes now.
    pub(super) fn most(&self) -> usize {
        self.client.max_payload()
    }

    /// The servers, for people.
    pub(super) fn servers(&self) -> &str {
        &self.servers
    }

    /// Sends, if the bus is there. What is lost is repeated by [`Link`](super::link::Link).
    pub(super) async fn send(&self, subject: String, bytes: Vec<u8>) {
        if self.client.connection_state() == State::Connected {
            let sending = self.client.publish(subject, bytes.into());
            let _ = tokio::time::timeout(SEND_WITHIN, sending).await;
        }
    }

    /// The same; where nobody listens on the subject, the server says so on `reply`.
    pub(super) async fn send_asking(&self, subject: String, reply: String, bytes: Vec<u8>) {
        if self.client.connection_state() == State::Connected {
            let sending = self.client.publish_with_reply(subject, reply, bytes.into());
            let _ = tokio::time::timeout(SEND_WITHIN, sending).await;
        }
    }

    pub(super) async fn subscribe(&self, subject: String) -> Result<Subscriber, BusError> {
        let own = |error: async_nats::SubscribeError| BusError::Own(Message::quoted(error));
        self.client.subscribe(subject).await.map_err(own)
    }

    /// Waits, not for long, until everything is with the server.
    pub(super) async fn flush(&self) {
        if self.client.connection_state() == State::Connected {
            let _ = tokio::time::timeout(SEND_WITHIN, self.client.flush()).await;
        }
    }

    /// The next change.
    pub(super) async fn changed(&mut self) -> Change {
        loop {
            match self.events.recv().await {
                // The first connection is told, too, and is no change.
                Some(Event::Connected) if !self.up => {
                    self.up = true;
                    return Change::Up;
                }
                Some(Event::Disconnected) if self.up => {
                    self.up = false;
                    return Change::Down;
                }
                Some(Event::ServerError(error)) => {
                    let why = error.to_string();
                    if why.to_lowercase().contains("permissions violation") {
                        return Change::Forbidden(super::notice::clean(&why));
                    }
                }
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}
