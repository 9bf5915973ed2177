//! What is reported of a twin that was fitted to a table.

use super::words::Say;
use crate::shown::compare;
use dyno_engine::twin::reference::ReferenceValue;
use dyno_fit::Fitted;
use dyno_model::message::{In, list};
use dyno_model::{Language, Message, message};
use dyno_words::columns::left;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A leave-one-out error above this many percent means that the twin interpolates badly.
const LARGEST_ERROR: f64 = 30.0;

/// What was fitted, how close it is, and what the data does not show.
pub(super) fn report(found: &Fitted, language: Language) -> String {
    let twin = &found.twin;
    let say = |say: Say| say.text(language);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}\n{}",
        compare::rows(&found.report, language),
        compare::errors(&found.report, language)
    );
    if !found.leave_one_out.is_empty() {
        let _ = writeln!(text, "{}", say(Say::LeaveOneOut));
        for (figure, percent) in &found.leave_one_out {
            let _ =
                writeln!(text, "  {} {percent:.1} %", left(&compare::short(*figure, language), 22));
        }
    }
    if !twin.intervals.is_empty() {
        let _ = writeln!(text, "\n{}", say(Say::Ranges));
        for (name, interval) in &twin.intervals {
            let range = Say::To.with(language, &interval.map(compare::number));
            let _ = writeln!(text, "  {name:<22} {range}");
        }
    }
    if !found.unidentified.is_empty() {
        let _ = writeln!(text, "\n{}", say(Say::Unidentified));
        for parameter in &found.unidentified {
            let _ = writeln!(text, "  {}", In(parameter, language));
        }
        let _ = writeln!(text, "{}", say(Say::Advice));
    }
    text
}

/// The warning for a twin that does not predict levels it was not fitted to.
pub(super) fn warning(leave_one_out: &BTreeMap<ReferenceValue, f64>) -> Option<Message> {
    let large = leave_one_out.iter().filter(|(_, percent)| **percent > LARGEST_ERROR);
    let said = |(figure, percent): (&ReferenceValue, &f64)| {
        let both = [Language::English, Language::Chinese];
        Message::new(
            both.map(|language| format!("{} {percent:.0} %", compare::short(*figure, language))),
        )
    };
    let large: Vec<Message> = large.map(said).collect();
    (!large.is_empty()).then(|| {
        message!(
            "POOR FIT: the leave-one-out error is over {LARGEST_ERROR:.0} % ({}). Do not rely on this twin \
             between or beyond the measured levels; measure more levels, at more different loads, and fit \
             again",
            "拟合很差：留一法误差超过 {LARGEST_ERROR:.0} %（{}）。在已测档位之间和之外都不要依赖该孪生模型；\
             请在更多不同负载下测试更多档位后重新拟合",
            list(large)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_leave_one_out_errors_are_warned_about() {
        assert_eq!(warning(&BTreeMap::from([(ReferenceValue::TtftMs, 30.0)])), None);
        let errors =
            BTreeMap::from([(ReferenceValue::TtftMs, 44.6), (ReferenceValue::LatencyS, 12.0)]);
        let text = warning(&errors).unwrap().to_string();
        assert!(text.contains("TTFT ms 45 %") && !text.contains("latency"), "{text}");
    }
}
