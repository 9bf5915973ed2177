//! What is sent: which lengths make levels, and which prompts are used.

use super::notes::Notes;
use crate::args::bench::{ChoiceArgs, DataArgs};
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Length;
use dyno_model::Message;
use dyno_model::message;
use dyno_model::plan::{Api, DataPlan, LengthSpec, Plan, Task};
use dyno_run::about;
use dyno_run::workload::not_truncated;
use dyno_workload::agentic::{AgenticLoad, TreeSelection};
use dyno_workload::data::{DataError, DataKind, DataOrder, DataSet, DataSpec};
use dyno_workload::random::lengths::Lengths;
use dyno_workload::trace::{SessionsOf, TraceOptions, TraceSessions};

const DEFAULT_INPUT: u32 = 256;
/// Lengths that differ by less, as a deviation over their mean, are one.
const SAME_LENGTH: f64 = 0.05;
/// The default of --output-tokens.
const DEFAULT_OUTPUT: u32 = 64;

/// The kind of data, as far as levels and flags depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Nature {
    /// Synthetic prompts of given lengths.
    Made,
    /// Prompts of a file.
    File,
    /// Synthetic conversations.
    SyntheticSessions,
    /// Conversations of a file.
    LedSessions,
    /// Recorded sessions of a file, started by the load.
    RecordedSessions {
        /// They have the text of messages, rather than their lengths.
        text: bool,
        /// --output-tokens was given, and has no effect.
        lengths_given: bool,
    },
    /// Trees of sessions, as coding agents send them.
    Trees {
        /// There is always another one.
        endless: bool,
        /// --output-tokens was given, and has no effect.
        lengths_given: bool,
    },
    /// A recorded trace.
    Trace {
        /// How much faster than it was recorded.
        speed: f64,
        /// --output-tokens was given, and has no effect.
        lengths_given: bool,
        /// Its requests wait for each other in sessions.
        sessions: bool,
    },
}

impl Nature {
    /// Whether input lengths may be given.
    fn is_made(self) -> bool {
        matches!(self, Self::Made | Self::SyntheticSessions)
    }

    pub(super) fn is_session(self) -> bool {
        match self {
            Self::SyntheticSessions
            | Self::LedSessions
            | Self::RecordedSessions { .. }
            | Self::Trees { .. } => true,
            Self::Trace { sessions, .. } => sessions,
            Self::Made | Self::File => false,
        }
    }

    /// Whether --output-tokens was given to data that have their own lengths.
    pub(super) fn ignores_lengths(self) -> bool {
        match self {
            Self::RecordedSessions { text, lengths_given } => lengths_given && !text,
            Self::Trace { lengths_given, .. } | Self::Trees { lengths_given, .. } => lengths_given,
            _ => false,
        }
    }
}

/// Determines the kind of data, by the contents of the file if it is not given, and adds it to the
/// specification.
pub(super) fn nature(args: &mut DataArgs, api: &Api) -> Result<Nature, UsageError> {
    let wrong = |error: Message| UsageError::new("--data", error);
    let Some(text) = &args.data else { return Ok(Nature::Made) };
    let mut spec: DataSpec = text.parse().map_err(wrong)?;
    let lengths_given = args.output_tokens.is_some();
    if AgenticLoad::named_by(&spec) {
        let selection = TreeSelection { limit: args.choice.limit, ..TreeSelection::default() };
        let load = AgenticLoad::of(&spec, selection).map_err(wrong)?;
        return Ok(Nature::Trees { endless: load.is_endless(), lengths_given });
    }
    if spec.kind.is_none()
        && let Err(DataError::Elsewhere { kind: DataKind::Trace, .. }) = DataSet::new(&spec)
    {
        spec.kind = Some(DataKind::Trace);
        args.data = Some(spec.to_string());
    }
    let recorded = TraceSessions::named_by(&spec);
    let sessions = spec.kind == Some(DataKind::Session) || recorded.is_some();
    let has_messages = about(api).is_some_and(|about| about.talk.is_some());
    if sessions && !has_messages {
        return Err(UsageError::new(
            "--data",
            message!(
                "`session` needs conversations, which {api} does not have; use --api {}",
                "`session` 需要会话，而 {api} 没有会话；请使用 --api {}",
                Api::default()
            ),
        )
        .hint(message!(
            "leave --api out; if TARGET ends in /completions, shorten it to its base URL",
            "请去掉 --api；如果 TARGET 以 /completions 结尾，请缩短为基础 URL"
        )));
    }
    Ok(match (spec.kind, &spec.path) {
        (Some(DataKind::Random), _) => Nature::Made,
        (Some(DataKind::Session), None) => Nature::SyntheticSessions,
        (Some(DataKind::Session), Some(_)) => match recorded {
            Some(of) => Nature::RecordedSessions { text: of == SessionsOf::Text, lengths_given },
            None => Nature::LedSessions,
        },
        (Some(DataKind::Trace), _) => Nature::Trace {
            speed: TraceOptions::of(&spec).map_err(wrong)?.speed,
            lengths_given,
            sessions: recorded.is_some(),
        },
        _ => Nature::File,
    })
}

/// Whether responses to the user's own prompts have the default length, which nobody asked for.
fn fixed_by_default(args: &DataArgs, nature: Nature) -> bool {
    matches!(
        nature,
        Nature::File | Nature::LedSessions | Nature::RecordedSessions { text: true, .. }
    ) && args.output_tokens.is_none()
}

/// How long requests and responses are, as the levels of a grid differ in it.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    pub(super) input: LengthSpec,
    pub(super) output: LengthSpec,
    /// Texts per request, where that was given.
    pub(super) inputs: Option<u32>,
    /// What a grid calls it.
    pub(super) name: String,
}

impl Sizes {
    fn of(input: LengthSpec, output: LengthSpec) -> Self {
        let name = format!("{}→{}", input.0, output.0);
        Self { input, output, inputs: None, name }
    }

    fn of_texts(input: LengthSpec, inputs: Option<u32>, task: Task) -> Self {
        let unit = if input.0 == "data" { "" } else { " tok" };
        let name = format!("{}{unit}×{}", input.0, inputs.unwrap_or(task.usual_inputs()));
        Self { input, output: LengthSpec("none".to_owned()), inputs, name }
    }
}

/// Tokens of a prompt and of a response where nobody says how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Usual {
    pub(super) input: u32,
    pub(super) output: u32,
}

impl Usual {
    pub(super) const DEFAULT: Self = Self { input: DEFAULT_INPUT, output: DEFAULT_OUTPUT };

    /// Those that a twin was fitted to, if it knows what its predictions are worth and all had about the
    /// same.
    pub(super) fn of(twin: &Twin) -> Option<Self> {
        let usual = |length: Length| {
            let same = length.spread <= SAME_LENGTH && length.mean >= 1.0;
            same.then_some(length.mean.round() as u32)
        };
        twin.accuracy.as_ref()?;
        Some(Self { input: usual(twin.lengths.input)?, output: usual(twin.lengths.output)? })
    }
}

/// The sizes that each load is run with, where those of `twin` are usual, and what the user should know
/// of them.
pub(super) fn settled_sizes(
    args: &DataArgs,
    nature: Nature,
    task: Task,
    twin: Option<&str>,
    notes: &mut Notes,
) -> Vec<Sizes> {
    let fitted = twin.filter(|_| nature == Nature::Made);
    let fitted = fitted.and_then(|name| Usual::of(&Twin::load(name).ok()?));
    if let Some(Usual { input, output }) = fitted {
        if args.input_tokens.is_none() {
            notes.push(message!(
                "prompts of {input} tokens, as the twin was fitted to; --input-tokens changes that",
                "提示词为 {input} 个 token，与拟合该孪生模型时相同；可用 --input-tokens 更改"
            ));
        }
        if args.output_tokens.is_none() {
            notes.push(message!(
                "responses of {output} tokens, as the twin was fitted to; --output-tokens changes \
                 that",
                "响应为 {output} 个 token，与拟合该孪生模型时相同；可用 --output-tokens 更改"
            ));
        }
    }
    if task.generates() && fixed_by_default(args, nature) {
        notes.push(message!(
            "responses of {} tokens are requested where the data state no length; --output-tokens \
             changes that",
            "数据未给出长度时，请求 {} 个 token 的响应；可用 --output-tokens 更改",
            DEFAULT_OUTPUT
        ));
    }
    sizes(args, nature, task, fitted.unwrap_or(Usual::DEFAULT))
}

/// The sizes that each load is run with, in order.
fn sizes(args: &DataArgs, nature: Nature, task: Task, usual: Usual) -> Vec<Sizes> {
    let spec = |lengths: &Lengths| LengthSpec(lengths.to_string());
    let outputs = match &args.output_tokens {
        Some(list) => list.0.iter().map(spec).collect(),
        None => vec![LengthSpec::fixed(usual.output)],
    };
    let inputs = match &args.input_tokens {
        Some(list) => list.0.iter().map(spec).collect(),
        None if nature.is_made() => vec![LengthSpec::fixed(usual.input)],
        // The prompts of a file have their own lengths.
        None => vec![LengthSpec("data".to_owned())],
    };
    if matches!(nature, Nature::Trace { .. }) {
        // So do the responses of a trace.
        return inputs
            .into_iter()
            .zip(outputs)
            .map(|(input, output)| Sizes::of(input, output))
            .collect();
    }
    let numbers: Vec<Option<u32>> = match &args.inputs {
        Some(list) => list.0.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut all = Vec::new();
    for input in &inputs {
        if task.generates() {
            let each = outputs.iter();
            all.extend(each.map(|output| Sizes::of(input.clone(), output.clone())));
        } else {
            let each = numbers.iter();
            all.extend(each.map(|number| Sizes::of_texts(input.clone(), *number, task)));
        }
    }
    all
}

/// Where prompts come from.
pub(super) fn plan(args: DataArgs, nature: Nature) -> Result<DataPlan, UsageError> {
    let from_file = !nature.is_made();
    let only_for_files = [
        ("--order", args.choice.order == DataOrder::Shuffle),
        ("--limit", args.choice.limit.is_some()),
        ("--min-input-tokens", args.choice.min_input_tokens.is_some()),
        ("--max-input-tokens", args.choice.max_input_tokens.is_some()),
    ];
    if let Some((flag, _)) = only_for_files.iter().find(|(_, given)| *given && !from_file) {
        return Err(UsageError::new(
            *flag,
            message!(
                "selects prompts of a file; add --data FILE, or remove it",
                "用于从文件中选取提示词；请加 --data FILE，或去掉此参数"
            ),
        ));
    }
    if matches!(nature, Nature::Trace { .. }) && args.choice.order == DataOrder::Shuffle {
        return Err(UsageError::new(
            "--order",
            message!(
                "a trace is replayed in the order of its times; remove it",
                "流量记录按其时间顺序重放；请去掉"
            ),
        ));
    }
    if matches!(nature, Nature::RecordedSessions { .. }) && args.choice.order == DataOrder::Shuffle
    {
        return Err(UsageError::new(
            "--order",
            message!(
                "recorded sessions are started in the order of the file; remove it",
                "录制的会话按文件中的顺序启动；请去掉"
            ),
        ));
    }
    if matches!(nature, Nature::Trees { .. }) && args.choice.order == DataOrder::Shuffle {
        return Err(UsageError::new(
            "--order",
            message!(
                "trees are started in the order of their files; remove it",
                "树按文件中的顺序启动；请去掉"
            ),
        ));
    }
    if args.cache_hit.is_some() {
        let has_prefix = args.data.as_deref().is_some_and(|data| data.contains("prefix="));
        if nature != Nature::Made || has_prefix {
            return Err(UsageError::new(
                "--cache-hit",
                message!(
                    "generates random prompts with their own prefixes, so it cannot be combined \
                     with other data or with prefix=",
                    "会生成带有自身前缀的随机提示词，不能与其他数据或 prefix= 同时使用"
                ),
            )
            .hint(message!(
                "--data random,groups=4 sets the number of prefixes",
                "用 --data random,groups=4 设置前缀数"
            )));
        }
    }
    if nature.is_session() && args.choice.truncate {
        return Err(UsageError::new("--truncate", not_truncated()).hint(message!(
            "turns=N in --data uses at most N turns of each",
            "在 --data 中用 turns=N 可使每个会话最多取 N 轮"
        )));
    }
    if from_file && args.input_tokens.is_some() {
        return Err(UsageError::new(
            "--input-tokens",
            message!(
                "sets the length of random prompts; remove it with --data FILE",
                "设置随机提示词的长度；使用 --data FILE 时请去掉"
            ),
        )
        .hint(message!(
            "--min-input-tokens and --max-input-tokens select prompts of a file",
            "用 --min-input-tokens 和 --max-input-tokens 从文件中选取提示词"
        )));
    }
    if args.choice.truncate && args.choice.max_input_tokens.is_none() {
        return Err(UsageError::new(
            "--truncate",
            message!(
                "truncates prompts to --max-input-tokens; add that",
                "将提示词截断到 --max-input-tokens；请加上该参数"
            ),
        ));
    }
    if let (Some(least), Some(most)) = (args.choice.min_input_tokens, args.choice.max_input_tokens)
        && least > most
    {
        return Err(UsageError::new(
            "--min-input-tokens",
            message!(
                "{least} is more than --max-input-tokens {most}; no prompt can be both",
                "{least} 大于 --max-input-tokens {most}；没有提示词能同时满足"
            ),
        ));
    }
    Ok(DataPlan {
        spec: args.data,
        unique_prefix: args.unique_prefix,
        same_prompts: args.same_prompts,
        cache_hit: args.cache_hit,
        ..choice_plan(&args.choice)
    })
}

/// Whether the prompts of a plan come from standard input.
pub(super) fn is_stdin(plan: &Plan) -> bool {
    let spec = plan.data.spec.as_deref().map(str::parse::<DataSpec>);
    spec.is_some_and(|spec| spec.is_ok_and(|spec| spec.is_stdin()))
}

/// Which prompts of a file are used, as a plan.
pub(crate) fn choice_plan(choice: &ChoiceArgs) -> DataPlan {
    DataPlan {
        shuffle: choice.order == DataOrder::Shuffle,
        limit: choice.limit,
        min_input_tokens: choice.min_input_tokens,
        max_input_tokens: choice.max_input_tokens,
        truncate: choice.truncate,
        tokenizer: choice.tokenizer.as_ref().map(|path| path.display().to_string()),
        ..DataPlan::default()
    }
}
