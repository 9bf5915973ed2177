//! The texts of the result that have no values but their own.

use dyno_words::messages;

messages! {
    /// A text of the result.
    pub(super) enum Say;

    Head:
        "                  TTFT ms       ITL ms     send     read CPU\n\
         streams tokens/s  bias/jitter     bias/p99 delay ms delay ms   %  metrics",
        "                      TTFT ms       ITL ms     发送     读取 CPU\n   \
         流数 tokens/s    偏差/抖动     偏差/p99  延迟 ms  延迟 ms   %  指标";
    Accurate: "accurate", "准确";
    EngineLate: "accurate, engine late", "准确，引擎滞后";
    Uncertain: "UNCERTAIN: {}", "不确定：{}";
    Failed: "requests failed", "有请求失败";
    Rough:
        "~: known only to lie within a range; a run marks such a percentile and stays valid.",
        "~：只能确定在一定范围内；测试会标记该百分位，判定仍为有效。";
    WithoutStamps: "without the kernel's receive times:", "不使用内核接收时间：";
    Judged:
        "The client is judged: whether it can be sure of its own times, however close they happened to be. \
         Bias and jitter also contain delays of the engine.",
        "判定针对客户端：无论实测值多接近，客户端能否确定自身的时间。偏差和抖动还包含引擎的延迟。";
    NotAccurate:
        "Metrics are not accurate on this machine, even with {} streams.",
        "在本机上即使只有 {} 路流，指标也不准确。";
    UpToButNot:
        "Metrics are accurate up to {} streams and {} tokens/s on this machine, but not with {} streams; \
         nothing between was tried.",
        "在本机上，指标在 {} 路流、{} token/秒以内准确，但 {} 路流时不准确；两者之间未测试。";
    UpToAtLeast:
        "Metrics are accurate up to at least {} streams and {} tokens/s on this machine; more was not tried.",
        "在本机上，指标至少在 {} 路流、{} token/秒以内准确；更高负载未测试。";
    FlatOut:
        "At maximum throughput, with 16 events per packet, the client receives {} tokens/s.",
        "在最大吞吐量下（每个数据包 16 个事件），客户端每秒接收 {} 个 token。";
    Stamps: "The kernel provides receive times.", "内核提供接收时间。";
    NoStamps:
        "The kernel provides no receive times: times are taken in this program.",
        "内核不提供接收时间：时间由本程序记录。";
    StampsUnknown:
        "Whether the kernel provides receive times could not be determined.",
        "无法确定内核是否提供接收时间。";
    Limits:
        "Limits: {} cores, {} open files, {} local ports to one server.",
        "限制：{} 个核，打开文件数 {}，到同一服务器的本地端口 {} 个。";
    StreamsByFiles:
        "Streams to one server: up to {} in one process, which has no more open files.",
        "到同一服务器的流数：单个进程最多 {} 路，受打开文件数限制。";
    StreamsByPorts:
        "Streams to one server: up to {} from one address, {} from {} (--source-address).",
        "到同一服务器的流数：单个地址最多 {} 路，{2} 个地址（--source-address）最多 {1} 路。";
    StreamsByAddress:
        "Streams to one server: up to {} from each address of this machine (--source-address).",
        "到同一服务器的流数：本机每个地址（--source-address）最多 {} 路。";
    Load:
        "Load average before the test: {} on {} cores.",
        "测试前的平均负载：{}，共 {} 个核。";
    Unlimited: "unlimited", "不限";
    Unknown: "unknown", "未知";
    NothingToChange: "Nothing to change.", "无需调整。";
}
