//! The notes that stand in `environment.json`: what should be known when the figures are read.

use crate::wordings;

const UNIQUE_PREFIX: [&str; 2] = [
    "a prefix cache makes repeated prompts faster than they are; use --unique-prefix",
    "前缀缓存会使重复的提示词变快；请使用 --unique-prefix",
];
const LESS_WORTH: [&str; 2] =
    ["the further beyond, the less it is worth", "超出越多，参考价值越低"];
const RESUME: [&str; 2] =
    ["--resume DIR goes on once it is up again", "目标恢复后可用 --resume DIR 继续"];

wordings! {
    /// What was noted when a run was made.
    pub enum Note;

    ModelsUnknown: Note "models_unknown",
        ["/v1/models did not answer: {}", "/v1/models 没有应答：{}"];
    PreflightFailed: Note "preflight_failed",
        ["the preflight's answer was not proper ({}): {}", "预检的应答不正常（{}）：{}"];
    LengthNotFixed: Note "length_not_fixed",
        ["the server takes no field that fixes the output length: answers end when the model wants",
         "服务器不接受任何固定输出长度的字段：应答长度由模型决定"],
        ["compare output tokens before comparing anything else",
         "请先比较输出 token 数，再比较其他数值"];
    NoUsage: Note "no_usage",
        ["the server reports no token usage: output tokens are counted as events",
         "服务器不返回 token 用量：输出 token 按事件计数"],
        ["token figures are estimates unless every event carries one token",
         "除非每个事件恰好一个 token，否则 token 数值只是估计"];
    NotStreamed: Note "not_streamed",
        ["the server answered a streaming request with a whole body",
         "服务器以完整应答回复了流式请求"],
        ["there is no TTFT, TPOT or ITL; check the server's streaming settings",
         "没有 TTFT、TPOT 和 ITL；请检查服务器的流式设置"];
    FieldRefused: Note "field_refused",
        ["the server does not take `{}`: {}", "服务器不接受 `{}`：{}"];
    TokenizerEstimate: Note "tokenizer_estimate",
        ["prompt lengths are estimates: no tokenizer was given",
         "提示词长度为估计值：未指定分词器"],
        ["give the model's folder or tokenizer.json with --tokenizer",
         "请用 --tokenizer 指定模型目录或 tokenizer.json"];
    PromptLengthsWrong: Note "prompt_lengths_wrong",
        ["of the prompts that were counted again, {} were off",
         "重新计数的提示词中有 {} 个长度不符"],
        ["please report it with the name of the tokenizer", "请附上分词器名称报告此问题"];
    TokenCountsDiffer: Note "token_counts_differ",
        ["a prompt of {} tokens by our count has {} by the server's",
         "本地计数为 {} 个 token 的提示词，服务器计为 {} 个"],
        ["--tokenizer has to be the model's own, chat template and all",
         "--tokenizer 必须是模型自己的分词器，包括对话模板"];
    DataSkipped: Note "data_selected",
        ["records skipped as bad, over all levels: {}", "各档位合计跳过的坏记录：{}"];
    DataShort: Note "data_selected",
        ["records left out as too short, over all levels: {}", "各档位合计因过短而舍弃的记录：{}"];
    DataLong: Note "data_selected",
        ["records left out as too long, over all levels: {}", "各档位合计因过长而舍弃的记录：{}"];
    DataCut: Note "data_selected",
        ["records cut to the longest allowed, over all levels: {}",
         "各档位合计截断到最大长度的记录：{}"];
    PromptsRepeat: Note "prompts_repeat",
        ["some prompts were sent more than once", "部分提示词被多次发送"],
        UNIQUE_PREFIX;
    ConversationsRepeat: Note "prompts_repeat",
        ["some conversations were led more than once", "部分会话被多次使用"],
        UNIQUE_PREFIX;
    TraceSkipped: Note "trace_selected",
        ["requests of the trace skipped as bad rows: {}", "轨迹中作为坏行跳过的请求：{}"];
    TraceFailed: Note "trace_selected",
        ["requests of the trace left out, as they failed when recorded: {}",
         "轨迹中因录制时失败而舍弃的请求：{}"];
    TraceOutside: Note "trace_selected",
        ["requests of the trace left out by from= and to=: {}",
         "轨迹中被 from= 和 to= 排除的请求：{}"];
    TraceShort: Note "trace_selected",
        ["requests of the trace left out as too short: {}", "轨迹中因过短而舍弃的请求：{}"];
    TraceLong: Note "trace_selected",
        ["requests of the trace left out as too long: {}", "轨迹中因过长而舍弃的请求：{}"];
    TraceBeyondLimit: Note "trace_selected",
        ["requests of the trace beyond the limit: {}", "轨迹中超出数量限制的请求：{}"];
    TraceCut: Note "trace_selected",
        ["requests of the trace cut to the longest allowed: {}", "轨迹中截断到最大长度的请求：{}"];
    TraceReordered: Note "trace_selected",
        ["requests of the trace out of order in the file, put in the order of their times: {}",
         "轨迹文件中顺序错乱、已按时间重排的请求：{}"];
    TraceMismatched: Note "trace_selected",
        ["requests of the trace with more or fewer hash ids than their length has blocks: {}",
         "轨迹中 hash id 数与长度所含块数不符的请求：{}"],
        ["if these are many, say with block= how many tokens a hash id stands for",
         "若数量较多，请用 block= 指定每个 hash id 代表多少 token"];
    TraceWithoutOutput: Note "trace_selected",
        ["requests of the trace recorded without output, asked for one token: {}",
         "轨迹中录制时没有输出、改为请求一个 token 的请求：{}"];
    TraceRaised: Note "trace_selected",
        ["requests of the trace shorter than the chat template, sent at its length: {}",
         "轨迹中短于对话模板、按模板长度发送的请求：{}"];
    TracePrefixes: Note "trace_prefixes_approximate",
        ["shared prefixes of the trace are met only about: the tokenizer has too few words of one \
          token",
         "轨迹的共享前缀只能近似满足：分词器中单 token 的词太少"];
    MetricsGaps: Note "metrics_gaps",
        ["{} of {} questions for the server's figures failed: {}",
         "向服务器查询其自身指标 {1} 次，失败 {0} 次：{2}"],
        ["its own figures are of the times in which it answered",
         "服务器自身的指标只覆盖有应答的时间"];
    TwinMadeUp: Note "beyond_range",
        ["the twin {} was fitted to no measurement; its figures are made up",
         "孪生模型 {} 没有用任何实测数据拟合；其数值是虚构的"],
        ["read shapes, not figures; fit a twin to your own sweep with `dyno fit`",
         "请看趋势而非数值；可用 `dyno fit` 以自己的扫描数据拟合孪生模型"];
    BeyondInFlight: Note "beyond_range",
        ["{} in flight is {} times beyond the {} to {} that the twin {} was fitted on",
         "在途 {} 个请求超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍"],
        LESS_WORTH;
    BeyondRate: Note "beyond_range",
        ["{} requests per second is {} times beyond the {} to {} that the twin {} was fitted on",
         "每秒 {} 个请求超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍"],
        LESS_WORTH;
    BeyondInput: Note "beyond_range",
        ["{} tokens in is {} times beyond the {} to {} that the twin {} was fitted on",
         "输入 {} 个 token 超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍"],
        LESS_WORTH;
    BeyondOutput: Note "beyond_range",
        ["{} tokens out is {} times beyond the {} to {} that the twin {} was fitted on",
         "输出 {} 个 token 超出孪生模型 {4} 的拟合范围 {2} 到 {3}，为其 {1} 倍"],
        LESS_WORTH;
    RoundsEqual: Note "rounds_equal",
        ["the twin {} has no noise, so the rounds of a repeated level are equal and the spread \
          between them means nothing",
         "孪生模型 {} 不含噪声，因此重复测试的各轮结果相同，轮间离散度没有意义"],
        ["set `noise` in the twin file, for example to 0.05, to see a spread",
         "在孪生模型文件中设置 `noise`（例如 0.05）即可得到轮间离散度"];
    StoppedOn: Note "stopped_on",
        ["no more levels were run: {} was met at {}", "不再运行后续档位：{1} 时满足了 {0}"];
    Interleaved: Note "interleaved",
        ["this is {} of two, measured in turns, level by level; {} is {}, {}",
         "这是两方逐档交替测试中的 {} 方；{} 方为 {}，{}"];
    StoppedOnOther: Note "stopped_with_other",
        ["no more levels were run: on {}, {} was met at {}",
         "不再运行后续档位：{0} 方在 {2} 时满足了 {1}"];
    LostOther: Note "stopped_with_other",
        ["no more levels were run: {}, which took turns with it, was lost",
         "不再运行后续档位：与之交替测试的 {} 方已失联"];
    AbortedOther: Note "stopped_with_other",
        ["no more levels were run: {}, which took turns with it, could not go on",
         "不再运行后续档位：与之交替测试的 {} 方无法继续"];
    InterruptedOther: Note "stopped_with_other",
        ["no more levels were run: interrupted when it was the turn of {}",
         "不再运行后续档位：在轮到 {} 方时被中断"];
    TargetLost: Note "target_lost",
        ["the target was lost at {}, {} into the run: {}; the last answer, to request {} of level \
          {}, had ended {} before",
         "目标于 {} 失联（测试开始后 {}）：{}；最后一个应答属于第 {4} 个档位的请求 {3}，在此之前 {5} 结束"],
        RESUME;
    TargetLostUnanswered: Note "target_lost",
        ["the target was lost at {}, {} into the run: {}; no request had been answered",
         "目标于 {} 失联（测试开始后 {}）：{}；没有任何请求得到应答"],
        RESUME;
}
