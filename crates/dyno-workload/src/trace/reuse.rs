//! How much of the input was seen before, as the hash ids tell.

use std::cmp::Ordering;

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
    /// Counts over `count` requests, which `request` gives by their place in the order of times.
    ///
    /// Requests are put in the order of their ids, and taken out again from the latest to the
    /// earliest. When one is taken out, its neighbours in that order are the most similar ones among
    /// those before it in time. So this needs twelve bytes a request, however many ids there are.
    pub(super) fn of<'a>(
        count: usize,
        block: u32,
        request: impl Fn(usize) -> Option<TraceRequest<'a>>,
    ) -> Self {
        let prompt = |index: u32| {
            request(index as usize).map_or(Prompt::default(), |request| Prompt::of(&request, block))
        };
        let input = (0..count).filter_map(&request).map(|one| u64::from(one.input)).sum();
        let mut reuse = Self { input, seen: 0 };
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.retain(|index| prompt(*index).known > 0);
        order.sort_unstable_by(|a, b| prompt(*a).cmp(&prompt(*b)).then(a.cmp(b)));
        let mut neighbours = Neighbours::new(count, &order);
        for index in (0..count as u32).rev() {
            if prompt(index).known == 0 {
                continue;
            }
            let (before, after) = neighbours.take_out(index);
            let shared = |other: Option<u32>| {
                other.map_or(0, |other| prompt(index).shared_with(&prompt(other), block))
            };
            reuse.seen += shared(before).max(shared(after));
        }
        reuse
    }

    /// The share of the input that was seen before; absent without input.
    pub fn share(&self) -> Option<f64> {
        (self.input > 0).then(|| self.seen as f64 / self.input as f64)
    }
}

/// The part of a prompt that its ids identify.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Prompt<'a> {
    ids: &'a [u64],
    /// Its tokens.
    known: u64,
}

impl<'a> Prompt<'a> {
    /// Ids beyond the input count for nothing.
    fn of(request: &TraceRequest<'a>, block: u32) -> Self {
        let blocks = request.input.div_ceil(block) as usize;
        let ids = &request.hashes[..request.hashes.len().min(blocks)];
        let known = (ids.len() as u64 * u64::from(block)).min(request.input.into());
        Self { ids, known }
    }

    /// In the order of ids, and of tokens where the last block is not full: so the neighbours are
    /// those that share most.
    fn cmp(&self, other: &Self) -> Ordering {
        self.ids.cmp(other.ids).then(self.known.cmp(&other.known))
    }

    /// The tokens that both begin with.
    fn shared_with(&self, other: &Self, block: u32) -> u64 {
        let same = self.ids.iter().zip(other.ids).take_while(|(a, b)| a == b).count();
        (same as u64 * u64::from(block)).min(self.known).min(other.known)
    }
}

/// Requests in an order, each with the one before and after it.
struct Neighbours {
    before: Vec<u32>,
    after: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Neighbours {
    fn new(count: usize, order: &[u32]) -> Self {
        let mut all = Self { before: vec![NOBODY; count], after: vec![NOBODY; count] };
        for pair in order.windows(2) {
            all.after[pair[0] as usize] = pair[1];
            all.before[pair[1] as usize] = pair[0];
        }
        all
    }

    /// The neighbours of a request, which are each other's from now on.
    fn take_out(&mut self, index: u32) -> (Option<u32>, Option<u32>) {
        let (before, after) = (self.before[index as usize], self.after[index as usize]);
        if before != NOBODY {
            self.after[before as usize] = after;
        }
        if after != NOBODY {
            self.before[after as usize] = before;
        }
        let somebody = |index| (index != NOBODY).then_some(index);
        (somebody(before), somebody(after))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use proptest::prelude::*;

    fn reuse(requests: &[(u32, &[u64])]) -> Reuse {
        Reuse::of(requests.len(), 10, |index| {
            let (input, hashes) = *requests.get(index)?;
            Some(TraceRequest { at: 0, input, output: 1, hashes })
        })
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

    /// The same by a tree of all beginnings, with how many tokens of each block were seen.
    fn by_a_tree(requests: &[(u32, Vec<u64>)], block: u32) -> u64 {
        let (mut tree, mut seen) = (HashMap::<Vec<u64>, u32>::new(), 0_u64);
        for (input, ids) in requests {
            let (mut left, mut known) = (*input, true);
            for end in 1..=ids.len() {
                let tokens = left.min(block);
                if tokens == 0 {
                    break;
                }
                left -= tokens;
                let before = tree.entry(ids[..end].to_vec()).or_default();
                if known {
                    seen += u64::from(tokens.min(*before));
                    known = tokens <= *before;
                }
                *before = tokens.max(*before);
            }
        }
        seen
    }

    proptest! {
        #[test]
        fn neighbours_know_as_much_as_a_tree_of_all_beginnings(
            requests in prop::collection::vec((1_u32..60, prop::collection::vec(0_u64..3, 0..6)), 0..40),
            block in 1_u32..15,
        ) {
            let seen = Reuse::of(requests.len(), block, |index| {
                let (input, hashes) = requests.get(index)?;
                Some(TraceRequest { at: 0, input: *input, output: 1, hashes })
            });
            prop_assert_eq!(seen.seen, by_a_tree(&requests, block));
        }
    }
}
