//! Writes what a turn adds to the history that it keeps.

use std::collections::HashMap;
use std::sync::Arc;

use super::ReplayKit;
use super::history::{Growing, Kept, Said, Speaker};
use super::kept::MOST_TOKENS;
use super::words::{WordPlace, WordSource, Words};
use crate::agentic::key;
use crate::agentic::tree::{PromptParts, Tree, TreeTurn, TurnAt};
use crate::random::key::Key;

/// What was written for a tree.
#[derive(Debug, Default)]
pub(super) struct WrittenWords {
    /// The number of the tree in its level.
    index: u64,
    /// What prompts begin with before their own words.
    openings: HashMap<(u64, bool), Arc<Words>>,
    numbers: u32,
    pub(super) bytes: usize,
}

impl WrittenWords {
    pub(super) fn new(index: u64) -> Self {
        Self { index, ..Self::default() }
    }

    /// A number for a text.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers - 1
    }

    fn keep(&mut self, words: Arc<Words>) -> Arc<Words> {
        self.bytes += words.size();
        words
    }
}

/// Writes for one turn.
pub(super) struct TurnWriter<'a> {
    kit: &'a ReplayKit,
    written: &'a mut WrittenWords,
    source: WordSource<'a>,
    /// Tokens that are shared by all trees, and by which number they are known.
    head: (u32, u64),
}

impl<'a> TurnWriter<'a> {
    pub(super) fn new(
        kit: &'a ReplayKit,
        written: &'a mut WrittenWords,
        tree: &'a Tree,
        at: TurnAt,
        input: u32,
        salt: u64,
    ) -> Self {
        let ids = tree.turn(at).map_or(&[][..], |turn: &TreeTurn| &turn.ids);
        let size = match tree.prompts {
            PromptParts::Blocks { size, .. } => size.max(1),
            _ => u32::MAX,
        };
        let rest = match ids.is_empty() {
            false => key::after(ids.iter().copied().fold(salt, key::after), u64::from(input)),
            true => key::after(key::after(salt, at.session as u64), at.turn as u64),
        };
        let source = WordSource::Turn { ids, size, salt, rest };
        Self { kit, written, source, head: head(kit, tree, at) }
    }

    /// The prompt with what follows its kept part. A response of the server's stands for one that would be written.
    pub(super) fn grow(
        &mut self,
        kept: &Kept,
        growing: Growing,
        live: Option<Arc<Words>>,
    ) -> Arc<Said> {
        let (last, unlike) = (kept.last.clone(), kept.unlike());
        match (growing, last) {
            (Growing::First(tokens), _) => self.first(tokens, unlike),
            (Growing::Nothing, Some(said)) => said,
            (Growing::Nothing, None) => self.first(1, unlike),
            (Growing::More(tokens), last) => self.add(last, Speaker::User, false, tokens, unlike),
            (Growing::User(tokens), last) => self.add(last, Speaker::User, true, tokens, unlike),
            (Growing::Pair(answer, user), last) => {
                let answer = match live {
                    Some(words) => {
                        let (words, tokens) = (self.written.keep(words), answer);
                        Said::after(last, Speaker::Assistant, true, words, tokens)
                    }
                    None => self.add(last, Speaker::Assistant, true, answer, unlike),
                };
                self.add(Some(answer), Speaker::User, true, user, "")
            }
        }
    }

    /// A first text: what it has in common with other trees, what no other has, and its own words.
    fn first(&mut self, tokens: u32, unlike: &str) -> Arc<Said> {
        let mut last: Option<Arc<Said>> = None;
        for words in [self.shared(), self.marker()].into_iter().flatten() {
            let left = tokens - last.as_ref().map_or(0, |said| said.texts());
            if left > 0 {
                let (begins, taken) = (last.is_none(), words.tokens.min(left));
                last = Some(Said::after(last, Speaker::User, begins, words, taken));
            }
        }
        let left = tokens - last.as_ref().map_or(0, |said| said.texts());
        match last {
            Some(said) if left == 0 => said,
            last => {
                let (begins, unlike) = (last.is_none(), if last.is_none() { unlike } else { "" });
                self.add(last, Speaker::User, begins, left, unlike)
            }
        }
    }

    /// The system's text and the definitions of tools, where all trees share them.
    fn shared(&mut self) -> Option<Arc<Words>> {
        let (tokens, number) = self.head;
        self.opening(number, tokens, WordSource::Head(number), true)
    }

    fn marker(&mut self) -> Option<Arc<Words>> {
        let marker = if self.kit.options.marker { self.kit.vocabulary.marker() } else { 0 };
        let number = self.written.index;
        // Behind a head it is another text than at the beginning.
        let begins = self.head.0 == 0;
        self.opening(u64::from(begins), marker, WordSource::Marker(number), begins)
    }

    fn opening(
        &mut self,
        number: u64,
        tokens: u32,
        source: WordSource<'_>,
        begins: bool,
    ) -> Option<Arc<Words>> {
        if tokens == 0 {
            return None;
        }
        let name = (number, matches!(source, WordSource::Marker(_)));
        if let Some(words) = self.written.openings.get(&name) {
            return Some(Arc::clone(words));
        }
        let place = WordPlace { at: 0, begins, unlike: "" };
        let words = self.write(source, place, tokens);
        self.written.openings.insert(name, Arc::clone(&words));
        Some(words)
    }

    fn add(
        &mut self,
        last: Option<Arc<Said>>,
        by: Speaker,
        begins: bool,
        tokens: u32,
        unlike: &str,
    ) -> Arc<Said> {
        let shape = &self.kit.shape;
        let end = last.as_ref().map_or(shape.before, |last| last.end(shape));
        let between = match (begins && last.is_some(), by) {
            (false, _) => 0,
            (true, Speaker::Assistant) => shape.to_answer,
            (true, Speaker::User) => shape.to_user,
        };
        let begins_text = if shape.plain { last.is_none() } else { begins };
        let place = WordPlace { at: end.saturating_add(between), begins: begins_text, unlike };
        let words = self.write(self.source, place, tokens);
        Said::after(last, by, begins, words, tokens)
    }

    fn write(&mut self, source: WordSource<'_>, place: WordPlace<'_>, tokens: u32) -> Arc<Words> {
        let number = self.written.number();
        let unmarked = Key { run: 0, ..self.kit.key };
        let key = if self.kit.options.marker { self.kit.key } else { unmarked };
        self.written.keep(self.kit.vocabulary.write(key, source, place, tokens, number))
    }
}

/// How many tokens of text a turn's prompt shares with all trees, and the number of that text: heads of one length, for the
/// same kind of session, are the same.
fn head(kit: &ReplayKit, tree: &Tree, at: TurnAt) -> (u32, u64) {
    let session = tree.sessions.get(at.session);
    let head = session.and_then(|one| one.head).filter(|_| kit.options.share_system);
    let Some((tools, system)) = head else { return (0, 0) };
    let tokens = u32::try_from(tools.saturating_add(system)).unwrap_or(u32::MAX);
    let kind = session.and_then(|one| one.kind.as_deref()).unwrap_or_default();
    let number = key::after(key::after(key::of_text(kind), tools), system);
    (tokens.min(MOST_TOKENS).saturating_sub(kit.shape.before), number)
}
