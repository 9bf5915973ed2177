//! The texts of the plan, in English and Chinese.

use dyno_words::messages;

messages! {
    /// A text of the plan.
    pub enum Say;

    Levels: "{} {0|level|levels}:", "{} 个档位：";
    FirstLevels: "{} {0|level|levels} first:", "先运行 {} 个档位：";
    Api: "API: {}.", "接口：{}。";
    ApiAsked: "API: found by asking the server.", "接口：由询问服务器确定。";
    Data: "Prompts: {}.", "提示词：{}。";
    CacheHit:
        "Prefix cache: about {} % of the prompt tokens, by {} prefixes that prompts share; each is sent once before a level.",
        "前缀缓存：约 {} % 的提示词 token，提示词共享 {} 个前缀；每个前缀在档位开始前先发送一次。";
    Agents: "Sent by {} agents on this machine.", "由本机的 {} 个压测端发送。";
    BusAgents: "Sent by {} agents of the bus.", "由总线上的 {} 个压测端发送。";
    Then: "Then {}, chosen from the results so far.", "然后根据已有结果选择{}。";
    MostInFlight: "At most {} {0|request|requests} in flight.", "最多 {} 个在途请求。";
    Drained: "each starts when the previous one has drained", "前一个排空后再开始下一个";
    Pause: "then a pause of {}", "随后暂停 {}";
    Reset: "with a reset of the server's cache", "并重置服务器缓存";
    Between: "Between levels: {}.", "档位之间：{}。";
    StopsAfter: "Stops after a level with {}.", "有档位满足 {} 后停止。";
    AtMost: "At most {}, plus drain.", "最多 {}，另加排空时间。";
    AtMostWarm: "At most {}, plus warm-up requests and drain.", "最多 {}，另加预热请求和排空时间。";
    AtMostVirtual: "At most {} of virtual time, plus drain.", "最多 {} 虚拟时间，另加排空时间。";
    About: "About {}, plus drain.", "约 {}，另加排空时间。";
    NoEstimate: "No estimate: the duration depends on the server.", "无法估计：时长取决于服务器。";
    Resumes: "Resumes {}: {} finished, left: {}.", "将继续 {}：已完成 {} 个档位，剩余：{}。";
    SearchLeft: "the levels that the search still needs", "搜索还需要的档位";
    ThenSearchLeft: "{}, then the levels that the search still needs", "{}，然后是搜索还需要的档位";
    EstimateFollows: "An estimate follows after the first responses.", "收到首批响应后给出估计。";
    Alternating:
        "Each level runs on both, alternating: A B, then B A, and so on.",
        "每个档位在两者上交替运行：A B，然后 B A，依此类推。";

    EachRequests:
        "Each level: {} requests, or 10 per slot if that is more.",
        "每个档位：{} 个请求；若按每个并发名额 10 个更多，则取后者。";
    Each: "Each level: {}. At most {} in all, with drain.", "每个档位：{}。包括排空在内，总计最多 {}。";
    EachUpTo:
        "Each level: {}, up to {} at {}/s, so that {} requests arrive. At most {} in all, with drain.",
        "每个档位：{0}，{2}/s 时最长 {1}，以便 {3} 个请求到达。包括排空在内，总计最多 {4}。";
    EachOrLonger:
        "Each level: at least {}, {} requests and {} times the latency of a single request, whichever is \
         longest. About {} in all, with drain; more where levels are longer than that.",
        "每个档位：至少 {}、{} 个请求以及单个请求时延的 {} 倍，取其中最长者。包括排空在内，总计约 {}；档位更长时则更久。";
    Rough:
        "A rough answer: short levels, none begun after {} once a load has met the SLO, and an interval of about 25 %.",
        "粗略结果：档位较短；一旦有负载达标，{} 后不再开始新档位；区间宽约 25 %。";

    SweepRates:
        "about {} rates between them and slightly above", "约 {} 个介于其间及略高的请求速率";
    Doubling:
        "doubling the requests in flight up to {}, then levels around the knee",
        "：并发数逐级加倍，最高 {}，然后是拐点附近的档位";
    FullFirst:
        "{} in flight to find its maximum throughput, and at most {} rates around the highest that \
         meets the SLO",
        "：先以并发数 {} 测出服务器的最大吞吐量，再测试最多 {} 个请求速率，位于满足 SLO 的最高值附近";
    RatesBetween:
        "at most {} more rates between {} and {} req/s", "最多 {} 个 {} 到 {} 请求/秒的请求速率";
    RatesAround: "at most {} more rates around {} req/s", "最多 {} 个 {} 请求/秒附近的请求速率";
    ConcurrenciesBetween:
        "at most {} more concurrencies between {} and {} in flight", "最多 {} 个 {} 到 {} 的并发数";
    ConcurrenciesAround:
        "at most {} more concurrencies around {} in flight", "最多 {} 个 {} 附近的并发数";
    ConcurrenciesHighest:
        "at most {} more concurrencies around the highest that meets the SLO",
        "最多 {} 个并发数，位于满足 SLO 的最高值附近";

    InFlight: "{} in flight", "并发 {}";
    Users: "{} {0|user|users}", "{} 个用户";
    OfTrace: "lengths of the trace", "长度由流量记录决定";
    Ramp: "{} to {}/s", "{} 至 {}/s";
    RampInSteps: "{} to {}/s in {} steps", "{} 至 {}/s，分 {} 级";
    AtOnce: "{} at once", "一次 {} 个";
    TraceTimes: "trace times ×{}", "流量记录时间 ×{}";
    Texts: "{} {0|input|inputs} of {}", "{} 条输入，长度 {}";
    TextsOfData: "inputs as in the data", "输入条数由数据决定";
    Lengths: "{} in, {} out", "输入 {}，输出 {}";
    AfterRequests: "after {} warm-up {0|request|requests}", "预热 {} 个请求后";
    AfterTime: "after {} of warm-up", "预热 {} 后";
    Requests: "{} {0|request|requests}", "{} 个请求";
}
