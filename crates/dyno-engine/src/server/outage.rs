//! A service that stops responding: dead, with its port closed and all connections reset, or hung,
//! accepting everything and sending nothing.

use super::EngineError;
use super::reactor::{LISTENER, Reactor, STOP};
use dyno_net::{Interest, Ready};
use rustix::net::sockopt::set_socket_linger;
use std::io::{ErrorKind, Read};
use std::time::Duration;

/// How a server is out of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outage {
    /// As if its process had died.
    Dead,
    /// As if its process hung and its front end did not.
    Hung,
}

impl Reactor {
    /// What the server does once it is out of service.
    pub(super) fn out_of_service(self) -> Result<(), EngineError> {
        match self.site.outage() {
            Some(Outage::Hung) => self.hang(),
            Some(Outage::Dead) => {
                self.die();
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn die(mut self) {
        drop(self.listener);
        for connection in self.connections.take_all() {
            let _ = set_socket_linger(&connection.socket, Some(Duration::ZERO));
        }
    }

    /// Accepts and reads until it is stopped.
    fn hang(mut self) -> Result<(), EngineError> {
        let mut ready = Vec::new();
        loop {
            self.wait(self.accept_again, &mut ready)?;
            for event in ready.drain(..) {
                match event.token {
                    STOP => return self.stop(),
                    LISTENER => self.accept()?,
                    _ => self.swallow(event),
                }
            }
            self.accept_when_possible()?;
        }
    }

    fn swallow(&mut self, event: Ready) {
        let Some(connection) = self.connections.take(event.token) else { return };
        let read = (&connection.socket).read(&mut self.read_buffer);
        let alive = match read {
            Ok(n) => n > 0,
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        // What was left to write when it hung is never written.
        let quiet = || self.poller.modify(&connection.socket, event.token, Interest::Read).is_ok();
        if alive && (!event.writable || quiet()) {
            self.connections.put_back(connection);
        } else {
            self.connections.release(event.token);
        }
    }
}
