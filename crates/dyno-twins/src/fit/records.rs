//! What is reported of a twin that was fitted to records.

use super::unknown;
use super::words::{self, Say};
use crate::levels::{head, heads, pair, percent, shown};
use crate::shown::compare::number;
use crate::shown::list::table;
use dyno_engine::core::Policy;
use dyno_engine::twin::Twin;
use dyno_fit::{Calibrated, Figures, LeftOut, Missed, TrialKind};
use dyno_model::message::list;
use dyno_model::{Language, Message, message};
use dyno_words::columns::left;
use std::fmt::Write as _;

/// A mean error above this many percent on what was left out means that the twin should not be used.
const LARGEST_ERROR: f64 = 30.0;
/// Columns of the names of coefficients.
const NAMES: usize = 22;

/// How close the twin is, how well it predicts what it was not fitted to, and what remains unknown.
pub(super) fn report(found: &Calibrated, twin: &Twin, language: Language) -> String {
    let say = |say: Say| say.text(language);
    let mut text = levels(found, language);
    let _ = writeln!(text, "{}", say(Say::MeasuredToSimulated));
    if !found.left_out.levels.is_empty() {
        let _ =
            write!(text, "\n{}\n{}", say(Say::EachLevel), missed(&found.left_out.levels, language));
    }
    if !found.left_out.kinds.is_empty() {
        let _ = write!(text, "\n{}\n{}", say(Say::EachKind), kinds(&found.left_out, language));
    }
    let _ = write!(text, "\n{}", settings(twin, language));
    let _ = write!(text, "\n{}", coefficients(found, language));
    if !found.unknown.is_empty() {
        let _ = writeln!(text, "\n{}", say(Say::Unidentified));
        for unknown in &found.unknown {
            let _ = writeln!(text, "  {}", unknown::text(unknown, language));
        }
    }
    text
}

/// Each level, measured → simulated.
fn levels(found: &Calibrated, language: Language) -> String {
    let row = |(trial, simulated): &(dyno_fit::Trial, Option<Figures>)| {
        let measured = Figures::of(trial)?;
        let cell = |quantity| {
            let simulated = simulated.as_ref().map(|figures| figures.get(quantity));
            pair(measured.get(quantity), simulated)
        };
        Some(std::iter::once(trial.label.clone()).chain(shown().map(cell)).collect())
    };
    let rows: Vec<Vec<String>> = found.levels.iter().filter_map(row).collect();
    table(&heads(language), &rows)
}

/// Each level that was left out with its errors, and the means of their sizes.
fn missed(all: &[Missed], language: Language) -> String {
    let row = |missed: &Missed| -> Vec<String> {
        let cell = |quantity| missed.by.get(&quantity).map_or("–".to_owned(), |by| percent(*by));
        std::iter::once(missed.label.clone()).chain(shown().map(cell)).collect()
    };
    let mut rows: Vec<Vec<String>> = all.iter().map(row).collect();
    rows.push(mean(Say::MeanSize.text(language), all));
    table(&heads(language), &rows)
}

/// The mean sizes of errors, as a row.
fn mean(name: &str, all: &[Missed]) -> Vec<String> {
    let cell = |quantity| {
        let sizes = all.iter().filter_map(|missed| Some(missed.by.get(&quantity)?.exp_m1().abs()));
        let (sum, count) = sizes.fold((0.0, 0.0), |(sum, count), size| (sum + size, count + 1.0));
        if count > 0.0 { format!("{:.1} %", 100.0 * sum / count) } else { "–".to_owned() }
    };
    std::iter::once(name.to_owned()).chain(shown().map(cell)).collect()
}

/// Each kind of load, predicted from the others.
fn kinds(left_out: &LeftOut, language: Language) -> String {
    let mut all: Vec<TrialKind> = left_out.kinds.iter().map(|missed| missed.kind).collect();
    all.sort_unstable();
    all.dedup();
    let row = |kind: &TrialKind| {
        let others = all.iter().filter(|other| *other != kind);
        let others: Vec<&str> = others.map(|other| words::kind(*other, language)).collect();
        let others = others.join(language.choose([" and ", "和"]));
        let name = Say::KindFrom.with(language, &[words::kind(*kind, language), &others]);
        let of: Vec<Missed> =
            left_out.kinds.iter().filter(|missed| missed.kind == *kind).cloned().collect();
        mean(&name, &of)
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    table(&heads(language), &rows)
}

/// The settings of the engine that was found.
fn settings(twin: &Twin, language: Language) -> String {
    let scheduler = &twin.scheduler;
    let policy = match scheduler.policy {
        Policy::Chunked => "chunked",
        Policy::PrefillFirst => "prefill_first",
    };
    let values = [
        ("policy", policy.to_owned()),
        ("steps_ahead", scheduler.steps_ahead.to_string()),
        ("max_seqs", scheduler.max_seqs.to_string()),
        ("token_budget", scheduler.token_budget.to_string()),
        ("block", scheduler.block.to_string()),
        ("kv_blocks", scheduler.kv_blocks.to_string()),
        ("prefix_cache", scheduler.prefix_cache.to_string()),
    ];
    let lines = values.map(|(name, value)| format!("  {} {value}\n", left(name, NAMES)));
    format!("{}\n{}", Say::Settings.text(language), lines.concat())
}

/// The coefficients with their intervals.
fn coefficients(found: &Calibrated, language: Language) -> String {
    let mut text = format!("{}\n", Say::Coefficients.text(language));
    for (name, value) in found.coefficients() {
        let range = found.intervals.get(name).map(|interval| {
            let ends = interval.map(number);
            format!("  ({})", Say::To.with(language, &ends))
        });
        let range = range.unwrap_or_default();
        let _ = writeln!(text, "  {} {:>8}{range}", left(name, NAMES), number(value));
    }
    text
}

/// The warning for a twin that does not predict what it was not fitted to.
pub(super) fn warning(found: &Calibrated) -> Option<Message> {
    poor(&found.left_out)
}

fn poor(left_out: &LeftOut) -> Option<Message> {
    let large = shown().filter_map(|quantity| {
        let percent = 100.0 * left_out.error(quantity)?;
        let both = [Language::English, Language::Chinese];
        let said = both.map(|language| format!("{} {percent:.0} %", head(quantity, language)));
        (percent > LARGEST_ERROR).then(|| Message::new(said))
    });
    let large: Vec<Message> = large.collect();
    (!large.is_empty()).then(|| {
        message!(
            "POOR FIT: the error on levels that were left out is over {LARGEST_ERROR:.0} % ({}). Do not rely \
             on this twin for other loads; measure more levels, of more kinds of load, and fit again",
            "拟合很差：在留出档位上的误差超过 {LARGEST_ERROR:.0} %（{}）。对其他负载不要依赖该孪生模型；\
             请测试更多种类的更多档位后重新拟合",
            list(large)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_fit::Quantity;

    fn of(label: &str, kind: TrialKind, rate: f64, ttft: f64) -> Missed {
        let by = [(Quantity::Rate, rate.ln()), (Quantity::TtftP50, ttft.ln())].into();
        Missed { label: label.to_owned(), kind, by }
    }

    #[test]
    fn errors_are_told_by_level_and_by_kind() {
        let closed = of("concurrency 4", TrialKind::Closed, 1.02, 0.9);
        let open = of("rate 3", TrialKind::Open, 0.96, 1.5);
        let all = [closed, open];
        let text = missed(&all, Language::English);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("concurrency 4 +2.0 % -10.0 % –"), "{text}");
        // The mean of 2 and 4, and of 10 and 50 percent.
        assert!(text.contains("mean absolute error 3.0 % 30.0 % –"), "{text}");
        let mut left_out = LeftOut::default();
        left_out.kinds.extend(all);
        let text = kinds(&left_out, Language::English);
        let row = text.lines().find(|line| line.starts_with("open loops")).unwrap();
        assert!(row.starts_with("open loops predicted from closed loops"), "{row}");
        assert!(row.contains("4.0 %") && row.contains("50.0 %"), "{row}");
        assert!(kinds(&left_out, Language::Chinese).contains("由闭环预测开环"), "{text}");
    }

    #[test]
    fn only_large_errors_are_warned_about() {
        let with = |ttft: f64| {
            let mut left_out = LeftOut::default();
            left_out.levels.push(of("rate 3", TrialKind::Open, 1.0, ttft));
            left_out
        };
        assert_eq!(poor(&with(1.29)), None);
        let text = poor(&with(1.45)).unwrap().to_string();
        assert!(text.contains("TTFT p50 ms 45 %") && !text.contains("req/s"), "{text}");
    }
}
