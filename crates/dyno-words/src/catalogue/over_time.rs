//! What is found of a level that is looked at over time: where a ramp bent, and what drifted in a
//! soak.

use crate::wordings;

const ABOUT_CAPACITY: [&str; 2] = [
    "this is about what the server carries; measure rates below it with --rate for figures that \
     hold",
    "这大约就是服务器的承载能力；请用 --rate 测量低于它的速率以获得可靠数值",
];
const ABOUT_KNEE: [&str; 2] = [
    "the knee is about there; measure rates around it with --rate",
    "拐点大约在此处；请用 --rate 测量其附近的速率",
];
const SERVER_WAS_NOT: [&str; 2] = [
    "the load was the same all along, so the server was not; figures of the whole level describe \
     no one state of it: read them over time",
    "负载始终不变，说明服务器状态在变化；整个档位的数值不代表任何单一状态，请看随时间的变化",
];

wordings! {
    /// What is found of ramps and soaks.
    pub enum OverTime;

    Queued: Note "ramp_bent",
        ["from about {}/s on, {} into the ramp, requests queued: {}/s of {}/s offered were \
          completed at the end, with {} in flight",
         "约从 {}/s（开始后 {}）起请求开始排队：最后每秒到达 {3} 个、完成 {2} 个，在途 {4} 个"],
        ABOUT_CAPACITY;
    Failed: Note "ramp_bent",
        ["from about {}/s on, {} into the ramp, requests failed: {}/s of {}/s offered were \
          completed at the end, with {} in flight",
         "约从 {}/s（开始后 {}）起请求开始失败：最后每秒到达 {3} 个、完成 {2} 个，在途 {4} 个"],
        ABOUT_CAPACITY;
    TtftLeft: Note "ramp_latency",
        ["from about {}/s on, {} into the ramp, TTFT left its level: p50 {} before, {} at the end",
         "约从 {}/s（开始后 {}）起首 token 延迟 TTFT 偏离原有水平：p50 此前 {}，最后 {}"],
        ABOUT_KNEE;
    LatencyLeft: Note "ramp_latency",
        ["from about {}/s on, {} into the ramp, latency left its level: p50 {} before, {} at the \
          end",
         "约从 {}/s（开始后 {}）起延迟偏离原有水平：p50 此前 {}，最后 {}"],
        ABOUT_KNEE;
    TtftDrifted: Warning "drift_ttft",
        ["TTFT drifted: {} in the first quarter, {} in the last ({} %)",
         "首 token 延迟 TTFT 发生漂移：前四分之一 {}，后四分之一 {}（{} %）"],
        SERVER_WAS_NOT;
    LatencyDrifted: Warning "drift_latency",
        ["latency drifted: {} in the first quarter, {} in the last ({} %)",
         "延迟发生漂移：前四分之一 {}，后四分之一 {}（{} %）"],
        SERVER_WAS_NOT;
    ThroughputDrifted: Warning "drift_throughput",
        ["throughput drifted: {} in the first quarter, {} in the last ({} %)",
         "吞吐量发生漂移：前四分之一 {}，后四分之一 {}（{} %）"],
        SERVER_WAS_NOT;
    FailuresCrept: Warning "drift_failures",
        ["failures crept in: {} of the requests in the first quarter, {} in the last; the first \
          failure was {} in",
         "失败逐渐增多：前四分之一为 {}，后四分之一为 {}；首次失败发生在开始后 {}"],
        ["look at the failures below and at the server's log of that time",
         "请查看下方的失败信息和当时的服务器日志"];
    MemoryGrew: Note "drift_memory",
        ["the server's memory grew all along: from {} to {}, {} an hour",
         "服务器内存持续增长：从 {} 到 {}，每小时 {}"],
        ["it may be a leak: soak for longer, and see whether it levels off",
         "可能存在内存泄漏：请延长浸泡测试，看是否趋于平稳"];
    SoakTooShort: Note "soak_too_short",
        ["too short to look for drift: {} {0|stretch|stretches} of two median latencies and five \
          answers, {} needed",
         "时间过短，无法判断漂移：只有 {} 段（每段两倍延迟中位数且五个应答），需要 {} 段"],
        ["soak for longer; an hour is a start", "请延长浸泡测试，至少一小时"];
}
