//! What is reported of a twin that was fitted to a table.

use super::words::Message;
use crate::shown::compare;
use dyno_engine::twin::reference::Figure;
use dyno_fit::Fitted;
use dyno_model::Language;
use dyno_words::columns::left;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A leave-one-out error above this many percent means that the twin interpolates badly.
const LARGEST_ERROR: f64 = 30.0;

/// What was fitted, how close it is, and what the data does not show.
pub(super) fn report(found: &Fitted, language: Language) -> String {
    let twin = &found.twin;
    let say = |message: Message| message.text(language);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}\n{}",
        compare::rows(&found.report, language),
        compare::errors(&found.report, language)
    );
    if !found.leave_one_out.is_empty() {
        let _ = writeln!(text, "{}", say(Message::LeaveOneOut));
        for (figure, percent) in &found.leave_one_out {
            let _ =
                writeln!(text, "  {} {percent:.1} %", left(&compare::short(*figure, language), 22));
        }
    }
    if !twin.intervals.is_empty() {
        let _ = writeln!(text, "\n{}", say(Message::Ranges));
        for (name, interval) in &twin.intervals {
            let range = Message::To.with(language, &interval.map(compare::number));
            let _ = writeln!(text, "  {name:<22} {range}");
        }
    }
    if !twin.unidentified.is_empty() {
        let _ = writeln!(text, "\n{}", say(Message::Unidentified));
        for parameter in &twin.unidentified {
            let _ = writeln!(text, "  {parameter}");
        }
        let _ = writeln!(text, "{}", say(Message::Advice));
    }
    text
}

/// The warning for a twin that does not predict levels it was not fitted to.
pub(super) fn warning(leave_one_out: &BTreeMap<Figure, f64>, language: Language) -> Option<String> {
    let large = leave_one_out.iter().filter(|(_, percent)| **percent > LARGEST_ERROR);
    let large: Vec<String> = large
        .map(|(figure, percent)| format!("{} {percent:.0} %", compare::short(*figure, language)))
        .collect();
    let values = [format!("{LARGEST_ERROR:.0}"), large.join(", ")];
    (!large.is_empty()).then(|| Message::PoorFit.with(language, &values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_leave_one_out_errors_are_warned_about() {
        assert_eq!(warning(&BTreeMap::from([(Figure::TtftMs, 30.0)]), Language::English), None);
        let errors = BTreeMap::from([(Figure::TtftMs, 44.6), (Figure::LatencyS, 12.0)]);
        let text = warning(&errors, Language::English).unwrap();
        assert!(text.contains("TTFT ms 45 %") && !text.contains("latency"), "{text}");
    }
}
