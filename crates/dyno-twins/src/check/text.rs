//! A check as text.

use super::words::Say;
use crate::levels::{head, heads, pair, shown};
use crate::shown::list::table;
use dyno_engine::twin::Twin;
use dyno_fit::{CheckedLevel, ExplainedPart, Explanation, FitCheck, Shift};
use dyno_model::Language;
use dyno_words::columns::wrap;
use std::fmt::Write as _;

/// Columns of text.
const WIDTH: usize = 100;

pub(super) fn text(found: &FitCheck, twin: &Twin, language: Language) -> String {
    if found.levels.is_empty() {
        return Say::Nothing.with(language, &[&twin.name]) + "\n";
    }
    let rows: Vec<Vec<String>> = found.levels.iter().map(row).collect();
    let mut text = table(&heads(language), &rows);
    let _ = write!(text, "{}\n\n{}", Say::Legend.text(language), outcome(found, twin, language));
    text
}

/// A level: measured → twin, marked where they differ.
fn row(level: &CheckedLevel) -> Vec<String> {
    let cell = |quantity| match level.figures.get(&quantity) {
        Some((measured, simulated)) => {
            let mark = if level.differs.contains(&quantity) { " !" } else { "" };
            format!("{}{mark}", pair(*measured, *simulated))
        }
        None => "–".to_owned(),
    };
    std::iter::once(level.label.clone()).chain(shown().map(cell)).collect()
}

/// Whether it is the same, and if not, what would explain it.
fn outcome(found: &FitCheck, twin: &Twin, language: Language) -> String {
    let all = found.levels.len().to_string();
    if found.same() {
        return Say::Same.with(language, &[&all, &twin.name]) + "\n";
    }
    let differ = found.levels.iter().filter(|level| !level.differs.is_empty());
    let labels: Vec<&str> = differ.map(|level| level.label.as_str()).collect();
    let (count, names) = (labels.len().to_string(), labels.join(language.choose([", ", "、"])));
    let differs = match labels.is_empty() {
        false => Say::Differs.with(language, &[&twin.name, &count, &all, &names]),
        true => Say::DiffersTogether.with(language, &[&twin.name]),
    };
    let mut text = wrap("", &differs, WIDTH);
    if !found.shifts.is_empty() {
        let shift = |one: &Shift| {
            format!("{} {:+.1} %", head(one.quantity, language), 100.0 * one.by.exp_m1())
        };
        let shifts: Vec<String> = found.shifts.iter().map(shift).collect();
        let shifts = shifts.join(language.choose([", ", "、"]));
        text.push_str(&wrap("", &Say::Together.with(language, &[shifts]), WIDTH));
    }
    if found.explanations.is_empty() {
        let _ = writeln!(text, "{}", Say::Unexplained.text(language));
        return text;
    }
    let _ = writeln!(text, "{}", Say::Explained.text(language));
    for one in &found.explanations {
        let share = format!("{:.0}", 100.0 * one.removes);
        let values = [explanation(one, twin, language), share];
        text.push_str(&wrap("  · ", &Say::Explains.with(language, &values), WIDTH));
    }
    text
}

fn explanation(one: &Explanation, twin: &Twin, language: Language) -> String {
    let say = match one.part {
        ExplainedPart::Accelerator => Say::Accelerator,
        ExplainedPart::Prefill => Say::Prefill,
        ExplainedPart::Decode => Say::Decode,
        ExplainedPart::Launch => Say::Launch,
        ExplainedPart::FrontEnd => Say::FrontEnd,
        ExplainedPart::MaxSeqs => {
            let values = [format!("{:.0}", one.value), twin.scheduler.max_seqs.to_string()];
            let more = one.value > f64::from(twin.scheduler.max_seqs);
            let say = if more { Say::MoreSeqs } else { Say::MaxSeqs };
            return say.with(language, &values);
        }
    };
    say.with(language, &[format!("{:.2}", one.value)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_fit::Quantity;

    fn level(label: &str, differs: Vec<Quantity>) -> CheckedLevel {
        let figures = [(Quantity::Rate, (4.0, Some(5.0))), (Quantity::TtftP50, (90.0, None))];
        CheckedLevel { label: label.to_owned(), figures: figures.into(), differs }
    }

    fn said(check: &FitCheck, language: Language) -> String {
        text(check, &Twin::load(Twin::default_name()).unwrap(), language)
    }

    #[test]
    fn what_differs_is_marked_and_explained_in_plain_words() {
        let levels = vec![level("rate 4", vec![Quantity::Rate]), level("rate 9", vec![])];
        let of = |part, value| Explanation { part, value, removes: 0.92 };
        let explanations =
            vec![of(ExplainedPart::Accelerator, 1.45), of(ExplainedPart::MaxSeqs, 16.0)];
        let check = FitCheck { levels, shifts: Vec::new(), explanations };
        let text = said(&check, Language::English);
        assert!(text.contains("rate 4  4.00 → 5.00 !"), "{text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "1 of 2 levels (rate 4)",
            "the accelerator takes 1.45 times as long",
            "at most 16 sequences run at once, instead of 48",
            "(removes 92 % of the difference)",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(said(&check, Language::Chinese).contains("加速器的全部计算耗时变为 1.45 倍"));
        let more =
            FitCheck { explanations: vec![of(ExplainedPart::MaxSeqs, 96.0)], ..check.clone() };
        let text = said(&more, Language::English).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("at least 96 sequences run at once, instead of at most 48"),
            "{text}"
        );
        let unexplained = FitCheck { explanations: Vec::new(), ..check };
        assert!(said(&unexplained, Language::English).contains("no single change explains it"));
    }

    #[test]
    fn the_same_and_nothing_at_all_are_not_the_same() {
        let of = |levels, shifts| FitCheck { levels, shifts, explanations: Vec::new() };
        let same = of(vec![level("rate 4", vec![])], Vec::new());
        let text = said(&same, Language::English);
        assert!(text.contains("still the same: 1 level agrees with generic-7b-24gb"), "{text}");
        let none = of(Vec::new(), Vec::new());
        assert!(said(&none, Language::English).contains("no level could be compared"));
        let shift = Shift { quantity: Quantity::LatencyP50, by: 1.08_f64.ln() };
        let slower = of(vec![level("rate 4", vec![])], vec![shift]);
        let text = said(&slower, Language::English);
        assert!(text.contains("DIFFERS from generic-7b-24gb in all levels together"), "{text}");
        assert!(text.contains("measured over twin: latency p50 ms +8.0 %"), "{text}");
        assert!(said(&slower, Language::Chinese).contains("+8.0 %"));
    }
}
