//! Why the steps of a level cannot be recovered.

use dyno_model::Localized;

/// A reason that can be shown to a user. A refused level still has its distributions.
#[derive(Debug, Clone, Copy, PartialEq, Localized)]
pub enum Refusal {
    /// Too few requests got tokens.
    #[message(
        "only {found} requests with two tokens or more",
        "只有 {found} 个请求的 token 不少于两个"
    )]
    TooFewRequests {
        /// Requests with at least two tokens.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// The server did not report the tokens of each chunk.
    #[message(
        "the server does not report the tokens of each chunk",
        "服务端不报告每个数据块的 token 数"
    )]
    TokensUnknown {
        /// Requests without these counts.
        requests: usize,
        /// All requests with output.
        of: usize,
    },
    /// Requests failed: what they cost the engine is not known.
    #[message("{requests} requests failed", "{requests} 个请求失败")]
    Failed {
        /// Requests that failed after they were sent.
        requests: usize,
        /// All requests.
        of: usize,
    },
    /// Many tokens came several to a chunk, so that the steps between them are hidden.
    #[message(
        "{:.0} % of the tokens came with others in a chunk",
        "{:.0} % 的 token 与其他 token 同块到达",
        100.0 * share
    )]
    SeveralTokens {
        /// Share of all tokens that came with others, from 0 to 1.
        share: f64,
    },
    /// Prompts begin alike, and the server does not say how much of each was in its prefix cache, so that
    /// what steps prefilled is not known.
    #[message(
        "prompts begin alike, and the server does not say how much of {requests} of them was in its \
         prefix cache",
        "提示词开头相同，而服务端未说明其中 {requests} 个有多少命中前缀缓存"
    )]
    CachedUnknown {
        /// Requests without that count.
        requests: usize,
    },
    /// The server reported more requests than this client had in flight.
    #[message(
        "the server had up to {most} requests that are not of this run; let nobody else use it",
        "服务端最多有 {most} 个不属于本次测试的请求；测试时请勿让他人使用"
    )]
    ForeignTraffic {
        /// Samples with more.
        samples: usize,
        /// Samples in the level.
        of: usize,
        /// The largest excess, in requests.
        most: u64,
    },
    /// The server reported fewer requests than were certainly being decoded: the metrics are those
    /// of one engine, and the requests went to several.
    #[message(
        "the server reported up to {most} requests fewer than were in flight: its metrics are those \
         of one of several engines",
        "服务端报告的请求比在途请求最多少 {most} 个：其指标只来自多个引擎之一"
    )]
    MissingTraffic {
        /// Samples with fewer.
        samples: usize,
        /// Samples in the level.
        of: usize,
        /// The largest gap, in requests.
        most: u64,
    },
    /// The requests were sent to several addresses.
    #[message("the requests went to {addresses} addresses", "请求发往 {addresses} 个地址")]
    SeveralAddresses {
        /// How many.
        addresses: usize,
    },
    /// The tokens of many requests do not fit common steps: several engines share the requests, sequences
    /// are paused, or the front end is so far behind that it mixes the tokens of several steps.
    #[message(
        "the tokens of {requests} of {of} requests do not fit common steps: several engines, or a \
         front end that is far behind",
        "{of} 个请求中有 {requests} 个的 token 不符合共同的步：有多个引擎，或前端严重滞后"
    )]
    NoCommonSteps {
        /// Requests that do not fit.
        requests: usize,
        /// Requests that share steps with others.
        of: usize,
    },
    /// The tokens of a step arrive in groups that are far apart: those of several engines that happen to
    /// take the same time.
    #[message(
        "the tokens of a step come in groups, as those of several engines do",
        "同一步的 token 分组到达，像是来自多个引擎"
    )]
    ArrivalsInGroups {
        /// The widest gap in a typical step, as a share of the time between its first arrival and its
        /// last.
        gap: f64,
    },
    /// The front end takes so long for the chunks of a step that they reach into the next one.
    #[message(
        "from {from} requests in flight on, the front end takes longer for the tokens of a step than \
         the step ({:.0} µs each)",
        "在途请求达到 {from} 个后，前端处理一步的 token 比该步本身更久（每个 {:.0} µs）",
        1e6 * chunk
    )]
    FrontEndHidesSteps {
        /// Time for a chunk, in seconds.
        chunk: f64,
        /// Tokens of a typical step.
        tokens: u32,
        /// The number of requests in flight from which on steps are hidden.
        from: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::Language;

    #[test]
    fn reasons_have_their_numbers() {
        let said = |refusal: Refusal| refusal.to_string();
        let foreign = said(Refusal::ForeignTraffic { samples: 3, of: 9, most: 5 });
        assert!(foreign.contains("up to 5 requests that are not of this run"), "{foreign}");
        let front = said(Refusal::FrontEndHidesSteps { chunk: 48e-6, tokens: 128, from: 96 });
        assert!(front.contains("from 96 requests in flight on"), "{front}");
        assert!(front.contains("(48 µs each)"), "{front}");
        let odd = Refusal::NoCommonSteps { requests: 30, of: 40 };
        assert!(odd.text(Language::Chinese).starts_with("40 个请求中有 30 个"));
    }
}
