//! The words of the layouts.

use dyno_words::messages;

messages! {
    /// Something that a layout says.
    pub(crate) enum Message;

    Run: "Run", "测试";
    Label: "Label", "标签";
    Note: "Note", "备注";
    Source: "Measured by", "测量工具";
    Target: "Target", "目标";
    Model: "Model", "模型";
    Started: "Started", "开始时间";
    TokenCounts: "Token counts", "token 计数";
    EmbeddedEngine: "embedded engine", "内置引擎";
    InputBy: "input by {}", "输入来自 {}";
    OutputBy: "output by {}", "输出来自 {}";
    Level: "Level", "负载";
    Completed: "Completed", "成功";
    Failed: "Failed", "失败";
    RequestRate: "Requests/s", "请求/秒";
    OutputRate: "Output tokens/s", "输出 token/秒";
    Ttft: "TTFT {} (ms)", "首 token 延迟 {} (ms)";
    Itl: "ITL {} (ms)", "token 间延迟 {} (ms)";
    Verdict: "Verdict", "判定";
    Steady: "over the steady window", "稳定窗口内的数值";
    Few: "fewer than 10 samples lie beyond this percentile", "超出该百分位的样本不足 10 个";
    FairOnly:
        "accurate to 10 % only; see its instrument range", "精度仅在 10 % 以内；见其测量范围";
    PoorOnly:
        "the client cannot tell this figure; see its instrument range",
        "客户端无法确定该数值；见其测量范围";
    RangeOnly:
        "between two figures: an instrument range; the client cannot tell the figure",
        "两个数值之间：测量范围，客户端无法确定该数值";
    NoFigureAlone: "alone: there is no such figure", "单独出现：没有该数值";
    NoFigure: "there is no such figure", "没有该数值";
    NoLevel: "No level was begun.", "没有开始任何档位。";
    ToBeKnown: "To be known:", "须知：";
    LevelInvalid: "{} is invalid: {}", "{} 无效：{}";
    LevelSuspect: "{} is suspect: {}", "{} 存疑：{}";
    Simulated:
        "SIMULATED: these are the figures of the embedded engine, not of a real model.",
        "模拟：这些是内置引擎的数值，并非真实模型。";
    Predicted:
        "SIMULATED: a twin answered in virtual time; nothing was measured.",
        "模拟：由孪生模型在虚拟时间中应答，没有实际测量。";
    Partial:
        "PARTIAL: the records end before the run did; only what had finished is here.",
        "不完整：记录在测试结束之前中断，此处只有已完成的部分。";
    NotInFont: "not in the font, and drawn as a box: {}", "字体中没有，以方框代替：{}";
    Rounds: "Rounds", "轮数";
    Passed: "Outcome", "是否满足";
    Remarks: "Remarks", "说明";
    Metric: "Metric", "指标";
    TimeTaken: "Time taken", "用时";
    Qps: "QPS", "QPS";
    MeanLatency: "Latency", "延迟";
    Throughput: "Throughput", "吞吐量";
}
