//! Whether the levels of a run can be used, and what is said of those that cannot.

use dyno_model::message::{Joined, clauses, list};
use dyno_model::summary::LevelSummary;
use dyno_model::{Language, Localized, Message, Verdict, message};
use dyno_words::InLanguage;

/// Why the results of a level describe nothing, whatever is done with them; empty if they do.
pub(crate) fn not_measured(level: &LevelSummary) -> Vec<Message> {
    let mut reasons = Vec::new();
    let completed = level.requests.completed;
    if level.verdict == Verdict::Invalid {
        let why = level.reasons.first().map(|reason| {
            let both = [Language::English, Language::Chinese];
            Message::new(both.map(|language| reason.in_language(language).what.clone()))
        });
        let why = why.unwrap_or_else(|| message!("no reason given", "未给出原因"));
        reasons.push(message!("invalid: {why}", "无效：{why}"));
    }
    if completed.is_none() {
        reasons.push(message!("its requests were not counted", "没有请求计数"));
    }
    if level.partial || completed == Some(0) {
        reasons.push(message!("it was not measured to its end", "没有测完"));
    }
    reasons
}

/// The reason of a level of which it is not known what was sent.
pub(crate) fn no_load() -> Message {
    message!("request rate and concurrency are not stated", "没有给出请求速率和并发数")
}

/// Reasons one after the other.
pub(crate) fn joined<T: Localized>(reasons: impl IntoIterator<Item = T>) -> Message {
    Message::of(clauses(reasons))
}

/// The label of a level, with the number of its run where there are several.
pub(crate) fn of_run(label: &str, number: Option<usize>, language: Language) -> String {
    match number {
        Some(number) => {
            message!("{label} of run {number}", "{label}（第 {number} 个测试）").text(language)
        }
        None => label.to_owned(),
    }
}

/// The labels of levels.
pub(crate) fn names<T: AsRef<str>>(labels: &[T]) -> Joined<Message> {
    list(labels.iter().map(|label| Message::quoted(label.as_ref())))
}

/// One note for each reason, from labels and reasons. `note` gets the labels of all levels with a reason.
pub(crate) fn notes<'a>(
    levels: impl Iterator<Item = (&'a str, &'a Message)>,
    note: impl Fn(&[&str], &Message) -> Message,
) -> Vec<Message> {
    let mut reasons: Vec<(&Message, Vec<&str>)> = Vec::new();
    for (label, why) in levels {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, labels)) => labels.push(label),
            None => reasons.push((why, vec![label])),
        }
    }
    reasons.into_iter().map(|(why, labels)| note(&labels, why)).collect()
}

/// The note on levels that are left out.
pub(crate) fn left_out(labels: &[&str], why: &Message) -> Message {
    match labels {
        [label] => message!("left out: {label}: {why}", "未使用：{label}：{why}"),
        labels => message!(
            "left out {} levels ({}): {why}",
            "{} 个档位未使用（{}）：{why}",
            labels.len(),
            names(labels)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::summary::RequestCounts;

    #[test]
    fn levels_left_out_for_the_same_reason_share_a_note() {
        let [random, partial] = ["random", "partial"].map(Message::quoted);
        let levels = [("rate 1", &random), ("rate 3", &partial), ("rate 4", &random)];
        assert_eq!(
            notes(levels.into_iter(), left_out).iter().map(Message::to_string).collect::<Vec<_>>(),
            ["left out 2 levels (rate 1, rate 4): random", "left out: rate 3: partial"]
        );
    }

    #[test]
    fn all_reasons_are_given() {
        let requests = RequestCounts { completed: Some(9), ..RequestCounts::default() };
        let fine = LevelSummary { requests, verdict: Verdict::Valid, ..LevelSummary::default() };
        assert_eq!(not_measured(&fine), []);
        let bad = LevelSummary { partial: true, verdict: Verdict::Invalid, ..fine };
        let said = joined(not_measured(&bad)).to_string();
        assert_eq!(said, "invalid: no reason given; it was not measured to its end");
    }
}
