//! Whether the levels of a run can be used, and how those are told that cannot.

use crate::words::Message;
use dyno_model::summary::LevelSummary;
use dyno_model::{Language, Verdict};

/// Why the results of a level describe nothing, whatever is done with them; empty if they do.
pub(crate) fn not_measured(level: &LevelSummary, language: Language) -> String {
    let mut reasons = Vec::new();
    let completed = level.requests.completed;
    let why = level.reasons.first().map(|reason| reason.what.as_str());
    let why = why.unwrap_or(Message::NoReason.text(language));
    if level.verdict == Verdict::Invalid {
        reasons.push(Message::Invalid.with(language, &[why]));
    }
    if completed.is_none() {
        reasons.push(Message::NotCounted.text(language).to_owned());
    }
    if level.partial || completed == Some(0) {
        reasons.push(Message::Partial.text(language).to_owned());
    }
    joined(&reasons, language)
}

/// Reasons one after the other.
pub(crate) fn joined(reasons: &[String], language: Language) -> String {
    reasons.join(language.choose(["; ", "；"]))
}

/// The label of a level, with the number of its run where there are several.
pub(crate) fn of_run(label: &str, number: Option<usize>, language: Language) -> String {
    match number {
        Some(number) => Message::OfRun.with(language, &[label, &number.to_string()]),
        None => label.to_owned(),
    }
}

/// One note for each reason, from labels and reasons. The messages are for one level and for several.
pub(crate) fn told<'a>(
    levels: impl Iterator<Item = (&'a str, &'a str)>,
    [one, several]: [Message; 2],
    language: Language,
) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, why) in levels {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, labels)) => labels.push(label),
            None => reasons.push((why, vec![label])),
        }
    }
    let note = |(why, labels): (&str, Vec<&str>)| match labels.as_slice() {
        [label] => one.with(language, &[label, why]),
        labels => {
            let names = labels.join(language.choose([", ", "、"]));
            several.with(language, &[&labels.len().to_string(), &names, why])
        }
    };
    reasons.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::summary::RequestCounts;

    #[test]
    fn levels_left_out_for_the_same_reason_share_a_note() {
        let levels = [("rate 1", "random"), ("rate 3", "partial"), ("rate 4", "random")];
        assert_eq!(
            told(
                levels.into_iter(),
                [Message::LeftOut, Message::LeftOutSeveral],
                Language::English
            ),
            ["left out 2 levels (rate 1, rate 4): random", "left out: rate 3: partial"]
        );
    }

    #[test]
    fn all_reasons_are_given() {
        let requests = RequestCounts { completed: Some(9), ..RequestCounts::default() };
        let fine = LevelSummary { requests, verdict: Verdict::Valid, ..LevelSummary::default() };
        assert_eq!(not_measured(&fine, Language::English), "");
        let bad = LevelSummary { partial: true, verdict: Verdict::Invalid, ..fine };
        let said = not_measured(&bad, Language::English);
        assert_eq!(said, "invalid: no reason given; it was not measured to its end");
    }
}
