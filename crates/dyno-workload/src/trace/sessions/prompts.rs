//! The conversations of recorded sessions: text of the lengths that each request adds, or the text of
//! the recording.

use dyno_model::prompt::{Conversation, UserTurn};

use super::TraceSessions;
use crate::random::key::Key;
use crate::random::lengths::Lengths;
use crate::random::{Check, Maker, RandomError};
use crate::tokenizer::Tokenizer;
use crate::trace::prompts::Chooser;
use dyno_model::prompt::{ChatMessage, Content, Item};

/// Later messages have words of their own series, so that they differ from first ones.
const LATER: u32 = 1 << 29;
/// Requests are numbered within their session's share of the numbers.
const TURN_BITS: u32 = 16;
/// The series of a prompt that is in no session, and its number, which none has.
const APART: u32 = 1 << 30;
const NO_SESSION: u64 = u64::MAX >> TURN_BITS;

/// Makes the conversations of recorded sessions: the same key and index give the same messages.
#[derive(Debug)]
pub struct SessionPrompts {
    sessions: TraceSessions,
    /// Makes messages whose length includes the chat template around a single one.
    maker: Maker,
    /// What the template puts around a response and the message after it.
    around: u32,
    output: Lengths,
    key: Key,
    unique: bool,
    /// Choices that fill a block.
    block: u32,
}

impl SessionPrompts {
    /// Prepares the conversations. `output` is for responses whose length was not recorded.
    pub fn new(
        tokenizer: &Tokenizer,
        sessions: TraceSessions,
        output: Lengths,
        key: Key,
        unique: bool,
    ) -> Result<Self, RandomError> {
        let maker = Maker::new(tokenizer, true)?;
        let around = around(tokenizer, &maker)?;
        let block = f64::from(sessions.inner.block) / maker.tokens_of_a_choice();
        let block = (block.round() as u32).max(1);
        Ok(Self { sessions, maker, around, output, key, unique, block })
    }

    /// The same for another level, without analysing the tokenizer again.
    pub fn again(&self, output: Lengths, key: Key) -> Self {
        Self { sessions: self.sessions.clone(), maker: self.maker.again(), output, key, ..*self }
    }

    /// The sessions.
    pub fn sessions(&self) -> &TraceSessions {
        &self.sessions
    }

    /// The conversation of an arrival; after the last session they begin again, with other words where
    /// the words are synthetic.
    pub fn conversation(&self, index: u64) -> Result<Conversation, RandomError> {
        let sessions = &self.sessions;
        let place = (index % sessions.len().max(1)) as usize;
        let range = sessions.range(place).unwrap_or_default();
        let mut rng = self.key.of_lengths(b"recorded", index);
        let (mut turns, mut input_tokens) = (Vec::with_capacity(range.len()), None);
        for (number, at) in range.enumerate() {
            let turn = sessions.inner.turns[at];
            let messages = match sessions.inner.said.get(at) {
                Some(said) => self.said(said, index, number),
                None if number == 0 => {
                    input_tokens = Some(turn.added.max(self.maker.shortest()));
                    vec![ChatMessage::user(self.begin(index, place, turn.added)?)]
                }
                None => vec![ChatMessage::user(self.go_on(index, number, turn.added)?)],
            };
            let think = match sessions.inner.think {
                Some(think) if number > 0 => think.sample(&mut rng),
                _ => turn.pause,
            };
            let asked = match turn.output {
                0 if sessions.have_text() => self.output.sample(&mut rng),
                output => output.max(1),
            };
            turns.push(UserTurn { think, messages, output_tokens: asked });
        }
        Ok(Conversation { turns, input_tokens })
    }

    /// Recorded messages, with a number before the first where no two may begin alike.
    fn said(&self, said: &[ChatMessage], index: u64, number: usize) -> Vec<ChatMessage> {
        let mut said = said.to_vec();
        if let (true, 0, Some(first)) = (self.unique, number, said.first_mut()) {
            first.content = format!("({:x}-{index}) {}", self.key.run, first.content);
        }
        said
    }

    fn begin(&self, index: u64, place: usize, tokens: u32) -> Result<String, RandomError> {
        let tokens = tokens.max(self.maker.shortest());
        let ids = self.sessions.inner.ids.get(place).map_or(&[][..], Vec::as_slice);
        let ids = if self.unique { &[] } else { ids };
        // Sessions without ids have unique prefixes, too, which the same seed would repeat.
        let key = if self.unique { self.key } else { Key { run: 0, ..self.key } };
        self.maker.text(index, tokens, || {
            let mut chooser = Chooser::new(key, index, ids, self.block);
            move |position, among| chooser.choose(position, among)
        })
    }

    fn go_on(&self, index: u64, number: usize, added: u32) -> Result<String, RandomError> {
        let tokens = self.alone(added).max(self.maker.shortest());
        let number = (index << TURN_BITS).wrapping_add(number as u64);
        self.maker.text(number, tokens, || {
            let mut chooser = Chooser::new(self.key.apart(LATER), number, &[], self.block);
            move |position, among| chooser.choose(position, among)
        })
    }

    /// The tokens that a message has alone, with which the conversation grows by `added`.
    fn alone(&self, added: u32) -> u32 {
        added.saturating_sub(self.around).saturating_add(self.maker.shortest() - 1)
    }

    /// A prompt as long as the first one, whose text is in none of the sessions.
    pub fn apart(&self) -> Result<Option<Item>, RandomError> {
        let Some(turn) = self.sessions.inner.turns.first().filter(|_| !self.sessions.have_text())
        else {
            return Ok(None);
        };
        let tokens = turn.added.max(self.maker.shortest());
        let text = self.maker.text(NO_SESSION, tokens, || {
            let mut chooser = Chooser::new(self.key.apart(APART), NO_SESSION, &[], self.block);
            move |position, among| chooser.choose(position, among)
        })?;
        let content = Content::Text(text);
        Ok(Some(Item { content, output_tokens: None, input_tokens: Some(tokens) }))
    }

    /// How many requests of the first `sessions` add less than a message can be, and are sent with the
    /// shortest.
    pub fn raised(&self, sessions: u64) -> u64 {
        if self.sessions.have_text() {
            return 0;
        }
        let taken = sessions.min(self.sessions.len()) as usize;
        let raised = |(number, turn): (usize, &super::Turn)| match number {
            0 => turn.added < self.maker.shortest(),
            _ => self.alone(turn.added) < self.maker.shortest(),
        };
        let of = |place| self.sessions.turns(place).unwrap_or_default();
        (0..taken).map(|p| of(p).iter().enumerate().filter(|t| raised(*t)).count() as u64).sum()
    }

    /// Whether prompts are put together from verified pieces.
    pub fn from_pieces(&self) -> bool {
        self.maker.uses_pieces()
    }

    /// What the prompts that were counted again showed so far.
    pub fn checks(&self) -> Check {
        self.maker.checks()
    }
}

/// Tokens that the chat template puts around a response and the message after it, measured with words
/// that the messages are made of. Alone, a message has `shortest - 1` tokens around it.
fn around(tokenizer: &Tokenizer, maker: &Maker) -> Result<u32, RandomError> {
    if !tokenizer.has_template() {
        return Ok(0);
    }
    const OWN: [u32; 2] = [5, 3];
    let alone = maker.shortest() - 1;
    let text = |own: u32| {
        maker.text(NO_SESSION, alone + own, || {
            let mut chooser = Chooser::new(Key::default(), NO_SESSION, &[], 1);
            move |position, among| chooser.choose(position, among)
        })
    };
    let [message, response] = [text(OWN[0])?, text(OWN[1])?];
    let response = ChatMessage { role: "assistant".into(), content: response };
    let all = [ChatMessage::user(message.as_str()), response, ChatMessage::user(message.as_str())];
    let grown = tokenizer.count_messages(&all)?.saturating_sub(alone + OWN[0]);
    Ok(grown.saturating_sub(OWN[0] + OWN[1]))
}
