//! A prompt as a chain of texts: what a prompt keeps of another one is the same chain, and takes no room of its own. A chain
//! is cut at any token and continued until the prompt has the recorded length.

use std::sync::Arc;

use dyno_model::prompt::ChatMessage;

use super::shape::ChatShape;
use super::words::Words;

/// Who says a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
}

/// A text in a prompt, and everything before it.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) before: Option<Arc<Said>>,
    pub(super) by: Speaker,
    /// Whether it begins a message; otherwise it continues that of the text before it.
    pub(super) begins: bool,
    pub(super) words: Arc<Words>,
    /// How many tokens of the words it has.
    pub(super) taken: u32,
    /// Tokens of all texts up to its end.
    texts: u32,
    /// Responses up to here.
    answers: u32,
}

impl Said {
    /// A text behind others.
    pub(super) fn after(
        before: Option<Arc<Said>>,
        by: Speaker,
        begins: bool,
        words: Arc<Words>,
        taken: u32,
    ) -> Arc<Self> {
        let (texts, answers) = before.as_ref().map_or((0, 0), |one| (one.texts, one.answers));
        let answers = answers + u32::from(begins && by == Speaker::Assistant);
        Arc::new(Self {
            before,
            by,
            begins,
            words,
            taken,
            texts: texts.saturating_add(taken),
            answers,
        })
    }

    /// The same with fewer tokens.
    fn shortened(&self, taken: u32) -> Arc<Self> {
        Arc::new(Self {
            before: self.before.clone(),
            by: self.by,
            begins: self.begins,
            words: Arc::clone(&self.words),
            taken,
            texts: self.texts - (self.taken - taken),
            answers: self.answers,
        })
    }

    /// Tokens of all texts up to its end.
    pub(super) fn texts(&self) -> u32 {
        self.texts
    }

    /// Tokens of the prompt up to its end.
    pub(super) fn end(&self, shape: &ChatShape) -> u32 {
        let end = u64::from(shape.before)
            + u64::from(self.texts)
            + u64::from(self.answers) * u64::from(shape.pair());
        let end = end - if self.by == Speaker::Assistant { u64::from(shape.to_user) } else { 0 };
        u32::try_from(end).unwrap_or(u32::MAX)
    }

    /// Tokens of a prompt that ends with it.
    pub(super) fn total(&self, shape: &ChatShape) -> u32 {
        self.end(shape).saturating_add(shape.after)
    }

    /// It and everything before it, from the first on.
    pub(super) fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        let mut at = self;
        while let Some(before) = &at.before {
            at = before;
            all.push(at);
        }
        all.reverse();
        all
    }

    /// The messages.
    pub(super) fn messages(&self) -> Vec<ChatMessage> {
        let mut messages: Vec<ChatMessage> = Vec::new();
        for said in self.all() {
            let text = said.words.first(said.taken);
            match messages.last_mut().filter(|_| !said.begins) {
                Some(message) => message.content.push_str(text),
                None => {
                    let role = if said.by == Speaker::User { "user" } else { "assistant" };
                    messages.push(ChatMessage { role: role.to_owned(), content: text.to_owned() });
                }
            }
        }
        messages
    }

    /// All texts as one.
    pub(super) fn text(&self) -> String {
        self.all().into_iter().map(|said| said.words.first(said.taken)).collect()
    }
}

impl Drop for Said {
    /// A long chain is not dropped by recursion.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut one) = next.and_then(Arc::into_inner) {
            next = one.before.take();
        }
    }
}

/// What is left of a prompt that was cut.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub(super) last: Option<Arc<Said>>,
    /// The text behind the cut, and the first of its tokens that is not kept.
    pub(super) lost: Option<(Arc<Words>, u32)>,
}

impl Kept {
    /// The first so many tokens of a prompt.
    pub(super) fn of(prompt: &Arc<Said>, tokens: u32, shape: &ChatShape) -> Self {
        let mut lost = None;
        let mut at = prompt;
        loop {
            let end = at.end(shape);
            if tokens >= end {
                return Self { last: Some(Arc::clone(at)), lost };
            }
            let cut = at.taken.saturating_sub(end - tokens);
            lost = Some((Arc::clone(&at.words), cut));
            if cut > 0 {
                return Self { last: Some(at.shortened(cut)), lost };
            }
            match &at.before {
                Some(before) => at = before,
                None => return Self { last: None, lost },
            }
        }
    }

    /// Without its last tokens: at least one text shorter or gone.
    fn cut(&mut self, tokens: u32) {
        let Some(last) = self.last.take() else { return };
        let left = last.taken.saturating_sub(tokens);
        self.lost = Some((Arc::clone(&last.words), left));
        self.last = match left {
            0 => last.before.clone(),
            left => Some(last.shortened(left)),
        };
    }

    /// The text of the token behind the cut.
    pub(super) fn unlike(&self) -> &str {
        self.lost.as_ref().map_or("", |(words, kept)| words.next(*kept))
    }
}

/// What follows what is kept of a history, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growing {
    /// The first text of all.
    First(u32),
    /// So much of the response, and a message of the user.
    Pair(u32, u32),
    /// A message of the user behind a response.
    User(u32),
    /// More of the last message, of the user.
    More(u32),
    /// Nothing.
    Nothing,
}

/// Cuts what is kept further where that must be, and says what follows it, so that the prompt has `input` tokens in all
/// or as few as it can have. Of the response at most `output` are repeated.
pub(super) fn growing(kept: &mut Kept, input: u32, output: u32, shape: &ChatShape) -> Growing {
    loop {
        let Some(last) = &kept.last else {
            return Growing::First(input.saturating_sub(shape.alone()).max(1));
        };
        let room = i64::from(input) - i64::from(last.total(shape));
        let short = match last.by {
            Speaker::User => {
                let answer = i64::from(output).min(room - i64::from(shape.pair()) - 1);
                match (u32::try_from(room), u32::try_from(answer)) {
                    (Ok(room), Ok(answer)) if answer > 0 => {
                        return Growing::Pair(answer, room - shape.pair() - answer);
                    }
                    (Ok(0), _) => return Growing::Nothing,
                    (Ok(room), _) => return Growing::More(room),
                    (Err(_), _) => room.unsigned_abs(),
                }
            }
            Speaker::Assistant => {
                let user = room - i64::from(shape.to_user);
                match u32::try_from(user) {
                    Ok(user) if user > 0 => return Growing::User(user),
                    _ => (1 - user).unsigned_abs(),
                }
            }
        };
        kept.cut(u32::try_from(short).unwrap_or(u32::MAX));
    }
}
