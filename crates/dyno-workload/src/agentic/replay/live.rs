//! Responses of the server as parts of later prompts.

use std::sync::Arc;

use super::ReplayKit;
use super::words::Words;
use crate::random::RandomError;

/// Tries to cut a response to its length.
const CUTS: usize = 8;

impl ReplayKit {
    /// A response of the server with its tokens; nothing if it is empty. A server that counts is not asked again: the
    /// response then has the tokens that were asked for.
    pub(super) fn heard(
        &self,
        answer: &str,
        asked: u32,
        number: u32,
    ) -> Result<Option<Arc<Words>>, RandomError> {
        let answer = answer.trim();
        let tokens = self.tokens_of(answer, asked)?;
        Ok((tokens > 0).then(|| Arc::new(Words::said(number, answer, tokens))))
    }

    /// Its beginning, with at most so many tokens.
    pub(super) fn shortened(
        &self,
        answer: Arc<Words>,
        most: u32,
    ) -> Result<Arc<Words>, RandomError> {
        if answer.tokens <= most {
            return Ok(answer);
        }
        let mut room = most;
        for _ in 0..CUTS {
            let text = answer.first(room).trim_end();
            let tokens = self.tokens_of(text, most)?;
            if tokens > 0 && tokens <= most {
                return Ok(Arc::new(Words::said(answer.number, text, tokens)));
            }
            if room <= 1 {
                break;
            }
            let fewer = u64::from(room) * u64::from(most) / u64::from(tokens.max(most + 1));
            room = u32::try_from(fewer).unwrap_or(1).clamp(1, room - 1);
        }
        // A single token more or less: some texts cannot be cut at every one.
        Ok(Arc::new(Words::said(answer.number, answer.first(room), most)))
    }

    /// Tokens that a text adds to a prompt.
    fn tokens_of(&self, text: &str, asked: u32) -> Result<u32, RandomError> {
        match (text.is_empty(), self.counter.tokenizer.is_asking()) {
            (true, _) => Ok(0),
            (false, true) => Ok(asked),
            (false, false) => Ok(self.counter.count(text)?.saturating_sub(self.shape.alone())),
        }
    }
}
