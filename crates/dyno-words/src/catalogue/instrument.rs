//! What is found of the measuring itself: figures that the client cannot be sure of, and what became of
//! the client while it measured.

use crate::wordings;

const OTHERS_ARE_GOOD: [&str; 2] = [
    "figures that are not named here are good; the notes below say what happened to the client",
    "此处未列出的数值可以采信；客户端遇到的情况见下方备注",
];

wordings! {
    /// What is found of the measuring itself.
    pub enum Measuring;

    Poor: Error "instrument_range",
        ["the client cannot tell these figures; their instrument ranges: {}",
         "客户端无法确定以下数值，其测量范围：{}"],
        OTHERS_ARE_GOOD;
    PoorTail: Warning "instrument_range",
        ["of these figures the client can only give the instrument range: {}",
         "以下数值客户端只能给出测量范围：{}"],
        OTHERS_ARE_GOOD;
    Fair: Warning "instrument_range",
        ["these figures are accurate to 10 % only; their instrument ranges: {}",
         "以下数值精度仅在 10 % 以内，其测量范围：{}"],
        OTHERS_ARE_GOOD;
    FewInFlight: Error "effective_concurrency",
        ["only {} % of the {} requests were kept in flight: the client was late to send the next",
         "客户端发送下一个请求过晚，{1} 个并发请求平均只有 {0} % 在途"],
        ["throughput is that of less load than was asked for; the notes below say what happened to the \
          client",
         "吞吐量对应的负载低于要求；客户端遇到的情况见下方备注"];
    SomeInFlight: Warning "effective_concurrency",
        ["{} % of the {} requests were kept in flight: the client was late to send the next",
         "客户端发送下一个请求偏晚，{1} 个并发请求平均有 {0} % 在途"],
        ["throughput is that of slightly less load than was asked for",
         "吞吐量对应的负载略低于要求"];
    NoRanges: Warning "no_instrument_ranges",
        ["recorded by a version that did not keep how exact its times are",
         "由不记录时间精度的旧版本测得"],
        ["measure again for a verdict", "如需判定请重新测试"];
    Preempted: Note "client_stalled",
        ["the client stood still for {} s in all, {} ms at the longest, while its thread used {} % of a \
          CPU: the machine ran something else",
         "客户端累计停顿 {} s，最长 {} ms，而其线程仅占用 {} % 的 CPU：机器在运行其他任务"],
        ["keep other work off this machine, raise the CPU limit of its container, or give the client a \
          core (`taskset`) and priority (`chrt -f 1`)",
         "请避免在本机运行其他任务，提高容器的 CPU 配额，或给客户端独占的核（`taskset`）与实时优先级（`chrt -f 1`）"];
    Overloaded: Note "client_stalled",
        ["the client stood still for {} s in all, {} ms at the longest, and its thread used {} % of a \
          CPU: it had more to do than one core can",
         "客户端累计停顿 {} s，最长 {} ms，其线程占用 {} % 的 CPU：单核无法承担"],
        ["run fewer streams per client, or use a faster core; `dyno doctor` tells what this machine can \
          measure",
         "请减少单个客户端的并发流，或使用更快的核；`dyno doctor` 可测出本机的测量能力"];
    AwaitedPrompts: Note "awaited_prompts",
        ["the client waited {} s for prompts to be made", "客户端等待生成提示词共 {} s"],
        ["prompts are made as fast as one core can: use shorter ones, or a data file",
         "提示词由单核生成：请缩短提示词，或使用数据文件"];
    AwaitedRecords: Note "awaited_records",
        ["the client waited {} s for its records to be written", "客户端等待写入记录共 {} s"],
        ["the disk of the run directory is slow: choose another with --out",
         "测试目录所在磁盘过慢：请用 --out 换一个位置"];
    NoStamps: Note "no_kernel_stamps",
        ["the kernel gave no receive times for {} % of the reads, so times are those of this program",
         "{} % 的读取没有内核接收时间戳，时间取自本程序"],
        ["short gaps between tokens are uncertain then; sandboxes and some kernels do not stamp",
         "此时较短的 token 间隔并不可靠；沙箱和部分内核不提供时间戳"];
}
