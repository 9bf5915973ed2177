//! The notes kept in `environment.json`: what readers should know about a run.

use crate::wordings;

const UNIQUE_PREFIX: [&str; 2] = [
    "a prefix cache makes repeated prompts faster than new ones; use --unique-prefix",
    "前缀缓存会使重复的提示词变快；请使用 --unique-prefix",
];
const LESS_WORTH: [&str; 2] = [
    "extrapolation; accuracy drops with distance, and beyond a factor of 2 no intervals are given",
    "属于外推；超出越多，准确度越低，超出 2 倍以上不再给出区间",
];

wordings! {
    /// A note taken while a run was made.
    pub enum Note;

    Preset: Note "preset",
        ["preset {}, version {}, set what was not set otherwise", "未另行设置的选项来自预设 {}（版本 {}）"];
    ApiFound: Note "api_found",
        ["API found by asking the server: {} ({})", "通过询问服务器确定的接口：{}（{}）"];
    ApiNotFound: Note "api_not_found",
        ["nothing tells which API the server has (asked: {1}); {0} is used",
         "无法确定服务器的接口（已询问：{1}）；使用 {0}"],
        ["choose another with --api if this one is wrong", "如不正确，请用 --api 指定"];
    ModelsUnknown: Note "models_unknown",
        ["the server's models could not be listed: {}", "无法列出服务器的模型：{}"];
    PreflightFailed: Note "preflight_failed",
        ["the preflight request failed ({}): {}", "预检请求失败（{}）：{}"];
    LengthNotFixed: Note "length_not_fixed",
        ["the server accepts no field that fixes the output length: the model decides when a response \
          ends",
         "服务器不接受任何固定输出长度的字段：响应长度由模型决定"],
        ["compare output tokens before comparing anything else",
         "请先对比输出 token 数，再对比其他指标"];
    LengthUnproven: Note "length_unproven",
        ["the server accepts `{}`, but whether it obeys could not be determined: the model's own response \
          to the test prompt was as long",
         "服务器接受 `{}`，但无法确定它是否生效：不带该字段时，模型对测试提示词的响应同样长"],
        ["responses that end early are not counted as failures; compare requested and achieved output \
          tokens",
         "提前结束的响应不计为失败；请对比要求的和实际的输出 token 数"];
    FieldIgnored: Note "field_ignored",
        ["the server accepts `{}`, but does not obey it", "服务器接受 `{}`，但并不生效"];
    NoUsage: Note "no_usage",
        ["the server reports no token usage: output tokens are counted as events",
         "服务器不返回 token 用量：输出 token 按事件计数"],
        ["token metrics are estimates unless every event carries one token",
         "除非每个事件恰好一个 token，否则 token 指标只是估计"];
    NoInputUsage: Note "no_input_usage",
        ["the server does not report input tokens",
         "服务器不返回输入 token 数"],
        ["input tokens per second are not available; inputs per second are",
         "没有每秒输入 token 数；仍有每秒输入条数"];
    NotStreamed: Note "not_streamed",
        ["the server sent a whole response to a streaming request",
         "服务器以完整响应回复了流式请求"],
        ["TTFT, TPOT and ITL are not available; check the server's streaming settings",
         "没有首 token 时延（TTFT）、单 token 时延（TPOT）和 token 间时延（ITL）；请检查服务器的流式设置"];
    FieldRefused: Note "field_refused",
        ["the server does not accept `{}`: {}", "服务器不接受 `{}`：{}"];
    TokenizerEstimate: Note "tokenizer_estimate",
        ["prompt lengths are estimates: no tokenizer was given",
         "提示词长度为估计值：未指定分词器"],
        ["pass the model's directory or tokenizer.json with --tokenizer",
         "请用 --tokenizer 指定模型目录或 tokenizer.json"];
    TokenizerFailed: Note "tokenizer_failed",
        ["the server's token counts cannot be used, so prompt lengths are estimates: {}",
         "服务器的 token 计数无法使用，提示词长度改为估计值：{}"],
        ["pass the model's directory or tokenizer.json with --tokenizer",
         "请用 --tokenizer 指定模型目录或 tokenizer.json"];
    TokenizerTextOnly: Note "tokenizer_text_only",
        ["the server counts the tokens of text, but not of messages, so prompt lengths leave out its chat \
          template: {}",
         "服务器只能计数文本、不能计数消息，因此提示词长度不含对话模板：{}"],
        ["prompts are longer than requested by the template; pass the model's directory with --tokenizer \
          for exact lengths",
         "提示词会比要求的多出模板的长度；如需精确长度，请用 --tokenizer 指定模型目录"];
    PromptLengthsWrong: Note "prompt_lengths_wrong",
        ["{} of the prompts that were counted again had the wrong length",
         "重新计数的提示词中有 {} 个长度不符"],
        ["please report it with the name of the tokenizer", "请附上分词器名称报告此问题"];
    TokenCountsDiffer: Note "token_counts_differ",
        ["a prompt of {} tokens by Dyno's count has {} by the server's",
         "Dyno 计数为 {} 个 token 的提示词，服务器计为 {} 个"],
        ["--tokenizer has to be the model's own, including its chat template",
         "--tokenizer 必须是模型自己的分词器，包括对话模板"];
    DataSkipped: Note "data_selected",
        ["malformed records skipped, over all levels: {}", "各档位合计跳过的格式错误记录：{}"];
    DataShort: Note "data_selected",
        ["records left out as too short, over all levels: {}", "各档位合计因过短而舍弃的记录：{}"];
    DataLong: Note "data_selected",
        ["records left out as too long, over all levels: {}", "各档位合计因过长而舍弃的记录：{}"];
    DataCut: Note "data_selected",
        ["records cut to the maximum length, over all levels: {}",
         "各档位合计截断到最大长度的记录：{}"];
    TreesLeftOut: Note "data_selected",
        ["trees, files and records left out as unusable, over all levels: {}",
         "各档位合计因无法使用而舍弃的树、文件和记录：{}"],
        ["`dyno data show` says why", "`dyno data show` 会给出原因"];
    TreesOutside: Note "data_selected",
        ["trees left out for prompts outside the bounds, over all levels: {}",
         "各档位合计因提示词超出范围而舍弃的树：{}"];
    PartsLeftOut: Note "data_selected",
        ["parts of recorded messages that are not text were not sent: {}",
         "录制消息中未发送的非文本部分：{}"];
    TreesRepeat: Note "prompts_repeat",
        ["the trees began again from the first one, each time with another marker: {}",
         "树从头重新开始的次数（每次使用不同的标记）：{}"];
    PromptsRepeat: Note "prompts_repeat",
        ["some prompts were sent more than once", "部分提示词被多次发送"],
        UNIQUE_PREFIX;
    TextsRepeat: Note "prompts_repeat",
        ["some texts were sent more than once", "部分文本被多次发送"],
        ["a server that caches results is faster with them; if yours does, use a file with more texts",
         "若服务器缓存结果，重复的文本会更快；此时请使用文本更多的文件"];
    ConversationsRepeat: Note "prompts_repeat",
        ["some conversations were used more than once", "部分会话被多次使用"],
        UNIQUE_PREFIX;
    TraceSkipped: Note "trace_selected",
        ["requests of the trace skipped as malformed rows: {}", "流量记录中作为格式错误行跳过的请求：{}"];
    TraceFailed: Note "trace_selected",
        ["requests of the trace left out because they had failed when recorded: {}",
         "流量记录中因录制时失败而舍弃的请求：{}"];
    TraceOutside: Note "trace_selected",
        ["requests of the trace left out by from= and to=: {}",
         "流量记录中被 from= 和 to= 排除的请求：{}"];
    TraceShort: Note "trace_selected",
        ["requests of the trace left out as too short: {}", "流量记录中因过短而舍弃的请求：{}"];
    TraceLong: Note "trace_selected",
        ["requests of the trace left out as too long: {}", "流量记录中因过长而舍弃的请求：{}"];
    TraceBeyondLimit: Note "trace_selected",
        ["requests of the trace beyond the limit: {}", "流量记录中超出数量限制的请求：{}"];
    TraceCut: Note "trace_selected",
        ["requests of the trace cut to the maximum length: {}", "流量记录中截断到最大长度的请求：{}"];
    TraceReordered: Note "trace_selected",
        ["requests of the trace that were out of order in the file, sorted by time: {}",
         "流量记录文件中顺序错乱、已按时间重排的请求：{}"];
    TraceMismatched: Note "trace_selected",
        ["requests of the trace whose number of hash ids does not match their length: {}",
         "流量记录中 hash id 数与长度不符的请求：{}"],
        ["if there are many, set the number of tokens per hash id with block=",
         "若数量较多，请用 block= 指定每个 hash id 代表多少 token"];
    TraceWithoutOutput: Note "trace_selected",
        ["requests of the trace recorded without output, sent with one output token: {}",
         "流量记录中录制时没有输出、改为请求一个 token 的请求：{}"];
    TraceWithoutSession: Note "trace_selected",
        ["requests of the trace with a blank session, each replayed as a session of its own: {}",
         "流量记录中会话字段为空、各自作为一个会话回放的请求：{}"];
    TraceWithoutZone: Note "trace_selected",
        ["requests of the trace whose date has no time zone while others have one, taken as UTC: {}",
         "流量记录中日期没有时区（其他请求有时区）、按 UTC 处理的请求：{}"],
        ["write the zone in all dates if they are of another",
         "若这些日期属于其他时区，请在所有日期中写明时区"];
    TraceDates: Note "trace_selected",
        ["requests of the trace whose time is a date, read as such whatever unit= says: {}",
         "流量记录中时间为日期、不按 unit= 而按日期读取的请求：{}"];
    TraceOtherUnit: Note "trace_selected",
        ["requests of the trace whose time would be a present-day date in a larger unit than that \
          of unit=: {}",
         "流量记录中若改用比 unit= 更大的单位，时间就是当今日期的请求：{}"],
        ["check unit=: seconds since 1970 have 10 digits, milliseconds 13, microseconds 16, \
          nanoseconds 19",
         "请检查 unit=：自 1970 年起的秒数为 10 位，毫秒 13 位，微秒 16 位，纳秒 19 位"];
    TraceRaised: Note "trace_selected",
        ["requests of the trace shorter than the chat template, sent at its length: {}",
         "流量记录中短于对话模板、按模板长度发送的请求：{}"];
    TracePrefixes: Note "trace_prefixes_approximate",
        ["shared prefixes of the trace are approximate: the tokenizer has too few single-token words",
         "流量记录的共享前缀只能近似满足：分词器中单 token 的词太少"];
    MetricsGaps: Note "metrics_gaps",
        ["{} of {} requests for the server's metrics failed: {}",
         "读取服务器指标 {1} 次，失败 {0} 次：{2}"],
        ["server metrics cover only the times at which it responded",
         "服务器指标只覆盖有响应的时间"];
    TwinMadeUp: Note "beyond_range",
        ["the twin {} is synthetic: it was not fitted to any measurement",
         "孪生模型 {} 是虚构的：没有用任何实测数据拟合"],
        ["look at trends, not at absolute values; fit a twin to your own sweep with `dyno fit`",
         "请看趋势而非绝对数值；可用 `dyno fit` 以自己的扫描数据拟合孪生模型"];
    BeyondInFlight: Note "beyond_range",
        ["{} in flight is outside the fitted range of the twin {4} ({2}–{3}) by a factor of {1}",
         "并发数 {} 超出孪生模型 {4} 的拟合范围（{2}–{3}），为其 {1} 倍"],
        LESS_WORTH;
    BeyondRate: Note "beyond_range",
        ["{} req/s is outside the fitted range of the twin {4} ({2}–{3}) by a factor of {1}",
         "请求速率 {} 请求/秒超出孪生模型 {4} 的拟合范围（{2}–{3}），为其 {1} 倍"],
        LESS_WORTH;
    BeyondInput: Note "beyond_range",
        ["{} input tokens is outside the fitted range of the twin {4} ({2}–{3}) by a factor of {1}",
         "输入 {} 个 token 超出孪生模型 {4} 的拟合范围（{2}–{3}），为其 {1} 倍"],
        LESS_WORTH;
    BeyondOutput: Note "beyond_range",
        ["{} output tokens is outside the fitted range of the twin {4} ({2}–{3}) by a factor of {1}",
         "输出 {} 个 token 超出孪生模型 {4} 的拟合范围（{2}–{3}），为其 {1} 倍"],
        LESS_WORTH;
    RoundsEqual: Note "rounds_equal",
        ["the twin {} has no noise, so the rounds of a repeated level are equal and the spread \
          between them means nothing",
         "孪生模型 {} 不含噪声，因此重复测试的各轮结果相同，轮间离散度没有意义"],
        ["set `noise` in the twin file, for example to 0.05, to see a spread",
         "在孪生模型文件中设置 `noise`（例如 0.05）即可得到轮间离散度"];
    StoppedOn: Note "stopped_on",
        ["no more levels were run: {} was met at {}", "不再运行后续档位：{1} 时满足了 {0}"];
    AgentsPart: Note "agents_part",
        ["this is the part of agent {}, one of {} that shared the load", "这是压测端 {} 的部分，负载由 {} 个压测端分担"];
    NotFetched: Note "not_fetched",
        ["the coordinator did not fetch these records: {}", "协调端没有取走这些记录：{}"];
    Interleaved: Note "interleaved",
        ["this is {} of two targets, measured alternately level by level; {} is {}, {}",
         "这是两方逐档交替测试中的 {} 方；{} 方为 {}，{}"];
    StoppedOnOther: Note "stopped_with_other",
        ["no more levels were run: on {}, {} was met at {}",
         "不再运行后续档位：{0} 方在 {2} 时满足了 {1}"];
    LostOther: Note "stopped_with_other",
        ["no more levels were run: the other target, {}, was lost",
         "不再运行后续档位：与之交替测试的 {} 方已失联"];
    AbortedOther: Note "stopped_with_other",
        ["no more levels were run: measuring the other target, {}, stopped with an error",
         "不再运行后续档位：与之交替测试的 {} 方因错误停止"];
    InterruptedOther: Note "stopped_with_other",
        ["no more levels were run: interrupted while measuring {}",
         "不再运行后续档位：在测试 {} 方时被中断"];
    TargetLost: Note "target_lost",
        ["the target was lost at {}, {} into the run: {}; the last response, to request {} of level \
          {}, had ended {} before",
         "目标于 {} 失联（测试开始后 {}）：{}；最后一个响应属于第 {4} 个档位的请求 {3}，在此之前 {5} 结束"],
        ["once it is up again: dyno bench --resume {6}", "目标恢复后：dyno bench --resume {6}"];
    TargetLostUnanswered: Note "target_lost",
        ["the target was lost at {}, {} into the run: {}; no request had completed",
         "目标于 {} 失联（测试开始后 {}）：{}；没有任何请求完成"],
        ["once it is up again: dyno bench --resume {3}", "目标恢复后：dyno bench --resume {3}"];
}
