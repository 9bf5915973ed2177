//! How much of the input was seen before, as the hash ids tell.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::TraceRequest;

/// Input tokens, and those among them that an earlier request began with as well: what a prefix
/// cache that forgets nothing would not have to compute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reuse {
    /// Input tokens of all requests.
    pub input: u64,
    /// Input tokens that were seen before.
    pub seen: u64,
}

impl Reuse {
    /// Counts over requests in the order of their times.
    pub(super) fn of<'a>(requests: impl Iterator<Item = TraceRequest<'a>>, block: u32) -> Self {
        let mut reuse = Self::default();
        let mut beginnings = Beginnings::default();
        for request in requests {
            reuse.input += u64::from(request.input);
            reuse.seen += beginnings.add(request.hashes, request.input, block);
        }
        reuse
    }

    /// The share of the input that was seen before; absent without input.
    pub fn share(&self) -> Option<f64> {
        (self.input > 0).then(|| self.seen as f64 / self.input as f64)
    }
}

/// All beginnings so far, as a tree of blocks.
#[derive(Default)]
struct Beginnings {
    /// By the beginning that a block follows on and its id: the beginning that ends with it, and
    /// how many tokens of the block were seen.
    blocks: HashMap<(u32, u64), (u32, u32)>,
}

impl Beginnings {
    /// Adds a request and gives the tokens of it that were seen before.
    fn add(&mut self, ids: &[u64], input: u32, block: u32) -> u64 {
        let (mut at, mut left, mut seen, mut known) = (0, input, 0, true);
        for id in ids {
            if left == 0 {
                break;
            }
            let tokens = left.min(block);
            left -= tokens;
            // The root is 0, so a new beginning has the number after those there are.
            let next = self.blocks.len() as u32 + 1;
            match self.blocks.entry((at, *id)) {
                Entry::Occupied(mut entry) => {
                    let (same, before) = entry.get_mut();
                    if known {
                        seen += u64::from(tokens.min(*before));
                        known = tokens <= *before;
                    }
                    *before = tokens.max(*before);
                    at = *same;
                }
                Entry::Vacant(entry) => {
                    known = false;
                    at = entry.insert((next, tokens)).0;
                }
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reuse(requests: &[(u32, &[u64])]) -> Reuse {
        let requests = requests.iter().map(|(input, hashes)| TraceRequest {
            at: 0,
            input: *input,
            output: 1,
            hashes,
        });
        Reuse::of(requests, 10)
    }

    #[test]
    fn only_what_follows_on_a_seen_beginning_was_seen() {
        // Worked out by hand: 25 new; 20 of 24 seen; a 2 that does not follow on 1 is new.
        let requests: [(u32, &[u64]); 3] = [(25, &[1, 2, 3]), (24, &[1, 2, 4]), (20, &[5, 2])];
        assert_eq!(reuse(&requests), Reuse { input: 69, seen: 20 });
        assert_eq!(reuse(&requests).share(), Some(20.0 / 69.0));
        assert_eq!(reuse(&[]).share(), None);
    }

    #[test]
    fn a_partial_block_is_seen_as_far_as_it_went() {
        let requests: [(u32, &[u64]); 3] = [(13, &[1, 2]), (18, &[1, 2]), (17, &[1, 2])];
        assert_eq!(reuse(&requests).seen, 13 + 17);
        // What follows on a block that was only known in part was not seen.
        let requests: [(u32, &[u64]); 2] = [(3, &[1]), (30, &[1, 2, 3])];
        assert_eq!(reuse(&requests).seen, 3);
    }

    #[test]
    fn surplus_ids_and_input_without_ids_count_for_nothing() {
        let requests: [(u32, &[u64]); 4] = [(5, &[1, 2]), (5, &[1, 2]), (40, &[1]), (40, &[1])];
        assert_eq!(reuse(&requests), Reuse { input: 90, seen: 5 + 5 + 10 });
        let requests: [(u32, &[u64]); 2] = [(9, &[]), (9, &[])];
        assert_eq!(reuse(&requests).seen, 0);
    }
}
