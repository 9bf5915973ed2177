//! Levels that a fit does not use, and why.

use super::words::Message;
use dyno_fit::{Role, Table};
use dyno_model::Language;

/// Those of a table, with one note for each reason.
pub(super) fn of_table(table: &Table, language: Language) -> Vec<String> {
    let left_out = table.levels.iter().filter_map(|level| match &level.role {
        Role::LeftOut(why) => Some((level.label.as_str(), why.as_str())),
        Role::Fitted | Role::HeldOut => None,
    });
    notes(left_out, language)
}

/// One note for each reason, from labels and reasons.
pub(super) fn notes<'a>(
    left_out: impl Iterator<Item = (&'a str, &'a str)>,
    language: Language,
) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, why) in left_out {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, labels)) => labels.push(label),
            None => reasons.push((why, vec![label])),
        }
    }
    let note = |(why, labels): (&str, Vec<&str>)| match labels.as_slice() {
        [label] => Message::LeftOut.with(language, &[label, why]),
        labels => {
            let names = labels.join(language.choose([", ", "、"]));
            Message::LeftOutSeveral.with(language, &[&labels.len().to_string(), &names, why])
        }
    };
    reasons.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_left_out_for_the_same_reason_share_a_note() {
        let levels = [("rate 1", "random"), ("rate 3", "partial"), ("rate 4", "random")];
        assert_eq!(
            notes(levels.into_iter(), Language::English),
            ["left out 2 levels (rate 1, rate 4): random", "left out: rate 3: partial"]
        );
    }
}
