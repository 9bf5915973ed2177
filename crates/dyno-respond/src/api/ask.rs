//! What a request asks for, whichever API it came by, and how long the response is.

use super::AnswerFinish;
use super::prompt::Prompt;
use super::response::Response;

/// A request.
#[derive(Debug)]
pub struct Ask {
    /// The model, if the request names one.
    pub model: Option<String>,
    /// The prompts; each is computed by itself.
    pub prompts: Vec<Prompt>,
    /// How many tokens of output are wanted.
    pub output: Output,
    /// Whether a stream was requested.
    pub stream: bool,
    /// How the response is written.
    pub response: Box<dyn Response>,
}

/// How many tokens of output a request wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Output {
    /// At most.
    pub max: Option<u32>,
    /// At least.
    pub min: Option<u32>,
    /// The model must not stop by itself.
    pub endless: bool,
    /// Only the prompts are computed, and the response has one result for each.
    pub none: bool,
}

impl Ask {
    /// Tokens of all prompts.
    pub fn input(&self) -> u32 {
        self.prompts.iter().fold(0, |sum: u32, prompt| sum.saturating_add(prompt.tokens))
    }

    /// How many tokens the response has, and why it ends there, for a model that would stop by
    /// itself after `natural` tokens and has a context of `context`. Without output, the number of
    /// results.
    pub fn length(&self, natural: u32, context: u32) -> (u32, AnswerFinish) {
        if self.output.none {
            return (u32::try_from(self.prompts.len()).unwrap_or(u32::MAX), AnswerFinish::Stop);
        }
        self.output.length(natural, context.saturating_sub(self.input()))
    }

    /// What is wrong with the numbers, if anything.
    pub fn complaint(&self, context: u32) -> Option<String> {
        if self.output.none {
            let long = self.prompts.iter().find(|prompt| prompt.tokens > context)?;
            return Some(too_long(context, 0, long.tokens));
        }
        self.output.complaint(context, self.input())
    }
}

impl Output {
    fn length(&self, natural: u32, room: u32) -> (u32, AnswerFinish) {
        let least = self.min.unwrap_or(0);
        let natural = natural.max(least);
        let max = self.max.unwrap_or(room).min(room);
        let endless = self.endless && self.max.is_some();
        match endless || natural > max || least >= max {
            true => (max, AnswerFinish::Length),
            false => (natural, AnswerFinish::Stop),
        }
    }

    fn complaint(&self, context: u32, prompt_tokens: u32) -> Option<String> {
        if self.max == Some(0) {
            return Some("max_tokens must be at least 1, got 0.".to_owned());
        }
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            return Some(format!("min_tokens must be at most max_tokens={max}, got {min}."));
        }
        let wanted = self.max.unwrap_or(1).max(self.min.unwrap_or(1));
        let all = u64::from(prompt_tokens) + u64::from(wanted);
        (all > u64::from(context)).then(|| too_long(context, wanted, prompt_tokens))
    }
}

fn too_long(context: u32, wanted: u32, prompt_tokens: u32) -> String {
    format!(
        "This model's maximum context length is {context} tokens. However, you requested {wanted} \
         output tokens and your prompt contains {prompt_tokens} input tokens."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(max: Option<u32>, min: Option<u32>, endless: bool) -> Output {
        Output { max, min, endless, none: false }
    }

    #[test]
    fn the_length_of_a_response() {
        let length = |max, min, endless| output(max, min, endless).length(128, 1_000);
        assert_eq!(length(None, None, false), (128, AnswerFinish::Stop));
        assert_eq!(length(Some(500), None, false), (128, AnswerFinish::Stop));
        assert_eq!(length(Some(50), None, false), (50, AnswerFinish::Length));
        assert_eq!(length(Some(500), None, true), (500, AnswerFinish::Length));
        assert_eq!(length(Some(500), Some(500), false), (500, AnswerFinish::Length));
        assert_eq!(length(None, Some(300), false), (300, AnswerFinish::Stop));
        assert_eq!(length(Some(128), None, false), (128, AnswerFinish::Stop));
        assert_eq!(output(None, None, false).length(128, 100), (100, AnswerFinish::Length));
        assert_eq!(output(None, Some(90), false).length(128, 128), (128, AnswerFinish::Stop));
    }

    #[test]
    fn wrong_numbers_are_complained_about() {
        let complaint = |max, min| output(max, min, false).complaint(100, 10);
        assert_eq!(complaint(Some(90), None), None);
        assert!(complaint(Some(91), None).unwrap().contains("context length is 100"));
        assert_eq!(output(None, None, false).complaint(11, 10), None);
        let full = output(None, None, false).complaint(10, 10);
        assert!(full.unwrap().contains("requested 1 output tokens"));
        assert!(complaint(Some(0), None).unwrap().contains("at least 1"));
        assert!(complaint(Some(5), Some(6)).unwrap().contains("at most"));
    }
}
