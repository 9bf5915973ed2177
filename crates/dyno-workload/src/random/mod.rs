//! Random prompts of exact lengths: the same key and index give the same prompt in any order, and each
//! has exactly the requested number of tokens.

mod asked;
mod correct;
pub(crate) mod counter;
pub(crate) mod draws;
pub mod key;
pub mod lengths;
mod maker;
mod pieces;
mod prefix;
mod words;

use rand_chacha::ChaCha8Rng;

use self::draws::{UNIQUE, draw};
use self::key::Key;
use self::lengths::Lengths;
pub(crate) use self::maker::Maker;
pub use self::prefix::shared_prefix;
use crate::tokenizer::Tokenizer;
use dyno_model::prompt::{Content, Item};
use dyno_model::{Localized, Message, message};

/// Options of random prompts besides their lengths.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomOptions {
    /// The first tokens of the prompt's own text that are shared within a group; what the chat
    /// template puts before them is shared by all.
    pub prefix: u32,
    /// Groups that share a prefix; prompts are assigned to them round-robin.
    pub groups: u32,
    /// The share of each prompt that is the beginning of its group's prefix, instead of `prefix`
    /// tokens. These prefixes are the same in all levels of a run.
    pub shared: Option<f64>,
    /// Whether prompts go through the chat template, whose own tokens then count.
    pub chat: bool,
    /// Whether no two prompts may share a prefix.
    pub unique: bool,
    /// Output tokens that each prompt asks for.
    pub output: Option<Lengths>,
}

impl Default for RandomOptions {
    fn default() -> Self {
        Self { prefix: 0, groups: 1, shared: None, chat: true, unique: false, output: None }
    }
}

/// Random prompts that cannot be made as asked.
#[derive(Debug, Clone, PartialEq, Localized)]
pub enum RandomError {
    /// Shorter than the shortest prompt.
    #[message(
        "input length {asked}: the shortest possible is {minimum} tokens, of which {around} are \
         {whose} own{}",
        "输入长度 {asked}：最短为 {minimum} 个 token，其中 {around} 个属于{whose}{}",
        with_prefix(*prefix)
    )]
    TooShort {
        /// The lengths as asked for.
        asked: Lengths,
        /// The fewest tokens that can be asked for.
        minimum: u32,
        /// Tokens that are not the prompt's.
        around: u32,
        /// Who adds them.
        whose: Message,
        /// Tokens of the shared prefix.
        prefix: u32,
    },
    /// A shared prefix in no groups.
    #[message(
        "prefix={0} with groups=0: give at least one group that shares it",
        "prefix={0} 而 groups=0：请至少给出一个共享它的组"
    )]
    NoGroups(u32),
    /// A shared prefix together with unique prefixes.
    #[message(
        "prefix={0} shares a prefix, which --unique-prefix rules out: leave one out",
        "prefix={0} 会共享前缀，与 --unique-prefix 冲突：请去掉其中一个"
    )]
    SharedAndUnique(u32),
    /// The first message of a conversation, whose lengths are its own, cannot be made.
    #[message("first={first}: {error}", "first={first}：{error}")]
    First {
        /// Its lengths.
        first: Lengths,
        /// Why not.
        error: Box<RandomError>,
    },
    /// Too many requests to the server's `/tokenize` would be needed.
    #[message(
        "random prompts: the server's /tokenize counts no common word as a single token, so exact \
         lengths would need a /tokenize request for every prompt; give --tokenizer PATH",
        "随机提示词：服务器的 /tokenize 没有把任何常用词计为单个 token，因此精确长度需要为每个提\
         示词请求一次 /tokenize；请给出 --tokenizer PATH"
    )]
    NothingCountsAsOne,
    /// However long the prompt, the count stays the same.
    #[message(
        "random prompts: the chat template drops the user's message, so prompts of a given length \
         cannot be made; fix the template next to the tokenizer",
        "随机提示词：对话模板丢弃了用户消息，无法生成指定长度的提示词；请修正分词器旁的模板"
    )]
    PromptLeftOut,
    /// No text of this length was found.
    #[message(
        "no text of exactly {tokens} tokens was found; the nearest counts {nearest}",
        "找不到恰好 {tokens} 个 token 的文本；最接近的为 {nearest} 个"
    )]
    OutOfReach {
        /// Tokens asked for.
        tokens: u32,
        /// The nearest count that was met.
        nearest: u32,
    },
    /// Counting failed.
    #[message(transparent)]
    Tokenizer(#[from] Message),
}

fn with_prefix(tokens: u32) -> Message {
    match tokens {
        0 => Message::quoted(""),
        _ => message!(" and {tokens} the shared prefix", "，{tokens} 个属于共享前缀"),
    }
}

impl RandomError {
    /// Whether the lengths would do but for the shared prefix.
    pub fn is_by_prefix(&self) -> bool {
        match self {
            Self::TooShort { asked, minimum, prefix, .. } => asked.reach(minimum - prefix),
            _ => false,
        }
    }
}

/// How many prompts were re-counted, and how many of those had to be corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// Prompts re-counted.
    pub checked: u64,
    /// Prompts among them with a wrong length, which were corrected. Anything but 0 means that prompts
    /// that were not checked may be wrong.
    pub wrong: u64,
}

/// The usual block size of prefix caches, in tokens.
const USUAL_BLOCK: u32 = 16;
/// Prompts that are looked at for the longest.
const MOST_LOOKED_AT: u64 = 10_000;

/// Tokens from the start of a prompt on that others begin with, so that about `share` of it can be
/// cached: the nearest number of whole blocks, and half a block more, so that what a chat template puts
/// behind the text does not cost the last of them.
fn shared_tokens(share: f64, tokens: u32) -> u32 {
    let blocks = (share * f64::from(tokens) / f64::from(USUAL_BLOCK)).round() as u32;
    match blocks {
        0 => 0,
        blocks => blocks * USUAL_BLOCK + USUAL_BLOCK / 2,
    }
}

/// Makes random prompts.
#[derive(Debug)]
pub struct RandomPrompts {
    maker: Maker,
    input: Lengths,
    key: Key,
    options: RandomOptions,
}

impl RandomPrompts {
    /// Prepares random prompts: analyses the tokenizer and checks that the lengths are possible. A
    /// tokenizer that asks the server is used here and not again.
    pub fn new(
        tokenizer: &Tokenizer,
        input: Lengths,
        key: Key,
        options: RandomOptions,
    ) -> Result<Self, RandomError> {
        if options.prefix > 0 && options.groups == 0 {
            return Err(RandomError::NoGroups(options.prefix));
        }
        if options.prefix > 0 && options.unique {
            return Err(RandomError::SharedAndUnique(options.prefix));
        }
        let maker = Maker::new(tokenizer, options.chat)?;
        Self { maker, input, key, options }.fitting()
    }

    /// The same for another level or other lengths, without analysing the tokenizer again.
    pub fn again(&self, input: Lengths, key: Key) -> Result<Self, RandomError> {
        let (maker, options) = (self.maker.again(), self.options.clone());
        Self { maker, input, key, options }.fitting()
    }

    /// Itself, if the lengths can be met.
    fn fitting(self) -> Result<Self, RandomError> {
        if self.input.reach(self.minimum()) {
            return Ok(self);
        }
        Err(RandomError::TooShort {
            asked: self.input,
            minimum: self.minimum(),
            around: self.maker.shortest().saturating_sub(1),
            whose: self.maker.surroundings(),
            prefix: self.options.prefix,
        })
    }

    /// The prompt of an arrival.
    pub fn prompt(&self, index: u64) -> Result<Item, RandomError> {
        self.sized(index, self.tokens(index))
    }

    /// The same with this many tokens, or with as few as a prompt can have.
    pub fn sized(&self, index: u64, tokens: u32) -> Result<Item, RandomError> {
        let tokens = tokens.max(self.minimum());
        let text = self.maker.text(index, tokens, || {
            self.chooser(self.key.of_words(b"prompts ", index), index, tokens)
        })?;
        Ok(self.item(index, tokens, text))
    }

    /// The lengths of [`prompt`](Self::prompt) with an empty text, for a recipient that reads none.
    /// Words are most of what a prompt costs.
    pub fn lengths(&self, index: u64) -> Item {
        self.item(index, self.tokens(index), String::new())
    }

    fn item(&self, index: u64, tokens: u32, text: String) -> Item {
        let output = self.options.output;
        Item {
            content: Content::Text(text),
            output_tokens: output.map(|o| o.sample(&mut self.key.of_lengths(b"outputs ", index))),
            input_tokens: Some(tokens),
        }
    }

    /// The length of a prompt. The tails of a distribution end where the shortest prompt is.
    pub fn tokens(&self, index: u64) -> u32 {
        self.input.sample(&mut self.key.of_lengths(b"lengths ", index)).max(self.minimum())
    }

    /// A prompt for each group that puts its prefix into a cache, as far as the longest of the first
    /// `prompts` prompts needs it.
    pub fn primers(&self, prompts: u64) -> Result<Vec<Item>, RandomError> {
        let looked_at = prompts.clamp(1, MOST_LOOKED_AT);
        let tokens = (0..looked_at).map(|index| self.tokens(index)).max().unwrap_or_default();
        let groups = u64::from(self.options.groups.max(1));
        let primer = |group: u64| {
            let text = self.maker.text(group, tokens, || {
                self.chooser(self.key.of_words(b"primers ", group), group, tokens)
            })?;
            let content = Content::Text(text);
            Ok(Item { content, output_tokens: Some(1), input_tokens: Some(tokens) })
        };
        (0..groups.min(prompts.max(1))).map(primer).collect()
    }

    /// The fewest tokens that a prompt can be: the template's own, the shared prefix and one.
    pub fn minimum(&self) -> u32 {
        self.maker.shortest().saturating_add(self.options.prefix)
    }

    /// Whether prompts are put together from verified pieces; otherwise each one is encoded and
    /// corrected, at the tokenizer's speed.
    pub fn from_pieces(&self) -> bool {
        self.maker.uses_pieces()
    }

    /// What the re-counted prompts showed so far.
    pub fn checks(&self) -> Check {
        self.maker.checks()
    }

    /// How many choices of a prompt of so many tokens are its group's.
    fn shared_choices(&self, tokens: u32) -> u32 {
        let Some(share) = self.options.shared else { return self.options.prefix };
        let around = self.maker.shortest().saturating_sub(1);
        let beginning = shared_tokens(share, tokens).saturating_sub(around);
        // At least one token is the prompt's own.
        let beginning = beginning.min(tokens.saturating_sub(around + 1));
        (f64::from(beginning) / self.maker.tokens_of_a_choice()).round() as u32
    }

    /// Chooses one of so many for each position of a prompt of so many tokens.
    fn chooser(
        &self,
        mut own: ChaCha8Rng,
        index: u64,
        tokens: u32,
    ) -> impl FnMut(u32, usize) -> usize {
        let RandomOptions { groups, unique, .. } = self.options;
        let prefix = self.shared_choices(tokens);
        let group = index % u64::from(groups.max(1));
        let mut shared = match self.options.shared {
            Some(_) => self.key.of_run(b"prefixes", group),
            None => self.key.of_words(b"prefixes", group),
        };
        let mut beginning = self.key.beginning(index);
        move |position, among| match position {
            _ if unique && position < UNIQUE => beginning.choose(among),
            _ if position < prefix => draw(&mut shared, among),
            _ => draw(&mut own, among),
        }
    }
}
