//! Findings about a level over time: where a ramp saturated, and what drifted in a soak.

use crate::wordings;

const ABOUT_CAPACITY: [&str; 2] = [
    "this is about the server's capacity; measure rates below it with --rate for reliable results",
    "这大约就是服务器的容量；请用 --rate 测量低于它的请求速率以获得可靠结果",
];
const ABOUT_KNEE: [&str; 2] = [
    "the knee is about there; measure rates around it with --rate",
    "拐点大约在此处；请用 --rate 测量其附近的请求速率",
];
const SERVER_WAS_NOT: [&str; 2] = [
    "the load was constant, so the server's state changed; averages over the whole level describe no \
     single state: look at the values over time",
    "负载始终不变，说明服务器状态在变化；整个档位的数值不代表任何单一状态，请看随时间的变化",
];

wordings! {
    /// A finding about a ramp or a soak.
    pub enum OverTime;

    Queued: Note "ramp_bent",
        ["from about {}/s, {} into the ramp, requests queued: at the end {}/s completed of {}/s \
          offered, with {} in flight",
         "约从 {}/s（开始后 {}）起请求开始排队：最后每秒到达 {3} 个、完成 {2} 个，并发数 {4}"],
        ABOUT_CAPACITY;
    Failed: Note "ramp_bent",
        ["from about {}/s, {} into the ramp, requests failed: at the end {}/s completed of {}/s \
          offered, with {} in flight",
         "约从 {}/s（开始后 {}）起请求开始失败：最后每秒到达 {3} 个、完成 {2} 个，并发数 {4}"],
        ABOUT_CAPACITY;
    TtftLeft: Note "ramp_latency",
        ["from about {}/s, {} into the ramp, TTFT rose: p50 {} before, {} at the end",
         "约从 {}/s（开始后 {}）起首 token 时延（TTFT）上升：p50 此前 {}，最后 {}"],
        ABOUT_KNEE;
    LatencyLeft: Note "ramp_latency",
        ["from about {}/s, {} into the ramp, latency rose: p50 {} before, {} at the end",
         "约从 {}/s（开始后 {}）起端到端时延上升：p50 此前 {}，最后 {}"],
        ABOUT_KNEE;
    TtftDrifted: Warning "drift_ttft",
        ["TTFT drifted: {} in the first quarter, {} in the last ({} %)",
         "首 token 时延（TTFT）发生漂移：前四分之一 {}，后四分之一 {}（{} %）"],
        SERVER_WAS_NOT;
    LatencyDrifted: Warning "drift_latency",
        ["latency drifted: {} in the first quarter, {} in the last ({} %)",
         "端到端时延发生漂移：前四分之一 {}，后四分之一 {}（{} %）"],
        SERVER_WAS_NOT;
    ThroughputDrifted: Warning "drift_throughput",
        ["throughput drifted: {} in the first quarter, {} in the last ({} %)",
         "吞吐量发生漂移：前四分之一 {}，后四分之一 {}（{} %）"],
        SERVER_WAS_NOT;
    FailuresCrept: Warning "drift_failures",
        ["failures increased: {} of the requests in the first quarter, {} in the last; the first \
          failure came after {}",
         "失败请求增多：前四分之一为 {}，后四分之一为 {}；首次失败发生在开始后 {}"],
        ["look at the failures and at the server's log of that time",
         "请查看失败信息和当时的服务器日志"];
    MemoryGrew: Note "drift_memory",
        ["the server's memory grew steadily: from {} to {}, {} per hour",
         "服务器内存持续增长：从 {} 到 {}，每小时 {}"],
        ["it may be a leak: soak for longer, and see whether it levels off",
         "可能存在内存泄漏：请延长浸泡测试，看是否趋于平稳"];
    NoDrift: Note "no_drift",
        ["no drift of TTFT, latency or throughput; a steady change of {} or more over the level would have \
          been seen",
         "首 token 时延（TTFT）、端到端时延和吞吐量均无漂移；整个档位内 {} 以上的持续变化都会被发现"];
    DriftUnclear: Note "soak_too_short",
        ["too short to tell whether TTFT, latency or throughput drift: only a steady change of {} or more over the \
          level would have been seen",
         "时间过短，无法判断首 token 时延（TTFT）、端到端时延和吞吐量是否漂移：只有整个档位内 {} 以上的持续变化才会被发现"],
        ["use --soak {1} or more, in which a change of {2} would be seen",
         "请使用 --soak {1} 或更长，届时可发现 {2} 的变化"];
    SoakTooShort: Note "soak_too_short",
        ["too short to detect drift: {} {0|slice|slices} of two median latencies and five \
          responses, {} needed",
         "时间过短，无法判断漂移：只有 {} 段（每段为端到端时延中位数的两倍且有五个响应），需要 {} 段"],
        ["soak for longer; an hour is a good start", "请延长浸泡测试，至少一小时"];
}
