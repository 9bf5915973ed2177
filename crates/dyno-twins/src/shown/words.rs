//! What `dyno twins` prints, in English and Chinese.

use dyno_words::messages;

messages! {
    /// A text of `dyno twins`.
    pub(crate) enum Say;

    ListHead:
        "Mean absolute error in %: rows used for the fit / held-out rows.",
        "平均绝对误差（%）：用于拟合的行 / 留出的行。";
    WithoutTwin: "Published tables without a twin:", "没有孪生模型的公开数据表：";
    ListFoot:
        "* the default. `dyno twins show NAME` shows the details.",
        "* 为默认值。用 `dyno twins show NAME` 查看详情。";
    Replayed: "Replayed on its reference table:", "按其参考数据表重放：";
    NoReference:
        "There is no reference table to compare it with.", "没有可供对比的参考数据表。";
    NoReferenceTable: "no reference table", "没有参考数据表";
    Marks:
        "+ held out (not fitted), - left out, → measured to simulated",
        "+ 留出（未参与拟合），- 舍弃，→ 实测到模拟";
    PictureFoot:
        "rows in order of load; o measured, x simulated, * both",
        "各行按负载排序；o 实测，x 模拟，* 两者重合";

    Twin: "twin", "孪生模型";
    Throughput: "tput", "吞吐量";
    Latency: "latency", "时延";
    Ttft: "TTFT", "TTFT";
    Itl: "ITL", "ITL";
    Row: "row", "行";
    MeanError: "mean absolute error", "平均绝对误差";
    FittedRows: "fitted rows", "拟合的行";
    HeldOutRows: "held-out rows", "留出的行";
    PerSecond: "req/s", "请求/秒";
    OutputPerSecond: "out tok/s", "输出 tok/s";
    LatencyS: "latency s", "时延 s";
    TtftMs: "TTFT ms", "TTFT ms";
    ItlMs: "ITL ms", "ITL ms";
    TpotMs: "TPOT ms", "TPOT ms";
    DurationS: "duration s", "时长 s";
    P90S: "latency p90 s", "时延 p90 s";
}
