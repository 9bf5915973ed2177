//! Idle connections, by the address they lead to. Some may have been closed.

use super::connection::State;
use super::table::Table;
use dyno_model::Nanos;

/// The tokens of idle connections, the most recently used of each address last.
#[derive(Debug)]
pub(super) struct Idle(Vec<Vec<u64>>);

impl Idle {
    /// None, for so many addresses.
    pub(super) fn new(addresses: usize) -> Self {
        Self(vec![Vec::new(); addresses])
    }

    /// Keeps a connection to an address.
    pub(super) fn push(&mut self, address: usize, token: u64) {
        self.0[address].push(token);
    }

    /// A connection to an address that has not been idle for too long. Older ones are closed.
    pub(super) fn take(&mut self, address: usize, table: &mut Table, now: Nanos) -> Option<u64> {
        while let Some(token) = self.0[address].pop() {
            let Some(connection) = table.get_mut(token) else { continue };
            let fresh = now.saturating_sub(connection.since) <= connection.max_idle();
            // What arrived after the last response and before the next request belongs to neither.
            if connection.state == State::Idle && fresh && !connection.socket.has_unread() {
                return Some(token);
            }
            table.remove(token);
        }
        None
    }

    /// Closes those that would soon be idle for too long.
    pub(super) fn keep_fresh(&mut self, table: &mut Table, now: Nanos) {
        for tokens in &mut self.0 {
            tokens.retain(|token| match table.get_mut(*token) {
                Some(connection)
                    if now.saturating_sub(connection.since) <= connection.max_idle() / 2 =>
                {
                    true
                }
                _ => {
                    table.remove(*token);
                    false
                }
            });
        }
    }

    /// How many there are to an address.
    pub(super) fn of(&self, address: usize) -> usize {
        self.0[address].len()
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<u64> {
        self.0.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::connection::Connection;
    use crate::client::socket::Socket;
    use dyno_model::SEC;
    use std::net::TcpListener;

    /// An idle connection, and whether it is used after this many seconds.
    fn is_used_after(seconds: u64, unused: bool) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = (None, listener.local_addr().unwrap());
        let mut connection = Connection::new(Socket::connect(to, None, true).unwrap(), 0, 0);
        connection.state = State::Idle;
        connection.unused = unused;
        let (mut table, mut idle) = (Table::default(), Idle::new(1));
        let token = table.insert(connection);
        idle.push(0, token);
        let taken = idle.take(0, &mut table, seconds * SEC);
        assert_eq!(table.tokens().len(), usize::from(taken.is_some()), "or it is closed");
        taken.is_some()
    }

    #[test]
    fn a_connection_without_a_request_so_far_may_wait_longer() {
        assert!(is_used_after(4, false) && !is_used_after(5, false));
        assert!(is_used_after(20, true) && !is_used_after(21, true));
    }
}
