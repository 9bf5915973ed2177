//! Which diagnostics of several levels are one: the same rule, as grave, with the same advice, also where the
//! advice differs in its numbers, because each level would need another duration; and how much each
//! weighs.

use dyno_model::{Diagnostic, Severity, Verdict};
use dyno_words::severity;

/// The verdict that a reason leads to; an unknown reason makes a level suspect.
pub(crate) fn weight(reason: &Diagnostic) -> Verdict {
    severity(reason).map_or(Verdict::Suspect, Severity::verdict).max(Verdict::Suspect)
}

/// Whether a reason makes a level of this verdict invalid. The same code may be graver in another
/// level, and a reason that was read from a file has only its code.
pub(crate) fn invalidates(reason: &Diagnostic, verdict: Verdict) -> bool {
    weight(reason).min(verdict) == Verdict::Invalid
}

/// Whether two diagnostics are printed as one: what is graver, or says something else under the same
/// code, stands apart.
pub(crate) fn alike(a: &Diagnostic, b: &Diagnostic) -> bool {
    let same_advice =
        || a.what == b.what && parts(a).map(|(text, _)| text) == parts(b).map(|(text, _)| text);
    let same_rule = a.code == b.code && a.key == b.key && severity(a) == severity(b);
    same_rule && (a.advice == b.advice || same_advice())
}

/// The advice of diagnostics that are [`alike`]: the one with the largest numbers, which is enough for
/// all of them.
pub(crate) fn advice<'a>(all: impl IntoIterator<Item = &'a Diagnostic>) -> Option<&'a str> {
    let numbers = |said: &&Diagnostic| parts(said).map(|(_, numbers)| numbers);
    let most = all.into_iter().reduce(|most, said| {
        let larger = numbers(&said).partial_cmp(&numbers(&most)).is_some_and(|order| order.is_gt());
        if larger { said } else { most }
    });
    most.and_then(|said| said.advice.as_deref())
}

/// Rules whose findings are worse the smaller the first number is.
const LESS_IS_WORSE: [&str; 2] = ["effective_concurrency", "behind_offered"];

/// Which of several texts of one rule is the worst: that with the widest range, else that with the largest numbers.
pub(crate) fn worst<'a>(code: &str, all: impl Iterator<Item = &'a [&'a str]>) -> usize {
    let sign = if LESS_IS_WORSE.contains(&code) { -1.0 } else { 1.0 };
    let weights = all.map(|texts| {
        let widest = texts.iter().map(|text| widest(text)).fold(0.0, f64::max);
        let numbers = texts.iter().flat_map(|text| numbers(text)).map(|number| sign * number);
        std::iter::once(widest).chain(numbers).collect::<Vec<f64>>()
    });
    let worst = (0..).zip(weights).reduce(|worst, other| {
        let worse = other.1.partial_cmp(&worst.1).is_some_and(|order| order.is_gt());
        if worse { other } else { worst }
    });
    worst.map_or(0, |(at, _)| at)
}

/// The larger end of the widest range, such as `13.1–27.3`, in parts of the smaller; 0 without one.
fn widest(text: &str) -> f64 {
    let ends = text.match_indices('–').filter_map(|(at, dash)| {
        let low = text[..at].rsplit(|c| !is_digit(c)).next()?.parse::<f64>().ok()?;
        let high = text[at + dash.len()..].split(|c| !is_digit(c)).next()?.parse::<f64>().ok()?;
        Some(if low > 0.0 { high / low } else { f64::MAX })
    });
    ends.fold(0.0, f64::max)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// The numbers in a text.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = f64> {
    text.split(|c| !is_digit(c)).filter_map(|number| number.parse().ok())
}

/// The advice without its numbers, and the numbers.
fn parts(said: &Diagnostic) -> Option<(String, Vec<f64>)> {
    let advice = said.advice.as_deref()?;
    let text = advice.split(is_digit).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("#");
    Some((text, numbers(advice).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_words::{Finding, Measuring};

    #[test]
    fn advice_that_differs_in_a_number_is_given_once_for_the_largest() {
        let [short, long] = [8, 40]
            .map(|seconds| Finding::NoIntervalBlocks.with([format!("--duration {seconds}s")]));
        assert!(alike(&short, &long));
        let said = advice([&short, &long, &short]);
        assert_eq!(said, Some("use --duration 40s"));
        let burst = Finding::NoIntervalBurst.into();
        assert!(!alike(&short, &burst), "the same code, but something else is to be done");
        let [fair, poor] = [Measuring::Fair, Measuring::PoorTail].map(|said| said.with(["TTFT"]));
        assert!(!alike(&fair, &poor), "the same code and advice, but something else was seen");
        let files = [3, 7].map(|count| Finding::OutOfFiles.with([count]));
        assert!(alike(&files[0], &files[1]));
        assert_eq!(advice(&files), files[0].advice.as_deref());
    }

    /// A range of 3 % must not hide one of a factor of 2.
    #[test]
    fn the_worst_of_several_texts_is_the_widest_range_or_the_largest_number() {
        let of = |texts: &[&str]| worst("instrument_range", texts.iter().map(std::slice::from_ref));
        let ranges = ["ITL p99 17.1–17.6 ms", "ITL p99 13.1–27.3 ms", "ITL p99 40–41 ms"];
        assert_eq!(of(&ranges), 1);
        assert_eq!(of(&["send delay p99 5.8 ms", "send delay p99 17.8 ms"]), 1);
        assert_eq!(of(&["not streamed"]), 0);
        let kept = ["97.5 % of the 8 requests", "91.0 % of the 64 requests"];
        assert_eq!(worst("effective_concurrency", kept.iter().map(std::slice::from_ref)), 1);
    }

    #[test]
    fn the_code_of_a_reason_decides_its_verdict() {
        let made = Finding::OffSchedule.with([1, 2, 3]);
        let read = Diagnostic::new(made.code.clone(), made.what.clone(), made.advice.clone());
        assert_eq!([&made, &read].map(weight), [Verdict::Invalid; 2]);
        let codes = ["failures", "target_lost", "of a later version"];
        let read = codes.map(|code| Diagnostic::new(code, "words", None::<String>));
        assert_eq!(read.each_ref().map(weight), [Verdict::Suspect; 3]);
        let invalid = Finding::ROWS.iter().filter(|row| row.severity == Severity::Error);
        let mut codes: Vec<&str> = invalid.map(|row| row.code).collect();
        codes.dedup();
        assert_eq!(
            codes,
            [
                "off_schedule",
                "behind_schedule",
                "records_missing",
                "short_of_plan",
                "coordinator_lost",
                "nothing_completed"
            ]
        );
    }

    #[test]
    fn only_what_made_a_level_invalid_is_marked_so() {
        let [grave, light] = [Finding::OffSchedule.with([1, 2, 3]), Finding::Interrupted.into()];
        let marked = |verdict| [&grave, &light].map(|reason| invalidates(reason, verdict));
        assert_eq!(marked(Verdict::Invalid), [true, false]);
        assert_eq!(marked(Verdict::Suspect), [false, false]);
    }
}
