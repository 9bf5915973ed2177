//! Why the engine's steps cannot be recovered from a level, in English and Chinese. Such a level still
//! counts: its distributions are used.

use dyno_fit::steps::Refusal;
use dyno_model::Language;
use dyno_words::messages;

messages! {
    /// A text about the steps of a level.
    enum Message;

    TooFewRequests: "only {} requests with two tokens or more", "只有 {} 个请求的 token 不少于两个";
    TokensUnknown:
        "the server does not report the tokens of each chunk", "服务端不报告每个数据块的 token 数";
    Failed: "{} requests failed", "{} 个请求失败";
    SeveralTokens: "{} % of the tokens came with others in a chunk", "{} % 的 token 与其他 token 同块到达";
    CachedUnknown:
        "prompts begin alike, and the server does not say how much of {} of them was in its prefix cache",
        "提示词开头相同，而服务端未说明其中 {} 个有多少命中前缀缓存";
    ForeignTraffic:
        "the server had up to {} requests that are not of this run; let nobody else use it",
        "服务端最多有 {} 个不属于本次测试的请求；测试时请勿让他人使用";
    MissingTraffic:
        "the server reported up to {} requests fewer than were in flight: its metrics are those of one \
         of several engines",
        "服务端报告的请求比在途请求最多少 {} 个：其指标只来自多个引擎之一";
    SeveralAddresses: "the requests went to {} addresses", "请求发往 {} 个地址";
    NoCommonSteps:
        "the tokens of {} of {} requests do not fit common steps: several engines, or a front end that \
         is far behind",
        "{1} 个请求中有 {0} 个的 token 不符合共同的步：有多个引擎，或前端严重滞后";
    ArrivalsInGroups:
        "the tokens of a step come in groups, as those of several engines do",
        "同一步的 token 分组到达，像是来自多个引擎";
    FrontEndHidesSteps:
        "from {} requests in flight on, the front end takes longer for the tokens of a step than the \
         step ({} µs each)",
        "在途请求达到 {} 个后，前端处理一步的 token 比该步本身更久（每个 {} µs）";
}

/// All reasons, one after the other.
pub(crate) fn reasons(refusals: &[Refusal], language: Language) -> String {
    let all: Vec<String> = refusals.iter().map(|refusal| reason(refusal, language)).collect();
    crate::usable::joined(&all, language)
}

fn reason(refusal: &Refusal, language: Language) -> String {
    let of = |message: Message, count: u64| message.with(language, &[count.to_string()]);
    match *refusal {
        Refusal::TooFewRequests { found, .. } => of(Message::TooFewRequests, found as u64),
        Refusal::TokensUnknown { .. } => Message::TokensUnknown.text(language).to_owned(),
        Refusal::Failed { requests, .. } => of(Message::Failed, requests as u64),
        Refusal::SeveralTokens { share } => {
            Message::SeveralTokens.with(language, &[format!("{:.0}", 100.0 * share)])
        }
        Refusal::CachedUnknown { requests } => of(Message::CachedUnknown, requests as u64),
        Refusal::ForeignTraffic { most, .. } => of(Message::ForeignTraffic, most),
        Refusal::MissingTraffic { most, .. } => of(Message::MissingTraffic, most),
        Refusal::SeveralAddresses { addresses } => of(Message::SeveralAddresses, addresses as u64),
        Refusal::NoCommonSteps { requests, of } => {
            Message::NoCommonSteps.with(language, &[requests, of].map(|count| count.to_string()))
        }
        Refusal::ArrivalsInGroups { .. } => Message::ArrivalsInGroups.text(language).to_owned(),
        Refusal::FrontEndHidesSteps { chunk, from, .. } => {
            let values = [from.to_string(), format!("{:.0}", 1e6 * chunk)];
            Message::FrontEndHidesSteps.with(language, &values)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_reasons_are_given_with_their_numbers() {
        let foreign = Refusal::ForeignTraffic { samples: 3, of: 9, most: 5 };
        let front = Refusal::FrontEndHidesSteps { chunk: 48e-6, tokens: 128, from: 96 };
        let said = reasons(&[foreign, front], Language::English);
        assert!(said.contains("up to 5 requests that are not of this run"), "{said}");
        assert!(said.contains("from 96 requests in flight on"), "{said}");
        assert!(said.contains("(48 µs each)"), "{said}");
        let odd = Refusal::NoCommonSteps { requests: 30, of: 40 };
        assert!(reasons(&[odd], Language::Chinese).starts_with("40 个请求中有 30 个"));
    }
}
