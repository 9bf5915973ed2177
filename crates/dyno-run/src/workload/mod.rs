//! The data of a run: opened and checked before anything is sent (`source`), turned into the prompts of
//! each level (`making`) on the encoder's thread (`items`), and accounted for in notes (`account`, `notes`).

mod account;
mod again;
mod batch;
mod fault;
pub(crate) mod files;
mod items;
mod making;
mod memory;
mod notes;
#[cfg(test)]
mod share_tests;
mod source;
mod trees;

pub use making::counting_user_messages;
pub use source::{limits, not_truncated, selection};

use crate::api::has_messages;
use crate::tokenize::{CountedBy, Failure};
use account::Account;
pub(crate) use account::DataReport;
pub(crate) use again::Attempt;
use batch::Batch;
use dyno_drive::Sending;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::prompt::{Content, Item};
use dyno_model::{Diagnostic, Message, Nanos, message};
use dyno_workload::agentic::AgenticLoad;
use dyno_workload::agentic::replay::TreeReplayer;
use dyno_workload::data::CheckedData;
use dyno_workload::random::RandomPrompts;
use dyno_workload::session::SyntheticSessions;
use dyno_workload::tokenizer::Tokenizer;
use dyno_workload::trace::{SessionPrompts, Trace, TracePrompts, TraceSessions};
pub(crate) use fault::BY_COUNTS;
pub use fault::SettingError;
use source::Source;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The data of a run.
#[derive(Clone)]
pub struct Workload {
    tokenizer: Tokenizer,
    /// Why the server stopped counting, if it did.
    failure: Failure,
    /// How the server counts, where it does.
    counting: Option<CountedBy>,
    /// No tokenizer was given, so the server may be asked to count.
    open_to_server: bool,
    source: Source,
    /// What was checked of a data file.
    checked: Option<CheckedData>,
    /// Prompts of an earlier level: the search for single-token words is done once.
    prepared: Arc<Mutex<Option<Prepared>>>,
    account: Arc<Mutex<Account>>,
    text: Text,
    /// Makes its prompts differ from those of other runs and attempts.
    attempt: Attempt,
    /// The data file, once it is settled what it is.
    watched: Option<files::Watched>,
    /// The most tokens of a prompt with its response, where the server says so.
    context: Option<u32>,
}

/// Where the files of a plan are, where they are not where it says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    pub(crate) data: Option<PathBuf>,
    pub(crate) tokenizer: Option<PathBuf>,
}

/// Whether anything reads the text of prompts, or only their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Read,
    Unread,
}

/// Prompts whose lengths were made with a tokenizer.
#[derive(Clone)]
enum Prepared {
    Random(Arc<RandomPrompts>),
    Made(Arc<SyntheticSessions>),
    Trace(Arc<TracePrompts>),
    Sessions(Arc<SessionPrompts>),
    Trees(Arc<TreeReplayer>),
}

/// Mean lengths of the requests of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typical {
    /// Mean tokens of a prompt.
    pub(crate) input: u32,
    /// Mean tokens of a response.
    pub(crate) output: u32,
}

/// Requests sampled for mean lengths.
const LOOKED_AT: u64 = 200;

/// Makes prompts one after the other, on the encoder's thread; `None` when there are no more.
pub(crate) type Items = Box<dyn FnMut(u64) -> Option<Sending> + Send>;

impl Workload {
    /// Opens and checks the data of a plan; the flag at fault and the message if that fails.
    pub fn open(plan: &Plan) -> Result<Self, SettingError> {
        Self::open_at(plan, &Places::default())
    }

    /// The same, with files in other places than the plan says.
    pub(crate) fn open_at(plan: &Plan, places: &Places) -> Result<Self, SettingError> {
        let data = &plan.data;
        let elsewhere = places.tokenizer.as_deref();
        let tokenizer = match elsewhere.or(data.tokenizer.as_deref().map(Path::new)) {
            Some(path) => {
                Tokenizer::load(path).map_err(|error| ("--tokenizer", Message::of(error)))?
            }
            None => Tokenizer::estimate(),
        };
        let source =
            Source::open(plan, places.data.as_deref()).map_err(|message| ("--data", message))?;
        let checked = source.check().map_err(|error| ("--data", Message::of(error)))?;
        Ok(Self {
            tokenizer,
            failure: Failure::default(),
            counting: None,
            open_to_server: data.tokenizer.is_none(),
            source,
            checked,
            prepared: Arc::default(),
            account: Arc::default(),
            text: Text::Read,
            attempt: Attempt::default(),
            watched: None,
            context: None,
        })
    }

    /// The same data for another run, with a separate account.
    pub fn for_other_run(&self) -> Self {
        Self { account: Arc::default(), ..self.clone() }
    }

    /// What a data file was recognised as, in one line.
    pub fn recognised(&self) -> Option<Message> {
        self.source.recognised()
    }

    /// What the user of a data file should know before anything is sent.
    pub fn warnings(&self) -> Vec<Message> {
        self.source.warnings()
    }

    /// What was checked of a data file, for people to read.
    pub fn checked(&self) -> Vec<Diagnostic> {
        self.checked.as_ref().map_or_else(Vec::new, notes::checked)
    }

    /// Whether the data are conversations, whose turns depend on the responses.
    pub fn is_session(&self) -> bool {
        self.source.is_session()
    }

    /// Whether prompts contain the server's responses, so that their text is kept.
    pub fn needs_answers(&self) -> bool {
        self.source.trees().map_or(self.is_session(), AgenticLoad::answers_matter)
    }

    /// Whether it can only be sent over APIs with messages.
    pub fn needs_messages(&self) -> bool {
        self.is_session() && self.source.trees().is_none()
    }

    /// Nothing may be in flight for longer than this.
    pub(crate) fn max_idle(&self) -> Option<Nanos> {
        self.source.trees().and_then(|load| load.max_idle)
    }

    /// The server takes prompts and responses of so many tokens together.
    pub(crate) fn set_context(&mut self, context: Option<u32>) {
        self.context = context;
    }

    /// How many requests a trace has.
    pub fn trace_length(&self) -> Option<u64> {
        match (&self.source, self.scheduled_sessions()) {
            (Source::Trace(trace), _) => Some(trace.len()),
            (_, sessions) => sessions.map(TraceSessions::requests),
        }
    }

    /// When the arrivals of a trace are due: its requests, or the first ones of its sessions.
    pub(crate) fn schedule(&self) -> Option<Box<dyn Iterator<Item = Nanos> + '_>> {
        match (&self.source, self.scheduled_sessions()) {
            (Source::Trace(trace), _) => Some(Box::new(trace.schedule())),
            (_, sessions) => sessions.map(|sessions| Box::new(sessions.schedule()) as _),
        }
    }

    /// How long the schedule of a trace is, at the speed of the replay; of recorded sessions, that depends on
    /// the responses.
    pub fn trace_lasts(&self) -> Option<Nanos> {
        Some(self.trace()?.duration())
    }

    /// Recorded sessions that start at their own times.
    fn scheduled_sessions(&self) -> Option<&TraceSessions> {
        match &self.source {
            Source::Sessions(sessions) => {
                Some(sessions).filter(|sessions| sessions.schedule().next().is_some())
            }
            _ => None,
        }
    }

    fn trace(&self) -> Option<&Trace> {
        match &self.source {
            Source::Trace(trace) => Some(trace),
            _ => None,
        }
    }

    /// Whether the server may be asked to count, because no tokenizer was given.
    pub(crate) fn is_open_to_server(&self) -> bool {
        self.open_to_server
    }

    /// Counts with another tokenizer from now on.
    pub(crate) fn count_with(
        &mut self,
        tokenizer: Tokenizer,
        failure: Failure,
        counting: Option<CountedBy>,
    ) {
        self.tokenizer = tokenizer;
        self.failure = failure;
        self.counting = counting;
        self.prepared = Arc::default();
    }

    /// Leaves the text of synthetic prompts out: the recipient looks at their lengths alone.
    pub(crate) fn leave_text_out(&mut self) {
        self.text = Text::Unread;
    }

    /// Makes its prompts differ from those of other runs and attempts. Of what earlier attempts took,
    /// only the number of requests is known: each had at most as many texts as the largest of the plan.
    pub(crate) fn set_attempt(&mut self, plan: &Plan, mut attempt: Attempt) {
        let texts = |level| self.batch(plan, level).map_or(1, Batch::texts);
        let most = plan.levels.iter().map(texts).max().unwrap_or(1);
        attempt.taken = attempt.taken.saturating_mul(most);
        self.attempt = attempt;
    }

    /// What its prompts depend on besides the plan.
    pub(crate) fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// Goes on from a position that others have reached.
    pub(crate) fn go_on_from(&mut self, attempt: Attempt) {
        self.attempt = attempt;
    }

    /// How the server counts tokens, where it does.
    pub(crate) fn counting(&self) -> Option<&CountedBy> {
        self.counting.as_ref()
    }

    /// Whether prompts depend on how the server counts tokens: those of a file are sent as they are.
    pub(crate) fn asks_for_counts(&self) -> bool {
        !matches!(self.source, Source::Set(..) | Source::Led(_))
    }

    /// Why the server stopped counting, if it did.
    pub(crate) fn uncounted(&self) -> Option<Message> {
        self.failure.get()
    }

    /// A number that differs between runs.
    pub(crate) fn run(&self) -> u64 {
        self.attempt.run
    }

    /// A level has sent this many requests or conversations; the next one continues behind their
    /// prompts.
    pub(crate) fn took(&mut self, plan: &Plan, level: &LevelPlan, sent: u64) {
        if !plan.data.same_prompts {
            self.attempt.taken += sent * self.batch(plan, level).map_or(1, Batch::texts);
        }
    }

    /// The same data, from their beginning, without an account.
    fn fresh_copy(&self) -> Self {
        let mut aside = Self { account: Arc::default(), ..self.clone() };
        aside.attempt.taken = 0;
        aside
    }

    /// The error that ended the data early.
    pub(crate) fn error(&self) -> Option<Message> {
        lock(&self.account).error.clone()
    }

    /// A prompt like those of the first level, but not one of them, to compare token counts; `None`
    /// where tokens are not counted.
    pub(crate) fn specimen(&self, plan: &Plan) -> Result<Option<Item>, Message> {
        let synthetic = match &self.source {
            Source::Random(_) | Source::Made(_) => Some(u64::MAX >> 16),
            Source::Trace(_) | Source::Sessions(_) => return self.unrelated_prompt(plan),
            Source::Trees(_) => return Ok(None),
            Source::Set(..) | Source::Led(_) if self.open_to_server => return Ok(None),
            Source::Set(..) | Source::Led(_) => None,
        };
        let aside = self.fresh_copy();
        let Some(level) = plan.levels.first() else { return Ok(None) };
        let made = aside.all(plan, level, 0)?.make(synthetic.unwrap_or(0));
        let item = match made {
            Some(Sending::Single(item, _)) => item,
            Some(Sending::Conversation(conversation)) => {
                let Some(first) = conversation.turns.into_iter().next() else { return Ok(None) };
                let content = Content::Messages(first.messages);
                Item { content, output_tokens: None, input_tokens: conversation.input_tokens }
            }
            Some(Sending::Tree(_)) | None => return Ok(None),
        };
        let text = match item.content {
            _ if synthetic.is_some() => return Ok(Some(item)),
            Content::Text(text) => text,
            _ => return Ok(None),
        };
        // The prompt that is sent later must not find its prefix in a cache.
        let content = Content::Text(format!("({}) {text}", plan.seed));
        let tokens =
            self.tokenizer.count_content(&content, has_messages(plan)).map_err(Message::of)?;
        Ok(Some(Item { content, output_tokens: None, input_tokens: Some(tokens) }))
    }

    /// A prompt as long as the first of a trace, of which it has no words: whatever a server caches of
    /// it, the replay finds nothing of its own.
    fn unrelated_prompt(&self, plan: &Plan) -> Result<Option<Item>, Message> {
        let aside = self.fresh_copy();
        let Some(level) = plan.levels.first() else { return Ok(None) };
        drop(aside.all(plan, level, 0)?);
        let prepared = lock(&aside.prepared);
        match prepared.as_ref() {
            Some(Prepared::Trace(made)) => made.apart().map_err(Message::of),
            Some(Prepared::Sessions(made)) => made.apart().map_err(Message::of),
            _ => Ok(None),
        }
    }

    /// Mean lengths of the requests of a level; `None` for conversations, which grow, and where tokens
    /// are not counted.
    pub(crate) fn typical(&self, plan: &Plan, number: u32) -> Result<Option<Typical>, Message> {
        if self.is_session() {
            return Ok(None);
        }
        let aside = self.fresh_copy();
        let Some(level) = plan.levels.get(number as usize) else { return Ok(None) };
        let mut items = aside.all(plan, level, number)?;
        let (mut count, mut input, mut output) = (0_u64, 0_u64, 0_u64);
        for index in 0..LOOKED_AT {
            let Some(Sending::Single(item, asked)) = items.make(index) else { break };
            let counted = match item.input_tokens {
                Some(tokens) => Ok(tokens),
                None => self.tokenizer.count_content(&item.content, has_messages(plan)),
            };
            input += u64::from(counted.map_err(Message::of)?);
            output += u64::from(item.output_tokens.unwrap_or(asked));
            count += 1;
        }
        let mean = |sum: u64| u32::try_from((sum + count / 2) / count.max(1)).unwrap_or(u32::MAX);
        Ok((count > 0).then(|| Typical { input: mean(input).max(1), output: mean(output).max(1) }))
    }

    /// Makes sure, before anything is sent, that every level has something to send.
    pub fn check(&self, plan: &Plan) -> Result<(), SettingError> {
        let aside = self.fresh_copy();
        // Agents check their own part, each with its own memory.
        for level in plan.levels.iter().filter(|_| plan.fleet.is_none()) {
            memory::check(plan, level).map_err(|message| ("--input-tokens", message))?;
        }
        let is_read = self.source.selection().is_some() || self.trace().is_some();
        if is_read || self.source.trees().is_some() {
            let Some(level) = plan.levels.first() else { return Ok(()) };
            let mut items = aside.made(plan, level, 0)?;
            if level.inputs.is_some() && self.batch(plan, level).is_none() {
                let fixed = message!(
                    "the records of the data say how many texts a request has; remove it",
                    "每个请求的文本数由数据中的记录决定；请去掉此参数",
                );
                return Err(("--inputs", fixed));
            }
            return match (items.make(0), aside.error()) {
                (Some(_), _) => Ok(()),
                (None, why) => {
                    let none = || message!("there is no prompt", "没有提示词");
                    Err(("--data", why.unwrap_or_else(none)))
                }
            };
        }
        let mut levels = (0..).zip(&plan.levels);
        levels.try_for_each(|(number, level)| aside.made(plan, level, number).map(drop))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
