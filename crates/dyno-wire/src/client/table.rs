//! The table of connections. A token consists of a slot and its generation, so that an event for a
//! closed connection is not mistaken for one of the connection that took its slot.

use super::connection::Connection;

#[derive(Debug, Default)]
pub(crate) struct Table {
    places: Vec<(u32, Option<Box<Connection>>)>,
    free: Vec<u32>,
}

impl Table {
    /// Inserts a connection and returns its token.
    pub(crate) fn insert(&mut self, connection: Connection) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            self.places.len() as u32 - 1
        });
        let (generation, slot) = &mut self.places[place as usize];
        *slot = Some(Box::new(connection));
        u64::from(*generation) << 32 | u64::from(place)
    }

    pub(crate) fn get_mut(&mut self, token: u64) -> Option<&mut Connection> {
        let (generation, slot) = self.places.get_mut((token & 0xffff_ffff) as usize)?;
        if u64::from(*generation) != token >> 32 {
            return None;
        }
        slot.as_deref_mut()
    }

    pub(crate) fn remove(&mut self, token: u64) -> Option<Box<Connection>> {
        self.get_mut(token)?;
        let place = (token & 0xffff_ffff) as u32;
        let (generation, slot) = &mut self.places[place as usize];
        // The last generation is reserved for the poller's own token.
        *generation = (*generation + 1) % 0x7fff_ffff;
        self.free.push(place);
        slot.take()
    }

    /// The tokens of all connections.
    pub(crate) fn tokens(&self) -> Vec<u64> {
        let occupied = self.places.iter().enumerate().filter(|(_, (_, slot))| slot.is_some());
        occupied.map(|(place, (g, _))| u64::from(*g) << 32 | place as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::socket::Socket;

    fn connection() -> Connection {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = Socket::connect((None, listener.local_addr().unwrap()), None, true).unwrap();
        Connection::new(socket, 0, 0)
    }

    #[test]
    fn an_old_token_does_not_reach_a_new_connection() {
        let mut table = Table::default();
        let old = table.insert(connection());
        assert!(table.remove(old).is_some());
        let new = table.insert(connection());
        assert_ne!(old, new);
        assert!(table.get_mut(old).is_none() && table.remove(old).is_none());
        assert_eq!(table.tokens(), [new]);
    }
}
