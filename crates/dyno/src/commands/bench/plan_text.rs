//! The plan as text: what will be run, in which order, and when each level stops.

use dyno_analysis::search::lasting;
use dyno_model::course::{Over, Range, Search};
use dyno_model::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_model::units::{format_duration, to_s};
use dyno_model::{Nanos, SEC};
use dyno_run::Past;
use dyno_search::sweep;
use std::fmt::Write as _;

/// All levels, one per line. In a dry run nothing is sent, so that no estimate follows.
pub(crate) fn plan(plan: &Plan, dry_run: bool) -> String {
    let mut text = String::new();
    let number = plan.levels.len();
    let search = course_search(plan);
    let first = if search.is_some() { " first" } else { "" };
    let _ = writeln!(text, "{number} level{}{first}:", if number == 1 { "" } else { "s" });
    let rows: Vec<[String; 4]> = plan.levels.iter().map(row).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for (number, [label, load, lengths, stop]) in rows.iter().enumerate() {
        let _ = writeln!(
            text,
            "{:4}  {label:w0$}  {load:w1$}  {lengths:w2$}  {stop}",
            number + 1,
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
        );
    }
    if let Some(more) = &search {
        let _ = writeln!(text, "Then {more}, chosen from the results so far.");
    }
    let course = &plan.course;
    if let Some(most) = plan.levels.iter().find_map(|level| level.max_concurrency) {
        let _ = writeln!(text, "At most {most} requests in flight.");
    }
    let mut between = vec!["each starts when the previous one has drained".to_owned()];
    if course.cooldown_ns > 0 {
        between.push(format!("then a pause of {}", format_duration(course.cooldown_ns)));
    }
    if course.reset_cache {
        between.push("with a reset of the server's cache".to_owned());
    }
    if number > 1 || search.is_some() {
        let _ = writeln!(text, "Between levels: {}.", between.join(", "));
    }
    for condition in &course.stop_on {
        let _ = writeln!(text, "Stops after a level with {condition}.");
    }
    let estimate = if dry_run { NO_ESTIMATE } else { LATER_ESTIMATE };
    let bound: Option<u64> = plan.levels.iter().map(|level| level.duration_ns).sum();
    match (bound.filter(|_| search.is_none()), capacity_time(plan, estimate)) {
        (_, Some(time)) => {
            let _ = writeln!(text, "{time}");
        }
        (Some(time), None) => {
            let of = if plan.target.predicted { " of virtual time" } else { "" };
            let _ = writeln!(text, "At most {}{of}, plus drain.", about(time));
        }
        (None, None) if plan.target.predicted => {}
        (None, None) => {
            let time = expected(plan).map(|time| format!("About {}, plus drain.", about(time)));
            let _ = writeln!(text, "{}", time.as_deref().unwrap_or(estimate));
        }
    }
    text
}

const LATER_ESTIMATE: &str = "An estimate follows after the first responses.";
const NO_ESTIMATE: &str = "No estimate: the duration depends on the server.";

/// How long all levels will send, where that does not depend on the server.
fn expected(plan: &Plan) -> Option<Nanos> {
    let sending = |level: &LevelPlan| {
        let by_count = match (level.load, level.requests) {
            (Load::Rate { rate, .. }, Some(requests)) => {
                Some((requests as f64 / rate * SEC as f64) as Nanos)
            }
            _ => None,
        };
        let times = level.duration_ns.into_iter().chain(by_count);
        times.min()
    };
    let known: Option<Nanos> = plan.levels.iter().map(sending).sum();
    match plan.course.search {
        None => known,
        Some(Search::Sweep { points, .. }) => {
            // The levels to come are as long as the last of the first ones.
            let more = (points as usize).saturating_sub(plan.levels.len()) as u64;
            let each = plan.levels.last()?.duration_ns?;
            known?.checked_add(more.checked_mul(each)?)
        }
        Some(_) => None,
    }
}

/// How long the levels of a capacity search are, and all of them together at most.
fn capacity_time(plan: &Plan, estimate: &str) -> Option<String> {
    let Some(Search::Capacity { over, range, levels, least_requests, arrival, .. }) =
        &plan.course.search
    else {
        return None;
    };
    let first = plan.levels.first()?;
    let between = first.drain_ns.saturating_add(plan.course.cooldown_ns);
    let Some(time) = first.duration_ns else {
        let requests = first.requests?;
        return Some(format!(
            "Each level: {requests} requests, or 10 per slot if that is more. {estimate}"
        ));
    };
    let all = |each: u64| about(u64::from(*levels).saturating_mul(each + between));
    let text = format!("Each level: {}", about(time));
    Some(match (over, range) {
        (Over::Concurrency, _) => format!("{text}. At most {} in all, with drain.", all(time)),
        (Over::Rate, Range::Between([low, _])) => {
            let load = Load::Rate { rate: *low, arrival: *arrival };
            let longest = lasting(time, *least_requests, &load);
            format!(
                "{text}, up to {} at {low}/s, so that {least_requests} requests arrive. At most {} in \
                 all, with drain.",
                about(longest),
                all(longest)
            )
        }
        (Over::Rate, _) => format!(
            "{text}; longer where fewer than {least_requests} requests would arrive, or where \
             responses take long. About {} including drain; longer if levels have to be extended.",
            all(time)
        ),
    })
}

/// Which levels a resumed run still has to run.
pub(crate) fn left(plan: &Plan, past: &Past) -> String {
    let finished = |index: usize| past.finished.iter().any(|level| level.index as usize == index);
    let levels = plan.levels.iter().enumerate();
    let left: Vec<&str> = levels
        .filter(|(index, _)| !finished(*index))
        .map(|(_, level)| level.label.as_str())
        .collect();
    let more = match plan.course.search {
        Some(_) if left.is_empty() => "the levels that the search still needs".to_owned(),
        Some(_) => format!("{}, then the levels that the search still needs", left.join(", ")),
        None => left.join(", "),
    };
    format!("Resumes {}: {} finished, left: {more}.\n", past.run_id, past.finished.len())
}

/// A time to read: seconds, minutes or hours.
fn about(time: Nanos) -> String {
    match to_s(time) {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// The levels that a search will add.
fn course_search(plan: &Plan) -> Option<String> {
    let left = |all: u32| (all as usize).saturating_sub(plan.levels.len());
    Some(match plan.course.search.as_ref()? {
        Search::Sweep { points, .. } => {
            format!("about {} rates between them and slightly above", left(*points))
        }
        Search::Ladder { most, .. } => {
            format!("doubling the requests in flight up to {most}, then levels around the knee")
        }
        Search::Capacity { levels, over, range, .. } => {
            let (kind, unit) = match over {
                Over::Rate => ("rates", " req/s"),
                Over::Concurrency => ("concurrencies", " in flight"),
            };
            let place = match (range, over) {
                (Range::Between([low, high]), _) => format!("between {low} and {high}{unit}"),
                (Range::Near(load), _) => format!("around {load}{unit}"),
                (Range::Unknown, Over::Rate) => {
                    let most = plan.levels.first().and_then(|level| level.max_concurrency);
                    let full = most.unwrap_or(sweep::IN_FLIGHT);
                    let left = left(*levels).saturating_sub(1);
                    return Some(format!(
                        "{full} in flight to find its maximum throughput, and at most {left} rates \
                         around the highest that meets the SLO"
                    ));
                }
                (Range::Unknown, Over::Concurrency) => {
                    "around the highest that meets the SLO".into()
                }
            };
            format!("at most {} more {kind} {place}", left(*levels))
        }
    })
}

fn row(level: &LevelPlan) -> [String; 4] {
    let load = match level.load {
        Load::Concurrency { concurrency } => format!("{concurrency} in flight"),
        Load::Rate { rate, arrival } => format!("{rate}/s {arrival}"),
        Load::Ramp { from, to, steps: None, .. } => format!("{from} to {to}/s"),
        Load::Ramp { from, to, steps: Some(steps), .. } => {
            format!("{from} to {to}/s in {steps} steps")
        }
        Load::Burst { requests } => format!("{requests} at once"),
        Load::Trace { speed } => format!("trace times ×{speed}"),
    };
    let lengths = format!("{} in, {} out", level.input_tokens.0, level.output_tokens.0);
    let warmup = level.warmup.map(|warmup| match warmup {
        Warmup::Requests(number) => format!("after {number} warm-up requests"),
        Warmup::Duration(time) => format!("after {} of warm-up", format_duration(time)),
    });
    let stop = [
        level.requests.map(|number| format!("{number} requests")),
        level.duration_ns.map(format_duration),
    ];
    let stop = stop.into_iter().flatten().collect::<Vec<_>>().join(" or ");
    let stop = [Some(stop).filter(|stop| !stop.is_empty()), warmup];
    [level.label.clone(), load, lengths, stop.into_iter().flatten().collect::<Vec<_>>().join(", ")]
}
