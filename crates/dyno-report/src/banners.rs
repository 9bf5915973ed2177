//! What must not be overlooked about a run: that it is simulated, imported or cut short, and how many
//! of its levels are not valid. The page and the charts state it in the same words.

use crate::messages::Message;
use dyno_model::summary::{RunSummary, Summary};
use dyno_model::{Language, Verdict};
use dyno_words::messages;

/// Which kind of statement it is; it decides the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Simulated,
    Imported,
    Partial,
    Invalid,
    Suspect,
}

impl Kind {
    /// The name of its style on the page.
    pub(crate) fn style(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Imported | Self::Partial => "partial",
            Self::Invalid => "invalid",
            Self::Suspect => "suspect",
        }
    }
}

/// A statement: one word in capitals, and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Banner {
    pub(crate) kind: Kind,
    pub(crate) head: String,
    pub(crate) text: String,
}

messages! {
    /// The wording of banners that no other report has.
    enum Word;

    Imported: "IMPORTED: these results come from {}. Dyno did not measure them and cannot judge them.",
        "导入：以下是 {} 的结果，并非由 Dyno 测得，无法判定其可信度。";
    Invalid: "INVALID: {} of {} levels. Their results describe the load generator, not the server; \
              they are marked and left out of the headlines.",
        "无效：{} 档（共 {} 档）。其数据反映的是压测客户端而非服务器，已作标记，不计入要点。";
    Suspect: "SUSPECT: {} of {} levels. Read them with the stated caveats.",
        "存疑：{} 档（共 {} 档）。请结合所述原因阅读。";
}

fn banner(kind: Kind, message: &str) -> Banner {
    let (head, text) = message.split_once([':', '：']).unwrap_or(("", message));
    Banner { kind, head: head.to_owned(), text: text.trim().to_owned() }
}

/// Where a run's results come from, and whether they are complete.
fn of_run(run: &RunSummary, language: Language) -> Vec<Banner> {
    let mut all = Vec::new();
    if run.predicted {
        all.push(banner(Kind::Simulated, Message::Predicted.text(language)));
    } else if run.simulated {
        all.push(banner(Kind::Simulated, Message::Simulated.text(language)));
    }
    if let Some(origin) = &run.origin {
        all.push(banner(Kind::Imported, &Word::Imported.with(language, &[&origin.tool])));
    }
    if run.partial {
        all.push(banner(Kind::Partial, Message::Partial.text(language)));
    }
    all
}

/// The banners of a run, the most general first.
pub(crate) fn banners(summary: &Summary, language: Language) -> Vec<Banner> {
    let mut all = of_run(&summary.run, language);
    let levels = &summary.levels;
    let verdicts = [
        (Verdict::Invalid, Kind::Invalid, Word::Invalid),
        (Verdict::Suspect, Kind::Suspect, Word::Suspect),
    ];
    for (verdict, kind, word) in verdicts {
        let count = levels.iter().filter(|level| level.verdict == verdict).count();
        if count > 0 {
            let counts = [count, levels.len()].map(|count| count.to_string());
            all.push(banner(kind, &word.with(language, &counts)));
        }
    }
    all
}

/// The words in capitals of several runs, each once.
pub(crate) fn heads(banners: &[Banner]) -> Vec<&str> {
    let mut heads: Vec<&str> = Vec::new();
    for banner in banners {
        if !heads.contains(&banner.head.as_str()) {
            heads.push(&banner.head);
        }
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::summary::LevelSummary;

    #[test]
    fn every_banner_has_its_word_in_both_languages() {
        let level = |verdict| LevelSummary { verdict, ..LevelSummary::default() };
        let verdicts = [Verdict::Invalid, Verdict::Valid, Verdict::Suspect];
        let summary = Summary {
            schema: String::new(),
            run: RunSummary { simulated: true, partial: true, ..RunSummary::default() },
            levels: verdicts.map(level).to_vec(),
            repeats: vec![],
            search: None,
            notes: vec![],
        };
        for (language, expected) in [
            (Language::English, ["SIMULATED", "PARTIAL", "INVALID", "SUSPECT"]),
            (Language::Chinese, ["模拟", "不完整", "无效", "存疑"]),
        ] {
            let banners = banners(&summary, language);
            assert_eq!(heads(&banners), expected);
            assert!(banners[2].text.contains('1') && banners[2].text.contains('3'));
        }
    }
}
