//! What `dyno twins check` prints, in English and Chinese.

use dyno_words::messages;

messages! {
    /// A text of `dyno twins check`.
    pub(super) enum Say;

    Legend:
        "→ measured to twin; ! differs by more than runs and the twin's own errors do",
        "→ 左：实测，右：孪生模型；! 差异超过重复测试和孪生模型自身的误差";
    Nothing:
        "inconclusive: no level could be compared with {}",
        "无法判断：没有档位可以与 {} 对比";
    Same:
        "still the same: {} {0|level agrees|levels agree} with {}",
        "仍然相同：{} 个档位与 {} 一致";
    Differs: "DIFFERS from {}: {} of {} levels ({})", "与 {0} 不同：{2} 个档位中有 {1} 个（{3}）";
    DiffersTogether:
        "DIFFERS from {} in all levels together, though in none of them alone",
        "与 {} 不同：单个档位看不出，但所有档位一致偏离";
    Together: "in all levels together, measured over twin: {}", "所有档位合计，实测相对孪生模型：{}";
    Explained:
        "what would explain it, each change alone, the best first:",
        "可以解释差异的单一变化，最符合的在前：";
    Explains: "{} (removes {} % of the difference)", "{}（消除差异的 {} %）";
    Unexplained:
        "no single change explains it; measure again and fit a new twin with dyno fit",
        "没有单一变化可以解释；请重新测试，并用 dyno fit 拟合新的孪生模型";

    Accelerator:
        "the accelerator takes {} times as long for everything: other clocks, another accelerator, \
         or something else that runs on it",
        "加速器的全部计算耗时变为 {} 倍：时钟频率不同、换了加速器，或有其他任务在运行";
    Prefill:
        "prompts take {} times as long to process: another kernel, or a cache that has changed",
        "处理提示词的耗时变为 {} 倍：换了算子，或缓存发生变化";
    Decode:
        "decoding takes {} times as long: another kernel, precision or quantisation",
        "解码耗时变为 {} 倍：换了算子、精度或量化方式";
    Launch:
        "launching steps takes {} times as long: the engine's CPU is slower, or busy",
        "启动一步的耗时变为 {} 倍：引擎的 CPU 变慢或繁忙";
    FrontEnd:
        "the front end (tokenizing, HTTP) takes {} times as long: it is short of CPU",
        "前端（分词、HTTP）的耗时变为 {} 倍：CPU 不足";
    MaxSeqs:
        "at most {} sequences run at once, instead of {}: a smaller batch limit, or less memory",
        "最多同时运行 {} 个序列，而不是 {} 个：批次上限变小，或内存变少";
    MoreSeqs:
        "at least {} sequences run at once, instead of at most {}: a larger batch limit, or more memory",
        "至少同时运行 {} 个序列，而不是最多 {} 个：批次上限变大，或内存变多";
}
