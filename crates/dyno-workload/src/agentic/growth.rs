//! How the prompt of a turn grows out of the one before it: all of it kept, the response shortened, or the history cut.

use super::tree::{PromptParts, TreeTurn};
use dyno_model::tree::Growth;

/// How `turn` follows `before`; absent where the file does not say.
pub fn growth_of(before: &TreeTurn, turn: &TreeTurn, prompts: PromptParts) -> Option<Growth> {
    let (old, new) = (before.input?, turn.input?);
    let room = new.saturating_sub(old);
    let short = before.output.is_some_and(|output| room < output);
    let kept = match prompts {
        PromptParts::Blocks { size, .. } if !before.ids.is_empty() || !turn.ids.is_empty() => {
            let whole = whole_blocks(before, size);
            match common(&before.ids[..whole], &turn.ids) {
                all if all == whole => true,
                // A block may differ by no more than a marker that moved.
                most if most + 1 == whole => return Some(Growth::Whole),
                _ => false,
            }
        }
        _ => new > old,
    };
    Some(match (kept, short) {
        (false, _) => Growth::Cut,
        (true, true) => Growth::Trimmed,
        (true, false) => Growth::Whole,
    })
}

/// Input tokens that a turn has in common with the beginning of an earlier one, as far as the file says.
pub fn kept_tokens(before: &TreeTurn, turn: &TreeTurn, prompts: PromptParts) -> Option<u64> {
    let (old, new) = (before.input?, turn.input?);
    Some(match prompts {
        PromptParts::Blocks { size, .. } if !before.ids.is_empty() || !turn.ids.is_empty() => {
            let whole = whole_blocks(before, size);
            match common(&before.ids[..whole], &turn.ids) {
                all if all == whole => old.min(new),
                blocks => blocks as u64 * u64::from(size),
            }
        }
        _ => old.min(new),
    })
}

/// Blocks of a prompt that are full, as far as it has ids for them.
pub(super) fn whole_blocks(turn: &TreeTurn, size: u32) -> usize {
    let full = turn.input.unwrap_or(0) / u64::from(size.max(1));
    usize::try_from(full).unwrap_or(usize::MAX).min(turn.ids.len())
}

/// How many of the first ids are equal.
pub(super) fn common(before: &[u64], ids: &[u64]) -> usize {
    before.iter().zip(ids).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: PromptParts = PromptParts::Blocks { size: 10, local: true };

    fn turn(input: u64, output: u64, ids: &[u64]) -> TreeTurn {
        TreeTurn {
            input: Some(input),
            output: Some(output),
            ids: ids.to_vec(),
            ..TreeTurn::default()
        }
    }

    #[test]
    fn blocks_tell_rewriting_from_growth() {
        let before = turn(35, 8, &[1, 2, 3]);
        for (after, growth, kept) in [
            (turn(44, 1, &[1, 2, 3, 4]), Growth::Whole, 35),
            (turn(42, 1, &[1, 2, 3, 4]), Growth::Trimmed, 35),
            (turn(33, 1, &[1, 2, 3]), Growth::Trimmed, 33),
            (turn(50, 1, &[1, 2, 9, 9, 9]), Growth::Whole, 20),
            (turn(50, 1, &[1, 9, 9, 9, 9]), Growth::Cut, 10),
            (turn(20, 1, &[1, 2]), Growth::Whole, 20),
            (turn(10, 1, &[1]), Growth::Cut, 10),
        ] {
            assert_eq!(growth_of(&before, &after, BLOCKS), Some(growth), "{after:?}");
            assert_eq!(kept_tokens(&before, &after, BLOCKS), Some(kept), "{after:?}");
        }
    }

    #[test]
    fn lengths_alone_show_what_shrinks() {
        let before = turn(100, 20, &[]);
        for (input, growth) in [
            (120, Growth::Whole),
            (119, Growth::Trimmed),
            (101, Growth::Trimmed),
            (100, Growth::Cut),
            (64, Growth::Cut),
        ] {
            assert_eq!(
                growth_of(&before, &turn(input, 1, &[]), PromptParts::Lengths),
                Some(growth)
            );
        }
        let unknown = TreeTurn { input: None, ..turn(0, 1, &[]) };
        assert_eq!(growth_of(&before, &unknown, PromptParts::Lengths), None);
    }
}
