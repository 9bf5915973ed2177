//! Prompts as the engine sees them: words are tokens, and prompts with a common prefix have equal
//! hashes for their common blocks.

use super::openai::request::Fields;
use super::prompt_end::PromptEnd;
use dyno_stats::rng::SplitMix;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A prompt as the engine sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// How many tokens it has.
    pub tokens: u32,
    /// A hash for each full block of tokens, together with all before it.
    pub hashes: Arc<[u64]>,
    /// Where the hashes of a response continue; absent if words are not hashed.
    pub end: Option<PromptEnd>,
}

/// Why a body has no prompt, as a server says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptError(pub(super) String);

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PromptError {}

/// The prompt in the body of a generation request, as the engine's server counts it: its messages
/// if they are read `with_roles`, else its plain prompt, in blocks of `block` tokens.
pub fn prompt_of(body: &[u8], with_roles: bool, block: u32) -> Result<Prompt, PromptError> {
    let wrong = |error| PromptError(format!("The request body is invalid: {error}"));
    let mut fields: Fields<Hashed> = serde_json::from_slice(body).map_err(wrong)?;
    Ok(Prompt::new(&words_of(&mut fields, with_roles)?, block))
}

/// The words of a body: its tools and messages if they are read `with_roles`, else its plain prompt.
pub(super) fn words_of<W: Words>(
    fields: &mut Fields<W>,
    with_roles: bool,
) -> Result<W, PromptError> {
    let (field, words) = match with_roles {
        true => ("messages", fields.take_messages()),
        false => ("prompt", fields.take_plain()),
    };
    words.ok_or_else(|| PromptError(format!("The field `{field}` is required.")))
}

impl Prompt {
    pub(super) fn new(words: &impl Words, block: u32) -> Self {
        let (tokens, end) = (words.tokens(), words.end(block));
        Self { tokens, hashes: words.hashes(block).into(), end }
    }

    /// The hashes of the prompt and of the blocks that these words fill after it.
    pub fn hashes_with<'a>(&self, response: impl Iterator<Item = &'a str>) -> Vec<u64> {
        let mut hashes = self.hashes.to_vec();
        if let Some(end) = self.end {
            end.extend(response, &mut hashes);
        }
        hashes
    }
}

/// The words kept while a prompt is parsed.
pub trait Words: Default {
    /// A word of text.
    fn word(&mut self, word: &str);
    /// A token that came as a number.
    fn id(&mut self, id: u64);
    /// A message by this role begins.
    fn role(&mut self, role: &str);
    /// What comes next.
    fn append(&mut self, next: Self);
    /// How many there are.
    fn tokens(&self) -> u32;
    /// The hashes of full blocks, as far as they are known.
    fn hashes(&self, block: u32) -> Vec<u64>;
    /// Where the hashes of a response continue, if any are known.
    fn end(&self, block: u32) -> Option<PromptEnd>;
}

/// Only their number.
#[derive(Debug, Default)]
pub struct PromptCount(u32);

impl Words for PromptCount {
    fn word(&mut self, _word: &str) {
        self.0 = self.0.saturating_add(1);
    }

    fn id(&mut self, _id: u64) {
        self.0 = self.0.saturating_add(1);
    }

    fn role(&mut self, _role: &str) {}

    fn append(&mut self, next: Self) {
        self.0 = self.0.saturating_add(next.0);
    }

    fn tokens(&self) -> u32 {
        self.0
    }

    fn hashes(&self, _block: u32) -> Vec<u64> {
        Vec::new()
    }

    fn end(&self, _block: u32) -> Option<PromptEnd> {
        None
    }
}

/// A hash of each word, combined with the roles since the previous word.
#[derive(Debug, Clone, Default)]
pub struct Hashed {
    words: Vec<u64>,
    /// The roles after the last word.
    roles: u64,
    /// Whether it is in messages.
    by_roles: bool,
}

impl Hashed {
    fn push(&mut self, word: u64) {
        self.words.push(word ^ std::mem::take(&mut self.roles));
    }
}

impl Words for Hashed {
    fn word(&mut self, word: &str) {
        self.push(hash(word));
    }

    fn id(&mut self, id: u64) {
        self.push(scatter(id));
    }

    fn role(&mut self, role: &str) {
        self.roles = scatter(self.roles ^ hash(role));
        self.by_roles = true;
    }

    fn append(&mut self, next: Self) {
        self.by_roles |= next.by_roles;
        match next.words.split_first() {
            Some((first, rest)) => {
                self.push(*first);
                self.words.extend_from_slice(rest);
                self.roles = next.roles;
            }
            // However deep it stands: a list of one is that one.
            None if self.roles == 0 => self.roles = next.roles,
            None if next.roles != 0 => self.roles = scatter(self.roles ^ next.roles),
            None => {}
        }
    }

    fn tokens(&self) -> u32 {
        u32::try_from(self.words.len()).unwrap_or(u32::MAX)
    }

    fn hashes(&self, block: u32) -> Vec<u64> {
        let mut so_far = 0;
        let blocks = self.words.chunks_exact(block.max(1) as usize);
        let hashed = blocks.map(|block| {
            so_far = block.iter().fold(so_far, |so_far, word| scatter(so_far ^ word));
            so_far
        });
        hashed.collect()
    }

    fn end(&self, block: u32) -> Option<PromptEnd> {
        let mut end = PromptEnd::new(block);
        self.words.iter().for_each(|word| {
            end.push(*word);
        });
        // A last message without words leaves its role, which is combined with that of the response.
        let of_response = if self.by_roles { scatter(hash("assistant")) } else { 0 };
        end.expect(self.roles ^ of_response);
        Some(end)
    }
}

/// FNV-1a with its bits mixed.
pub(super) fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    scatter(text.bytes().fold(0xCBF2_9CE4_8422_2325, step))
}

pub(super) fn scatter(bits: u64) -> u64 {
    SplitMix::new(bits).next_u64()
}

/// A text as words.
pub(super) fn text<W: Words>(text: &str) -> W {
    let mut words = W::default();
    text.split_whitespace().for_each(|word| words.word(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(body: &str, chat: bool) -> u32 {
        let mut fields: Fields<PromptCount> = serde_json::from_str(body).unwrap();
        let counted = words_of(&mut fields, chat).unwrap().tokens();
        assert_eq!(prompt_of(body.as_bytes(), chat, 4).unwrap().tokens, counted);
        counted
    }

    fn chat(messages: &str) -> Prompt {
        prompt_of(format!("{{\"messages\":{messages}}}").as_bytes(), true, 2).unwrap()
    }

    #[test]
    fn words_are_counted_in_every_form_of_prompt() {
        let chat = r#"{"messages":[{"role":"system","content":"be  brief"},
            {"role":"user","content":[{"type":"text","text":"a b c"},{"type":"image_url","image_url":{"url":"x y"}}]},
            {"role":"assistant","content":null},{"role":["odd"],"content":"d"}]}"#;
        assert_eq!(tokens(chat, true), 6);
        assert_eq!(tokens(r#"{"prompt":" one two\nthree "}"#, false), 3);
        assert_eq!(tokens(r#"{"prompt":["one two","three"]}"#, false), 3);
        assert_eq!(tokens(r#"{"prompt":[[5,6],[7]]}"#, false), 3);
        let none = prompt_of(br#"{"prompt":"x"}"#, true, 4).unwrap_err();
        assert!(none.to_string().contains("`messages`"));
        assert!(prompt_of(b"{", true, 4).unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn the_next_turn_begins_with_the_prompt_and_its_response() {
        let turn = r#"{"role":"user","content":"a b c d e"}"#;
        let answer = r#"{"role":"assistant","content":"f g"}"#;
        let first = chat(&format!("[{turn}]"));
        let second = chat(&format!(r#"[{turn},{answer},{{"role":"user","content":"h i"}}]"#));
        let hashes = first.hashes_with(["f", "g"].into_iter());
        assert_eq!((first.hashes.len(), hashes.len(), second.hashes.len()), (2, 3, 4));
        assert_eq!(hashes, second.hashes[..3]);
        assert_ne!(first.hashes_with(["x", "g"].into_iter())[2], second.hashes[2]);
        // A tool that returns nothing is a message without words.
        let nothing = r#"{"role":"tool","content":""}"#;
        let first = chat(&format!("[{turn},{nothing}]"));
        let second = chat(&format!(r#"[{turn},{nothing},{answer}]"#));
        assert_eq!(first.hashes_with(["f", "g"].into_iter()), second.hashes[..]);
        // Plain text has no roles.
        let plain = |text: &str| {
            prompt_of(format!("{{\"prompt\":\"{text}\"}}").as_bytes(), false, 2).unwrap()
        };
        let hashes = plain("a b c").hashes_with(["d", "e", "f"].into_iter());
        assert_eq!(hashes, plain("a b c d e f").hashes[..]);
    }

    #[test]
    fn prompts_that_begin_alike_share_the_hashes_of_full_blocks() {
        let turns = r#"[{"role":"user","content":"a b c d e"},"#;
        let first = chat(&format!("{turns}{{\"role\":\"assistant\",\"content\":\"f g\"}}]"));
        let second = chat(&format!("{turns}{{\"role\":\"user\",\"content\":\"f g h\"}}]"));
        assert_eq!((first.tokens, first.hashes.len()), (7, 3));
        assert_eq!((second.tokens, second.hashes.len()), (8, 4));
        assert_eq!(first.hashes[..2], second.hashes[..2]);
        assert_ne!(first.hashes[2], second.hashes[2], "the role is part of it");
        // A block is known together with all before it.
        let other = chat(r#"[{"role":"user","content":"x b c d"}]"#);
        assert_ne!(first.hashes[1], other.hashes[1]);
    }

    proptest! {
        #[test]
        fn exactly_the_blocks_that_are_alike_have_the_same_hashes(
            alike in prop::collection::vec("[a-c]{1,2}", 0..12),
            ends in prop::array::uniform2(prop::collection::vec("[a-c]{1,2}", 0..12)),
            block in 1_u32..5,
        ) {
            let prompts = ends.map(|end| [alike.clone(), end].concat());
            let [a, b] = prompts.clone().map(|words| {
                let body = serde_json::json!({"prompt": words.join(" ")}).to_string();
                prompt_of(body.as_bytes(), false, block).unwrap()
            });
            prop_assert_eq!(a.tokens as usize, prompts[0].len());
            prop_assert_eq!(a.hashes.len(), prompts[0].len() / block as usize);
            let same = prompts[0].iter().zip(&prompts[1]).take_while(|(a, b)| a == b).count();
            let shared = a.hashes.iter().zip(b.hashes.iter()).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(shared, same / block as usize);
        }
    }

    #[test]
    fn the_same_words_are_the_same_prompt_however_they_are_written() {
        let plain = chat(r#"[{"role":"user","content":"a b c d"}]"#);
        let parts = r#"[{"type":"text","text":"a b"},{"type":"text","text":"c  d"}]"#;
        assert_eq!(chat(&format!("[{{\"content\":{parts},\"role\":\"user\"}}]")), plain);
        let ids = |text: &str| prompt_of(text.as_bytes(), false, 1).unwrap().hashes;
        assert_eq!(ids(r#"{"prompt":[[5,6],[7]]}"#), ids(r#"{"prompt":[5,6,7]}"#));
        assert_ne!(ids(r#"{"prompt":[5,6]}"#), ids(r#"{"prompt":[6,5]}"#));
    }

    #[test]
    fn an_empty_message_still_leaves_its_role() {
        let with = chat(r#"[{"role":"system","content":""},{"role":"user","content":"a b"}]"#);
        let without = chat(r#"[{"role":"user","content":"a b"}]"#);
        assert_eq!((with.tokens, without.tokens), (2, 2));
        assert_ne!(with.hashes, without.hashes);
    }
}
