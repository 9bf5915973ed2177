//! Reads with the kernel's receive timestamps.
//!
//! The kernel stamps a packet when it arrives, however late it is read. One read may return several
//! packets that waited in the socket; the timestamp is that of the last.

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use std::io::{self, IoSliceMut, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Space for one timestamp, aligned as its header must be.
#[repr(align(8))]
struct Control([u8; 64]);

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamped {
    /// Bytes; none at the end of the stream.
    pub length: usize,
    /// When the kernel received the last of them, in nanoseconds since 1970 by the wall clock; absent
    /// where there is no timestamp.
    pub unix_ns: Option<u64>,
}

/// Asks the kernel to stamp what a socket receives from now on; whether it supports that.
pub fn ask_for_stamps(socket: &impl AsFd) -> bool {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).is_ok()
}

/// One read from a socket, with its timestamp.
pub fn read_stamped(socket: &impl AsFd, buffer: &mut [u8]) -> io::Result<Stamped> {
    let fd = socket.as_fd().as_raw_fd();
    let mut control = Control([0; 64]);
    let mut parts = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(fd, &mut parts, Some(&mut control.0), MsgFlags::empty())?;
    let mut unix_ns = None;
    // Truncated control messages are ignored.
    for control in message.cmsgs().into_iter().flatten() {
        if let ControlMessageOwned::ScmTimestampns(time) = control {
            unix_ns = nanoseconds(time.tv_sec(), time.tv_nsec());
        }
    }
    Ok(Stamped { length: message.bytes, unix_ns })
}

/// Whether this kernel stamps TCP packets, tried on the loopback interface; absent where that is not
/// available. The first packets after the first request may arrive before the kernel has started.
pub fn stamps_work() -> Option<bool> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let mut sender = TcpStream::connect(listener.local_addr().ok()?).ok()?;
    let (reader, _) = listener.accept().ok()?;
    reader.set_read_timeout(Some(Duration::from_millis(200))).ok()?;
    if !ask_for_stamps(&reader) {
        return Some(false);
    }
    for wait in [0, 1, 5, 20] {
        std::thread::sleep(Duration::from_millis(wait));
        sender.write_all(b"?").ok()?;
        if read_stamped(&reader, &mut [0; 8]).ok()?.unix_ns.is_some() {
            return Some(true);
        }
    }
    Some(false)
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> Option<u64> {
    let whole = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?;
    whole.checked_add(u64::try_from(nanoseconds).ok()?).filter(|time| *time > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;

    #[test]
    fn the_stamp_is_when_it_came_and_not_when_it_was_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (reader, _) = listener.accept().unwrap();
        assert_eq!(stamps_work(), Some(true), "this kernel gives no stamps");
        assert!(ask_for_stamps(&reader));
        let clock = Clock::start();
        // The first packet after the request may arrive before the kernel has started.
        std::thread::sleep(Duration::from_millis(50));
        let before = clock.now();
        sender.write_all(b"token").unwrap();
        let after = clock.now();
        std::thread::sleep(Duration::from_millis(30));
        let read = read_stamped(&reader, &mut [0; 64]).unwrap();
        let offset = clock.wall_offset();
        let stamp = read.unix_ns.expect("no stamp") as i64 - offset.ahead;
        let error = offset.error as i64 + 20_000;
        assert_eq!(read.length, 5);
        assert!(stamp >= before as i64 - error, "{stamp} before {before}");
        assert!(stamp <= after as i64 + error, "{stamp} after {after}");
    }

    #[test]
    fn an_empty_read_is_not_the_end_of_the_stream() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (reader, _) = listener.accept().unwrap();
        reader.set_nonblocking(true).unwrap();
        let nothing = read_stamped(&reader, &mut [0; 64]).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        drop(sender);
        reader.set_nonblocking(false).unwrap();
        assert_eq!(read_stamped(&reader, &mut [0; 64]).unwrap().length, 0);
    }
}
