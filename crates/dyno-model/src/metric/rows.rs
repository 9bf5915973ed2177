//! The rows of the registry. The order is that of `summary.json`; ranks order what a place shows.

use super::Place::{Compare, Definitions, Document, PageChart, PageTable, Slo, Terminal};
use super::Statistic::{Max, Mean, P50, P90, P99};
use super::{Better, Info, Metric, MetricGroup, Statistic, Unit};
use crate::summary::LevelSummary;

/// The statistics that the charts of the page offer for each time.
const CHARTED: &[Statistic] = &[P50, P90, P99, Mean, Max];
const PAIR: &[Statistic] = &[P50, P99];

/// The fields that most rows share.
const TIME: Info = Info {
    id: "",
    name: "",
    column: "",
    unit: Unit::Milliseconds,
    better: Better::Lower,
    group: MetricGroup::Times,
    streamed: false,
    inputs: false,
    label: [""; 2],
    title: [""; 2],
    short: [""; 2],
    formula: "",
    means: [""; 2],
    places: &[],
};

/// Stands in for a missing row.
pub(super) const NONE: &Info = &TIME;

/// Times, in the order of [`Time::ALL`](super::Time::ALL).
pub(super) const TIMES: [Info; 8] = [
    Info {
        id: "ttft_ms",
        name: "ttft",
        column: "ttft",
        streamed: true,
        label: ["TTFT", "首 token 时延（TTFT）"],
        title: ["TTFT", "首 token 时延"],
        short: ["TTFT", "TTFT"],
        formula: "first − sent",
        means: [
            "From sending the last byte of the request to the first event with output.",
            "从请求的最后一个字节发出，到第一个带输出的事件到达。",
        ],
        places: &[
            (Slo, 1, &[]),
            (Terminal, 1, PAIR),
            (Document, 1, PAIR),
            (PageTable, 1, &[P50, P90, P99]),
            (PageChart, 1, CHARTED),
            (Definitions, 1, &[]),
            (Compare, 3, &[Mean, P99]),
        ],
        ..TIME
    },
    Info {
        id: "ttft_scheduled_ms",
        name: "scheduled.ttft",
        column: "ttft_scheduled",
        streamed: true,
        label: ["TTFT from schedule", "TTFT（自计划时刻）"],
        formula: "first − intended",
        means: SCHEDULED,
        places: &[(Slo, 2, &[]), (PageChart, 5, CHARTED), (Definitions, 5, &[])],
        ..TIME
    },
    Info {
        id: "latency_ms",
        name: "latency",
        column: "latency",
        label: ["Latency", "端到端时延"],
        title: ["Latency", "端到端时延"],
        short: ["latency", "时延"],
        formula: "last − sent",
        means: [
            "From sending the request to the last event with output or a finish reason.",
            "从请求发出，到最后一个带输出或结束原因的事件到达。",
        ],
        places: &[
            (Slo, 5, &[]),
            (Terminal, 4, PAIR),
            (Document, 4, PAIR),
            (PageTable, 4, &[P50, P90, P99]),
            (PageChart, 4, CHARTED),
            (Definitions, 4, &[]),
            (Compare, 7, &[Mean, P99]),
        ],
        ..TIME
    },
    Info {
        id: "latency_scheduled_ms",
        name: "scheduled.latency",
        column: "latency_scheduled",
        label: ["Latency from schedule", "端到端时延（自计划时刻）"],
        formula: "last − intended",
        means: SCHEDULED,
        places: &[(Slo, 6, &[]), (PageChart, 6, CHARTED)],
        ..TIME
    },
    Info {
        id: "tpot_ms",
        name: "tpot",
        column: "tpot",
        streamed: true,
        label: ["TPOT", "单 token 时延（TPOT）"],
        title: ["TPOT", "单 token 时延"],
        short: ["TPOT", "TPOT"],
        formula: "(last − first) / (tokens − 1)",
        means: [
            "Mean time per output token after the first, for each request with at least two tokens.",
            "单个请求（至少两个 token）在首 token 之后平均每个 token 的时间。",
        ],
        places: &[
            (Slo, 3, &[]),
            (Terminal, 3, PAIR),
            (Document, 3, PAIR),
            (PageTable, 3, PAIR),
            (PageChart, 3, CHARTED),
            (Definitions, 3, &[]),
            (Compare, 5, &[Mean]),
        ],
        ..TIME
    },
    Info {
        id: "itl_ms",
        name: "itl",
        column: "itl",
        streamed: true,
        label: ["ITL", "token 间时延（ITL）"],
        title: ["ITL", "token 间时延"],
        short: ["ITL", "ITL"],
        formula: "gap / tokens",
        means: [
            "The gap between two consecutive output events, divided by the number of tokens in the \
             later one, and counted once per token.",
            "相邻两个输出事件的间隔除以后一事件的 token 数，每个 token 计一次。",
        ],
        places: &[
            (Slo, 4, &[]),
            (Terminal, 2, PAIR),
            (Document, 2, PAIR),
            (PageTable, 2, PAIR),
            (PageChart, 2, CHARTED),
            (Definitions, 2, &[]),
            (Compare, 4, &[Mean]),
        ],
        ..TIME
    },
    Info {
        id: "chunk_gap_ms",
        name: "chunk_gap",
        column: "chunk_gap",
        streamed: true,
        label: ["Chunk gap", "数据块间隔"],
        formula: "event[i] − event[i−1]",
        means: [
            "Time between two consecutive output events, as a reader of the stream sees it.",
            "相邻两个输出事件之间的时间，即读者看到的间隔。",
        ],
        places: &[(PageChart, 7, CHARTED), (Definitions, 6, &[]), (Compare, 6, &[Mean])],
        ..TIME
    },
    Info {
        id: "headers_ms",
        name: "headers",
        column: "headers",
        inputs: true,
        label: ["Time to headers", "响应头时延"],
        title: ["Time to headers", "响应头时延"],
        short: ["headers", "响应头"],
        formula: "headers − sent",
        means: [
            "From sending the request to the headers of the response, before its body. Some tools stop \
             here; the latency ends with the whole body.",
            "从请求发出到响应头到达，不含响应体。有的工具到此为止；端到端时延则到响应体结束。",
        ],
        places: &[
            (Slo, 12, &[]),
            (Terminal, 5, PAIR),
            (Document, 5, PAIR),
            (PageTable, 5, PAIR),
            (PageChart, 8, CHARTED),
            (Definitions, 16, &[]),
        ],
        ..TIME
    },
];

const SCHEDULED: [&str; 2] = [
    "The same, measured from the scheduled send time, so that queueing in the client is included.",
    "从计划发送时刻算起的同一指标，包含请求在客户端的排队时间。",
];

const WORK: Info = Info {
    unit: Unit::RequestsPerSecond,
    better: Better::Higher,
    group: MetricGroup::Work,
    ..TIME
};
const REQUESTS: Info =
    Info { unit: Unit::Plain, better: Better::Neither, group: MetricGroup::Requests, ..TIME };
const SERVER: Info = Info { group: MetricGroup::Server, ..REQUESTS };

/// A metric that only has a label and a place.
const fn charted(
    like: Info,
    id: &'static str,
    name: &'static str,
    label: [&'static str; 2],
    places: &'static [(super::Place, u8, &'static [Statistic])],
) -> Info {
    Info { id, name, label, places, ..like }
}

type Value = fn(&LevelSummary) -> Option<f64>;

/// Metrics that are one number in a level.
pub(super) const OTHERS: &[(Metric, Info, Value)] = &[
    (
        Metric::RequestRate,
        Info {
            id: "requests_per_s",
            name: "throughput",
            label: ["Requests/s", "请求/秒"],
            title: ["Requests/s", "请求/秒"],
            short: ["req/s", "请求/秒"],
            formula: "completed / duration",
            means: [
                "Completed requests; failed requests are reported separately.",
                "仅计成功的请求；失败请求另行列出。",
            ],
            places: &[
                (Slo, 8, &[]),
                (PageChart, 11, &[]),
                (Definitions, 7, &[]),
                (Compare, 1, &[]),
            ],
            ..WORK
        },
        |level| level.throughput.rate(Metric::RequestRate),
    ),
    (
        Metric::OutputRate,
        Info {
            id: "output_tokens_per_s",
            name: "tokens",
            unit: Unit::TokensPerSecond,
            label: ["Output tokens/s", "输出 token/秒"],
            title: ["Output tokens/s", "输出 token/秒"],
            short: ["out tok/s", "输出 tok/s"],
            formula: "output tokens / duration",
            means: [
                "Output tokens of completed requests; absent if the count of any of them is unknown.",
                "成功请求的输出 token；只要有一个请求的 token 数未知，就不给出。",
            ],
            places: &[
                (Slo, 9, &[]),
                (PageChart, 12, &[]),
                (Definitions, 8, &[]),
                (Compare, 2, &[]),
            ],
            ..WORK
        },
        |level| level.throughput.rate(Metric::OutputRate),
    ),
    (
        Metric::TotalRate,
        charted(
            Info { unit: Unit::TokensPerSecond, ..WORK },
            "total_tokens_per_s",
            "total_tokens",
            ["Total tokens/s", "总 token/秒"],
            &[(PageChart, 13, &[])],
        ),
        |level| level.throughput.rate(Metric::TotalRate),
    ),
    (
        Metric::InputRate,
        Info {
            id: "inputs_per_s",
            name: "inputs",
            unit: Unit::InputsPerSecond,
            inputs: true,
            label: ["Inputs/s", "输入条数/秒"],
            title: ["Inputs/s", "输入条数/秒"],
            short: ["inputs/s", "条/秒"],
            formula: "inputs / duration",
            means: [
                "Texts embedded, or documents ranked, by completed requests.",
                "成功请求中完成向量化的文本数，或完成排序的文档数。",
            ],
            places: &[
                (Slo, 10, &[]),
                (PageChart, 14, &[]),
                (Definitions, 14, &[]),
                (Compare, 9, &[]),
            ],
            ..WORK
        },
        |level| level.throughput.rate(Metric::InputRate),
    ),
    (
        Metric::InputTokenRate,
        Info {
            id: "input_tokens_per_s",
            name: "input_tokens",
            unit: Unit::TokensPerSecond,
            inputs: true,
            label: ["Input tokens/s", "输入 token/秒"],
            title: ["Input tokens/s", "输入 token/秒"],
            short: ["in tok/s", "输入 tok/s"],
            formula: "input tokens / duration",
            means: [
                "Input tokens of completed requests, as the server counts them; a reranker reads the \
                 query with each document.",
                "成功请求的输入 token，按服务器计数；重排序模型对每个文档都重读一遍查询。",
            ],
            places: &[
                (Slo, 11, &[]),
                (PageChart, 15, &[]),
                (Definitions, 15, &[]),
                (Compare, 10, &[]),
            ],
            ..WORK
        },
        |level| level.throughput.rate(Metric::InputTokenRate),
    ),
    (
        Metric::BodyRate,
        charted(
            Info { unit: Unit::MegabytesPerSecond, inputs: true, better: Better::Neither, ..WORK },
            "body_bytes_per_s",
            "body",
            ["Response body, MB/s", "响应体 MB/秒"],
            &[(PageChart, 16, &[])],
        ),
        |level| level.throughput.rate(Metric::BodyRate),
    ),
    (
        Metric::Goodput,
        Info {
            id: "goodput_per_s",
            name: "goodput",
            label: ["Goodput", "有效吞吐（goodput）"],
            formula: "met / duration",
            means: [
                "Completed requests that individually met every latency bound of the SLO.",
                "自身满足 SLO 全部时延要求的成功请求。",
            ],
            places: &[(PageChart, 21, &[]), (Definitions, 11, &[])],
            ..WORK
        },
        |level| level.slo.as_ref()?.goodput_per_s,
    ),
    (
        Metric::PerUser,
        Info {
            id: "per_user",
            name: "per_user",
            unit: Unit::TokensPerSecond,
            label: ["Output tokens/s per user", "单用户输出速度"],
            formula: "1 / TPOT p50",
            means: ["How fast one user sees tokens arrive.", "单个用户看到 token 的速度。"],
            places: &[(PageChart, 22, &[]), (Definitions, 9, &[])],
            ..WORK
        },
        LevelSummary::per_user,
    ),
    (
        Metric::PerUserP75,
        Info {
            id: "per_user_p75",
            name: "per_user_p75",
            unit: Unit::TokensPerSecond,
            label: ["Output tokens/s per user, p75 of the slow side", "单用户输出速度（慢侧 p75）"],
            formula: "1 / TPOT p75",
            places: &[(PageChart, 36, &[])],
            ..WORK
        },
        |level| level.interactivity?.decoding.p75,
    ),
    (
        Metric::PerUserP90,
        Info {
            id: "per_user_p90",
            name: "per_user_p90",
            unit: Unit::TokensPerSecond,
            label: ["Output tokens/s per user, p90 of the slow side", "单用户输出速度（慢侧 p90）"],
            formula: "1 / TPOT p90",
            places: &[(PageChart, 37, &[])],
            ..WORK
        },
        |level| level.interactivity?.decoding.p90,
    ),
    (
        Metric::RequestSpeed,
        Info {
            id: "request_speed",
            name: "request_speed",
            unit: Unit::TokensPerSecond,
            label: ["Output tokens/s of a request", "单请求输出速度"],
            formula: "1 / (latency / output tokens), p50",
            means: [
                "How fast a request yields tokens, its prompt included; the median over the requests.",
                "单个请求产出 token 的速度，含提示词处理；取各请求的中位数。",
            ],
            places: &[(PageChart, 38, &[])],
            ..WORK
        },
        |level| level.interactivity?.request.p50,
    ),
    (
        Metric::RequestSpeedP90,
        Info {
            id: "request_speed_p90",
            name: "request_speed_p90",
            unit: Unit::TokensPerSecond,
            label: [
                "Output tokens/s of a request, p90 of the slow side",
                "单请求输出速度（慢侧 p90）",
            ],
            formula: "1 / (latency / tokens), p90",
            places: &[(PageChart, 39, &[])],
            ..WORK
        },
        |level| level.interactivity?.request.p90,
    ),
    (
        Metric::OverallSpeed,
        Info {
            id: "overall_speed",
            name: "overall_speed",
            unit: Unit::TokensPerSecond,
            label: ["Output tokens/s over all latency", "总体输出速度"],
            formula: "Σ output tokens / Σ latency",
            places: &[(PageChart, 40, &[])],
            ..WORK
        },
        |level| level.interactivity?.overall,
    ),
    (
        Metric::Offered,
        charted(
            Info {
                better: Better::Neither,
                title: ["Offered requests/s", "到达速率（请求/秒）"],
                short: ["offered", "到达"],
                ..WORK
            },
            "offered_per_s",
            "offered",
            ["Offered requests/s", "到达速率（请求/秒）"],
            &[(PageChart, 23, &[])],
        ),
        |level| level.offered_per_s,
    ),
    (
        Metric::InFlight,
        Info {
            id: "concurrency",
            name: "in_flight",
            label: ["In flight, mean", "平均并发数"],
            means: [
                "Requests that were sent and have not ended; the mean over time.",
                "已发出而未结束的请求数，按时间平均。",
            ],
            places: &[(PageChart, 24, &[]), (Definitions, 10, &[])],
            ..REQUESTS
        },
        |level| Some(level.concurrency?.mean),
    ),
    (
        Metric::Completed,
        charted(REQUESTS, "completed", "completed", ["Completed", "成功"], &[(PageChart, 25, &[])]),
        |level| level.requests.completed.map(|count| count as f64),
    ),
    (
        Metric::Failed,
        charted(
            Info { better: Better::Lower, ..REQUESTS },
            "failed",
            "failed",
            ["Failed", "失败"],
            &[(PageChart, 26, &[])],
        ),
        |level| level.requests.failed.map(|count| count as f64),
    ),
    (
        Metric::Unconfirmed,
        charted(
            Info { better: Better::Lower, ..REQUESTS },
            "unconfirmed",
            "unconfirmed",
            ["Unconfirmed", "未确认"],
            &[(PageChart, 34, &[])],
        ),
        |level| level.requests.unconfirmed.map(|count| count as f64),
    ),
    (
        Metric::Shed,
        charted(
            Info { better: Better::Lower, ..REQUESTS },
            "shed",
            "shed",
            ["Shed", "过载拒绝"],
            &[(PageChart, 27, &[]), (Compare, 11, &[])],
        ),
        |level| level.requests.shed.map(|count| count as f64),
    ),
    (
        Metric::Failures,
        Info {
            id: "failures",
            // The page offers it under the name of the SLO metric, which also counts dropped requests.
            name: "errors",
            unit: Unit::Percent,
            better: Better::Lower,
            label: ["Failed or shed requests, share", "失败或被拒绝的请求占比"],
            title: ["Failed", "失败率"],
            formula: "(failed + unconfirmed + shed) / all that ended",
            means: [
                "Share of the requests that failed, that are unconfirmed or that an overloaded server shed.",
                "失败的、未确认完整的以及因服务器过载而被拒绝的请求所占的比例。",
            ],
            places: &[(PageChart, 28, &[]), (Definitions, 12, &[]), (Compare, 8, &[])],
            ..REQUESTS
        },
        |level| Some(level.requests.failure_share()? * 100.0),
    ),
    (
        Metric::Errors,
        Info {
            id: "errors",
            name: "errors",
            unit: Unit::Percent,
            better: Better::Lower,
            label: ["Errors", "错误率"],
            places: &[(Slo, 7, &[])],
            ..REQUESTS
        },
        |level| Some(level.requests.bad()? as f64 / level.requests.ended()? as f64 * 100.0),
    ),
    (
        Metric::Duration,
        charted(
            Info { unit: Unit::Seconds, ..REQUESTS },
            "duration_s",
            "duration",
            ["Duration", "用时"],
            &[(PageChart, 29, &[])],
        ),
        |level| level.duration_s,
    ),
    (
        Metric::TreesCompleted,
        charted(
            REQUESTS,
            "trees_completed",
            "trees_completed",
            ["Completed trees", "完成的任务树"],
            &[(PageChart, 41, &[])],
        ),
        |level| Some(level.trees.as_ref()?.completed as f64),
    ),
    (
        Metric::TreesLive,
        charted(
            Info { better: Better::Neither, ..REQUESTS },
            "trees_live",
            "trees_live",
            ["Live trees, mean", "平均活跃任务树"],
            &[(PageChart, 42, &[])],
        ),
        |level| Some(level.trees.as_ref()?.live?.mean),
    ),
    (
        Metric::TreeDuration,
        Info {
            id: "tree_duration_s",
            name: "tree_duration",
            unit: Unit::Seconds,
            better: Better::Lower,
            label: ["Duration of a tree, p50", "任务树时长 p50"],
            title: ["Tree duration p50", "任务树时长 p50"],
            formula: "last end − first sent",
            means: [
                "How long a completed tree of sessions took, gaps included; the median over the trees.",
                "完成的任务树所用时间，含间隔；取各任务树的中位数。",
            ],
            places: &[(PageChart, 43, &[]), (Definitions, 17, &[]), (Compare, 12, &[])],
            ..REQUESTS
        },
        |level| Some(level.trees.as_ref()?.duration.as_ref()?.p50? / 1e3),
    ),
    (
        Metric::TreeStretch,
        charted(
            Info { better: Better::Lower, ..REQUESTS },
            "tree_stretch",
            "stretch",
            ["Stretch of a tree, p50", "任务树伸缩比 p50"],
            &[(PageChart, 44, &[])],
        ),
        |level| level.trees.as_ref()?.stretch.as_ref()?.p50,
    ),
    (
        Metric::Running,
        charted(
            SERVER,
            "running",
            "running",
            ["Running, mean", "平均运行数"],
            &[(PageChart, 30, &[])],
        ),
        |level| Some(level.server.as_ref()?.running?.mean),
    ),
    (
        Metric::Waiting,
        charted(
            SERVER,
            "waiting",
            "waiting",
            ["Waiting, mean", "平均排队数"],
            &[(PageChart, 31, &[])],
        ),
        |level| Some(level.server.as_ref()?.waiting?.mean),
    ),
    (
        Metric::KvCache,
        charted(
            Info { unit: Unit::Percent, ..SERVER },
            "kv_use_max",
            "kv",
            ["KV cache, peak", "KV cache 峰值占用"],
            &[(PageChart, 32, &[])],
        ),
        |level| Some(level.server.as_ref()?.kv_use_max? * 100.0),
    ),
    (
        Metric::CachedShare,
        Info {
            id: "cached_share",
            name: "cached",
            unit: Unit::Percent,
            label: ["Prefix cache hit rate", "前缀缓存命中率"],
            title: ["Cached", "缓存命中率"],
            short: ["cached", "缓存"],
            formula: "cached prompt tokens / prompt tokens",
            means: [
                "Share of prompt tokens found in the server's prefix cache, from the usage of its \
                 responses, else from its metrics.",
                "提示词 token 中命中服务器前缀缓存的占比，取自响应的 usage，否则取自服务器指标。",
            ],
            places: &[(PageChart, 35, &[]), (Definitions, 13, &[])],
            ..SERVER
        },
        |level| Some(level.cache.as_ref()?.share? * 100.0),
    ),
    (
        Metric::IdealCache,
        charted(
            Info { unit: Unit::Percent, better: Better::Neither, ..SERVER },
            "ideal_cache_share",
            "ideal_cached",
            ["Ideal cache share, with responses", "理想缓存命中率（含响应）"],
            &[(PageChart, 45, &[])],
        ),
        |level| Some(level.trees.as_ref()?.ideal_cache?.with_responses * 100.0),
    ),
    (
        Metric::Price,
        charted(
            Info { better: Better::Lower, group: MetricGroup::Cost, ..REQUESTS },
            "per_million_output_tokens",
            "cost",
            ["Cost per million output tokens", "每百万输出 token 成本"],
            &[(PageChart, 33, &[])],
        ),
        |level| level.cost?.per_million_output_tokens,
    ),
];
