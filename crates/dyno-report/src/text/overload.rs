//! What the report of a level says of an overloaded server: requests that were shed or sent again, and
//! percentiles that count failures.

use super::TextOptions;
use super::level::said;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::metric::Time;
use dyno_model::summary::{Lag, Late, LatePercentiles, LevelSummary, RetryAfter};
use dyno_words::columns::{ABSENT, millis, number, wrap};
use dyno_words::number::percent;

/// As for all percentiles above the median: from fewer samples they are the largest of them.
const FEWEST_FOR_P99: u64 = 20;

/// Which requests were shed, with the server's messages, and what became of those that were sent again.
pub(super) fn lines(level: &LevelSummary, options: &TextOptions) -> Vec<String> {
    let wrapped = |text: String| wrap("  ", &text, options.prose());
    let Some(overload) = &level.overload else { return Vec::new() };
    let of_failures = |class: &&String| level.requests.failures.contains_key(*class);
    // The messages of a class that failed as well stand with the failures.
    let classes = overload.shed.keys().filter(|class| !of_failures(class));
    let mut lines: Vec<String> = shed(level, options.language).map(wrapped).into_iter().collect();
    lines.extend(classes.flat_map(|class| said(level, class, options)));
    lines.extend(sent_again(level, options.language).into_iter().map(wrapped));
    lines
}

/// The same without messages, as one text.
pub(crate) fn refused(level: &LevelSummary, language: Language) -> Option<String> {
    let texts: Vec<String> =
        shed(level, language).into_iter().chain(sent_again(level, language)).collect();
    (!texts.is_empty()).then(|| texts.join(language.semicolon()))
}

/// How many requests were shed, how, and when the server asked to be tried again.
fn shed(level: &LevelSummary, language: Language) -> Option<String> {
    let overload = level.overload.as_ref()?;
    let share = level.requests.shed_share()?;
    let classes = overload.shed.iter().map(|(class, count)| format!("{count} \u{d7} {class}"));
    let asked = overload.retry_after_s.map(|asked| asked_for(asked, language));
    let about: Vec<String> = classes.chain(asked).collect();
    Some(Say::Shed.with(language, &[percent(share), about.join(language.comma())]))
}

/// How requests were refused that were sent again, and how long it took them.
fn sent_again(level: &LevelSummary, language: Language) -> Vec<String> {
    let Some(overload) = &level.overload else { return Vec::new() };
    let mut texts = Vec::new();
    if !overload.refused_first.is_empty() {
        let classes =
            overload.refused_first.iter().map(|(class, count)| format!("{count} \u{d7} {class}"));
        // Where some were shed as well, it is above.
        let asked = overload.retry_after_s.filter(|_| overload.shed.is_empty());
        let asked = asked.map(|asked| asked_for(asked, language));
        let about: Vec<String> = classes.chain(asked).collect();
        texts.push(Say::RefusedFirst.with(language, &[about.join(language.comma())]));
    }
    let times = overload.retried.map(|of| (of.first_refusal_ms, of.final_latency_ms));
    if let Some((Some(first), Some(last))) = times {
        let few = first.count.min(last.count) < FEWEST_FOR_P99;
        let both = |lag: Lag| [lag.p50, if few { lag.max } else { lag.p99 }].map(millis);
        let values = [both(first), both(last)].concat();
        let say = if few { Say::RetriedTimesFew } else { Say::RetriedTimes };
        texts.push(say.with(language, &values));
    }
    texts
}

fn asked_for(asked: RetryAfter, language: Language) -> String {
    match asked.min < asked.max {
        true => Say::ShedAskedRange.with(language, &[asked.min, asked.max].map(number)),
        false => format!("Retry-After {} s", number(asked.max)),
    }
}

/// Percentiles in which failed and shed requests count as never answered.
pub(crate) fn with_failures(level: &LevelSummary, language: Language) -> Option<String> {
    let found = level.with_failures.as_ref()?;
    let of = |time: Time| {
        let short = language.choose(time.info().short);
        let name = if short.is_empty() { language.choose(time.info().label) } else { short };
        Some(format!("{name} {}", late(found.get(time)?, language)))
    };
    let times: Vec<String> = [Time::Ttft, Time::Latency].into_iter().filter_map(of).collect();
    let counts = [found.infinite, found.requests].map(|n| n.to_string());
    let [infinite, all] = counts;
    let listed = times.join(language.semicolon());
    let counts = &level.requests;
    let say = match (counts.failed_or_unconfirmed(), counts.shed) {
        (_, None | Some(0)) => Say::WithFailures,
        (Some(0), _) => Say::WithShed,
        _ => Say::WithFailedAndShed,
    };
    (!times.is_empty()).then(|| say.with(language, &[infinite, all, listed]))
}

/// `p50 12 ms, p90 ∞`.
fn late(percentiles: &LatePercentiles, language: Language) -> String {
    let each = LatePercentiles::NAMES.map(|name| {
        let value = match percentiles.get(name) {
            Late::By(ms) => format!("{} ms", millis(ms)),
            Late::Infinitely => "∞".to_owned(),
            Late::Unknown => ABSENT.to_owned(),
        };
        format!("{name} {value}")
    });
    each.join(language.comma())
}
