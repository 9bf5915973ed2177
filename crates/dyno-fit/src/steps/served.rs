//! The steps of a level: when each ended, and what it had to do.

use super::offsets::Solved;
use super::stream::Stream;
use dyno_stats::upper_median;

/// First tokens that come this share of a step after the others of their step are from another one.
const LATER: f64 = 0.6;

/// A step that gave at least one token. Times are microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServedStep {
    /// When it ended, from the start of the run: its earliest arrival.
    pub end_us: f64,
    /// Since the end of the step before; nothing if the engine may have been idle in between.
    pub time_us: Option<f64>,
    /// Sequences that it decoded.
    pub decodes: u32,
    /// Tokens that these attended to.
    pub context: u64,
    /// Requests that got their first token.
    pub first_tokens: u32,
    /// Tokens of their prompts that were not in the prefix cache.
    pub prefill_tokens: u64,
    /// Pairs of such a token and one that it attended to.
    pub pairs: f64,
    /// Its tokens after the first of their requests whose own arrival is known: that were not held back
    /// to come with later ones.
    pub arrivals: u32,
    /// Time from the earliest arrival to the median of these.
    pub late_us: f64,
    /// Time from the earliest arrival to the last of them.
    pub spread_us: f64,
    /// The widest gap between them.
    pub gap_us: f64,
}

/// Which steps prefill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefillSteps {
    /// Those that decode.
    Mixed,
    /// Separate ones, while decoding waits.
    Separate,
    /// No prompt was prefilled while others decoded.
    Unknown,
}

/// The steps of placed streams.
pub(super) struct Steps {
    /// In order.
    pub(super) steps: Vec<ServedStep>,
    /// The step of each stream's first token.
    pub(super) firsts: Vec<usize>,
    /// Which of them prefill.
    pub(super) prefills: PrefillSteps,
}

impl Steps {
    /// Counts what each step had to do.
    pub(super) fn of(streams: &[Stream], solved: &Solved, typical: f64) -> Self {
        let mut drafts: Vec<Draft> = solved.ends.iter().map(|end| Draft::ending(*end)).collect();
        let mut starting: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
        for (index, (stream, offset)) in streams.iter().zip(&solved.offsets).enumerate() {
            starting[*offset].push(index);
            for (token, at) in stream.tokens.iter().enumerate().skip(1) {
                let at = Some(*at).filter(|_| stream.punctual[token]);
                drafts[offset + token].decode(stream.prompt + token as u64, at);
            }
        }
        let prefills = prefills(streams, solved, &mut drafts, typical);
        let firsts = vec![0; streams.len()];
        let mut all = Self { steps: Vec::with_capacity(drafts.len()), firsts, prefills };
        let mut drafts = drafts.into_iter().peekable();
        for starting in starting {
            let Some(mut draft) = drafts.next() else { break };
            // What is decoded got a token in the step before.
            let decodes = draft.step.decodes > 0;
            if prefills == PrefillSteps::Separate {
                if decodes {
                    all.push(draft, true);
                }
                let next = drafts.peek().map_or(0, |next| next.step.decodes as usize);
                let others_go_on = next > starting.len();
                all.push_separate(streams, &starting, others_go_on, typical);
            } else {
                for index in starting {
                    draft.first(&streams[index]);
                    all.firsts[index] = all.steps.len();
                }
                all.push(draft, decodes);
            }
        }
        all
    }

    /// Adds a step; `busy` if the engine was certainly not idle before it.
    fn push(&mut self, draft: Draft, busy: bool) {
        let mut step = draft.done();
        let before = self.steps.last().filter(|_| busy);
        step.time_us = before.map(|before| step.end_us - before.end_us);
        self.steps.push(step);
    }

    /// Adds steps that only prefill, for streams in the order of their first tokens.
    fn push_separate(&mut self, streams: &[Stream], these: &[usize], busy: bool, typical: f64) {
        let mut busy = busy;
        let mut last: Option<Draft> = None;
        for index in these {
            let stream = &streams[*index];
            let same = |draft: &Draft| stream.first() - draft.step.end_us < LATER * typical;
            if let Some(draft) = last.take_if(|draft| !same(draft)) {
                self.push(draft, busy);
                // Those that have a first token wait to be decoded.
                busy = true;
            }
            last.get_or_insert_with(|| Draft::ending(stream.first())).first(stream);
            self.firsts[*index] = self.steps.len();
        }
        last.into_iter().for_each(|draft| self.push(draft, busy));
    }
}

/// Whether first tokens come with the decoded ones of their step.
fn prefills(
    streams: &[Stream],
    solved: &Solved,
    drafts: &mut [Draft],
    typical: f64,
) -> PrefillSteps {
    let mut later: Vec<f64> = Vec::new();
    for (stream, offset) in streams.iter().zip(&solved.offsets) {
        let arrived = &mut drafts[*offset].arrived;
        later.extend(upper_median(arrived).map(|others| stream.first() - others));
    }
    match upper_median(&mut later) {
        None => PrefillSteps::Unknown,
        Some(later) if later > LATER * typical => PrefillSteps::Separate,
        Some(_) => PrefillSteps::Mixed,
    }
}

/// A step while its tokens are counted.
struct Draft {
    step: ServedStep,
    /// When its decoded tokens arrived, but for those that were held back.
    arrived: Vec<f64>,
}

impl Draft {
    fn ending(end_us: f64) -> Self {
        let step = ServedStep {
            end_us,
            time_us: None,
            decodes: 0,
            context: 0,
            first_tokens: 0,
            prefill_tokens: 0,
            pairs: 0.0,
            arrivals: 0,
            late_us: 0.0,
            spread_us: 0.0,
            gap_us: 0.0,
        };
        Self { step, arrived: Vec::new() }
    }

    fn decode(&mut self, context: u64, at: Option<f64>) {
        self.step.decodes += 1;
        self.step.context += context;
        self.arrived.extend(at);
    }

    fn first(&mut self, stream: &Stream) {
        let computed = stream.prompt - stream.cached;
        self.step.first_tokens += 1;
        self.step.prefill_tokens += computed;
        self.step.pairs += computed as f64 * (stream.cached as f64 + 0.5 * computed as f64);
    }

    fn done(mut self) -> ServedStep {
        let late = upper_median(&mut self.arrived).map(|at| at - self.step.end_us);
        self.arrived.sort_unstable_by(f64::total_cmp);
        let spread = self.arrived.last().map(|last| last - self.step.end_us);
        let gaps = self.arrived.windows(2).map(|pair| pair[1] - pair[0]);
        self.step.arrivals = self.arrived.len() as u32;
        self.step.late_us = late.unwrap_or(0.0);
        self.step.spread_us = spread.unwrap_or(0.0);
        self.step.gap_us = gaps.fold(0.0, f64::max);
        self.step
    }
}
