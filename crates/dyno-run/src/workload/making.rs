//! The prompts of a level, made from each kind of data.

use super::account::Account;
use super::batch::Batch;
use super::fault::{SettingError, lengths, of_random};
use super::items::{self, Made};
use super::source::{ReplayedConversations, Source};
use super::trees::TreesOfLevel;
use super::{Items, Prepared, Workload, lock};
use crate::api::has_messages;
use dyno_drive::Share;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::prompt::{Content, Item};
use dyno_model::{Message, message};
use dyno_workload::agentic::AgenticLoad;
use dyno_workload::agentic::replay::TreeReplayer;
use dyno_workload::data::{Count, DataError, DataSet, PromptSelection, Selected};
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::random::{RandomOptions, RandomPrompts};
use dyno_workload::session::{SessionOptions, SyntheticSessions, said};
use dyno_workload::tokenizer::Tokenizer;
use dyno_workload::trace::{SessionPrompts, Trace, TracePrompts, TraceSessions};
use std::sync::{Arc, Mutex};

/// The level whose prompts are made.
#[derive(Clone, Copy)]
struct LevelContext<'a> {
    plan: &'a Plan,
    level: &'a LevelPlan,
    number: u32,
    key: Key,
}

impl LevelContext<'_> {
    fn input(&self) -> Result<Lengths, SettingError> {
        lengths("--input-tokens", &self.level.input_tokens.0)
    }

    fn output(&self) -> Result<Lengths, SettingError> {
        match self.plan.request.task.generates() {
            true => lengths("--output-tokens", &self.level.output_tokens.0),
            false => Ok(Lengths::fixed(1)),
        }
    }
}

impl Workload {
    /// The prompts of this load generator's part of a level; the message for the user if they cannot
    /// be made.
    pub(crate) fn items(
        &self,
        plan: &Plan,
        level: &LevelPlan,
        number: u32,
    ) -> Result<Items, Message> {
        super::memory::check(plan, level)?;
        let key = (plan.seed, number);
        let share = Share::new(level.load, level.max_concurrency, key, plan.shard);
        Ok(items::own(self.all(plan, level, number)?, share))
    }

    /// The prompts of a level; the message for the user if they cannot be made.
    pub(super) fn all(&self, plan: &Plan, level: &LevelPlan, number: u32) -> Result<Made, Message> {
        self.made(plan, level, number).map_err(|(_, message)| message)
    }

    /// The prompts of a level; the flag at fault and the message if they cannot be made.
    pub(super) fn made(
        &self,
        plan: &Plan,
        level: &LevelPlan,
        number: u32,
    ) -> Result<Made, SettingError> {
        let of = LevelContext { plan, level, number, key: self.attempt.key(plan, level, number) };
        if level.once && self.source.trees().is_none_or(AgenticLoad::is_endless) {
            let endless = message!(
                "the data have no end, so a level cannot end with them; give --requests or --duration",
                "数据没有终点，档位无法随之结束；请给出 --requests 或 --duration"
            );
            return Err(("--data", endless));
        }
        match &self.source {
            Source::Random(options) => self.random(of, options),
            Source::Made(options) => self.conversations(of, options),
            Source::Trace(trace) => self.replay(of, trace),
            Source::Sessions(sessions) => self.recorded_sessions(of, sessions),
            Source::Set(set, selection) => self.of_file(of, set, selection),
            Source::Led(led) => self.led(of, led),
            Source::Trees(load) => self.trees(of, load),
        }
    }

    fn account(&self) -> Arc<Mutex<Account>> {
        Arc::clone(&self.account)
    }

    fn random(&self, of: LevelContext<'_>, options: &RandomOptions) -> Result<Made, SettingError> {
        let input = of.input()?;
        let mut prepared = lock(&self.prepared);
        let prompts = match prepared.as_ref() {
            Some(Prepared::Random(prompts)) => prompts.again(input, of.key),
            _ => RandomPrompts::new(&self.tokenizer, input, of.key, options.clone()),
        };
        let prompts = Arc::new(prompts.map_err(of_random)?);
        *prepared = Some(Prepared::Random(Arc::clone(&prompts)));
        Ok(match Batch::of(of.plan, of.level) {
            Some(batch) => items::random_texts(prompts, batch, self.account()),
            None => items::random(prompts, of.output()?, of.key, self.text, self.account()),
        })
    }

    fn conversations(
        &self,
        of: LevelContext<'_>,
        options: &SessionOptions,
    ) -> Result<Made, SettingError> {
        let tokens = (of.input()?, of.output()?);
        let unique = of.plan.data.unique_prefix;
        let mut prepared = lock(&self.prepared);
        let sessions = match prepared.as_ref() {
            Some(Prepared::Made(sessions)) => sessions.again(tokens, of.key),
            _ => SyntheticSessions::new(&self.tokenizer, options.clone(), tokens, of.key, unique),
        };
        let sessions = Arc::new(sessions.map_err(of_random)?);
        *prepared = Some(Prepared::Made(Arc::clone(&sessions)));
        Ok(items::made(sessions, self.account()))
    }

    fn replay(&self, of: LevelContext<'_>, trace: &Trace) -> Result<Made, SettingError> {
        let (chat, unique) = (has_messages(of.plan), of.plan.data.unique_prefix);
        let made = TracePrompts::new(&self.tokenizer, trace.clone(), of.key, chat, unique);
        let prompts = Arc::new(made.map_err(|error| ("--data", Message::of(error)))?);
        *lock(&self.prepared) = Some(Prepared::Trace(Arc::clone(&prompts)));
        Ok(items::trace(prompts, self.text, self.account()))
    }

    fn recorded_sessions(
        &self,
        of: LevelContext<'_>,
        sessions: &TraceSessions,
    ) -> Result<Made, SettingError> {
        let (output, unique) = (of.output()?, of.plan.data.unique_prefix);
        let mut prepared = lock(&self.prepared);
        let made = match prepared.as_ref() {
            Some(Prepared::Sessions(prompts)) => Ok(prompts.again(output, of.key)),
            _ => SessionPrompts::new(&self.tokenizer, sessions.clone(), output, of.key, unique),
        };
        let prompts = Arc::new(made.map_err(|error| ("--data", Message::of(error)))?);
        *prepared = Some(Prepared::Sessions(Arc::clone(&prompts)));
        // Those of a load go on where the last level stopped; a replay is always the whole.
        let from = match self.scheduled_sessions() {
            Some(_) => 0,
            None => self.attempt.taken,
        };
        Ok(items::sessions(prompts, from, self.account()))
    }

    fn trees(&self, of: LevelContext<'_>, load: &AgenticLoad) -> Result<Made, SettingError> {
        let mut prepared = lock(&self.prepared);
        let replayer = match prepared.as_ref() {
            Some(Prepared::Trees(replayer)) => replayer.again(of.key),
            _ => {
                let chat = has_messages(of.plan);
                let mut options = load.replay;
                options.marker |= of.plan.data.unique_prefix;
                TreeReplayer::new(&self.tokenizer, options, of.key, chat).map_err(of_random)?
            }
        };
        let replayer = Arc::new(replayer);
        *prepared = Some(Prepared::Trees(Arc::clone(&replayer)));
        let trees = TreesOfLevel {
            load: load.clone(),
            replayer,
            key: of.key,
            number: of.number,
            from: self.attempt.taken,
            first: TreesOfLevel::first(of.level),
            by_time: of.level.duration_ns.is_some(),
            once: of.level.once,
            context: self.context,
            account: self.account(),
        };
        Ok(Box::new(trees.items()))
    }

    fn of_file(
        &self,
        of: LevelContext<'_>,
        set: &DataSet,
        selection: &PromptSelection,
    ) -> Result<Made, SettingError> {
        let count = self.counter(has_messages(of.plan), is_bounded(selection));
        let selected = self.selected(set, selection, count)?;
        let batch = self.batch(of.plan, of.level);
        let (each, key) = (batch.map_or(1, Batch::texts), (of.key, of.number));
        let one = items::selected(selected, of.output()?, key, each, self.account());
        Ok(match batch {
            Some(batch) => items::joined(one, batch),
            None => one,
        })
    }

    fn led(&self, of: LevelContext<'_>, led: &ReplayedConversations) -> Result<Made, SettingError> {
        let ReplayedConversations { set, selection, options } = led;
        let chat = has_messages(of.plan);
        let bounds = self.counter(chat, true).filter(|_| is_bounded(selection));
        let selected = self.selected(set, selection, bounds.map(counting_user_messages))?;
        let (count, key) = (self.counter(chat, false), (of.key, of.number));
        let (options, output) = (options.clone(), of.output()?);
        Ok(items::replayed(options, selected, count, output, key, self.account()))
    }

    /// How the texts of a file become requests; none where each record is one.
    pub(super) fn batch(&self, plan: &Plan, level: &LevelPlan) -> Option<Batch> {
        match &self.source {
            Source::Set(set, _) if set.holds_lists() => None,
            Source::Set(..) => Batch::of(plan, level),
            _ => None,
        }
    }

    /// The prompts of a file, from where the last level stopped.
    fn selected(
        &self,
        set: &DataSet,
        selection: &PromptSelection,
        count: Option<Count<'static>>,
    ) -> Result<Selected<'static>, SettingError> {
        let wrong = |error: DataError| ("--data", Message::of(error));
        let selection = PromptSelection { run: self.attempt.run, ..selection.clone() };
        let mut selected = selection.of(set, count).map_err(wrong)?;
        selected.pass_over(self.attempt.taken).map_err(wrong)?;
        Ok(selected)
    }

    /// Prompts that put the shared prefixes of a level into the server's cache; none without
    /// `--cache-hit`. `prompts` is about how many the level will send.
    pub(crate) fn primers(
        &self,
        plan: &Plan,
        level: &LevelPlan,
        number: u32,
        prompts: u64,
    ) -> Result<Vec<Item>, Message> {
        if plan.data.cache_hit.is_none() {
            return Ok(Vec::new());
        }
        let aside = self.fresh_copy();
        drop(aside.all(plan, level, number)?);
        let prepared = lock(&aside.prepared);
        match prepared.as_ref() {
            Some(Prepared::Random(made)) => made.primers(prompts).map_err(Message::of),
            _ => Ok(Vec::new()),
        }
    }

    /// Counts every item with the tokenizer that was given. Without one, the server's usage gives the
    /// counts; only bounds on the length need an estimate, since asking the server for each item would
    /// take too long.
    fn counter(&self, chat: bool, bounded: bool) -> Option<Count<'static>> {
        let tokenizer = match self.open_to_server {
            false => self.tokenizer.clone(),
            true if bounded => Tokenizer::estimate(),
            true => return None,
        };
        Some(Box::new(move |content: &Content| {
            tokenizer.count_content(content, chat).map_err(Message::of)
        }))
    }
}

fn is_bounded(selection: &PromptSelection) -> bool {
    selection.min_input.is_some() || selection.max_input.is_some()
}

/// Counts the user's messages of a recorded conversation: its responses are not sent.
pub fn counting_user_messages(count: Count<'static>) -> Count<'static> {
    Box::new(move |content| count(&said(content)))
}
