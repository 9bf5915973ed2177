//! The words of the layouts, in English and Chinese: one table, so that no language lacks any.

/// A language of the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// The language of a locale, by the values of `LC_ALL`, `LC_MESSAGES` and `LANG`: the first of
    /// them that is set decides.
    pub fn of_locale(values: [Option<&str>; 3]) -> Self {
        let decides = values.into_iter().flatten().find(|value| !value.is_empty());
        let chinese = decides.is_some_and(|value| value.to_ascii_lowercase().starts_with("zh"));
        if chinese { Self::Chinese } else { Self::English }
    }
}

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident: $english:literal, $chinese:literal;)*) => {
        /// Something that a layout says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Message { $($(#[$doc])* $name,)* }

        impl Message {
            /// In both languages.
            fn both(self) -> [&'static str; 2] {
                match self { $(Self::$name => [$english, $chinese],)* }
            }

            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

messages! {
    Run: "Run", "测试";
    Label: "Label", "标签";
    Note: "Note", "备注";
    Target: "Target", "目标";
    Model: "Model", "模型";
    Started: "Started", "开始时间";
    TokenCounts: "Token counts", "token 计数";
    EmbeddedEngine: "embedded engine", "内置引擎";
    InputBy: "input by {}", "输入来自 {}";
    OutputBy: "output by {}", "输出来自 {}";
    Level: "Level", "负载";
    Completed: "Completed", "成功";
    Failed: "Failed", "失败";
    RequestRate: "Requests/s", "请求/秒";
    OutputRate: "Output tokens/s", "输出 token/秒";
    Ttft: "TTFT {} (ms)", "首 token 延迟 {} (ms)";
    Tpot: "TPOT {} (ms)", "每 token 用时 {} (ms)";
    Itl: "ITL {} (ms)", "token 间延迟 {} (ms)";
    Latency: "Latency {} (ms)", "请求延迟 {} (ms)";
    Verdict: "Verdict", "判定";
    Valid: "valid", "有效";
    Unjudged: "unjudged", "未判定";
    Suspect: "suspect", "存疑";
    Invalid: "invalid", "无效";
    Steady: "over the steady window", "稳定窗口内的数值";
    Few: "fewer than 10 samples lie beyond this percentile", "超出该百分位的样本不足 10 个";
    NoFigure: "there is no such figure", "没有该数值";
    NoLevel: "No level was begun.", "没有开始任何负载。";
    ToBeKnown: "To be known:", "须知：";
    LevelInvalid: "{} is invalid: {}", "{} 无效：{}";
    LevelSuspect: "{} is suspect: {}", "{} 存疑：{}";
    Simulated:
        "SIMULATED: these are the figures of the embedded engine, not of a real model.",
        "模拟：这些是内置引擎的数值，并非真实模型。";
    Predicted:
        "SIMULATED: a twin answered in virtual time; nothing was measured.",
        "模拟：由孪生模型在虚拟时间中应答，没有实际测量。";
    Partial:
        "PARTIAL: the records end before the run did; only what had finished is here.",
        "不完整：记录在测试结束之前中断，此处只有已完成的部分。";
    NotInFont: "not in the font, and drawn as a box: {}", "字体中没有，以方框代替：{}";
    Metric: "Metric", "指标";
    TimeTaken: "Time taken", "用时";
    Qps: "QPS", "QPS";
    MeanLatency: "Latency", "延迟";
    Throughput: "Throughput", "吞吐量";
}

impl Message {
    /// In one language.
    pub(crate) fn text(self, language: Language) -> &'static str {
        let [english, chinese] = self.both();
        match language {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }

    /// With its places filled in, in order.
    pub(crate) fn with(self, language: Language, values: &[&str]) -> String {
        let mut pieces = self.text(language).split("{}");
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for (i, piece) in pieces.enumerate() {
            out.push_str(values.get(i).copied().unwrap_or_default());
            out.push_str(piece);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_language_lacks_a_message() {
        let has_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        for message in Message::ALL {
            let [english, chinese] = message.both();
            assert!(!english.trim().is_empty(), "{message:?} has no English");
            assert!(english.is_ascii(), "{message:?} is not English: {english}");
            let same_in_both = *message == Message::Qps;
            assert!(has_chinese(chinese) != same_in_both, "{message:?} has no Chinese: {chinese}");
            let places = |text: &str| text.matches("{}").count();
            assert_eq!(places(english), places(chinese), "{message:?}");
        }
    }

    #[test]
    fn places_are_filled_in_order() {
        let filled = Message::LevelInvalid.with(Language::English, &["c={}", "too late"]);
        assert_eq!(filled, "c={} is invalid: too late");
        assert_eq!(Message::Ttft.with(Language::Chinese, &["p50"]), "首 token 延迟 p50 (ms)");
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = Language::of_locale;
        assert_eq!(of([None, None, Some("zh_CN.UTF-8")]), Language::Chinese);
        assert_eq!(of([Some("C"), None, Some("zh_CN.UTF-8")]), Language::English);
        assert_eq!(of([Some(""), Some("zh_TW"), Some("en_US.UTF-8")]), Language::Chinese);
        assert_eq!(of([None, None, None]), Language::English);
    }
}
