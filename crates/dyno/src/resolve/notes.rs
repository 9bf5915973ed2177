//! The notes that are printed before a run starts, in the language of the user.

use dyno_model::Message;
use dyno_words::messages;

messages! {
    /// A note.
    pub(crate) enum Note;

    Variables: "settings from the environment: {}", "来自环境变量的设置：{}";
    Misspelt: "{0} has no effect: there is no such setting; did you mean {1}?", "{0} 无效：没有此设置；是否指 {1}？";
    IgnoredKeys: "settings that this command does not have are ignored: {}", "已忽略此命令没有的设置：{}";
    Embedded: "no target given: measuring the embedded engine ({})", "未指定目标：将测试内置引擎（{}）";
    Predicting: "predicting with the twin {}", "使用孪生模型 {} 进行预测";
    ProxyIgnored: "{} ignored: a proxy would be measured along with the server", "已忽略 {}：否则代理会与服务器一起被测量";
    LadderLimits: "each level ends after {} requests per slot or {}", "每级在每个并发 {} 个请求或 {} 后结束";
    GivenLimits: "each level ends at the given limits", "每级按指定的限制结束";
    And: "{} and {}", "{} 和 {}";
    FittedInput: "prompts of {} tokens, as the twin was fitted to; --input-tokens changes that", "提示词为 {} 个 token，与拟合该孪生模型时相同；可用 --input-tokens 更改";
    FittedOutput: "responses of {} tokens, as the twin was fitted to; --output-tokens changes that", "响应为 {} 个 token，与拟合该孪生模型时相同；可用 --output-tokens 更改";
    FixedLength: "responses of {} tokens are requested where the data state no length; --output-tokens changes that", "数据未给出长度时，请求 {} 个 token 的响应；可用 --output-tokens 更改";
    TraceLengths: "--output-tokens has no effect: a trace has its own output lengths", "--output-tokens 无效：流量记录自带输出长度";
    Seed: "seed {}", "随机种子 {}";
    RandomSeed: "random seed {0}; repeat with --seed {0}", "随机种子 {0}（随机生成）；使用 --seed {0} 可复现";
    KeyFileFirst: "--api-key is ignored: --api-key-file takes precedence", "已忽略 --api-key：以 --api-key-file 为准";
    HeaderFirst: "DYNO_API_KEY is ignored: --header sets Authorization", "已忽略 DYNO_API_KEY：--header 已设置 Authorization";
    KeyVisible: "--api-key is visible in the process list and the shell history; use --api-key-file or DYNO_API_KEY", "--api-key 会出现在进程列表和命令历史中；请使用 --api-key-file 或 DYNO_API_KEY";
    BusVisible: "--bus: the password or token in the address is visible in the process list and the shell history; use DYNO_BUS_USER and DYNO_BUS_PASSWORD, or DYNO_BUS_TOKEN", "--bus：地址中的密码或令牌会出现在进程列表和命令历史中；请使用 DYNO_BUS_USER 和 DYNO_BUS_PASSWORD，或 DYNO_BUS_TOKEN";
    VersusBus: "--versus: {} agents are needed on the bus, {} for each server", "--versus：总线上需要 {} 个压测端，每台服务器 {} 个";
    VersusAgents: "--versus: {} agents are started, {} for each server; those of the server that is not measured do nothing", "--versus：将启动 {} 个压测端，每台服务器 {} 个；未被测量的服务器的压测端空闲";
    Nothing: "none", "无";
    Given: "given", "已提供";
    NotHttps: "{} has no effect: the target is not https", "{} 无效：目标不是 https";
    FewRequests: "--slo: its percentiles need {} requests per level, and one level has {}; unless they are far from their bounds, the result there will be inconclusive", "--slo：其分位数每级需要 {} 个请求，而有一级只有 {} 个；除非与界限相差很大，否则该级将无法判定";
}

/// Notes so far.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<Message>);

impl Notes {
    /// Adds a note that is already a message.
    pub(super) fn push(&mut self, note: Message) {
        self.0.push(note);
    }

    /// Adds a note, with its values.
    pub(crate) fn add(&mut self, note: Note, values: &[impl AsRef<str>]) {
        self.0.push(note.said(values));
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.0
    }
}
