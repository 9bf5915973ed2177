//! What is said of the load that a run puts on a server: data that were checked before it, lengths
//! that a search chose, and arrivals that waited in the client.

use crate::wordings;

const BACKLOG: [&str; 2] = [
    "the backlog in the client grows as long as the level lasts, so scheduled latencies depend on \
     how long it was; raise --max-concurrency, or lower --rate if the server is the limit",
    "客户端积压会一直增长，按计划时间计算的时延取决于测试时长；请提高 --max-concurrency，若瓶颈在服务器则降低 --rate",
];

wordings! {
    /// What is said of data, levels and arrivals.
    pub enum LoadNote;

    AllChecked: Note "data_checked",
        ["data: all {} records checked", "数据：已检查全部 {} 条记录"];
    LimitChecked: Note "data_checked",
        ["data: the first {} records checked, which is all that --limit takes",
         "数据：已检查前 {} 条记录，即 --limit 所取的全部"];
    FirstChecked: Note "data_checked",
        ["data: the first {} records checked; the rest is checked as it is read",
         "数据：已检查前 {} 条记录，其余在读取时检查"];
    SampleChecked: Note "data_checked",
        ["data: the first {} records and {} more spread over the file checked; the rest is checked \
          as it is read",
         "数据：已检查前 {} 条记录以及分布在文件其余部分的 {} 条，其余在读取时检查"];
    UnusableFound: Note "data_checked",
        ["data: {} of them cannot be used and will be skipped, as skip_bad=true asks",
         "数据：其中 {} 条不可用，将按 skip_bad=true 跳过"];
    WaitedInClient: Note "client_wait",
        ["{} of {} arrivals waited in the client for one of {} slots (--max-concurrency): {} on \
          average, {} at most",
         "{1} 个到达请求中有 {0} 个在客户端等待空闲名额（--max-concurrency 为 {2}）：平均 {3}，最长 {4}"],
        ["scheduled.ttft and scheduled.latency include the wait, ttft and latency do not; raise \
          --max-concurrency to send every request when it is due",
         "scheduled.ttft 和 scheduled.latency 包含这段等待，ttft 和 latency 不包含；如需按时发送全部请求，请提高 --max-concurrency"];
    NeverSent: Note "client_wait",
        ["{} arrivals still waited in the client when sending stopped; they were never sent and \
          count as censored",
         "停止发送时仍有 {} 个到达请求在客户端等待；它们从未发送，计为截断"];
    SaturatedAtCap: Warning "no_steady_window",
        ["no steady window: about {} % of what was offered could not be served with at most {} \
          requests in flight",
         "没有稳态窗口：在最多 {1} 个并发请求下，约 {0} % 的到达请求无法处理"],
        BACKLOG;
    GrowingAtCap: Warning "no_steady_window",
        ["no steady window: the number in flight or waiting in the client changed by {} % with at \
          most {} requests in flight",
         "没有稳态窗口：在最多 {1} 个并发请求下，在途及在客户端等待的请求数变化了 {0} %"],
        BACKLOG;
    LengthForRequests: Note "level_length",
        ["level {} ({}): {}, so that about {} requests arrive",
         "档位 {}（{}）：{}，以便约 {} 个请求到达"];
    LengthToSettle: Note "level_length",
        ["level {} ({}): {}, {} times the latency of a single request ({} s), so that the queue \
          settles",
         "档位 {}（{}）：{}，为单个请求时延（{4} s）的 {3} 倍，以便队列稳定"];
    LengthForWindow: Note "level_length",
        ["level {} ({}): {}, {} times the median latency under full load ({} s), so that there is \
          a steady window",
         "档位 {}（{}）：{}，为满载时中位时延（{4} s）的 {3} 倍，以便出现稳态窗口"];
    LengthPerSlot: Note "level_length",
        ["level {} ({}): {} requests, {} for each slot", "档位 {}（{}）：{} 个请求，每个并发名额 {} 个"];
    LengthAgain: Note "level_length",
        ["level {} ({}): {}, {} times as long, as the last one had too few samples for the SLO",
         "档位 {}（{}）：{}，为上次的 {} 倍，因为上次样本不足以判断 SLO"];
    RequestsAgain: Note "level_length",
        ["level {} ({}): {} requests, {} times as many, as the last one had too few samples for \
          the SLO",
         "档位 {}（{}）：{} 个请求，为上次的 {} 倍，因为上次样本不足以判断 SLO"];
}
