//! Findings about the measurement itself: values that the client could not measure precisely, and what
//! happened to the client during the run.

use crate::wordings;

const OTHERS_ARE_GOOD: [&str; 2] = [
    "metrics that are neither named here nor marked are accurate; to narrow the range, see the notes",
    "此处未列出且未作标记的指标可以采信；原因见说明",
];

wordings! {
    /// A finding about the measurement itself.
    pub enum Measuring;

    Poor: Error "instrument_range",
        ["the client could not measure precisely, and knows only a range: {}",
         "客户端未能准确测量以下指标，只能确定其范围：{}"],
        ["to narrow the range, see the notes", "原因见说明"];
    PoorTail: Warning "instrument_range",
        ["known only to lie within a range, because this machine was busy: {}",
         "因本机繁忙，以下指标只能确定其范围：{}"],
        OTHERS_ARE_GOOD;
    Fair: Warning "instrument_range",
        ["accurate to within 10 %: {}", "精度在 10 % 以内：{}"],
        OTHERS_ARE_GOOD;
    Marked: Note "uncertain",
        ["known only to lie within a range, and marked: {}", "只能确定在一定范围内，已作标记：{}"];
    FewInFlight: Error "effective_concurrency",
        ["only {} % of the {} requests were certainly kept in flight: the client sent the next ones late",
         "客户端发送下一个请求过晚，能确定的平均并发数只有 {1} 的 {0} %"],
        ["throughput is that of a lower load than requested; the notes say what happened to the \
          client",
         "吞吐量对应的负载低于要求；客户端遇到的情况见说明"];
    SomeInFlight: Warning "effective_concurrency",
        ["{} % of the {} requests were certainly kept in flight: the client sent the next ones late",
         "客户端发送下一个请求偏晚，能确定的平均并发数为 {1} 的 {0} %"],
        ["throughput is that of a slightly lower load than requested",
         "吞吐量对应的负载略低于要求"];
    Spread: Error "burst_spread",
        ["the burst was not sent at once: send delay p99 {} ms, with a median latency of {} ms",
         "突发请求没有同时发出：发送延迟 p99 {} ms，而时延中位数为 {} ms"],
        ["fewer requests were waiting at the same time than requested, so they waited less; use several clients \
          (--agents), or a smaller burst",
         "同时等待的请求少于要求，等待时间因此偏短；请使用多个客户端（--agents），或减小突发规模"];
    NoRanges: Warning "no_instrument_ranges",
        ["recorded by a version that did not store the accuracy of its timestamps",
         "由不记录时间精度的旧版本测得"],
        ["measure again for a verdict", "如需判定请重新测试"];
    Preempted: Note "client_stalled",
        ["the client stalled for {} s in total, {} ms at most, while its thread used {} % of a CPU: the \
          machine was running something else",
         "客户端累计停顿 {} s，最长 {} ms，而其线程仅占用 {} % 的 CPU：机器在运行其他任务"],
        ["the verdict follows from the instrument ranges, not from the stalls themselves; to narrow the \
          ranges, keep other work (a server, too) off this machine, raise the CPU limit of its \
          container, or give the client a core (`taskset`) and priority (`chrt -f 1`)",
         "判定取决于测量误差范围，而非停顿本身；要缩小误差范围，请避免在本机运行其他任务（包括服务器），提高容器的 CPU 配额，或给客户端独占的核（`taskset`）与实时优先级（`chrt -f 1`）"];
    Overloaded: Note "client_stalled",
        ["the client stalled for {} s in total, {} ms at most, and its thread used {} % of a CPU: the \
          load is too much for one core",
         "客户端累计停顿 {} s，最长 {} ms，其线程占用 {} % 的 CPU：单核无法承担该负载"],
        ["run fewer streams per client, or use a faster core; `dyno doctor` shows what this machine can \
          measure",
         "请减少单个客户端的并发流，或使用更快的核；`dyno doctor` 可测出本机的测量能力"];
    AwaitedPrompts: Note "awaited_prompts",
        ["the client waited {} s for prompts to be generated", "客户端等待生成提示词共 {} s"],
        ["prompts are generated on one core: use shorter ones, or a data file",
         "提示词由单核生成：请缩短提示词，或使用数据文件"];
    AwaitedRecords: Note "awaited_records",
        ["the client waited {} s for its records to be written", "客户端等待写入记录共 {} s"],
        ["the disk of the run directory is slow: choose another with --out",
         "测试目录所在磁盘过慢：请用 --out 换一个位置"];
    NoStamps: Note "no_kernel_stamps",
        ["the kernel provided no receive timestamps for {} % of the reads, so Dyno's own were used",
         "{} % 的读取没有内核接收时间戳，改用 Dyno 自己的时间"],
        ["short gaps between tokens are then uncertain; sandboxes and some kernels provide no \
          timestamps",
         "此时较短的 token 间隔并不可靠；沙箱和部分内核不提供时间戳"];
}
