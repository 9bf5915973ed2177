//! The end of a prompt, from which the hashes of blocks continue with the response.

use super::prompt::{hash, scatter};

/// How the words of a prompt end: what is hashed so far, and what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptEnd {
    block: u32,
    /// Words in the last block, which is not full.
    in_block: u32,
    so_far: u64,
    /// What is combined with the next word.
    roles: u64,
}

impl PromptEnd {
    /// Before the first word.
    pub(super) fn new(block: u32) -> Self {
        Self { block: block.max(1), in_block: 0, so_far: 0, roles: 0 }
    }

    /// Adds a hashed word; the hash of its block if that is full.
    pub(super) fn push(&mut self, word: u64) -> Option<u64> {
        self.so_far = scatter(self.so_far ^ word ^ std::mem::take(&mut self.roles));
        self.in_block = (self.in_block + 1) % self.block;
        (self.in_block == 0).then_some(self.so_far)
    }

    /// What is combined with the first word of the response, which comes next.
    pub(super) fn expect(&mut self, roles: u64) {
        self.roles = roles;
    }

    /// Adds the hashes of the blocks that the words of a response fill.
    pub(super) fn extend<'a>(
        mut self,
        response: impl Iterator<Item = &'a str>,
        hashes: &mut Vec<u64>,
    ) {
        hashes.extend(response.filter_map(|word| self.push(hash(word))));
    }
}
