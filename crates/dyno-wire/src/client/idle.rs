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

    /// A connection to an address that has been idle for no longer than `longest`. Older ones are
    /// closed.
    pub(super) fn take(
        &mut self,
        address: usize,
        table: &mut Table,
        (now, longest): (Nanos, Nanos),
    ) -> Option<u64> {
        while let Some(token) = self.0[address].pop() {
            let Some(connection) = table.get_mut(token) else { continue };
            let fresh = now.saturating_sub(connection.since) <= longest;
            if connection.state == State::Idle && fresh {
                return Some(token);
            }
            table.remove(token);
        }
        None
    }

    /// Closes those that have been idle for longer.
    pub(super) fn keep_fresh(&mut self, table: &mut Table, (now, longest): (Nanos, Nanos)) {
        for tokens in &mut self.0 {
            tokens.retain(|token| match table.get_mut(*token) {
                Some(connection) if now.saturating_sub(connection.since) <= longest => true,
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
