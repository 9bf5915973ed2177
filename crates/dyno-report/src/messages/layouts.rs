//! The texts of the layouts.

use dyno_words::messages;

messages! {
    /// A text of a layout.
    pub(crate) enum Label;

    Run: "Run", "测试";
    RunName: "Label", "标签";
    Note: "Note", "备注";
    Source: "Measured by", "测量工具";
    Target: "Target", "目标";
    Model: "Model", "模型";
    Started: "Started", "开始时间";
    Command: "Command", "命令";
    TokenCounts: "Token counts", "token 计数";
    EmbeddedEngine: "embedded engine", "内置引擎";
    InputBy: "input from {}", "输入来自 {}";
    OutputBy: "output from {}", "输出来自 {}";
    Level: "Level", "负载";
    Completed: "Completed", "成功";
    Failed: "Failed", "失败";
    RequestRate: "Requests/s", "请求/秒";
    OutputRate: "Output tokens/s", "输出 token/秒";
    Ttft: "TTFT {} (ms)", "TTFT {} (ms)";
    Itl: "ITL {} (ms)", "ITL {} (ms)";
    Verdict: "Verdict", "判定";
    InputByOutput: "input ↓ output →", "输入 ↓ 输出 →";
    Steady: "over the steady window", "稳态窗口内的数值";
    Few: "fewer than 10 samples lie beyond this percentile", "超出该百分位的样本不足 10 个";
    FairOnly: "accurate to within 10 %; see the instrument range", "精度在 10 % 以内；见测量误差范围";
    Shorter:
        "depends on the output length, and responses were shorter than requested",
        "与输出长度有关，而响应短于要求";
    PoorOnly:
        "the client could not measure this precisely; see the instrument range",
        "客户端未能准确测量该值；见测量误差范围";
    RangeOnly:
        "between two values: the instrument range; the client could not measure the value precisely",
        "两个数值之间：测量误差范围，客户端未能准确测量该值";
    NoFigureAlone: "alone: not available", "单独出现：无数据";
    NoFigure: "not available", "无数据";
    NoLevel: "No level was started.", "没有开始任何档位。";
    Notes: "Notes:", "说明：";
    Uncertain: "{}: known only to lie within a range: {}", "{}：只能确定在一定范围内：{}";
    LevelInvalid: "{} is invalid: {}", "{} 无效：{}";
    LevelSuspect: "{} is suspect: {}", "{} 存疑：{}";
    LevelsInvalid: "{} are invalid: {}", "{} 无效：{}";
    LevelsSuspect: "{} are suspect: {}", "{} 存疑：{}";
    NotInFont: "not in the font, drawn as a box: {}", "字体中没有以下字符，以方框代替：{}";
    Rounds: "Rounds", "轮数";
    Passed: "Outcome", "是否达标";
    Remarks: "Remarks", "说明";
    Metric: "Metric", "指标";
    TimeTaken: "Time taken", "用时";
    Qps: "QPS", "QPS";
    // As people write it in EvalScope's tables, and as these are read.
    MeanLatency: "Latency", "延迟";
    Throughput: "Throughput", "吞吐量";
}
