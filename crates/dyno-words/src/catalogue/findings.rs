//! Findings about a level or a run: what was observed, and what to do about it.

use crate::wordings;

const CLIENT_WAS_LATE: [&str; 2] = [
    "the effect on each metric is in its instrument range; give the client its own core, and see \
     `dyno doctor`",
    "对各项指标的影响见其测量误差范围；请给客户端独占一个核，并参考 `dyno doctor`",
];
const RECORDS_WRONG: [&str; 2] = [
    "the records are inconsistent: do not use these results; keep the run directory and report a bug",
    "记录不一致：请勿使用这些结果；请保留测试目录并报告此缺陷",
];
const RUN_AGAIN: [&str; 2] = ["run it again for complete results", "如需完整结果请重新测试"];
const SEND_USAGE: [&str; 2] = [
    "token metrics mix different ways of counting; make the server send usage with every response",
    "token 指标混用了不同的计数方式；请让服务器在每个响应中返回 usage",
];
const IDLE: [&str; 2] = [
    "no steady window: nothing was in flight in the {} s between ramp-up and drain",
    "没有稳态窗口：启动与排空之间的 {} s 内没有进行中的请求",
];
const USE_LONGER: [&str; 2] = [
    "use {2}; throughput of the whole level includes ramp-up and drain",
    "请使用 {2}；整档吞吐量包含启动和排空阶段",
];
const TREND: [&str; 2] =
    ["no steady window: concurrency changed by {} %", "没有稳态窗口：并发数变化 {} %"];
const REPLAY_SLOWER: [&str; 2] = [
    "the load of a trace varies, so this alone is not a problem; but if concurrency grows far more \
     than the arrival rate, requests get longer or the server falls behind: replay it slower, with \
     a smaller speed=",
    "流量记录的负载本来就会变化，这本身不是问题；但若并发数的增长远超请求速率，则说明请求变长或服务器跟不上：请减小 speed= 放慢回放",
];

const TOTALS_LEFT_OUT: [&str; 2] = [
    "token totals are left out; make the server send usage",
    "不给出 token 总数；请让服务器返回 usage",
];

wordings! {
    /// A finding about a level or a run.
    pub enum Finding;

    SendLag: Note "send_lag",
        ["requests were sent late: send delay p99 {} ms", "请求发出过晚：发送延迟 p99 {} ms"],
        CLIENT_WAS_LATE;
    ReadLag: Note "read_lag",
        ["the client was busy: read delay p99 {} ms", "客户端过忙：读取延迟 p99 {} ms"],
        CLIENT_WAS_LATE;
    TimerLag: Note "read_lag",
        ["the client was busy: timer delay p99 {} ms", "客户端过忙：定时器延迟 p99 {} ms"],
        CLIENT_WAS_LATE;
    OutOfFiles: Note "out_of_files",
        ["{} {0|request was|requests were} dropped: out of file descriptors (EMFILE)",
         "文件描述符耗尽（EMFILE），{} 个请求未能发出"],
        ["raise the limit of open files (`ulimit -n`)", "请提高可打开文件数上限（`ulimit -n`）"];
    OutOfPorts: Note "out_of_ports",
        ["{} {0|request was|requests were} dropped: out of local ports (EADDRNOTAVAIL)",
         "本地端口耗尽（EADDRNOTAVAIL），{} 个请求未能发出"],
        ["open connections from several local addresses with --source-address, or widen \
          net.ipv4.ip_local_port_range",
         "请用 --source-address 从多个本地地址建立连接，或扩大 net.ipv4.ip_local_port_range"];
    Unasked: Warning "unasked_responses",
        ["{} {0|response|responses} came on idle connections, where no request had asked for {0|it|them}",
         "空闲连接上收到 {} 个没有对应请求的响应"],
        ["the server or a proxy sends responses twice or late, so that others may have been taken for those \
          of the wrong request; make it close its connections (`Connection: close`)",
         "服务器或代理重复或延迟发送响应，其他响应也可能被当作错误请求的响应；请让其关闭连接（`Connection: close`）"];
    OffSchedule: Error "off_schedule",
        ["{} of {} scheduled requests were sent, {} off",
         "计划的 {1} 个请求实际发出 {0} 个，偏差 {2}"],
        ["the offered load is not the requested one; lower the rate or use more clients",
         "实际施加的负载与要求不符；请降低请求速率或增加客户端"];
    BehindSchedule: Error "behind_schedule",
        ["the client could not keep up and was {} s behind its schedule, so the level was ended: {} of {} \
          scheduled requests were sent",
         "客户端跟不上计划，已落后 {} s，因此结束该档位：计划的 {2} 个请求实际发出 {1} 个"],
        ["lower the rate, or share it between several clients with --agents; `dyno doctor` says how much this \
          machine can send",
         "请降低请求速率，或用 --agents 让多个客户端分担；`dyno doctor` 可给出本机的发送能力"];
    EngineSlip: Note "engine_slip",
        ["this machine is too busy for the engine: p99 {} ms late",
         "本机过忙，引擎未能按时输出：p99 晚 {} ms"],
        ["latencies and their percentiles include this delay; leave the machine to Dyno, or measure an engine \
          on another one (`dyno engine`)",
         "各项时延及其分位数包含该延迟；请让本机只运行 Dyno，或测量另一台机器上的引擎（`dyno engine`）"];
    RecordsMissing: Error "records_missing",
        ["{} records for {} requests", "{1} 个请求只有 {0} 条记录"],
        RECORDS_WRONG;
    WarmupRecordsMissing: Error "records_missing",
        ["{} records for {} warm-up requests", "{1} 个预热请求只有 {0} 条记录"],
        RECORDS_WRONG;
    ShortOfPlan: Error "short_of_plan",
        ["{} requests were issued, the plan has {}", "计划有 {1} 个请求，实际产生 {0} 个"],
        ["the records do not match the plan: do not use these results; report a bug",
         "记录与计划不符：请勿使用这些结果，并报告此缺陷"];
    Partial: Warning "partial",
        ["the records end before the level does; only finished requests are counted",
         "记录在该档位结束之前中断；只统计已结束的请求"],
        RUN_AGAIN;
    CoordinatorLost: Error "coordinator_lost",
        ["the coordinator ended before the level did: no agent said how it ended",
         "协调端在该档位结束之前退出：没有压测端报告其结束情况"],
        ["some agents' records may be missing; `dyno bench --resume` runs the level again",
         "部分压测端的记录可能缺失；可用 `dyno bench --resume` 重新测试该档位"];
    Interrupted: Warning "interrupted",
        ["interrupted before the level ended", "该档位未结束即被中断"],
        RUN_AGAIN;
    TargetLost: Warning "target_lost",
        ["target lost: stopped because it failed or did not respond", "目标失联：因持续失败或没有响应而停止"],
        ["look at the failures and at the server's log", "请查看失败信息和服务器日志"];
    Aborted: Warning "aborted",
        ["Dyno stopped with an error before the level ended", "该档位未结束时 Dyno 因错误停止"],
        ["see its error message, then run it again", "请查看错误信息后重新测试"];
    NothingCompleted: Warning "nothing_completed",
        ["no request completed", "没有任何请求完成"],
        ["look at the failures; if there are none, responses took longer than the level: \
          allow more time with --duration or --drain",
         "请查看失败信息；若没有失败，则说明响应耗时超过该档位的时长：请用 --duration 或 --drain 延长时间"];
    AllFailed: Error "nothing_completed",
        ["no request completed: {} failed, so that nothing was measured",
         "没有任何请求完成：{} 个失败，因此没有任何测量结果"],
        ["look at the failures", "请查看失败信息"];
    AllShed: Warning "nothing_completed",
        ["no request completed: the server shed all of them",
         "没有任何请求完成：服务器因过载拒绝了全部请求"],
        ["look at the refusals below and at the server's limits, and lower the load",
         "请查看下方的拒绝信息和服务器的限制，并降低负载"];
    NothingDue: Warning "nothing_measured",
        ["nothing was measured: no request was due in the measured time",
         "没有测得任何数据：测量时间内没有应发出的请求"],
        ["give the level more requests or time, or raise the rate",
         "请增加请求数或时长，或提高请求速率"];
    OnlyWarmup: Warning "nothing_measured",
        ["nothing was measured: the {} {0|request|requests} of this level were all warm-up",
         "没有测得任何数据：该档位的 {} 个请求全部属于预热"],
        ["lower --warmup, or give the level more requests or time",
         "请减小 --warmup，或增加请求数或时长"];
    Failures: Warning "failures",
        ["{} of {} requests failed ({}; {} allowed)", "{1} 个请求中有 {0} 个失败（{2}；允许 {3}）"],
        ["throughput and latency cover only the requests that completed; look at the failures",
         "吞吐量与时延只统计成功的请求；请查看失败信息"];
    Coalesced: Note "coalesced",
        ["{} of the output events arrived in the same read as the previous one",
         "{} 的输出事件与前一个事件在同一次读取中到达"],
        ["something buffers the stream (a proxy, compression, a slow link): do not trust ITL; \
          disable buffering, or measure close to the server",
         "流被缓冲（代理、压缩或慢速链路）：token 间时延（ITL）不可信；请关闭缓冲，或在靠近服务器处测量"];
    MixedSources: Warning "mixed_token_sources",
        ["input and output token counts come from more than one source",
         "输入和输出 token 计数来自多个来源"],
        SEND_USAGE;
    MixedInput: Warning "mixed_token_sources",
        ["input token counts come from more than one source", "输入 token 计数来自多个来源"],
        SEND_USAGE;
    MixedOutput: Warning "mixed_token_sources",
        ["output token counts come from more than one source", "输出 token 计数来自多个来源"],
        SEND_USAGE;
    SlotsMissing: Warning "no_steady_window",
        ["no steady window: only {} of {} concurrency slots had a request",
         "没有稳态窗口：{1} 个并发槽位中只有 {0} 个有请求"],
        ["send several requests for each slot, such as --requests 4x",
         "每个并发槽位应有多个请求，例如 --requests 4x"];
    WindowTooShort: Warning "no_steady_window",
        ["too short for a steady window: {} s after ramp-up, needs more than two rounds of requests \
          ({} s)",
         "时长过短，没有稳态窗口：启动之后仅 {} s，需要超过两轮请求的时间（{} s）"],
        USE_LONGER;
    WindowTooShortTrace: Warning "no_steady_window",
        ["too short for a steady window: {} s after its first responses, needs two median latencies \
          ({} s)",
         "时长过短，没有稳态窗口：首批响应之后仅 {} s，需要端到端时延中位数的两倍（{} s）"],
        ["replay a longer part of the trace, or a smaller speed=",
         "请回放更长的一段流量记录，或减小 speed="];
    FewTurns: Warning "no_steady_window",
        ["too short for a steady window: {} s with every user active, needs two conversation turns with \
          their pauses ({} s)",
         "时长过短，没有稳态窗口：所有用户同时活动仅 {} s，需要两轮对话（含停顿）的时间（{} s）"],
        USE_LONGER;
    Idle: Warning "no_steady_window",
        IDLE,
        ["requests were too few or too far apart: send more, or at a higher rate",
         "请求过少或间隔过大：请增加请求，或提高速率"];
    IdleTrace: Warning "no_steady_window",
        IDLE,
        ["requests were too few or too far apart: replay a longer or busier part of the trace, or a \
          higher speed=",
         "请求过少或间隔过大：请回放流量记录中更长或更繁忙的部分，或提高 speed="];
    IdleTurns: Warning "no_steady_window",
        IDLE,
        ["requests were too few or too far apart: send more, or run for several conversation turns \
          of each user, pauses included",
         "请求过少或间隔过大：请增加请求，或运行到每个用户完成数轮对话（含停顿）"];
    Saturated: Warning "no_steady_window",
        ["no steady window: the server could not keep up with about {} % of the offered load",
         "没有稳态窗口：服务器无法承载约 {} % 的请求"],
        ["its queue grows for as long as the level lasts, so latency depends on the duration; lower \
          --rate",
         "队列会一直增长，时延取决于测试时长；请降低 --rate"];
    Behind: Note "behind_offered",
        ["only {} of {} req/s offered were completed in the steady window, and the level is too short to determine \
          whether the server keeps up",
         "稳态窗口内每秒到达 {1} 个请求，只完成 {0} 个；测试过短，无法判定服务器能否承载"],
        ["use {2} to determine it; if the queue keeps growing, latency depends on the duration",
         "请用 {2} 判定；若队列持续增长，时延取决于测试时长"];
    AboveThroughput: Warning "above_throughput",
        ["{} req/s were offered, but {} completed no more than {} req/s with as many requests in flight: the server \
          cannot keep up, and this level is too short for its queue to show it",
         "每秒到达 {0} 个请求，而{1}在并发数不低于本档位时每秒只完成 {2} 个：服务器无法承载，只是测试过短，队列尚未显现"],
        ["latency depends on the duration of the level; lower --rate",
         "时延取决于测试时长；请降低 --rate"];
    KeepsUpUnclear: Note "saturation_unclear",
        ["inconclusive whether the server keeps up: {}", "无法判定服务器能否承载：{}"],
        ["run the level longer by that much to determine it; if the queue keeps growing, latency depends on the duration",
         "如需判定，请将档位延长这么多；若队列持续增长，时延取决于测试时长"];
    ColdStart: Note "cold_start",
        ["the first {0} requests met an idle server: with them latency mean is {1}, without them {2}",
         "前 {0} 个请求遇到的是空闲的服务器：端到端时延平均值含这些请求为 {1}，不含为 {2}"],
        ["use --warmup {3}, or a longer level", "请使用 --warmup {3}，或延长该档位"];
    Growing: Warning "no_steady_window",
        TREND,
        ["if less was done than offered, the server does not keep up: lower --rate; otherwise random \
          arrivals came unevenly: run longer",
         "若完成少于到达，说明服务器跟不上：请降低 --rate；否则是随机到达不均匀：请延长测试"];
    Shrinking: Warning "no_steady_window",
        TREND,
        ["the level had not settled; use a longer --warmup", "该档位尚未稳定；请加长 --warmup"];
    TraceTrendAlone: Note "trace_trend",
        ["no steady window: concurrency changed by {} % over the trace; its arrival rate has no \
          trend",
         "没有稳态窗口：回放期间并发数变化 {} %；请求速率没有趋势"],
        REPLAY_SLOWER;
    TraceTrend: Note "trace_trend",
        ["no steady window: concurrency changed by {} % over the trace; its arrival rate changed by \
          {} %",
         "没有稳态窗口：回放期间并发数变化 {} %；请求速率变化 {} %"],
        REPLAY_SLOWER;
    PastCapacity: Warning "past_capacity",
        ["offered {} req/s, not below the twin's capacity (between {} and {} req/s): past the knee, latency \
          only reflects the duration of the run, so none is given",
         "请求速率为每秒 {} 个，不低于孪生模型的容量（介于每秒 {} 到 {} 个之间）：越过拐点后时延只取决于测试时长，因此不给出时延"],
        ["use the capacity, or predict a rate below it", "请参考容量，或预测低于容量的请求速率"];
    NotConverged: Note "not_converged",
        ["the level ended before {} converged to ± {}", "该档位结束时 {} 尚未收敛到 ± {}"],
        ["allow more time with --max-duration, or a wider interval, such as --precision {2}",
         "请用 --max-duration 延长时间，或放宽精度，例如 --precision {2}"];
    TooFewToConverge: Note "not_converged",
        ["too few requests to tell whether {} converged to ± {}: needs {}, had {}",
         "请求过少，无法判断 {} 是否已收敛到 ± {}：需要 {} 个，实有 {} 个"],
        ["use {4}", "请使用 {4}"];
    ClockStepped: Note "clock_stepped",
        ["the wall clock moved by {} ms relative to the monotonic clock",
         "系统时钟相对单调时钟跳变了 {} ms"],
        ["latencies are unaffected, but times of day in this run are off; check time synchronisation",
         "时延不受影响，但本次测试中的时刻不准；请检查时间同步"];
    InputLength: Note "input_length",
        ["prompts had {} tokens by Dyno's count; the server counted {}",
         "按 Dyno 计数，提示词平均 {} 个 token，服务器计为 {} 个"],
        ["pass the model's own tokenizer with --tokenizer, or go by the server's count",
         "请用 --tokenizer 指定模型自己的分词器，或以服务器计数为准"];
    PairsCounted: Note "pairs_counted",
        ["requests had {} tokens by Dyno's count; the server counted {}",
         "按 Dyno 计数，每个请求 {} 个 token，服务器计为 {} 个"],
        ["a reranker reads the query with each document, and its count is what input tokens per second \
          are of; Dyno counts each text once",
         "重排序模型对每个文档都重读一遍查询；每秒输入 token 数按服务器计数，Dyno 对每段文本只计一次"];
    OutputLength: Note "output_length",
        ["{} of {} responses were shorter than requested: {} tokens on average, {} requested",
         "{1} 个响应中有 {0} 个短于要求：平均 {2} 个 token，要求 {3} 个"],
        ["this server's output length cannot be fixed; compare runs by tokens, not by requests",
         "该服务器的输出长度无法固定；请按 token 而不是按请求对比测试"];
    OutputStopped: Note "output_length",
        ["{} of {} responses ended with a stop string: {} tokens on average, {} requested",
         "{1} 个响应中有 {0} 个因停止串结束：平均 {2} 个 token，要求 {3} 个"],
        ["compare runs by tokens, not by requests", "请按 token 而不是按请求对比测试"];
    OutputFewer: Note "output_fewer",
        ["{} of {} responses were up to {} {2|token|tokens} shorter than requested, although the server \
          ended them at the length limit",
         "{1} 个响应中有 {0} 个比要求最多少 {2} 个 token，尽管服务器是在长度上限处结束的"],
        ["some servers of this API generate a token or two less; the responses count as completed",
         "该 API 的部分服务器会少生成一两个 token；这些响应计为成功"];
    TokensUnknown: Note "tokens_unknown",
        ["no token count for the input of {} and the output of {} requests",
         "{} 个请求没有输入 token 计数，{} 个请求没有输出 token 计数"],
        TOTALS_LEFT_OUT;
    InputUnknown: Note "tokens_unknown",
        ["no token count for the input of {} {0|request|requests}",
         "{} 个请求没有输入 token 计数"],
        TOTALS_LEFT_OUT;
    OutputUnknown: Note "tokens_unknown",
        ["no token count for the output of {} {0|request|requests}",
         "{} 个请求没有输出 token 计数"],
        TOTALS_LEFT_OUT;
    NoTerminal: Note "no_terminal_event",
        ["{} of {} streams ended without a terminal event", "{1} 个流中有 {0} 个没有结束事件"],
        ["they count as completed because a finish reason arrived; the server does not follow the \
          protocol",
         "因收到结束原因而视为完成；服务器未遵守协议"];
    Unconfirmed: Note "unconfirmed",
        ["{} of {} responses ended without a finish reason and with fewer tokens than requested",
         "{1} 个响应中有 {0} 个没有结束原因，token 数也少于请求的数量"],
        ["they may have been cut off, so they are in no rate and no time, and count like failures; look \
          at the server's log",
         "它们可能被截断，因此不计入任何速率和时延，并按失败计数；请查看服务器日志"];
    EventsLost: Note "events_lost",
        ["{} events of {} of {} streams never arrived, by the numbers of those that did",
         "按事件编号，{2} 个流中有 {1} 个共缺失 {0} 个事件"],
        ["something between the server and Dyno drops events; gaps between tokens include lost ones",
         "服务器与 Dyno 之间有环节丢弃事件；token 间隔包含丢失的事件"];
    FirstChunk: Note "first_chunk_tokens",
        ["the first chunk of {} of {} streams carried several tokens",
         "{1} 个流中有 {0} 个的首个数据块含多个 token"],
        ["TTFT includes the time of those tokens, and TPOT divides by all of them",
         "首 token 时延（TTFT）包含这些 token 的时间，单 token 时延（TPOT）按全部 token 平均"];
    OneBurst: Note "one_burst",
        ["{} of {} streamed responses arrived all at once", "{1} 个流式响应中有 {0} 个一次性到达"],
        ["their TTFT and ITL mean little; look for buffering between server and client",
         "它们的首 token 时延（TTFT）和 token 间时延（ITL）意义不大；请检查服务器与客户端之间的缓冲"];
    NoTokenTimes: Note "no_token_times",
        ["{} of {} streams do not report how many tokens a chunk carried",
         "{1} 个流中有 {0} 个未说明每个数据块含多少 token"],
        ["they have no ITL; use chunk gap and TPOT instead", "它们没有 token 间时延（ITL）；请参考数据块间隔和单 token 时延（TPOT）"];
    SurvivorsOnly: Note "survivors_only",
        ["{} {0|request|requests} timed out and {0|is|are} not part of any latency metric",
         "{} 个请求超时，未计入任何时延指标"],
        ["percentiles cover only the requests that completed, so they look better than they are",
         "百分位只统计成功的请求，看起来比实际更好"];
    Resent: Note "resent",
        ["{} {0|request was|requests were} sent again because a reused connection had been closed",
         "{} 个请求因复用的连接已关闭而重新发送"],
        ["the server closes idle connections early; this is not a failure",
         "服务器过早关闭空闲连接；这不算失败"];
    SessionsBroken: Note "sessions_broken",
        ["{} of {} {1|conversation|conversations} ended with a failed turn; their remaining turns \
          were not sent",
         "{1} 个会话中有 {0} 个因某轮失败而终止；其余轮次未发送"],
        ["later turns cover only the conversations that went on; look at the failures",
         "后续轮次只统计未中断的会话；请查看失败信息"];
    SessionsShed: Note "sessions_broken",
        ["{} of {} {1|conversation|conversations} ended with a turn that the server shed; their \
          remaining turns were not sent",
         "{1} 个会话中有 {0} 个因某轮被服务器拒绝而终止；其余轮次未发送"],
        ["later turns cover only the conversations that went on; lower the load, or send refused \
          turns again with --on-shed retry",
         "后续轮次只统计未中断的会话；请降低负载，或用 --on-shed retry 重新发送被拒绝的轮次"];
    Stragglers: Note "stragglers",
        ["{} {0|straggler|stragglers} made the level last {} s longer, of {} s",
         "{} 个拖尾请求使该档位延长 {} s，总时长 {} s"],
        ["use the rates of the steady window; throughput over the whole level is too low",
         "请以稳态窗口的数值为准；整档吞吐量偏低"];
    NoIntervalBurst: Note "no_interval",
        ["no 95 % confidence intervals: all requests of a burst belong to one moment",
         "没有 95 % 置信区间：一次突发的所有请求属于同一时刻"],
        ["repeat the burst to see how much it varies", "请重复突发测试以观察波动"];
    NoIntervalBlocks: Note "no_interval",
        ["too short for 95 % confidence intervals", "时长过短，无法给出 95 % 置信区间"],
        ["use {}", "请使用 {}"];
    NoIntervalTrace: Note "no_interval",
        ["too short for 95 % confidence intervals", "时长过短，无法给出 95 % 置信区间"],
        ["replay {} s of the trace or more, or lower speed=",
         "请回放至少 {} s 的流量记录，或降低 speed="];
    Damaged: Note "records_damaged",
        ["the record file is damaged: {}", "记录文件已损坏：{}"],
        ["only the records before the damage are counted", "只统计损坏处之前的记录"];
    PlanDiffers: Note "plan_differs",
        ["the records belong to a different plan than plan.json",
         "记录所属的计划与 plan.json 不一致"],
        ["do not mix files of different runs", "请勿混用不同测试的文件"];
    LevelsNotRun: Note "levels_not_run",
        ["{} of {} planned levels {0|is|are} complete", "计划的 {1} 个档位中只完成了 {0} 个"],
        ["`dyno bench --resume` runs the rest", "可用 `dyno bench --resume` 运行其余部分"];
    BegunAgain: Note "begun_again",
        ["restarted when the run was resumed: {}", "测试恢复后重新开始的档位：{}"],
        ["the records of the first attempt are not counted", "首次尝试的记录不计入"];
    SeveralAddresses: Note "several_addresses",
        ["the target has {} addresses, which shared the requests: {}",
         "目标有 {} 个地址，请求由它们分担：{}"],
        ["these are the results of several servers together; to measure one of them, use its address \
          as the target",
         "这是多台服务器合在一起的结果；如只测其中一台，请以其地址为目标"];
    AddressesUnused: Note "addresses_unused",
        ["addresses of the target that accepted no connection and got no requests: {}",
         "目标中未接受连接、因而没有收到请求的地址：{}"],
        ["start the missing servers and run again if they are to share the load",
         "如需它们分担负载，请启动缺少的服务器后重新测试"];
    SloNotMet: Note "slo_not_met",
        ["no level meets the SLO: {}", "没有档位满足 SLO：{}"],
        ["lower the load, or see under each level which term it misses",
         "请降低负载，或查看各档位未满足哪一项"];
    SloBelowOneRequest: Note "slo_not_met",
        ["no level meets the SLO: {}", "没有档位满足 SLO：{}"],
        ["one request at a time already misses {1}: the bound is below the time of a single request, so \
          no load can meet it; raise the bound",
         "逐个发送请求时已不满足 {1}：该界限低于单个请求所需的时间，任何负载都无法满足；请放宽界限"];
    SloInconclusive: Note "slo_inconclusive",
        ["inconclusive whether any level meets the SLO: {}", "无法判定是否有档位满足 SLO：{}"],
        ["this is not a failure; see under each level what would decide it",
         "这不是失败；请查看各档位需要什么才能判定"];
    Contradiction: Note "doubt",
        ["levels contradict each other: {} met the SLO, {} did not",
         "各档位相互矛盾：{} 满足 SLO，{} 却不满足"];
    CapacityBehind: Note "doubt",
        ["less was completed than offered in level {}, so that its queue may keep growing and a longer level miss the SLO",
         "档位 {} 完成的请求少于到达的请求，队列可能持续增长，更长的测试可能不满足 SLO"];
    CapacityDrift: Note "doubt",
        ["the capacity moved by {} % during the search", "搜索期间容量变化了 {} %"];
    NotJudged: Note "doubt",
        ["{} could not be judged: {}; {}", "{} 无法判定：{}；{}"];
    NothingToTry: Note "doubt",
        ["no request completed at high concurrency, so there was no load to try",
         "高并发下没有请求完成，因而没有可尝试的负载"];
}
