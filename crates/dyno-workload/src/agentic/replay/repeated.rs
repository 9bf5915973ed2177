//! How much of a prompt a cache would hold that forgets nothing, in the order in which prompts are made.

use super::history::{Said, Speaker};
use super::shape::ChatShape;

/// What was sent of each text of a tree. A text always stands behind the same others, so how much of it was sent says
/// how long a beginning of a prompt was.
#[derive(Debug, Default)]
pub(super) struct SentTexts(Vec<SentText>);

#[derive(Debug, Clone, Copy, Default)]
struct SentText {
    /// The most of its tokens that a prompt had.
    most: u32,
    /// After how many of them its message ended.
    ended: u32,
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
            if self.0.len() <= place {
                self.0.resize(place + 1, SentText::default());
            }
            let sent = &mut self.0[place];
            if looking && sent.most > 0 {
                let end = said.end(shape);
                shared = end - said.taken.saturating_sub(sent.most);
                looking = sent.most >= said.taken;
                if looking && ends {
                    looking = sent.ended == said.taken;
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
            sent.most = sent.most.max(said.taken);
            if ends {
                sent.ended = said.taken;
            }
        }
        shared
    }
}
