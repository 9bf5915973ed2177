//! The pool of KV blocks: how many are free, and which hold a cached prompt prefix.
//!
//! A block is free, private to one sequence, or cached under the hash of what it holds. Cached
//! blocks are shared. Unused ones stay until their room is needed and are evicted in the order in
//! which they became unused.

use super::keys::NumberMap;

const NONE: u32 = u32::MAX;

/// A block that is cached.
#[derive(Debug, Clone)]
struct Cached {
    hash: u64,
    users: u32,
    /// Neighbours in the list of unused blocks.
    before: u32,
    after: u32,
}

/// The pool of KV blocks.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    total: u64,
    free: u64,
    /// Cached blocks without a user.
    idle: u64,
    /// The one that became unused first.
    oldest: u32,
    /// The one that became unused last.
    newest: u32,
    cached: Vec<Cached>,
    vacant: Vec<u32>,
    by_hash: NumberMap<u32>,
}

/// A cached prompt prefix.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Match {
    /// Its blocks.
    pub(crate) blocks: u64,
    /// Those without a user.
    idle: u64,
}

impl Pool {
    /// A pool of so many blocks, all free.
    pub(crate) fn new(total: u64) -> Self {
        Self {
            total,
            free: total,
            idle: 0,
            oldest: NONE,
            newest: NONE,
            cached: Vec::new(),
            vacant: Vec::new(),
            by_hash: NumberMap::default(),
        }
    }

    /// All blocks.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Blocks that sequences use.
    pub(crate) fn used(&self) -> u64 {
        self.total - self.available()
    }

    /// Blocks that are free or can be evicted.
    pub(crate) fn available(&self) -> u64 {
        self.free + self.idle
    }

    /// Takes private blocks; the caller has checked that they are available.
    pub(crate) fn take(&mut self, blocks: u64) {
        debug_assert!(blocks <= self.available());
        while self.free < blocks && self.oldest != NONE {
            self.forget(self.oldest);
        }
        self.free = self.free.saturating_sub(blocks);
    }

    /// Returns private blocks.
    pub(crate) fn give(&mut self, blocks: u64) {
        self.free += blocks;
        debug_assert!(self.available() <= self.total);
    }

    /// How much of this prefix is cached.
    pub(crate) fn find(&self, hashes: &[u64]) -> Match {
        let mut found = Match::default();
        for block in hashes.iter().map_while(|hash| self.by_hash.get(hash)) {
            found.blocks += 1;
            found.idle += u64::from(self.cached[*block as usize].users == 0);
        }
        found
    }

    /// Blocks that are available besides this match.
    pub(crate) fn available_besides(&self, found: Match) -> u64 {
        self.available() - found.idle
    }

    /// Uses the cached blocks of this prefix.
    pub(crate) fn share(&mut self, hashes: &[u64], users: &mut Vec<u32>) {
        for hash in hashes {
            let Some(&block) = self.by_hash.get(hash) else { break };
            if self.cached[block as usize].users == 0 {
                self.unlink(block);
            }
            self.cached[block as usize].users += 1;
            users.push(block);
        }
    }

    /// Makes a private block a cached one with one user. A hash that is already cached stays with
    /// the block that has it.
    pub(crate) fn publish(&mut self, hash: u64) -> Option<u32> {
        let std::collections::hash_map::Entry::Vacant(entry) = self.by_hash.entry(hash) else {
            return None;
        };
        let cached = Cached { hash, users: 1, before: NONE, after: NONE };
        let block = match self.vacant.pop() {
            Some(block) => {
                self.cached[block as usize] = cached;
                block
            }
            None => {
                self.cached.push(cached);
                (self.cached.len() - 1) as u32
            }
        };
        entry.insert(block);
        Some(block)
    }

    /// Releases cached blocks, the last one first, so that the start of a prompt stays longest.
    pub(crate) fn leave(&mut self, blocks: &mut Vec<u32>) {
        while let Some(block) = blocks.pop() {
            let cached = &mut self.cached[block as usize];
            cached.users -= 1;
            if cached.users == 0 {
                self.link(block);
            }
        }
    }

    /// Evicts all unused blocks.
    pub(crate) fn forget_idle(&mut self) {
        while self.oldest != NONE {
            self.forget(self.oldest);
        }
    }

    fn forget(&mut self, block: u32) {
        self.unlink(block);
        self.by_hash.remove(&self.cached[block as usize].hash);
        self.vacant.push(block);
        self.free += 1;
    }

    fn link(&mut self, block: u32) {
        let before = std::mem::replace(&mut self.newest, block);
        let cached = &mut self.cached[block as usize];
        (cached.before, cached.after) = (before, NONE);
        match before {
            NONE => self.oldest = block,
            _ => self.cached[before as usize].after = block,
        }
        self.idle += 1;
    }

    fn unlink(&mut self, block: u32) {
        let Cached { before, after, .. } = self.cached[block as usize];
        match before {
            NONE => self.oldest = after,
            _ => self.cached[before as usize].after = after,
        }
        match after {
            NONE => self.newest = before,
            _ => self.cached[after as usize].before = before,
        }
        self.idle -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(pool: &mut Pool, hashes: &[u64]) -> Vec<u32> {
        pool.take(hashes.len() as u64);
        hashes.iter().filter_map(|hash| pool.publish(*hash)).collect()
    }

    #[test]
    fn what_nobody_uses_stays_until_its_room_is_needed() {
        let mut pool = Pool::new(4);
        let mut blocks = published(&mut pool, &[1, 2, 3]);
        assert_eq!((pool.used(), pool.free), (3, 1));
        pool.leave(&mut blocks);
        assert_eq!((pool.used(), pool.available(), pool.free), (0, 4, 1));
        assert_eq!(pool.find(&[1, 2, 3, 4]).blocks, 3);
        // The end of the prompt became unused first and is evicted first.
        pool.take(2);
        assert_eq!(pool.find(&[1, 2, 3]).blocks, 2);
        pool.take(2);
        assert_eq!((pool.find(&[1]).blocks, pool.available()), (0, 0));
        pool.give(4);
        assert_eq!(pool.free, 4);
    }

    #[test]
    fn what_is_used_is_never_forgotten() {
        let mut pool = Pool::new(3);
        let mut first = published(&mut pool, &[1, 2]);
        let mut second = Vec::new();
        pool.share(&[1, 9], &mut second);
        pool.leave(&mut first);
        let found = pool.find(&[1, 2]);
        assert_eq!((found.blocks, pool.available_besides(found)), (2, 1));
        pool.take(2);
        assert_eq!((pool.find(&[1, 2]).blocks, pool.available()), (1, 0));
        pool.leave(&mut second);
        assert_eq!(pool.available(), 1);
    }

    #[test]
    fn what_nobody_uses_can_be_forgotten_at_once() {
        let mut pool = Pool::new(5);
        let mut first = published(&mut pool, &[1, 2]);
        published(&mut pool, &[7]);
        pool.leave(&mut first);
        pool.forget_idle();
        assert_eq!((pool.find(&[1]).blocks, pool.find(&[7]).blocks), (0, 1));
        assert_eq!((pool.free, pool.used()), (4, 1));
    }

    #[test]
    fn a_hash_has_one_block() {
        let mut pool = Pool::new(3);
        assert_eq!(published(&mut pool, &[5]).len(), 1);
        pool.take(1);
        assert_eq!(pool.publish(5), None);
        pool.give(1);
        assert_eq!(pool.used(), 1);
    }
}
