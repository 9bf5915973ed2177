//! What is found of a level or a run: what was seen, and what to do about it.

use crate::wordings;

const CLIENT_WAS_LATE: [&str; 2] = [
    "what that does to each metric is in its instrument range; give the client a core of its own, and \
     see `dyno doctor`",
    "对各项数值的影响见其测量范围；请给客户端独占一个核，并参考 `dyno doctor`",
];
const RECORDS_WRONG: [&str; 2] = [
    "the records do not add up: do not use these figures; keep the run directory and report it as \
     a bug",
    "记录对不上：请勿使用这些数值；请保留测试目录并报告此缺陷",
];
const RUN_AGAIN: [&str; 2] = ["run it again for whole figures", "如需完整数值请重新测试"];
const SEND_USAGE: [&str; 2] = [
    "token figures mix different ways of counting; make the server send usage with every answer",
    "token 数值混用了不同的计数方式；请让服务器在每次应答中返回 usage",
];
const INCLUDES_FILLING: [&str; 2] = [
    "whole-run throughput includes filling and emptying; send more requests or run longer",
    "全程吞吐量包含启动和排空阶段；请增加请求或延长时间",
];
const TREND: [&str; 2] =
    ["no steady window: the number in flight changed by {} %", "没有稳定窗口：在途请求数变化 {} %"];
const REPLAY_SLOWER: [&str; 2] = [
    "the load of a trace varies, so this alone is no fault; but if the number in flight grows far \
     more than the arrivals, requests get longer or the server falls behind: replay it slower, \
     with a smaller speed=",
    "轨迹的负载本来就会变化，这本身不是问题；但若在途请求数的增长远超到达率，则说明请求变长或服务器跟不上：请减小 speed= 放慢回放",
];

wordings! {
    /// What is found of a level or a run.
    pub enum Finding;

    SendLag: Note "send_lag",
        ["requests left late: send lag p99 {} ms", "请求发出过晚：发送滞后 p99 {} ms"],
        CLIENT_WAS_LATE;
    ReadLag: Note "read_lag",
        ["the client was busy: read lag p99 {} ms", "客户端过忙：读取滞后 p99 {} ms"],
        CLIENT_WAS_LATE;
    TimerLag: Note "read_lag",
        ["the client was busy: timer lag p99 {} ms", "客户端过忙：定时器滞后 p99 {} ms"],
        CLIENT_WAS_LATE;
    OutOfFiles: Note "out_of_files",
        ["{} {0|arrival was|arrivals were} not sent for want of file descriptors",
         "因文件描述符不足，{} 个请求未能发出"],
        ["raise the limit of open files (`ulimit -n`)", "请提高可打开文件数上限（`ulimit -n`）"];
    OutOfPorts: Note "out_of_ports",
        ["{} {0|arrival was|arrivals were} not sent for want of local ports",
         "因本地端口不足，{} 个请求未能发出"],
        ["widen net.ipv4.ip_local_port_range, or use more than one client address",
         "请扩大 net.ipv4.ip_local_port_range，或使用多个客户端地址"];
    OffSchedule: Error "off_schedule",
        ["{} of {} scheduled arrivals were sent, {} off",
         "计划的 {1} 个请求实际发出 {0} 个，偏差 {2}"],
        ["the offered load was not the one asked for; lower the rate or use more clients",
         "实际施加的负载与要求不符；请降低速率或增加客户端"];
    EngineSlip: Note "engine_slip",
        ["Dyno's engine missed its own schedule: p99 {} ms late",
         "Dyno 引擎未能跟上自身的时间表：p99 滞后 {} ms"],
        ["this machine is too busy for client and engine at this load; lower it, or run `dyno \
          engine` elsewhere",
         "本机在此负载下无法同时承载客户端与引擎；请降低负载，或在别处运行 `dyno engine`"];
    RecordsMissing: Error "records_missing",
        ["{} records for {} arrivals", "{1} 个请求只有 {0} 条记录"],
        RECORDS_WRONG;
    WarmupRecordsMissing: Error "records_missing",
        ["{} records for {} warm-up arrivals", "{1} 个预热请求只有 {0} 条记录"],
        RECORDS_WRONG;
    ShortOfPlan: Error "short_of_plan",
        ["{} arrivals issued where the plan asked for {}", "计划要求 {1} 个请求，实际产生 {0} 个"],
        ["the records do not add up to the plan: do not use these figures; report a bug",
         "记录与计划不符：请勿使用这些数值，并报告此缺陷"];
    Partial: Warning "partial",
        ["the records end before the level does; only what had finished is counted",
         "记录在该档位结束之前中断；只统计已完成的部分"],
        RUN_AGAIN;
    Interrupted: Warning "interrupted",
        ["interrupted before the level was over", "该档位未结束即被中断"],
        RUN_AGAIN;
    TargetLost: Warning "target_lost",
        ["the target was given up after too many failures in a row", "连续失败过多，已放弃该目标"],
        ["look at the failures below and at the server's log", "请查看下方的失败信息和服务器日志"];
    Aborted: Warning "aborted",
        ["this program could not go on before the level was over", "该档位未结束时程序已无法继续"],
        ["see its error message, then run it again", "请查看错误信息后重新测试"];
    NothingCompleted: Warning "nothing_completed",
        ["not one request completed", "没有任何请求完成"],
        ["look at the failures below; if there are none, the answers took longer than the level: \
          give it more time with --duration or --drain",
         "请查看下方的失败信息；若没有失败，则说明应答耗时超过该档位的时长：请用 --duration 或 --drain 延长时间"];
    NothingDue: Warning "nothing_measured",
        ["nothing was measured: no request was due in the measured time",
         "没有测得任何数据：测量时间内没有应发出的请求"],
        ["give the level more requests or time, or raise the rate",
         "请增加请求数或时长，或提高速率"];
    OnlyWarmup: Warning "nothing_measured",
        ["nothing was measured: all there was, {} {0|request|requests}, was warm-up",
         "没有测得任何数据：全部 {} 个请求都属于预热"],
        ["lower --warmup, or give the level more requests or time",
         "请减小 --warmup，或增加请求数或时长"];
    Failures: Warning "failures",
        ["{} of {} requests failed ({}; {} allowed)", "{1} 个请求中有 {0} 个失败（{2}；允许 {3}）"],
        ["throughput and latency are of the survivors; look at the failures below",
         "吞吐量与延迟只统计成功的请求；请查看下方的失败信息"];
    Coalesced: Note "coalesced",
        ["{} of the output events came with the same read as the one before",
         "{} 的输出事件与前一个事件在同一次读取中到达"],
        ["something buffers the stream (a proxy, compression, a slow link): do not trust ITL; \
          turn buffering off or measure next to the server",
         "流被缓冲（代理、压缩或慢速链路）：ITL 不可信；请关闭缓冲，或在服务器旁边测量"];
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
        ["no steady window: only {} of {} slots had a request",
         "没有稳定窗口：{1} 个并发槽位中只有 {0} 个有请求"],
        ["send more requests than there are slots, several times over",
         "请求数应为并发槽位数的数倍"];
    WindowTooShort: Warning "no_steady_window",
        ["no steady window: {} s under full load, two median latencies ({} s) needed",
         "没有稳定窗口：满负载仅 {} s，需要两倍的延迟中位数（{} s）"],
        INCLUDES_FILLING;
    FewTurns: Warning "no_steady_window",
        ["no steady window: {} s with every user at work, two turns of a user with their pauses \
          ({} s) needed",
         "没有稳定窗口：所有用户同时活动仅 {} s，需要用户两轮对话（含停顿）的时间（{} s）"],
        INCLUDES_FILLING;
    Idle: Warning "no_steady_window",
        ["no steady window: nothing was in flight in the {} s between filling and emptying",
         "没有稳定窗口：启动与排空之间的 {} s 内没有在途请求"],
        ["requests were too few or too far apart: send more, or run for several turns of each \
          user, pauses included",
         "请求过少或间隔过大：请增加请求，或运行到每个用户完成数轮（含停顿）"];
    Saturated: Warning "no_steady_window",
        ["no steady window: the server could not carry about {} % of what was offered",
         "没有稳定窗口：约 {} % 的到达请求服务器无法承载"],
        ["its queue grows as long as the level lasts, so latencies depend on how long it was; \
          lower --rate",
         "队列会一直增长，延迟取决于测试时长；请降低 --rate"];
    Growing: Warning "no_steady_window",
        TREND,
        ["the server does not keep up with this rate, so latencies depend on how long the run \
          was; lower --rate",
         "服务器跟不上该速率，延迟取决于测试时长；请降低 --rate"];
    Shrinking: Warning "no_steady_window",
        TREND,
        ["the level was still settling; use a longer --warmup", "该档位尚未稳定；请加长 --warmup"];
    TraceTrendAlone: Note "trace_trend",
        ["no steady window: the number in flight changed by {} % over the trace; its arrivals \
          have no trend",
         "没有稳定窗口：回放期间在途请求数变化 {} %；到达率没有趋势"],
        REPLAY_SLOWER;
    TraceTrend: Note "trace_trend",
        ["no steady window: the number in flight changed by {} % over the trace; its arrivals \
          changed by {} %",
         "没有稳定窗口：回放期间在途请求数变化 {} %；到达率变化 {} %"],
        REPLAY_SLOWER;
    PastCapacity: Warning "past_capacity",
        ["{} requests per second are offered, and the twin carries {} to {}: past its knee a \
          latency would only tell how long the run was, so there is none",
         "每秒到达 {} 个请求，而孪生模型只能承载 {} 到 {}：越过拐点后延迟只取决于测试时长，因此不给出延迟"],
        ["read the capacity, or predict a rate below it", "请参考容量，或预测低于容量的速率"];
    NotConverged: Note "not_converged",
        ["the level ended before {} was known to ± {}", "该档位结束时 {} 尚未收敛到 ± {}"],
        ["give it more time with --max-duration, or ask for less with --precision",
         "请用 --max-duration 延长时间，或用 --precision 放宽精度"];
    ClockStepped: Note "clock_stepped",
        ["the wall clock moved by {} ms against the monotonic one",
         "系统时钟相对单调时钟跳变了 {} ms"],
        ["latencies are not touched, but times of day in this run are; check time synchronisation",
         "延迟不受影响，但本次测试中的时刻会受影响；请检查时间同步"];
    InputLength: Note "input_length",
        ["prompts had {} tokens by our count; the server counted {}",
         "按本地计数提示词平均 {} 个 token，服务器计为 {} 个"],
        ["give the model's own tokenizer with --tokenizer, or read lengths by the server's count",
         "请用 --tokenizer 指定模型自己的分词器，或以服务器计数为准"];
    OutputLength: Note "output_length",
        ["{} of {} answers were shorter than asked: {} tokens on average, {} asked",
         "{1} 个应答中有 {0} 个短于要求：平均 {2} 个 token，要求 {3} 个"],
        ["this server's output length cannot be fixed; compare runs by tokens, not by requests",
         "该服务器的输出长度无法固定；请按 token 而不是按请求比较测试"];
    TokensUnknown: Note "tokens_unknown",
        ["no token count for the input of {} and the output of {} requests",
         "{} 个请求没有输入 token 计数，{} 个请求没有输出 token 计数"],
        ["sums of tokens are left out; make the server send usage",
         "不给出 token 总数；请让服务器返回 usage"];
    NoTerminal: Note "no_terminal_event",
        ["{} of {} streams ended without a terminal event", "{1} 个流中有 {0} 个没有结束事件"],
        ["they count as completed because a finish reason came; the server is sloppy",
         "因收到结束原因而视为完成；服务器实现不严谨"];
    FirstChunk: Note "first_chunk_tokens",
        ["the first chunk of {} of {} streams carried several tokens",
         "{1} 个流中有 {0} 个的首个数据块含多个 token"],
        ["TTFT includes the time of those tokens, and TPOT divides by all of them",
         "TTFT 包含这些 token 的时间，TPOT 按全部 token 平均"];
    OneBurst: Note "one_burst",
        ["{} of {} streamed answers arrived in one burst", "{1} 个流式应答中有 {0} 个一次性到达"],
        ["TTFT and ITL of these say little; look for buffering between server and client",
         "它们的 TTFT 和 ITL 意义不大；请检查服务器与客户端之间的缓冲"];
    NoTokenTimes: Note "no_token_times",
        ["{} of {} streams do not tell how many tokens a chunk carried",
         "{1} 个流中有 {0} 个未说明每个数据块含多少 token"],
        ["they have no ITL; chunk gap and TPOT stand in", "它们没有 ITL；以数据块间隔和 TPOT 代替"];
    SurvivorsOnly: Note "survivors_only",
        ["{} {0|request timed out and is|requests timed out and are} in no latency figure",
         "{} 个请求超时，未计入任何延迟数值"],
        ["percentiles are over survivors only and look better than the truth",
         "百分位只统计成功的请求，看起来比实际更好"];
    Resent: Note "resent",
        ["{} {0|request was|requests were} sent again after a reused connection turned out closed",
         "{} 个请求因复用的连接已关闭而重新发送"],
        ["the server closes idle connections early; this is no failure",
         "服务器过早关闭空闲连接；这不算失败"];
    SessionsBroken: Note "sessions_broken",
        ["{} of {} {1|conversation|conversations} ended with a turn that failed; the turns they \
          had left were never sent",
         "{1} 个会话中有 {0} 个因某轮失败而终止；其余轮次未发送"],
        ["later turns are of the conversations that lasted; look at the failures below",
         "后续轮次只统计未中断的会话；请查看下方的失败信息"];
    Stragglers: Note "stragglers",
        ["{} {0|straggler|stragglers} made the level last {} s longer, of {} s",
         "{} 个拖尾请求使该档位延长 {} s，总时长 {} s"],
        ["read the steady figures; whole-run throughput is pulled down",
         "请以稳定窗口的数值为准；全程吞吐量被拉低"];
    NoIntervalBurst: Note "no_interval",
        ["no 95 % intervals: all requests of a burst belong to one moment",
         "没有 95 % 置信区间：一次突发的所有请求属于同一时刻"],
        ["repeat the burst to see how much it varies", "请重复突发测试以观察波动"];
    NoIntervalBlocks: Note "no_interval",
        ["no 95 % intervals: {} {0|block|blocks} of time, 8 needed",
         "没有 95 % 置信区间：只有 {} 个时间块，需要 8 个"],
        ["run for at least 16 median latencies", "测试时长至少应为延迟中位数的 16 倍"];
    Damaged: Note "records_damaged",
        ["the record file is damaged: {}", "记录文件已损坏：{}"],
        ["only what stands before the damage is counted", "只统计损坏处之前的内容"];
    PlanDiffers: Note "plan_differs",
        ["the records name a different plan than plan.json holds",
         "记录所属的计划与 plan.json 不一致"],
        ["do not mix files of different runs", "请勿混用不同测试的文件"];
    LevelsNotRun: Note "levels_not_run",
        ["{} of {} planned levels were run", "计划的 {1} 个档位中只运行了 {0} 个"],
        ["run the rest: --resume DIR", "请用 --resume DIR 运行其余部分"];
    BegunAgain: Note "begun_again",
        ["begun again after the run was resumed: {}", "测试恢复后重新开始的档位：{}"],
        ["what was recorded of the first beginning does not count", "首次开始时的记录不计入"];
    SloNotMet: Note "slo_not_met",
        ["no level meets the SLO: {}", "没有档位满足 SLO：{}"],
        ["offer less load, or see at each level which term is missed",
         "请降低负载，或查看各档位未满足哪一项"];
    SloInconclusive: Note "slo_inconclusive",
        ["whether a level meets the SLO is inconclusive: {}", "无法判定是否有档位满足 SLO：{}"],
        ["this is not a failure; see at each level what would decide it",
         "这不是失败；请查看各档位需要什么才能判定"];
    Contradiction: Note "doubt",
        ["levels contradict each other: {} held, {} did not",
         "各档位相互矛盾：{} 可承载，{} 却不可"];
    CapacityDrift: Note "doubt",
        ["the edge moved by {} % while it was searched", "搜索期间边界移动了 {} %"];
    NotJudged: Note "doubt",
        ["{} could not be judged: {}; {}", "{} 无法判定：{}；{}"];
    NothingToTry: Note "doubt",
        ["nothing completed with many requests in flight, so that there was no load to try",
         "大量并发下没有请求完成，因而没有可尝试的负载"];
}
