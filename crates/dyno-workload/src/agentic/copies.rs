//! Trees that repeat another: the same lengths and the same prefixes, whatever they are called.

use super::key::{self, Keys};
use super::tree::{PromptParts, Tree};

/// The trees that were seen.
#[derive(Debug, Default)]
pub(super) struct Copies {
    seen: Keys,
}

impl Copies {
    /// Whether a tree repeats one that was seen. A tree of a single request is none, nor is one without lengths and texts.
    pub(super) fn repeats(&mut self, tree: &Tree) -> bool {
        if tree.turns() < 2 {
            return false;
        }
        let mut whole = key::NOTHING;
        let mut says = false;
        let mut add = |part: u64| whole = key::after(whole, part);
        for session in &tree.sessions {
            add(session.turns.len() as u64);
            for turn in &session.turns {
                says |= turn.input.is_some() || !turn.added.is_empty();
                add(turn.input.map_or(0, |input| input + 1));
                add(turn.output.map_or(0, |output| output + 1));
                turn.ids.iter().copied().for_each(&mut add);
                let said = turn.added.iter().chain(&turn.response);
                let said = said.filter_map(|place| tree.messages.get(*place as usize));
                said.flat_map(|said| &said.parts).for_each(|(part, _)| add(*part));
                // Lengths alone are distinguished by times, too.
                if tree.prompts == PromptParts::Lengths {
                    add(turn.sent.unwrap_or(0));
                }
            }
        }
        says && !self.seen.insert(whole)
    }
}
