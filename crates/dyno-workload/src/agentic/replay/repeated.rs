//! How much of a prompt a cache would hold that forgets nothing, in the order in which prompts are made.

use std::collections::HashSet;

use super::history::{Said, Speaker};
use super::shape::ChatShape;

/// What was sent of each text of a tree. A text always stands behind the same others, so how much of it was sent says
/// how long a beginning of a prompt was.
#[derive(Debug, Default)]
pub(super) struct SentTexts {
    /// The most tokens of each text that a prompt had.
    most: Vec<u32>,
    /// After how many tokens of a text a message ended.
    ends: HashSet<(u32, u32)>,
}

impl SentTexts {
    /// Tokens of the longest beginning that an earlier prompt had; this one has been sent from then on.
    pub(super) fn send(&mut self, prompt: &Said, shape: &ChatShape) -> u32 {
        let all = prompt.all();
        let mut shared = 0;
        let mut looking = true;
        for (number, said) in all.iter().enumerate() {
            let ends = all.get(number + 1).is_none_or(|next| next.begins);
            let place = said.words.number as usize;
            if self.most.len() <= place {
                self.most.resize(place + 1, 0);
            }
            let most = self.most[place];
            let end = (said.words.number, said.taken);
            if looking && most > 0 {
                shared = said.end(shape) - said.taken.saturating_sub(most);
                looking = most >= said.taken;
                if looking && ends {
                    looking = self.ends.contains(&end);
                    shared += match (looking, said.by, number + 1 == all.len()) {
                        (false, ..) => 0,
                        (true, Speaker::User, true) => shape.after,
                        (true, Speaker::User, false) => shape.to_answer,
                        (true, Speaker::Assistant, _) => shape.to_user,
                    };
                }
            } else {
                looking = false;
            }
            self.most[place] = most.max(said.taken);
            if ends {
                self.ends.insert(end);
            }
        }
        shared
    }
}
