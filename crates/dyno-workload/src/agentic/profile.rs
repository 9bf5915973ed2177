//! What a file or a folder of agentic traffic holds, counted tree by tree, so that memory does not grow with its prompts.

use std::collections::BTreeSet;
use std::path::Path;

use dyno_model::tree::Growth;
use dyno_model::{Nanos, message};

use super::copies::Copies;
use super::format::AgenticFormat;
use super::generated::GeneratedTrees;
use super::growth::growth_of;
use super::ideal::{self, PrefixShares};
use super::notes::AgenticNotes;
use super::reader::{TreeDetail, Trees};
use super::tree::Tree;
use super::waits::peak;
use crate::data::{DataError, DataSpread};

/// What agentic traffic holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgenticProfile {
    /// What was read, in words.
    pub name: String,
    /// The formats of its files.
    pub formats: BTreeSet<AgenticFormat>,
    /// Files that were read.
    pub files: u64,
    /// Independent tasks.
    pub trees: u64,
    /// Sessions, of agents and sub-agents; absent where the file does not say which requests are one.
    pub sessions: Option<u64>,
    /// Sessions that another one started.
    pub subagents: Option<u64>,
    /// Sub-agents that no request waits for.
    pub background: Option<u64>,
    /// Requests of all sessions.
    pub requests: u64,
    /// Requests that wait for more than their own session.
    pub joins: u64,
    /// Input tokens of all requests.
    pub input_tokens: Option<u64>,
    /// Output tokens of all requests.
    pub output_tokens: Option<u64>,
    /// The share of the input in the longest prefix that an earlier prompt had.
    pub ideal_cache_share: Option<f64>,
    /// The same, with the responses that prompts repeat.
    pub ideal_with_responses: Option<f64>,
    /// The share of the input that the recording server had cached.
    pub recorded_cache_share: Option<f64>,
    /// What shares are of, where there are no tokens.
    pub unit: Option<&'static str>,
    /// Requests that keep the prompt before them and hold less than its response.
    pub responses_trimmed: Option<u64>,
    /// Requests that do not keep the prompt before them.
    pub histories_cut: Option<u64>,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Requests with results of tools, and how many results.
    pub tool_results: (u64, u64),
    /// Records of tools, where the format has some.
    pub tool_events: Option<u64>,
    /// Gaps of all requests that have one, in milliseconds.
    pub gaps: DataSpread,
    /// Their sum.
    pub gaps_total: Nanos,
    /// How many requests of a tree overlapped at most; absent where a file does not say when they ended.
    pub peak_parallel: Option<u64>,
    /// Trees that repeat another.
    pub copies: u64,
    /// Requests of a session.
    pub turns: DataSpread,
    /// Input tokens of a request.
    pub input: DataSpread,
    /// Output tokens of a request.
    pub output: DataSpread,
    /// The models that were asked.
    pub models: BTreeSet<String>,
    /// What was left out, and what is remarkable.
    pub notes: AgenticNotes,
}

/// Sums of which the profile has shares.
#[derive(Default)]
struct ProfileSums {
    shares: Option<PrefixShares>,
    cached: (u64, u64),
    copies: Copies,
    untimed: bool,
    /// Whether any tree is of OpenTelemetry.
    spans: bool,
}

/// Only OpenTelemetry's spans have whole prompts, whose messages are compared whole.
fn unit_of_texts(spans: bool) -> &'static str {
    match spans {
        true => "characters, whole messages",
        false => "characters",
    }
}

impl AgenticProfile {
    /// Reads a file or all files of a folder.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Self::of(path.display().to_string(), Trees::open(path, TreeDetail::Lengths)?)
    }

    /// Reads a file that is in memory.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        Self::of(name.to_owned(), Trees::from_bytes(name, bytes, TreeDetail::Lengths))
    }

    /// The first trees that are generated.
    pub fn of_generated(name: String, trees: &GeneratedTrees, count: u64) -> Self {
        let mut profile = Self::counted(name, (0..count).map(|index| vec![trees.tree(index)]));
        profile.formats.insert(AgenticFormat::Generated);
        profile
    }

    fn of(name: String, mut trees: Trees) -> Result<Self, DataError> {
        let mut profile = Self::counted(name, std::iter::from_fn(|| trees.next_batch()));
        profile.formats.clone_from(trees.formats());
        profile.files = trees.files();
        profile.tool_events = trees.tool_events();
        profile.notes = trees.notes().clone();
        match profile.trees {
            0 => Err(profile.nothing()),
            _ => Ok(profile),
        }
    }

    /// Counts what trees hold that share a clock and the ids of their blocks, batch by batch.
    fn counted(name: String, batches: impl Iterator<Item = Vec<Tree>>) -> Self {
        let mut profile = Self {
            name,
            sessions: Some(0),
            subagents: Some(0),
            background: Some(0),
            peak_parallel: Some(0),
            ..Self::default()
        };
        let mut sums = ProfileSums::default();
        for batch in batches {
            batch.iter().for_each(|tree| profile.tree(tree, &mut sums));
            profile.batch(&batch, &mut sums);
        }
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        if let Some(shares) = sums.shares.filter(|shares| !shares.unknown) {
            profile.ideal_cache_share = share(shares.seen, shares.input);
            profile.ideal_with_responses = share(shares.with_responses, shares.input);
            profile.unit = shares.characters.then_some(unit_of_texts(sums.spans));
        }
        profile.recorded_cache_share = share(sums.cached.0, sums.cached.1);
        profile.peak_parallel = profile.peak_parallel.filter(|_| !sums.untimed);
        profile
    }

    fn tree(&mut self, tree: &Tree, sums: &mut ProfileSums) {
        self.trees += 1;
        sums.spans |= tree.format == AgenticFormat::Otel;
        self.copies += u64::from(sums.copies.repeats(tree));
        let tells = tree.format.tells_sessions();
        let count = |total: Option<u64>, new: usize| {
            total.filter(|_| tells).map(|total| total + new as u64)
        };
        self.sessions = count(self.sessions, tree.sessions.len());
        self.subagents = count(self.subagents, tree.sessions.len() - 1);
        self.background = count(self.background, tree.background());
        if let Some((input, output)) = tree.totals {
            self.input_tokens = Some(self.input_tokens.unwrap_or(0) + input);
            self.output_tokens = Some(self.output_tokens.unwrap_or(0) + output);
        }
        let mut times = Vec::with_capacity(tree.turns());
        for (at, turn) in tree.all() {
            self.requests += 1;
            self.joins += u64::from(tree.joins(at));
            let add = |total: &mut Option<u64>, spread: &mut DataSpread, tokens: Option<u64>| {
                if let Some(tokens) = tokens {
                    *total = Some(total.unwrap_or(0).saturating_add(tokens));
                    spread.add(u32::try_from(tokens).unwrap_or(u32::MAX));
                }
            };
            add(&mut self.input_tokens, &mut self.input, turn.input);
            add(&mut self.output_tokens, &mut self.output, turn.output);
            if let (Some(cached), Some(input)) = (turn.cached, turn.input) {
                sums.cached.0 += cached.min(input);
                sums.cached.1 += input;
            }
            self.tool_calls += u64::from(turn.tools.calls);
            self.tool_results.0 += u64::from(turn.tools.results > 0);
            self.tool_results.1 += u64::from(turn.tools.results);
            if let Some(gap) = turn.gap {
                self.gaps.add(u32::try_from(gap / dyno_model::MS).unwrap_or(u32::MAX));
                self.gaps_total = self.gaps_total.saturating_add(gap);
            }
            match turn.sent.zip(turn.ended) {
                Some(time) => times.push(time),
                None => sums.untimed = true,
            }
            if let Some(model) = turn.model.as_deref()
                && !self.models.contains(model)
            {
                self.models.insert(model.to_owned());
            }
        }
        let most = peak(&times) as u64;
        self.peak_parallel = self.peak_parallel.map(|before| before.max(most));
        for session in &tree.sessions {
            self.turns.add(u32::try_from(session.turns.len()).unwrap_or(u32::MAX));
            for two in session.turns.windows(2) {
                let Some(growth) = growth_of(&two[0], &two[1], tree.prompts) else { continue };
                *self.responses_trimmed.get_or_insert(0) += u64::from(growth == Growth::Trimmed);
                *self.histories_cut.get_or_insert(0) += u64::from(growth == Growth::Cut);
            }
            if session.turns.iter().all(|turn| turn.input.is_some()) {
                self.responses_trimmed.get_or_insert(0);
                self.histories_cut.get_or_insert(0);
            }
        }
    }

    fn batch(&mut self, batch: &[Tree], sums: &mut ProfileSums) {
        let new = ideal::shares(batch);
        sums.shares = Some(match sums.shares {
            None => new,
            Some(all) => PrefixShares {
                input: all.input + new.input,
                seen: all.seen + new.seen,
                with_responses: all.with_responses + new.with_responses,
                // Tokens and characters do not add up.
                unknown: all.unknown || new.unknown || all.characters != new.characters,
                characters: all.characters,
            },
        });
    }

    /// Why there is no tree.
    fn nothing(&self) -> DataError {
        let first = self.notes.left_out().find_map(|(_, left)| left.first.first());
        let path = dyno_model::Message::quoted(&self.name);
        match first {
            Some(first) => DataError::Table {
                path,
                what: message!(
                    "there is no tree that could be used; the first: {first}",
                    "没有可用的树；第一个原因：{first}"
                ),
                fix: message!("see the guide on agentic traffic", "参见 agentic 流量指南"),
            },
            None => match self.notes.remarks().next() {
                None => DataError::NoRecords(path),
                Some((remark, count)) => {
                    let formats: Vec<String> =
                        self.formats.iter().map(ToString::to_string).collect();
                    let (formats, found) = (formats.join(", "), remark.said(count));
                    DataError::Table {
                        path,
                        what: message!(
                            "it has the form of {formats}, but no request that could be replayed ({found})",
                            "它是 {formats} 的格式，但没有可回放的请求（{found}）"
                        ),
                        fix: message!("see the guide on agentic traffic", "参见 agentic 流量指南"),
                    }
                }
            },
        }
    }
}
