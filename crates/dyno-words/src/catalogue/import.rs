//! What is to be said of a file of another tool's: what could not be read, or had to be assumed.

use crate::wordings;

const LEFT_OUT: [&str; 2] = ["it is left out", "未读入"];
const ROW_LEFT_OUT: [&str; 2] = ["the row is left out", "该行未读入"];
const DATABASE: [&str; 2] =
    ["the database cannot be read to its end: {}", "数据库无法完整读取：{}"];
const DIFFER: [&str; 2] =
    ["{}: {} says {}, its requests give {}", "{}：{} 给出 {}，由其请求算得 {}"];
const CUT_SHORT: [&str; 2] =
    ["it may be cut short; what is there was read", "可能被截断；已有的部分已读入"];
const CORRECT_ROW: [&str; 2] = ["correct the row in the file", "请在文件中更正该行"];
const ABSENT: [&str; 2] = ["its times are taken to be absent, not 0", "其延迟视为没有，而不是 0"];

wordings! {
    /// What could not be read, or should be known of what was.
    pub enum Problem;

    TimeUnit: Error "import_unit",
        ["`{}` is in `{}`, which is no known unit of time",
         "`{}` 的单位是 `{}`，不是已知的时间单位"],
        ["it is kept as reported alone", "仅作为原始数值保留"];
    CellsUnderHeading: Error "import_row",
        ["`{}` has {} cells where the heading has {}", "`{}` 有 {} 个单元格，而表头有 {} 个"],
        ROW_LEFT_OUT;
    AboveHeading: Error "import_row",
        ["`{}` stands above the heading", "`{}` 在表头之上"],
        ROW_LEFT_OUT;
    NoKnownMetric: Error "import_empty",
        ["the table has no metric that is known", "表中没有已知的指标"],
        ["is it an export of AIPerf's results?", "这是 AIPerf 导出的结果吗？"];
    RequestUntimed: Error "import_untimed",
        ["the request does not say when it was sent", "该请求没有发送时间"],
        LEFT_OUT;
    TimesWithoutUnit: Error "import_unit",
        ["{} times have no known unit", "{} 个时间没有已知的单位"],
        ["they are left out", "均未读入"];
    NotEvalscope: Error "import_unknown",
        ["{} is not what EvalScope writes", "{} 不是 EvalScope 写出的内容"],
        LEFT_OUT;
    UnknownJson: Error "import_unknown",
        ["this is JSON, but not the result of a known tool", "这是 JSON，但不是已知工具的结果"],
        LEFT_OUT;
    JsonCut: Error "import_json",
        ["the JSON that begins here is cut off at byte {}, the file's end",
         "从此处开始的 JSON 在文件末尾（第 {} 字节）被截断"],
        ["save or copy the file again, whole", "请重新保存或复制完整的文件"];
    JsonBroken: Error "import_json",
        ["no JSON at column {}: {}", "第 {} 列不是 JSON：{}"],
        ["the line is left out; mend it and import again", "该行未读入；请更正后重新导入"];
    LogUnread: Error "import_journal",
        ["part of {} stands in a log beside it (`-wal` or `-journal`), which cannot be read: {}",
         "{} 的一部分在旁边的日志文件（`-wal` 或 `-journal`）中，无法读取：{}"],
        ["close the program that writes it, and import again",
         "请关闭写入它的程序后重新导入"];
    DatabaseForeign: Error "import_database",
        DATABASE,
        ["is it EvalScope's `benchmark_data.db`?", "这是 EvalScope 的 `benchmark_data.db` 吗？"];
    DatabaseUnread: Error "import_database",
        DATABASE,
        ["nothing of it is read; copy the file again, whole",
         "没有读入任何内容；请重新复制完整的文件"];
    DatabaseCut: Error "import_database",
        DATABASE,
        ["{1} requests before the damage are read", "损坏处之前的 {1} 个请求已读入"];
    NoRows: Error "import_empty",
        ["the table `{}` has no rows", "表 `{}` 没有行"],
        ["did the run send any request?", "该测试发送过请求吗？"];
    NoMetrics: Error "import_empty",
        ["benchmark {} of the report has no metrics", "报告中第 {} 个测试没有指标"],
        LEFT_OUT;
    NoRequests: Error "import_empty",
        ["benchmark {} of the report holds no requests", "报告中第 {} 个测试没有请求"],
        LEFT_OUT;
    Sampled: Note "import_sampled",
        ["the report keeps {} of {} requests, too few to compute from",
         "报告只保留了 {1} 个请求中的 {0} 个，不足以据此计算"],
        ["the tool's own figures are shown; let guidellm keep all requests for more",
         "显示的是工具自己的数值；如需更多，请让 guidellm 保留全部请求"];
    Untimed: Note "import_untimed",
        ["{} requests do not say when they were sent", "{} 个请求没有发送时间"],
        ["figures that need it are the tool's own", "需要发送时间的数值取自工具本身"];
    Uneven: Error "import_uneven",
        ["{}: `ttfts` has {} requests and `{}` has {}; they cannot be put together",
         "{}：`ttfts` 有 {} 个请求，而 `{}` 有 {} 个，无法对应"],
        ["the tool's own figures are shown; save the result again",
         "显示的是工具自己的数值；请重新保存结果"];
    FiguresDiffer: Note "import_figures_differ",
        DIFFER,
        ["the figure of the requests is shown, the tool's is kept as reported",
         "显示由请求算得的数值，工具的数值作为原始数值保留"];
    FiguresWeighed: Note "import_figures_differ",
        DIFFER,
        ["guidellm counts each answer by its tokens; Dyno's figure is shown, and theirs is kept",
         "guidellm 按 token 数对应答加权；显示 Dyno 的数值，其数值予以保留"];
    NotStreamed: Note "import_not_streamed",
        ["answers were not streamed: times to the first token are those of the whole",
         "没有使用流式输出：首 token 延迟就是整个应答的延迟"],
        ["they are among the reported figures, and left out of TTFT",
         "它们保留在原始数值中，不计入 TTFT"];
    OnePackage: Note "import_not_streamed",
        ["answers came in one package: the times to the first token are those of the whole",
         "应答一次性到达：首 token 延迟就是整个应答的延迟"],
        ["they are no TTFT; do not compare them with one", "它们不是 TTFT；请勿与 TTFT 比较"];
    RateAndPlaces: Note "import_load_two",
        ["arrivals at {}/s waited for one of {} places",
         "以 {}/s 到达的请求需等待 {} 个并发位之一"],
        ["it is taken as the rate; both figures are kept as reported",
         "按请求速率处理；两个数值均作为原始数值保留"];
    RateAndLimit: Note "import_load_two",
        ["a rate of {} requests/s and at most {} at once", "请求速率为每秒 {} 个，并发数不超过 {}"],
        ["it is kept as a rate; the limit is among the reported figures",
         "按请求速率处理；并发上限保留在原始数值中"];
    LoadAssumed: Note "import_load_assumed",
        ["no request rate and no concurrency are told: taken as a burst of all requests, which is \
          the tool's default",
         "没有给出请求速率和并发数：按工具的默认方式，视为一次性发出全部请求"],
        ["if a rate or a limit was set, the load of this run is another",
         "若设置过速率或并发上限，则该测试的负载与此不同"];
    LoadUnknown: Note "import_load_unknown",
        ["a length matrix does not say how requests were offered", "长度矩阵没有说明请求如何发出"],
        ["its loads are unknown; compare it with runs of the same kind only",
         "其负载未知；只能与同类测试比较"];
    Unread: Error "import_unread",
        ["{}: {} is no figure that fits; it is left out", "{}：{} 不是合适的数值，未读入"],
        ["correct it in the file, or leave it at that", "请在文件中更正，或保持现状"];
    Counts: Note "import_counts",
        ["{}: {} requests in total, but {} that succeeded or failed",
         "{}：共 {} 个请求，但成功与失败请求合计 {} 个"],
        ["some requests are not accounted for", "有请求去向不明"];
    CutBeforeLatencies: Error "import_cut",
        ["the block ends before its latencies", "该结果块在延迟之前结束"],
        CUT_SHORT;
    CutWithoutRequests: Error "import_cut",
        ["the block has neither requests nor a duration", "该结果块既没有请求数也没有时长"],
        CUT_SHORT;
    CutWithoutTimes: Error "import_cut",
        ["the block has no closing line and no times", "该结果块没有结束行，也没有延迟"],
        CUT_SHORT;
    OtherSlots: Note "import_disagrees",
        ["the line above says `{}`, the block {} requests at once",
         "上一行写的是 `{}`，而结果块的并发数为 {}"],
        ["the block is believed", "以结果块为准"];
    NoColumn: Note "import_columns",
        ["the table has no column {}", "表中没有 {} 列"],
        ["these figures are absent", "没有这些数值"];
    RowsHeadless: Error "import_header",
        ["rows of guidellm's table without its header: what the columns are is not told",
         "guidellm 表格的行缺少表头：无法得知各列含义"],
        ["put the header back above them; it names {}", "请在其上方补回表头，包括 {}"];
    MatrixHeadless: Error "import_header",
        ["a table of six columns of numbers without its header: what they are is not told",
         "六列数字的表格缺少表头：无法得知其含义"],
        ["put the header back above it; that of a length matrix names {}",
         "请在其上方补回表头；长度矩阵的表头包括 {}"];
    PivotHeadless: Error "import_header",
        ["metrics without the row above them that says how many requests a column had at once",
         "指标上方缺少说明各列并发数的一行"],
        ["put that row back: its first cell names the metrics ({}), the others the numbers",
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
        ["{} has no unit, and taken as guidellm's it exceeds the latency",
         "{} 没有单位，按 guidellm 的单位则超过请求延迟"],
        ["write the unit behind the number; the figure is left out",
         "请在数字后写明单位；该数值未读入"];
    WrongUnit: Error "import_unit",
        ["{}: a mean latency of {} s at {} requests/s would be {} requests at once",
         "{}：平均延迟 {} s、每秒 {} 个请求，意味着并发数为 {}"],
        ["it is left out; write its unit behind the number if it is not in seconds",
         "该数值未读入；若单位不是秒，请在数字后写明"];
    Implausible: Note "import_implausible",
        ["a part of a request takes longer ({} ms) than the whole",
         "请求的一部分用时（{} ms）超过整个请求"],
        ["look at the figures of this row with care", "请谨慎看待该行的数值"];
    Empty: Error "import_empty",
        ["a {} of {} without figures", "{1} 的 {0} 没有数值"],
        ["it may be cut short", "可能被截断"];
    Untitled: Note "import_title",
        ["rows of a serving benchmark without the line `{}` above them",
         "这些行上方缺少 `{}` 一行"],
        ["they were read by their names", "已按名称读入"];
}
