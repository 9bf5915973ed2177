//! Findings about one of several load generators. Its name is put before the text where the level has them.

use crate::wordings;

const START: [&str; 2] = [
    "the arrivals of the agents do not fit together as planned; keep a core free for each agent and the \
     round trip to the coordinator short. Random (Poisson) arrivals allow more than evenly spaced ones",
    "各压测端的请求没有按计划衔接；请为每个压测端留出一个核，并缩短与协调端之间的往返时间。随机（泊松）到达比均匀到达允许更大的误差",
];
const SHARES: [&str; 2] = [
    "the load was not shared as planned: compare failures, stalls and limits of this agent with the others'",
    "负载没有按计划分配：请将该压测端的失败、停顿和限制与其他压测端比较",
];

wordings! {
    /// A finding about one of several load generators.
    pub enum FleetFinding;

    AgentLost: Error "agent_lost",
        ["lost: {}", "失联：{}"],
        ["the other agents stopped sending, so this is not the requested load; see what happened to this agent \
          and its machine, then `dyno bench --resume` runs the level again",
         "其他压测端已停止发送，因此负载与要求不符；请检查该压测端及其所在机器，然后用 `dyno bench --resume` 重新测试该档位"];
    StartedLate: Error "start_skew",
        ["started {} ms after the agreed time; this load allows {} ms",
         "比约定时间晚 {} ms 开始；该负载允许 {} ms"],
        START;
    StartedEarly: Error "start_skew",
        ["started {} ms before the agreed time; this load allows {} ms",
         "比约定时间早 {} ms 开始；该负载允许 {} ms"],
        START;
    ClockUnsure: Warning "clock_unsure",
        ["its clock is only known to ± {} ms; this load needs ± {} ms",
         "其时钟误差为 ± {} ms；该负载要求 ± {} ms 以内"],
        ["times within a request are exact, but not which requests of different agents overlapped: use a \
          faster or steadier connection to the coordinator",
         "单个请求内的时间仍然准确，但不同压测端的请求如何重叠并不确定：请使用更快或更稳定的连接与协调端通信"];
    ClockJumped: Warning "clock_jumped",
        ["its clock and the coordinator's jumped apart {} {0|time|times} during the level",
         "其时钟与协调端的时钟在该档位期间发生了 {} 次跳变"],
        ["a machine was suspended or moved: requests in flight then may be off by as much as the clock jumped, and \
          before and after they are shifted against those of other agents. Run the level again",
         "某台机器曾被挂起或迁移：当时进行中的请求可能有与跳变相当的误差，前后的请求与其他压测端相比有偏移。请重新测试该档位"];
    SharesUneven: Warning "shares_uneven",
        ["sent {} of the requests; its part was {}", "发送了 {} 的请求；其份额应为 {}"],
        SHARES;
    SlotsUneven: Warning "shares_uneven",
        ["had {} of the requests in flight; its part was {}", "占进行中请求的 {}；其份额应为 {}"],
        SHARES;
}
