//! One non-blocking connection, plain or TLS. Reading from the socket and decoding what was read are
//! two steps, so that all ready sockets can be read and timed before anything is parsed.

use dyno_net::{Stamped, ask_for_stamps, bind_source, read_stamped};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A connection.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    tls: Option<Box<Tls>>,
    /// What is being written, and how much of it has been.
    outgoing: Vec<u8>,
    written: usize,
}

/// A TLS connection, and its position in the stream of records.
#[derive(Debug)]
struct Tls {
    connection: ClientConnection,
    records: Records,
}

/// Tracks TLS record boundaries, to know whether a read ended with a complete record.
#[derive(Debug, Default)]
struct Records {
    header: [u8; 5],
    /// Bytes of the header so far.
    got: usize,
    /// Bytes of the record that are missing.
    left: usize,
}

impl Records {
    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let length = self.left.min(bytes.len());
                self.left -= length;
                bytes = &bytes[length..];
                continue;
            }
            self.header[self.got] = bytes[0];
            bytes = &bytes[1..];
            self.got += 1;
            if self.got == self.header.len() {
                self.got = 0;
                self.left = usize::from(u16::from_be_bytes([self.header[3], self.header[4]]));
            }
        }
    }

    fn is_between(&self) -> bool {
        self.got == 0 && self.left == 0
    }
}

/// The data in the bytes of a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded<'a> {
    /// The bytes themselves.
    Plain(&'a [u8]),
    /// They were TLS; the data, which may be empty, is in the scratch buffer.
    Scratch,
}

impl Socket {
    /// Begins to connect, from a local address if one is given.
    pub(crate) fn connect(
        (from, address): (Option<IpAddr>, SocketAddr),
        tls: Option<(&Arc<ClientConfig>, &ServerName<'static>)>,
        stamps: bool,
    ) -> io::Result<Self> {
        let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&fd, true)?;
        if stamps {
            ask_for_stamps(&fd);
        }
        if let Some(from) = from {
            bind_source(&fd, from)?;
        }
        match rustix::net::connect(&fd, &address) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let tls = match tls {
            None => None,
            Some((config, name)) => {
                let mut connection = ClientConnection::new(Arc::clone(config), name.clone())
                    .map_err(io::Error::other)?;
                // A request of 128,000 tokens is queued whole.
                connection.set_buffer_limit(None);
                Some(Box::new(Tls { connection, records: Records::default() }))
            }
        };
        Ok(Self { stream: TcpStream::from(fd), tls, outgoing: Vec::new(), written: 0 })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// The result of a completed connect.
    pub(crate) fn connect_result(&self) -> io::Result<()> {
        match self.stream.take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Whether data can be sent: always for plain connections, after the handshake for TLS.
    pub(crate) fn is_ready(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| !tls.connection.is_handshaking())
    }

    /// Whether something has arrived that was not read. Over TLS that may be a record without data, so
    /// nothing can be said.
    pub(crate) fn has_unread(&self) -> bool {
        self.tls.is_none() && matches!(self.stream.peek(&mut [0]), Ok(1..))
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// What has been read ends with a complete TLS record; always true for plain connections.
    pub(crate) fn is_between_records(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| tls.records.is_between())
    }

    /// One read from the socket, undecoded, with the kernel's timestamp.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Stamped> {
        loop {
            match read_stamped(&self.stream, buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Decodes what [`Socket::read`] returned.
    pub(crate) fn decode<'a>(
        &mut self,
        bytes: &'a [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<Decoded<'a>, rustls::Error> {
        let Some(tls) = &mut self.tls else {
            return Ok(Decoded::Plain(bytes));
        };
        tls.records.take(bytes);
        let tls = &mut tls.connection;
        scratch.clear();
        let mut input = bytes;
        while !input.is_empty() {
            let taken =
                tls.read_tls(&mut input).map_err(|e| rustls::Error::General(e.to_string()))?;
            let state = tls.process_new_packets()?;
            let start = scratch.len();
            scratch.resize(start + state.plaintext_bytes_to_read(), 0);
            let _ = tls.reader().read_exact(&mut scratch[start..]);
            if taken == 0 {
                break;
            }
        }
        Ok(Decoded::Scratch)
    }

    /// Queues data; [`Socket::flush`] writes it.
    pub(crate) fn queue(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        match &mut self.tls {
            None => (self.outgoing, self.written) = (bytes, 0),
            Some(tls) => tls.connection.writer().write_all(&bytes)?,
        }
        Ok(())
    }

    /// Writes what the socket takes; whether everything has been written.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        loop {
            let result = match &mut self.tls {
                Some(tls) if !tls.connection.wants_write() => return Ok(true),
                Some(tls) => tls.connection.write_tls(&mut self.stream),
                None if self.written == self.outgoing.len() => {
                    self.outgoing = Vec::new();
                    self.written = 0;
                    return Ok(true);
                }
                None => self.stream.write(&self.outgoing[self.written..]),
            };
            match result {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) if self.tls.is_none() => self.written += n,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_record_is_found_however_it_is_cut() {
        let stream = [[23, 3, 3, 0, 3].as_slice(), b"abc", &[23, 3, 3, 0, 0], &[22, 3, 3, 1, 0]];
        let mut stream = stream.concat();
        stream.extend([0; 256]);
        let ends = [8, 13, stream.len()];
        for step in [1, 2, 7, 300] {
            let mut records = Records::default();
            let mut taken = 0;
            for part in stream.chunks(step) {
                records.take(part);
                taken += part.len();
                assert_eq!(records.is_between(), ends.contains(&taken), "{taken} by {step}");
            }
        }
    }
}
