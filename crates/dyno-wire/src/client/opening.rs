//! Opening connections: from which source, how many at the same time before a level, and what it means
//! if one cannot be opened.

use super::connection::Connection;
use super::socket::Socket;
use super::{Client, ClientOptions};
use crate::exchange::Exchange;
use dyno_drive::TransportError;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::{Message, Nanos, SEC, message};
use dyno_net::Interest;
use rustix::io::Errno;
use std::io;

/// How many connections are opened at the same time before a level.
const OPENING: usize = 128;

impl Client {
    /// Opens connections to an address until so many are idle, or one fails.
    pub(super) fn open_ahead(
        &mut self,
        address: usize,
        connections: usize,
    ) -> Result<(), TransportError> {
        self.opening_failed = false;
        while self.opening > 0 || (self.idle.of(address) < connections && !self.opening_failed) {
            while self.opening < OPENING
                && self.idle.of(address) + self.opening < connections
                && !self.opening_failed
            {
                self.open(None, Vec::new(), address);
            }
            let soon = self.clock.now() + SEC;
            self.poll(soon)?;
        }
        Ok(())
    }

    /// Opens a connection to an address, for a request or before a level.
    pub(super) fn open(&mut self, exchange: Option<Box<Exchange>>, bytes: Vec<u8>, address: usize) {
        let now = self.clock.now();
        let socket = match self.connect(address) {
            Ok(socket) => socket,
            Err(error) => return self.on_open_failed(exchange, &error, address, now),
        };
        let mut connection = Connection::new(socket, address, now);
        connection.exchange = exchange;
        connection.request = Some(bytes);
        let ahead = connection.exchange.is_none();
        let token = self.table.insert(connection);
        let Some(connection) = self.table.get_mut(token) else {
            return;
        };
        if let Err(error) = self.poller.add(connection.socket.fd(), token, Interest::Write) {
            let exchange = self.table.remove(token).and_then(|mut c| c.exchange.take());
            return self.on_open_failed(exchange, &error, address, now);
        }
        self.opening += usize::from(ahead);
        self.set_timer(token);
    }

    /// Begins to connect to an address, from the next source. Where that one has no free port to it,
    /// because its connections live longer than those of others, the others are tried.
    fn connect(&mut self, address: usize) -> io::Result<Socket> {
        let tls = self.tls.as_ref().map(|(config, name)| (config, name));
        let ClientOptions { addresses, sources, stamps, .. } = &self.options;
        let mut tries = sources.count().max(1);
        loop {
            let from = sources.get(self.turns.take(address, sources));
            let result = Socket::connect((from, addresses.get(address)), tls, *stamps);
            tries -= 1;
            match result {
                Err(error) if tries > 0 && is_out_of_ports(&error) => {}
                result => return result,
            }
        }
    }

    /// Opening a socket failed. EMFILE and EADDRNOTAVAIL are limits of this machine, so the request
    /// counts as dropped, not failed.
    fn on_open_failed(
        &mut self,
        exchange: Option<Box<Exchange>>,
        error: &io::Error,
        address: usize,
        now: Nanos,
    ) {
        let Some(mut exchange) = exchange else {
            self.opening_failed = true;
            return;
        };
        let errno = Errno::from_io_error(error);
        let why = match errno {
            Some(Errno::MFILE | Errno::NFILE) => {
                self.health.out_of_files += 1;
                Some("out of file descriptors on the client; raise `ulimit -n`")
            }
            Some(Errno::ADDRNOTAVAIL) => {
                self.health.out_of_ports += 1;
                Some(
                    "out of local ports on the client; open connections from several addresses with \
                     --source-address, or widen net.ipv4.ip_local_port_range",
                )
            }
            _ => None,
        };
        match why {
            Some(why) => {
                exchange.record.outcome = Outcome::Dropped(why.into());
                exchange.record.end = now;
            }
            None => {
                let detail = self.named(Message::of(error), address);
                exchange.fail(&self.options.rules, class_of(errno), &detail, now);
            }
        }
        self.ended.push(exchange);
    }

    /// Why a connection failed, with its address where there are several.
    pub(super) fn named(&self, why: Message, address: usize) -> Message {
        let addresses = &self.options.addresses;
        match addresses.count() {
            1 => why,
            _ => message!("{why} ({})", "{why}（{}）", addresses.get(address)),
        }
    }
}

/// No local port is free for another connection to the same address.
fn is_out_of_ports(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::ADDRNOTAVAIL)
}

/// Whether the network or this machine is the reason that a connection could not be opened.
fn class_of(errno: Option<Errno>) -> FailureClass {
    match errno {
        Some(
            Errno::CONNREFUSED
            | Errno::CONNRESET
            | Errno::NETUNREACH
            | Errno::HOSTUNREACH
            | Errno::NETDOWN
            | Errno::TIMEDOUT,
        ) => FailureClass::Connect,
        _ => FailureClass::Client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_connect_failure_and_a_local_error_is_the_clients() {
        assert_eq!(class_of(Some(Errno::CONNREFUSED)), FailureClass::Connect);
        assert_eq!(class_of(Some(Errno::NETUNREACH)), FailureClass::Connect);
        assert_eq!(class_of(Some(Errno::NOBUFS)), FailureClass::Client);
        assert_eq!(class_of(Some(Errno::PERM)), FailureClass::Client);
        assert_eq!(class_of(None), FailureClass::Client);
    }
}
