//! The kinds of faults: failures, which must be recorded under their class, and quirks, which a
//! client must handle without any effect on its measurements.

use dyno_model::outcome::Outcome;

/// A wrong response; the table below says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table below says what each does")]
pub enum Failure {
    Http(u16),
    Reset,
    Close,
    Drop,
    ErrorEvent,
    JsonError,
    NotJson,
    BadChunk,
    Garbage,
    Oversize,
    Truncate,
    TruncateEvent,
    Empty,
    Short,
    NoFinishReason,
    Stall,
    StallFirst,
    StallHeaders,
    Drip,
}

/// A correct but unusual response; the table below says how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table below says what each does")]
pub enum Quirk {
    Crlf,
    Cr,
    NoSpace,
    Comments,
    EventLines,
    Multiline,
    Split,
    Bom,
    Big,
    Coalesce,
    RoleFirst,
    EmptyFinish,
    UsageInFinish,
    NoDone,
    NoUsage,
    Reasoning,
    ReasoningAlt,
    ToolCalls,
    IncrementalOutput,
    BareList,
    CloseDelimited,
    ChunkSplit,
    NoStream,
    RefuseIgnoreEos,
    RefuseMinTokens,
    RefuseStreamOptions,
    RefuseMaxTokens,
    Models500,
    Auth,
    IdleClose,
    IdleCloseRace,
}

/// What a fault does to the requests that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The request must be recorded as failed.
    Failure(Failure),
    /// The request must complete with correct measurements.
    Quirk(Quirk),
}

/// One kind of fault, for help texts and for tests that try them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultInfo {
    /// What to write after `--fault`.
    pub name: &'static str,
    /// What it does, in one line: in English and in Chinese.
    pub about: [&'static str; 2],
    /// Failure or quirk.
    pub(super) kind: FaultKind,
    /// The class that a client should record, or `unconfirmed`; absent where requests should complete.
    pub class: Option<&'static str>,
    /// Whether preflight requests show it too.
    pub in_preflight: bool,
}

const fn failure(
    name: &'static str,
    failure: Failure,
    class: &'static str,
    about: [&'static str; 2],
) -> FaultInfo {
    let kind = FaultKind::Failure(failure);
    FaultInfo { name, about, kind, class: Some(class), in_preflight: false }
}

const fn quirk(name: &'static str, quirk: Quirk, about: [&'static str; 2]) -> FaultInfo {
    FaultInfo { name, about, kind: FaultKind::Quirk(quirk), class: None, in_preflight: false }
}

/// A quirk of the server itself, which a preflight must detect.
const fn trait_of(name: &'static str, q: Quirk, about: [&'static str; 2]) -> FaultInfo {
    FaultInfo { in_preflight: true, ..quirk(name, q, about) }
}

/// Every kind, failures first.
#[rustfmt::skip] // A table is read by its columns.
pub(super) const KINDS: &[FaultInfo] = &[
    failure("http-500", Failure::Http(500), "http.500", ["status 500 with a JSON error (any http-NNN works)", "状态码 500，带 JSON 错误（任意 http-NNN 均可）"]),
    failure("http-503", Failure::Http(503), "http.503", ["status 503 with a JSON error", "状态码 503，带 JSON 错误"]),
    failure("http-429", Failure::Http(429), "http.429", ["status 429 with a JSON error", "状态码 429，带 JSON 错误"]),
    failure("reset", Failure::Reset, "stream.reset", ["connection reset after half the tokens", "发送一半 token 后重置连接"]),
    failure("close", Failure::Close, "stream.reset", ["connection closed inside the chunked body, after half the tokens", "发送一半 token 后，在分块响应体内关闭连接"]),
    failure("drop", Failure::Drop, "stream.reset", ["connection closed before any response byte, every time the same request is sent", "在任何响应字节之前关闭连接，同一请求重发时也是如此"]),
    failure("error-event", Failure::ErrorEvent, "stream.error", ["an error event after half the tokens, inside a 200, then [DONE]", "状态码 200，发送一半 token 后返回错误事件，然后是 [DONE]"]),
    failure("json-error", Failure::JsonError, "stream.error", ["status 200 with a JSON error as its body", "状态码 200，响应体为 JSON 错误"]),
    failure("not-json", Failure::NotJson, "stream.malformed", ["one event in the middle is not JSON", "中间有一个事件不是 JSON"]),
    failure("bad-chunk", Failure::BadChunk, "stream.malformed", ["an invalid HTTP chunk size after half the tokens", "发送一半 token 后出现无效的 HTTP 分块大小"]),
    failure("garbage", Failure::Garbage, "stream.malformed", ["the response is not HTTP", "响应不是 HTTP"]),
    failure("oversize", Failure::Oversize, "stream.malformed", ["one event in the middle is larger than 20 MiB", "中间有一个事件超过 20 MiB"]),
    failure("truncate", Failure::Truncate, "stream.truncated", ["the body ends cleanly after half the tokens", "发送一半 token 后响应体正常结束"]),
    failure("truncate-event", Failure::TruncateEvent, "stream.truncated", ["the body ends cleanly inside an event", "响应体在一个事件内正常结束"]),
    failure("empty", Failure::Empty, "stream.empty", ["a regular end without any output", "没有任何输出就正常结束"]),
    failure("short", Failure::Short, "output.short", ["a regular end after half the tokens", "发送一半 token 后正常结束"]),
    failure("no-finish-reason", Failure::NoFinishReason, Outcome::UNCONFIRMED, ["the terminal event after half the tokens, without a finish reason and without usage", "半数 token 之后发出结束事件，没有结束原因，也没有 usage"]),
    failure("stall", Failure::Stall, "timeout.idle", ["silence after half the tokens, connection kept open", "发送一半 token 后不再发送，连接保持打开"]),
    failure("stall-first", Failure::StallFirst, "timeout.first_token", ["silence instead of a response", "没有响应"]),
    failure("stall-headers", Failure::StallHeaders, "timeout.first_token", ["silence after the response head", "响应头之后不再发送"]),
    failure("drip", Failure::Drip, "timeout.total", ["after the first token only a comment every 100 ms, forever", "首 token 之后只是每 100 ms 发送一条注释，永不结束"]),
    quirk("crlf", Quirk::Crlf, ["lines end with CR LF", "行以 CR LF 结尾"]),
    quirk("cr", Quirk::Cr, ["lines end with CR alone", "行仅以 CR 结尾"]),
    quirk("nospace", Quirk::NoSpace, ["`data:` without a space", "`data:` 后没有空格"]),
    quirk("comments", Quirk::Comments, ["`: ping` lines between and inside events, and before the first token", "事件之间、事件之内以及首 token 之前有 `: ping` 行"]),
    quirk("event-lines", Quirk::EventLines, ["`event:`, `id:` and `retry:` lines", "带有 `event:`、`id:` 和 `retry:` 行"]),
    quirk("multiline", Quirk::Multiline, ["the JSON of an event over two `data:` lines", "一个事件的 JSON 分为两个 `data:` 行"]),
    quirk("split", Quirk::Split, ["each event in three writes, cut inside a UTF-8 character", "每个事件分三次写出，在 UTF-8 字符内部切断"]),
    quirk("bom", Quirk::Bom, ["a byte order mark at the start of the stream", "流的开头有字节顺序标记（BOM）"]),
    quirk("big", Quirk::Big, ["every event 200 KB large", "每个事件 200 KB"]),
    quirk("coalesce", Quirk::Coalesce, ["eight events per write", "每次写出八个事件"]),
    quirk("role-first", Quirk::RoleFirst, ["a role-only chunk immediately, before the first token", "在首 token 之前立即发送只含 role 的数据块"]),
    quirk("empty-finish", Quirk::EmptyFinish, ["the last token in a chunk with empty content and the finish reason", "最后一个 token 位于内容为空并带结束原因的数据块中"]),
    quirk("usage-in-finish", Quirk::UsageInFinish, ["usage in the finish chunk instead of in its own", "usage 位于结束数据块中，而不是单独的数据块"]),
    quirk("no-done", Quirk::NoDone, ["no [DONE]; usage in the finish chunk", "没有 [DONE]；usage 位于结束数据块中"]),
    trait_of("no-usage", Quirk::NoUsage, ["stream_options ignored: no usage in streams", "忽略 stream_options：流中没有 usage"]),
    quirk("reasoning", Quirk::Reasoning, ["the first half of the tokens as reasoning_content", "前一半 token 作为 reasoning_content"]),
    quirk("reasoning-alt", Quirk::ReasoningAlt, ["the first half of the tokens as reasoning", "前一半 token 作为 reasoning"]),
    quirk("tool-calls", Quirk::ToolCalls, ["the tokens as arguments of a tool call", "token 作为工具调用的参数"]),
    trait_of("incremental-output", Quirk::IncrementalOutput, ["/generate: each frame with its own text instead of all so far", "/generate：每个数据帧只含自己的文本，而不是到目前为止的全部文本"]),
    trait_of("bare-list", Quirk::BareList, ["/rerank: a bare list of results, as SGLang sends it", "/rerank：像 SGLang 那样直接返回结果列表"]),
    quirk("close-delimited", Quirk::CloseDelimited, ["no chunked encoding: the body ends with the connection", "不使用分块编码：响应体随连接关闭而结束"]),
    quirk("chunk-split", Quirk::ChunkSplit, ["HTTP chunks that do not match the events", "HTTP 分块与事件不对应"]),
    trait_of("no-stream", Quirk::NoStream, ["a plain JSON response even if a stream was requested", "即使请求流式也返回普通 JSON 响应"]),
    trait_of("refuse-ignore-eos", Quirk::RefuseIgnoreEos, ["status 422 for requests with ignore_eos", "请求含 ignore_eos 时返回状态码 422"]),
    trait_of("refuse-min-tokens", Quirk::RefuseMinTokens, ["status 400 for requests with min_tokens", "请求含 min_tokens 时返回状态码 400"]),
    trait_of("refuse-stream-options", Quirk::RefuseStreamOptions, ["status 400 for requests with stream_options", "请求含 stream_options 时返回状态码 400"]),
    trait_of("refuse-max-tokens", Quirk::RefuseMaxTokens, ["status 400 for requests with max_tokens: use max_completion_tokens", "请求含 max_tokens 时返回状态码 400：需使用 max_completion_tokens"]),
    trait_of("models-500", Quirk::Models500, ["GET /v1/models returns status 500", "GET /v1/models 返回状态码 500"]),
    FaultInfo { class: Some("http.401"), ..trait_of("auth", Quirk::Auth, ["status 401 without `Authorization: Bearer sesame`", "没有 `Authorization: Bearer sesame` 时返回状态码 401"]) },
    quirk("idle-close", Quirk::IdleClose, ["connections idle for 300 ms after a response are closed", "响应后空闲 300 ms 的连接会被关闭"]),
    quirk("idle-close-race", Quirk::IdleCloseRace, ["a connection is closed when another request arrives on it", "同一连接上有另一个请求到达时关闭连接"]),
];

/// A set of quirks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks(u64);

impl Quirks {
    /// Adds one.
    pub fn insert(&mut self, quirk: Quirk) {
        self.0 |= 1 << quirk as u64;
    }

    /// Whether it is in the set.
    pub fn has(self, quirk: Quirk) -> bool {
        self.0 & (1 << quirk as u64) != 0
    }
}
