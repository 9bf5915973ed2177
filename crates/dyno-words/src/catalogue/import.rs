//! Problems with another tool's file: what could not be read, or had to be assumed.

use crate::wordings;

const LEFT_OUT: [&str; 2] = ["it is left out", "未读入"];
const ROW_LEFT_OUT: [&str; 2] = ["the row is left out", "该行未读入"];
const DATABASE: [&str; 2] =
    ["the database could not be read completely: {}", "数据库无法完整读取：{}"];
const DIFFER: [&str; 2] =
    ["{}: {} reports {}, its requests give {}", "{}：{} 给出 {}，由其请求算得 {}"];
const CUT_SHORT: [&str; 2] =
    ["it may be truncated; the part that is there was read", "可能被截断；已有的部分已读入"];
const CORRECT_ROW: [&str; 2] = ["correct the row in the file", "请在文件中更正该行"];
const ABSENT: [&str; 2] =
    ["its times are treated as absent, not as 0", "其时延视为无数据，而不是 0"];
const IMPORT_STAGES: [&str; 2] = [
    "import the folder of the run, or its `stage_N_lifecycle_metrics.json`",
    "请导入该次测试的目录，或其中的 `stage_N_lifecycle_metrics.json`",
];

wordings! {
    /// A problem with an imported file, or a remark on it.
    pub enum Problem;

    TimeUnit: Error "import_unit",
        ["`{}` is in `{}`, which is not a known unit of time",
         "`{}` 的单位是 `{}`，不是已知的时间单位"],
        ["it is kept only as a reported value", "仅作为原始数值保留"];
    CellsUnderHeading: Error "import_row",
        ["`{}` has {} cells, but the heading has {}", "`{}` 有 {} 个单元格，而表头有 {} 个"],
        ROW_LEFT_OUT;
    AboveHeading: Error "import_row",
        ["`{}` is above the heading", "`{}` 在表头之上"],
        ROW_LEFT_OUT;
    NoKnownMetric: Error "import_empty",
        ["the table has no known metric", "表中没有已知的指标"],
        ["is it an export of AIPerf's results?", "这是 AIPerf 导出的结果吗？"];
    RequestUntimed: Error "import_untimed",
        ["the request has no send time", "该请求没有发送时间"],
        LEFT_OUT;
    TimesWithoutUnit: Error "import_unit",
        ["{} times have no known unit", "{} 个时间没有已知的单位"],
        ["they are left out", "均未读入"];
    NotEvalscope: Error "import_unknown",
        ["{} is not an EvalScope result", "{} 不是 EvalScope 的结果"],
        LEFT_OUT;
    UnknownJson: Error "import_unknown",
        ["this is JSON, but not the result of a known tool", "这是 JSON，但不是已知工具的结果"],
        LEFT_OUT;
    JsonCut: Error "import_json",
        ["the JSON that starts here is cut off at the end of the file (byte {})",
         "从此处开始的 JSON 在文件末尾（第 {} 字节）被截断"],
        ["save or copy the complete file again", "请重新保存或复制完整的文件"];
    JsonBroken: Error "import_json",
        ["malformed JSON at column {}: {}", "第 {} 列的 JSON 格式错误：{}"],
        ["the line is left out; fix it and import again", "该行未读入；请更正后重新导入"];
    YamlBroken: Error "import_yaml_broken",
        ["malformed YAML at column {}: {}", "第 {} 列的 YAML 格式错误：{}"],
        ["what follows is not read; fix it and import again", "其后的内容未读入；请更正后重新导入"];
    YamlTooLarge: Error "import_yaml_too_large",
        ["the YAML needs more than {} MiB of memory, or has more than {} levels of nesting",
         "YAML 需要超过 {} MiB 的内存，或嵌套超过 {} 层"],
        ["nothing from here on is read; split the file", "从此处起未读入；请拆分文件"];
    TooLarge: Error "import_too_large",
        ["the values of the file need more than {} MiB of memory",
         "文件中的值需要超过 {} MiB 的内存"],
        ["nothing of it is read; split the file, or import a summary without individual requests",
         "未读入；请拆分文件，或导入不含单个请求的汇总结果"];
    TooManyLevels: Error "import_too_many",
        ["there are more than {} results", "结果超过 {} 个"],
        ["the others are left out; split the file", "其余的未读入；请拆分文件"];
    LogUnread: Error "import_journal",
        ["part of {} is in a log next to it (`-wal` or `-journal`) that could not be read: {}",
         "{} 的一部分在旁边的日志文件（`-wal` 或 `-journal`）中，无法读取：{}"],
        ["close the program that writes it, and import again",
         "请关闭写入它的程序后重新导入"];
    DatabaseForeign: Error "import_database",
        DATABASE,
        ["is it EvalScope's `benchmark_data.db`?", "这是 EvalScope 的 `benchmark_data.db` 吗？"];
    DatabaseUnread: Error "import_database",
        DATABASE,
        ["nothing was read; copy the complete file again",
         "没有读入任何内容；请重新复制完整的文件"];
    DatabaseCut: Error "import_database",
        DATABASE,
        ["{1} requests before the damage were read", "损坏处之前的 {1} 个请求已读入"];
    NoRows: Error "import_empty",
        ["the table `{}` has no rows", "表 `{}` 没有行"],
        ["did the run send any request?", "该测试发送过请求吗？"];
    NoMetrics: Error "import_empty",
        ["benchmark {} of the report has no metrics", "报告中第 {} 个测试没有指标"],
        LEFT_OUT;
    NoRequests: Error "import_empty",
        ["benchmark {} of the report has no requests", "报告中第 {} 个测试没有请求"],
        LEFT_OUT;
    ReportEmpty: Error "import_empty",
        ["the report of {} has no benchmark with metrics", "{} 的报告中没有带指标的测试"],
        ["nothing was read; did the run end before its first benchmark?",
         "没有读入任何内容；该测试是否在第一项完成之前就已结束？"];
    NoRequestMetrics: Error "import_empty",
        ["the report of {} has no metrics of requests", "{} 的报告中没有请求的指标"],
        ["nothing was read; import the result of the tool that sent the requests",
         "没有读入任何内容；请导入发送请求的工具的结果"];
    GuidellmPage: Error "import_page",
        ["this is guidellm's HTML report, which is meant for a browser",
         "这是 guidellm 的 HTML 报告，仅供查看"],
        ["import the JSON, YAML or CSV file of the same run; guidellm writes JSON with `--outputs json`",
         "请导入同一次测试的 JSON、YAML 或 CSV 文件；使用 `--outputs json` 可让 guidellm 写出 JSON"];
    SheetShifted: Error "import_row",
        ["the values of this row do not stand under their headings: guidellm writes the headings of the \
          first benchmark only",
         "该行的数值与表头不对应：guidellm 只写出第一项测试的表头"],
        ["the row is left out; import the JSON or YAML file of the same run",
         "该行未读入；请导入同一次测试的 JSON 或 YAML 文件"];
    LifecycleConfig: Error "import_empty",
        ["this is the configuration of an inference-perf run, without results",
         "这是 inference-perf 测试的配置，没有结果"],
        IMPORT_STAGES;
    LifecycleServer: Error "import_empty",
        ["these are metrics of the server that inference-perf collected, not those of its requests",
         "这是 inference-perf 收集的服务端指标，不是请求的指标"],
        IMPORT_STAGES;
    RequestsUnmatched: Note "import_requests_unmatched",
        ["the requests in {} are not those of the stages: their numbers or latencies differ",
         "{} 中的请求与各阶段不符：数量或时延不同"],
        ["the tool's own results of the stages are shown", "显示的是工具给出的各阶段结果"];
    Sampled: Note "import_sampled",
        ["the report keeps {} of {} requests, too few to compute from",
         "报告只保留了 {1} 个请求中的 {0} 个，不足以据此计算"],
        ["the tool's own results are shown; have guidellm keep all requests for more",
         "显示的是工具自己的结果；如需更多，请让 guidellm 保留全部请求"];
    Untimed: Note "import_untimed",
        ["{} requests have no send time", "{} 个请求没有发送时间"],
        ["metrics that need it are the tool's own", "需要发送时间的指标取自工具本身"];
    Uneven: Error "import_uneven",
        ["{}: `ttfts` has {} requests and `{}` has {}; they cannot be matched",
         "{}：`ttfts` 有 {} 个请求，而 `{}` 有 {} 个，无法对应"],
        ["the tool's own results are shown; save the result again",
         "显示的是工具自己的结果；请重新保存"];
    EmptyResponses: Note "import_empty_responses",
        ["{} responses completed without any output",
         "{} 个响应已完成但没有任何输出"],
        ["they have no TTFT; the tool counts it as 0, so that its mean TTFT is too low",
         "它们没有首 token 时延（TTFT）；工具将其计为 0，因此其平均值偏低"];
    EmptyUndecided: Note "import_empty_responses",
        ["{}: {} of {} responses without output failed, and the file does not say which",
         "{0}：{2} 个没有输出的响应中有 {1} 个失败，但文件没有说明是哪些"],
        ["the tool's own results are shown", "显示的是工具自己的结果"];
    WholePerToken: Note "import_other_definition",
        ["the TPOT of this version is the latency divided by all output tokens",
         "该版本的单 token 时延（TPOT）是端到端时延除以全部输出 token 数"],
        ["it includes the first token, and is kept only as reported",
         "它包含首 token，仅作为原始数值保留"];
    SweepWarmup: Note "import_warmup",
        ["{} is the warm-up of a sweep", "{} 是一次扫描的预热"],
        LEFT_OUT;
    SweepFailed: Error "import_failed_run",
        ["a run of the sweep failed: {}: {}", "扫描中的一次测试失败：{}：{}"],
        ["there are no results; see the tool's own log", "没有结果；请查看工具自己的日志"];
    WithoutServer: Note "import_offline",
        ["requests were given to the engine at once, without a server",
         "请求一次性交给引擎，没有经过服务端"],
        ["there is no latency of single requests; do not compare it with runs over a network",
         "没有单个请求的时延；请勿与经过网络的测试对比"];
    OneBatch: Note "import_offline",
        ["one batch of equal requests, computed together", "一批相同的请求，一起计算"],
        ["the times of its prefill and of its decoding steps are kept as reported: they are not \
          those of a request",
         "预填充与解码各步的用时作为原始数值保留：它们不是单个请求的时延"];
    BatchUnknown: Error "import_no_load",
        ["times of whole batches (vLLM's `bench latency`), without the number and length of their \
          requests",
         "整批请求的用时（vLLM 的 `bench latency`），但没有给出请求数和长度"],
        ["it is left out: a time without its load cannot be compared; import a result of `bench \
          serve` instead",
         "未读入：没有负载的用时无法对比；请改为导入 `bench serve` 的结果"];
    FiguresDiffer: Note "import_figures_differ",
        DIFFER,
        ["the value computed from the requests is shown, the tool's is kept as reported",
         "显示由请求算得的数值，工具的数值作为原始数值保留"];
    FiguresWeighed: Note "import_figures_differ",
        DIFFER,
        ["guidellm weights each response by its tokens; Dyno's value is shown, guidellm's is kept",
         "guidellm 按 token 数对响应加权；显示 Dyno 的数值，保留 guidellm 的数值"];
    NotStreamed: Note "import_not_streamed",
        ["responses were not streamed: the time to first token is that of the whole response",
         "没有使用流式输出：首 token 时延（TTFT）就是整个响应的时延"],
        ["it is kept among the reported values, and left out of TTFT",
         "保留在原始数值中，不计入首 token 时延（TTFT）"];
    OnePackage: Note "import_not_streamed",
        ["responses arrived in one piece: the time to first token is that of the whole response",
         "响应一次性到达：首 token 时延（TTFT）就是整个响应的时延"],
        ["it is not a TTFT; do not compare it with one", "它不是首 token 时延（TTFT）；请勿与之对比"];
    RateAndPlaces: Note "import_load_two",
        ["the file states a rate of {}/s and at most {} requests in flight",
         "文件同时给出 {}/s 的请求速率和 {} 的最大并发数"],
        ["it is treated as a rate; both values are kept as reported",
         "按请求速率处理；两个数值均作为原始数值保留"];
    RateWithoutEffect: Note "import_load_two",
        ["at {}/s all requests were due at the start, and waited for one of {} slots",
         "以 {}/s 的速率，全部请求在开始时即已到达，等待 {} 个并发槽位之一"],
        ["it is treated as a closed loop; both values are kept as reported",
         "按闭环处理；两个数值均作为原始数值保留"];
    LimitNamed: Note "import_load_assumed",
        ["the concurrency {} is stated as `{}`, not as the tool's own option",
         "并发数 {} 由 `{}` 给出，而不是工具自己的选项"],
        ["it is treated as a closed loop; if it means something else, the load was different",
         "按闭环处理；若该字段另有含义，则负载与此不同"];
    RateAndLimit: Note "import_load_two",
        ["a rate of {} requests/s and at most {} at once", "请求速率为每秒 {} 个，并发数不超过 {}"],
        ["it is treated as a rate; the limit is among the reported values",
         "按请求速率处理；并发上限保留在原始数值中"];
    LoadAssumed: Note "import_load_assumed",
        ["request rate and concurrency are not stated: treated as a burst of all requests, which is \
          the tool's default",
         "没有给出请求速率和并发数：按工具的默认方式，视为一次性发出全部请求"],
        ["if a rate or a limit was set, the load of this run was different",
         "若设置过速率或并发上限，则该测试的负载与此不同"];
    LoadUnknown: Note "import_load_unknown",
        ["a length matrix does not say how requests were offered", "长度矩阵没有说明请求如何发出"],
        ["its loads are unknown; compare it only with runs of the same kind",
         "其负载未知；只能与同类测试对比"];
    LoadNotStated: Note "import_load_unknown",
        ["{} does not state how requests were offered", "{} 没有说明请求如何发出"],
        ["its load is unknown; compare it only with runs of the same kind",
         "其负载未知；只能与同类测试对比"];
    NotServing: Note "import_not_serving",
        ["{} measures prompt processing and generation of one sequence, without a server",
         "{} 测量单个序列的提示处理与生成速度，不经过推理服务"],
        ["there are no requests, no TTFT and no latency; compare it only with results of the same tool",
         "没有请求、首 token 时延（TTFT）和端到端时延；只能与同一工具的结果对比"];
    TestIncomplete: Error "import_row",
        ["a test without one of {}", "该测试缺少 {} 之一"],
        LEFT_OUT;
    FromSchedule: Note "import_from_schedule",
        ["{} counts times from when a request was due", "{} 从请求应发出的时刻开始计时"],
        ["they are shown as times from the schedule, and as times from sending, which differ only if \
          requests were sent late",
         "同时作为从计划时刻起与从发送起的时延显示；仅当请求发送延迟时两者才不同"];
    QueryTimes: Note "import_query_times",
        ["in {}, times are of queries of several requests", "{} 中的时延属于包含多个请求的查询"],
        ["they are kept only as reported values", "仅作为原始数值保留"];
    OwnVerdict: Note "import_own_verdict",
        ["{}'s own verdict is {}", "{} 自己的判定为 {}"],
        ["it is the tool's, by its own rules; Dyno does not judge this run",
         "这是该工具按其自身规则的判定；Dyno 不判定该测试"];
    FailuresIncluded: Note "import_failures_included",
        ["{} includes {} failed requests of {} in its times and rates",
         "{} 的时延与速率包含 {2} 个请求中的 {1} 个失败请求"],
        ["they are too few to change the mean much; extreme values may be theirs",
         "数量很少，对平均值影响不大；极值可能来自失败请求"];
    FailuresMixed: Note "import_failures_included",
        ["{} includes {} failed requests of {} in its times",
         "{} 的时延包含 {2} 个请求中的 {1} 个失败请求"],
        ["times are kept only as reported values", "时延仅作为原始数值保留"];
    FailuresUnknown: Note "import_failures_included",
        ["{} does not state which requests failed, and its times may include them",
         "{} 没有说明哪些请求失败，其时延可能包含失败请求"],
        ["times are kept only as reported values", "时延仅作为原始数值保留"];
    SeveralKinds: Note "import_kinds",
        ["the test sent {} kinds of requests, each of which is shown as a level",
         "该测试发送了 {} 种请求，每一种显示为一个档位"],
        ["they were sent during the same time, not one after the other",
         "它们是同时发送的，而不是依次发送"];
    History: Error "import_empty",
        ["this is locust's history: values of the last seconds, again and again while the test ran",
         "这是 locust 的历史记录：测试期间反复写下的最近几秒的数值"],
        ["import `…_stats.csv` of the same test, which has its results",
         "请导入同一测试的 `…_stats.csv`，其中有测试结果"];
    LoadWithoutValue: Note "import_load_unknown",
        ["{} is stated without its concurrency or rate", "{} 没有给出并发数或请求速率"],
        ["the level has no value of its load; guidellm's JSON report states it",
         "该级别的负载没有数值；guidellm 的 JSON 报告中有"];
    PercentilesAlone: Note "import_load_unknown",
        ["EvalScope's percentiles without the summary that states the load, the counts and the \
          throughput",
         "只有 EvalScope 的百分位数，缺少说明负载、请求数和吞吐量的汇总"],
        ["add the table `Benchmarking summary` above them", "请在其上方补上 `Benchmarking summary` 表"];
    NoResultPrinted: Error "import_empty",
        ["{} was started here, and no result of it follows", "此处启动了 {}，其后没有结果"],
        ["did it fail, or is the log cut off? the lines it prints at its end are needed",
         "是否测试失败，或日志被截断？需要其结尾输出的结果"];
    Unread: Error "import_unread",
        ["{}: {} is not a valid value; it is left out", "{}：{} 不是有效的数值，未读入"],
        ["correct it in the file, or leave it out", "请在文件中更正，或不予理会"];
    Counts: Note "import_counts",
        ["{}: {} requests in total, but {} that succeeded or failed",
         "{}：共 {} 个请求，但成功与失败请求合计 {} 个"],
        ["some requests are not accounted for", "有请求去向不明"];
    CutBeforeLatencies: Error "import_cut",
        ["the block ends before its latencies", "该结果块在时延之前结束"],
        CUT_SHORT;
    CutWithoutRequests: Error "import_cut",
        ["the block has neither requests nor a duration", "该结果块既没有请求数也没有时长"],
        CUT_SHORT;
    CutWithoutTimes: Error "import_cut",
        ["the block has no closing line and no times", "该结果块没有结束行，也没有时延"],
        CUT_SHORT;
    OtherSlots: Note "import_disagrees",
        ["the line above says `{}`, but the block has a concurrency of {}",
         "上一行写的是 `{}`，而结果块的并发数为 {}"],
        ["the block is used", "以结果块为准"];
    NoColumn: Note "import_columns",
        ["the table has no column {}", "表中没有 {} 列"],
        ["these metrics are not available", "没有这些指标"];
    RowsHeadless: Error "import_header",
        ["rows of guidellm's table without its header: the columns are unknown",
         "guidellm 表格的行缺少表头：无法得知各列含义"],
        ["put the header back above them; it names {}", "请在其上方补回表头，包括 {}"];
    MatrixHeadless: Error "import_header",
        ["a table of six columns of numbers without a header: the columns are unknown",
         "六列数字的表格缺少表头：无法得知其含义"],
        ["put the header back above it; that of a length matrix names {}",
         "请在其上方补回表头；长度矩阵的表头包括 {}"];
    PivotHeadless: Error "import_header",
        ["metrics without the row above them that states the concurrency of each column",
         "指标上方缺少说明各列并发数的一行"],
        ["put that row back: its first cell names the metrics ({}), the others the concurrency",
         "请补回该行：第一个单元格为指标名（{}），其余为并发数"];
    RowCells: Error "import_row",
        ["{} cells under {} columns; the row is left out: {}",
         "{1} 列之下有 {0} 个单元格；该行未读入：{2}"],
        CORRECT_ROW;
    RowShifted: Error "import_row",
        ["`{}` does not fit the column {}: cells may be shifted; the row is left out: {}",
         "`{}` 与列 {} 不符，单元格可能错位；该行未读入：{}"],
        CORRECT_ROW;
    RowLengths: Error "import_row",
        ["its lengths are not whole numbers; the row is left out: {}",
         "长度不是整数；该行未读入：{}"],
        CORRECT_ROW;
    NothingCompleted: Note "import_nothing_completed",
        ["{} has 0 in every column: nothing completed", "{} 各列均为 0：没有请求完成"],
        ABSENT;
    NoneSucceeded: Note "import_nothing_completed",
        ["no request succeeded", "没有请求成功"],
        ABSENT;
    NoUnit: Error "import_unit",
        ["{} has no unit, and in guidellm's unit it exceeds the latency",
         "{} 没有单位，按 guidellm 的单位则超过端到端时延"],
        ["write the unit after the number; the value is left out",
         "请在数字后写明单位；该数值未读入"];
    WrongUnit: Error "import_unit",
        ["{}: a mean latency of {} s at {} requests/s would mean a concurrency of {}",
         "{}：端到端时延平均 {} s、每秒 {} 个请求，意味着并发数为 {}"],
        ["it is left out; write the unit after the number if it is not in seconds",
         "该数值未读入；若单位不是秒，请在数字后写明"];
    Implausible: Note "import_implausible",
        ["a part of a request takes longer ({} ms) than the whole request",
         "请求的一部分用时（{} ms）超过整个请求"],
        ["treat the values of this row with caution", "请谨慎看待该行的数值"];
    Empty: Error "import_empty",
        ["a {} of {} without values", "{1} 的 {0} 没有数值"],
        ["it may be truncated", "可能被截断"];
    Untitled: Note "import_title",
        ["rows of a serving benchmark without the line `{}` above them",
         "这些行上方缺少 `{}` 一行"],
        ["they were read by their names", "已按名称读入"];
}
