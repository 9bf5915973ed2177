//! What must not be overlooked about a run: that it is simulated, imported or cut short, and how many
//! of its levels are not valid. The page and the charts state it in the same words.

use crate::canvas::clean;
use dyno_model::summary::{RunSummary, Summary};
use dyno_model::{Language, Verdict};
use dyno_words::messages;

/// Which kind of statement it is; it decides the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BannerKind {
    /// From an engine or a twin.
    Simulated,
    /// Measured by another tool.
    Imported,
    /// Cut short.
    Partial,
    /// Some levels are invalid.
    Invalid,
    /// Some levels are suspect.
    Suspect,
}

impl BannerKind {
    /// The name of its style on the page.
    pub fn style(self) -> &'static str {
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
pub struct Banner {
    /// What it is about.
    pub kind: BannerKind,
    /// The word in capitals.
    pub head: String,
    /// The sentence.
    pub text: String,
}

messages! {
    /// A statement about the results as a whole.
    pub enum Caution;

    Simulated:
        "SIMULATED: these results are from the embedded engine, not from a real model.",
        "模拟：以下结果来自内置引擎，并非真实模型。";
    Predicted:
        "SIMULATED: predicted by a twin in virtual time; nothing was measured.",
        "模拟：由孪生模型在虚拟时间中预测，没有实际测量。";
    Partial:
        "PARTIAL: the records end before the run did; only requests that had finished are included.",
        "不完整：记录在测试结束之前中断，仅包含已结束的请求。";
    Imported: "IMPORTED: these results come from {}. Dyno did not measure them and cannot judge them.",
        "导入：以下是 {} 的结果，并非由 Dyno 测得，无法判定其可信度。";
    Invalid: "INVALID: {} of {} levels. Their results describe the load generator, not the server; \
              they are marked and left out of the headlines.",
        "无效：{} 档（共 {} 档）。其数据反映的是压测客户端而非服务器，已作标记，不计入要点。";
    Suspect: "SUSPECT: {} of {} levels. Read them with the stated caveats.",
        "存疑：{} 档（共 {} 档）。请结合所述原因阅读。";
}

fn banner(kind: BannerKind, message: &str) -> Banner {
    let (head, text) = message.split_once([':', '：']).unwrap_or(("", message));
    Banner { kind, head: head.to_owned(), text: text.trim().to_owned() }
}

/// Whether a run's results were measured at all, and whether they are complete.
pub fn cautions(run: &RunSummary) -> Vec<Caution> {
    let all = [
        (run.predicted, Caution::Predicted),
        (run.simulated && !run.predicted, Caution::Simulated),
        (run.partial, Caution::Partial),
    ];
    all.into_iter().filter(|(applies, _)| *applies).map(|(_, caution)| caution).collect()
}

/// Where a run's results come from, and whether they are complete.
fn of_run(run: &RunSummary, language: Language) -> Vec<Banner> {
    let kind = |caution| match caution {
        Caution::Partial => BannerKind::Partial,
        _ => BannerKind::Simulated,
    };
    let cautions = cautions(run).into_iter();
    let mut all: Vec<Banner> =
        cautions.map(|caution| banner(kind(caution), caution.text(language))).collect();
    if let Some(origin) = &run.origin {
        let imported =
            banner(BannerKind::Imported, &Caution::Imported.with(language, &[&origin.tool]));
        let simulated =
            all.iter().take_while(|banner| banner.kind == BannerKind::Simulated).count();
        all.insert(simulated, imported);
    }
    all
}

/// The banners of a run, the most general first.
pub fn banners(summary: &Summary, language: Language) -> Vec<Banner> {
    let mut all = of_run(&summary.run, language);
    let levels = &summary.levels;
    let verdicts = [
        (Verdict::Invalid, BannerKind::Invalid, Caution::Invalid),
        (Verdict::Suspect, BannerKind::Suspect, Caution::Suspect),
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

/// The banners of several runs under their names: each once, with the runs that it is about unless it is
/// about all.
pub fn banners_of_several(sides: &[(&str, &Summary)], language: Language) -> Vec<Banner> {
    let mut all: Vec<(Banner, Vec<String>)> = Vec::new();
    for (name, side) in sides {
        for banner in banners(side, language) {
            match all.iter_mut().find(|(known, _)| *known == banner) {
                Some((_, names)) => names.push(clean(name)),
                None => all.push((banner, vec![clean(name)])),
            }
        }
    }
    let worded = |(banner, names): (Banner, Vec<String>)| {
        let names = names.join(language.comma());
        let text = format!("{names}{}{}", language.colon(), banner.text);
        Banner { text, ..banner }
    };
    all.into_iter()
        .map(|one| if one.1.len() == sides.len() { one.0 } else { worded(one) })
        .collect()
}

/// The words in capitals of several runs, each once.
pub fn heads(banners: &[Banner]) -> Vec<&str> {
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
