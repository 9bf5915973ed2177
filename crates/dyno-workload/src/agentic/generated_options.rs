//! The options of generated agentic traffic: lengths, gaps, and how often sub-agents, trims and cuts come.

use dyno_model::units::parse_share;
use dyno_model::{Message, message};

use super::load::REPLAY_KEYS;
use crate::data::DataSpec;
use crate::random::lengths::Lengths;
use crate::session::Think;

/// The most requests of a session.
pub(super) const MOST_TURNS: u32 = 2_000;
/// The most sub-agents that start together.
const MOST_PARALLEL: u32 = 100;
/// The longest context, in tokens: the blocks of a session's prompts are held together.
const LONGEST_CONTEXT: u32 = 1_000_000;

const KEYS: [&str; 14] = [
    "turns",
    "system",
    "first",
    "growth",
    "output",
    "gap",
    "tools",
    "subagents",
    "parallel",
    "subturns",
    "background",
    "trim",
    "cut",
    "context",
];

/// What generated trees are like. Where the defaults come from is in the guide on agentic traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct AgenticOptions {
    /// Requests of a root session.
    pub turns: Lengths,
    /// Tokens of the system's text and the definitions of tools, with which all prompts of a tree begin.
    pub system: Lengths,
    /// Tokens of a session's first message, behind them.
    pub first: Lengths,
    /// Tokens that a prompt has more than the prompt and the response before it.
    pub growth: Lengths,
    /// Output tokens of a request.
    pub output: Lengths,
    /// From the latest end that a request waits for to its sending.
    pub gap: Think,
    /// The share of requests that bring the result of a tool.
    pub tools: f64,
    /// The share of a root's requests whose response starts sub-agents.
    pub subagents: f64,
    /// Sub-agents that start together.
    pub parallel: Lengths,
    /// Requests of a sub-agent.
    pub subturns: Lengths,
    /// The share of groups of sub-agents that no request waits for.
    pub background: f64,
    /// The share of prompts that repeat only part of the response before them.
    pub trim: f64,
    /// The share of prompts that do not keep the prompt before them.
    pub cut: f64,
    /// The most tokens of a prompt and its response.
    pub context: u32,
}

impl Default for AgenticOptions {
    fn default() -> Self {
        Self {
            turns: Lengths::log_normal(30.0, 1.3),
            system: Lengths::uniform(8_000, 15_000),
            first: Lengths::log_normal(6_000.0, 1.8),
            growth: Lengths::log_normal(600.0, 1.8),
            output: Lengths::log_normal(220.0, 1.2),
            gap: Think::LogNormal(10 * dyno_model::SEC, 2.0),
            tools: 0.98,
            subagents: 0.017,
            parallel: Lengths::uniform(1, 3),
            subturns: Lengths::log_normal(10.0, 0.4),
            background: 0.06,
            trim: 0.104,
            cut: 0.01,
            context: 200_000,
        }
    }
}

impl AgenticOptions {
    /// Reads the options of a specification.
    pub fn new(spec: &DataSpec) -> Result<Self, Message> {
        spec.only(&[&KEYS[..], &REPLAY_KEYS].concat())?;
        let read = OptionsIn { spec };
        let usual = Self::default();
        let options = Self {
            turns: read.bounded("turns", usual.turns, MOST_TURNS)?,
            system: read.lengths("system", usual.system)?,
            first: read.lengths("first", usual.first)?,
            growth: read.lengths("growth", usual.growth)?,
            output: read.lengths("output", usual.output)?,
            gap: read.gap(usual.gap)?,
            tools: read.share("tools", usual.tools)?,
            subagents: read.share("subagents", usual.subagents)?,
            parallel: read.bounded("parallel", usual.parallel, MOST_PARALLEL)?,
            subturns: read.bounded("subturns", usual.subturns, MOST_TURNS)?,
            background: read.share("background", usual.background)?,
            trim: read.share("trim", usual.trim)?,
            cut: read.share("cut", usual.cut)?,
            context: read.context(usual.context)?,
        };
        options.fits()?;
        Ok(options)
    }

    /// A session whose usual lengths exceed the context could not even begin.
    fn fits(&self) -> Result<(), Message> {
        let parts = [&self.system, &self.first, &self.growth, &self.output];
        // What is named explicitly must fit whole. Of a distribution with a tail the mean must: its tail is cut off.
        let needed = |of: &Lengths| of.longest().map_or_else(|| of.mean(), f64::from);
        let needed = parts.into_iter().map(needed).sum::<f64>().ceil();
        if needed <= f64::from(self.context) {
            return Ok(());
        }
        let context = self.context;
        let why = message!(
            "{context} tokens have no room for system=, first=, growth= and output=, which need {needed}; write a \
             larger context= or smaller lengths",
            "{context} 个 token 容纳不下 system=、first=、growth= 和 output=（需要 {needed}）；请增大 context= 或减小这些长度"
        );
        Err(wrong("context", why))
    }
}

/// Options as they were written.
struct OptionsIn<'a> {
    spec: &'a DataSpec,
}

impl OptionsIn<'_> {
    fn lengths(&self, key: &'static str, usual: Lengths) -> Result<Lengths, Message> {
        let Some(text) = self.spec.option(key) else { return Ok(usual) };
        text.parse().map_err(|error| wrong(key, Message::of(error)))
    }

    /// A number of things, which is counted out: a tail is cut off at `most`.
    fn bounded(&self, key: &'static str, usual: Lengths, most: u32) -> Result<Lengths, Message> {
        let lengths = self.lengths(key, usual)?;
        match lengths.longest().filter(|longest| *longest > most) {
            None => Ok(lengths),
            Some(longest) => Err(wrong(
                key,
                message!(
                    "{longest} is more than {most}; write at most {most}",
                    "{longest} 超过 {most}；最多写 {most}"
                ),
            )),
        }
    }

    fn share(&self, key: &str, usual: f64) -> Result<f64, Message> {
        let Some(text) = self.spec.option(key) else { return Ok(usual) };
        let allowed = message!("5%: a share from 0% to 100%", "5%：0% 到 100% 之间的比例");
        parse_share(text).map_err(|_| self.spec.bad_option(key, allowed))
    }

    fn gap(&self, usual: Think) -> Result<Think, Message> {
        let Some(text) = self.spec.option("gap") else { return Ok(usual) };
        let allowed = message!(
            "10s, gap=1s-30s, gap=exp(10s) or gap=lognormal(10s,2): the median and the deviation of the logarithm, at \
             most 5",
            "10s、gap=1s-30s、gap=exp(10s) 或 gap=lognormal(10s,2)：中位数和对数的标准差（最大 5）"
        );
        text.parse().map_err(|_| self.spec.bad_option("gap", allowed))
    }

    fn context(&self, usual: u32) -> Result<u32, Message> {
        let context = self.bounded("context", Lengths::fixed(usual), LONGEST_CONTEXT)?;
        let fixed = context.shortest().filter(|least| context.longest() == Some(*least));
        let allowed = || message!("200k: one number of tokens", "200k：一个 token 数");
        fixed.ok_or_else(|| self.spec.bad_option("context", allowed()))
    }
}

/// A value that is not possible, and why.
fn wrong(key: &str, why: Message) -> Message {
    message!("{key}=: {why}", "{key}=：{why}")
}
