//! The texts that the script uses, each under its name there.

use super::words::Word;
use dyno_model::Language;
use serde_json::{Map, Value};

/// Texts of the script, by the names that it uses.
const OF_SCRIPT: &[(&str, Word)] = &[
    ("figure", Word::Figure),
    ("over", Word::Over),
    ("load", Word::LoadGroup),
    ("other", Word::FigureGroup),
    ("logX", Word::LogX),
    ("logY", Word::LogY),
    ("zoomIn", Word::ZoomIn),
    ("zoomOut", Word::ZoomOut),
    ("zoomReset", Word::ZoomReset),
    ("interval", Word::IntervalName),
    ("sort", Word::Sort),
    ("few", Word::FewName),
    ("rough", Word::RoughName),
    ("bound", Word::SloBound),
    ("share", Word::ShareName),
    ("samples", Word::SampleCount),
    ("sinceStart", Word::SinceStart),
    ("sinceMeasured", Word::SinceMeasured),
    ("offeredAndCompleted", Word::OfferedAndCompleted),
    ("offered", Word::OfferedName),
    ("completed", Word::CompletedName),
    ("partOfTime", Word::PartOfTime),
    ("shownBusiest", Word::ShownBusiest),
    ("shownEven", Word::ShownEven),
    ("invalidHidden", Word::InvalidHidden),
    ("flight", Word::InFlightNow),
    ("completedRate", Word::CompletedRate),
    ("failedRate", Word::FailedRate),
    ("shedRate", Word::ShedRate),
    ("tokenRate", Word::TokenRate),
    ("moreColumns", Word::MoreColumns),
    ("drawn", Word::Drawn),
    ("drawnAll", Word::DrawnAll),
    ("waiting", Word::WaitingName),
    ("answer", Word::AnswerName),
    ("whole", Word::WholeName),
    ("again", Word::AgainName),
    ("againTimes", Word::AgainTimes),
    ("failed", Word::FailedName),
    ("shed", Word::ShedName),
    ("censored", Word::CensoredName),
    ("dropped", Word::DroppedName),
    ("warmup", Word::WarmupName),
    ("request", Word::RequestName),
    ("took", Word::TookName),
    ("tokens", Word::TokensName),
    ("sentAt", Word::SentAt),
    ("levelsShown", Word::LevelsShown),
    ("all", Word::AllName),
    ("none", Word::NoneName),
    ("level", Word::LevelName),
    ("inputAxis", Word::InputAxis),
    ("outputAxis", Word::OutputAxis),
    ("nothing", Word::NothingHere),
    ("chartOf", Word::ChartOf),
    ("valid", Word::ValidName),
    ("unjudged", Word::UnjudgedName),
    ("suspect", Word::SuspectName),
    ("invalid", Word::InvalidName),
    ("dark", Word::Dark),
    ("light", Word::Light),
    ("ttft", Word::Ttft),
    ("itl", Word::Itl),
    ("tpot", Word::Tpot),
    ("latency", Word::Latency),
];

impl Word {
    /// The texts of the script in one language.
    pub(super) fn for_script(language: Language) -> Map<String, Value> {
        let word = |(name, word): &(&str, Word)| ((*name).to_owned(), word.text(language).into());
        let colon = ("colon".to_owned(), language.colon().into());
        OF_SCRIPT.iter().map(word).chain([colon]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_the_script_is_in_the_table_and_used() {
        let script = super::super::SCRIPT;
        let used = script.split("words.").skip(1).map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
        });
        for name in used {
            let known = name == "colon" || OF_SCRIPT.iter().any(|(known, _)| *known == name);
            assert!(known, "words.{name}");
        }
        for (name, _) in OF_SCRIPT {
            let is_used = script.contains(&format!("words.{name}"))
                || ["ttft", "itl", "tpot", "latency"].contains(name);
            assert!(is_used, "words.{name} is not used");
        }
    }
}
