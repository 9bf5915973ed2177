//! The plan as text: what will be run, in which order, and when each level stops.

use dyno_model::course::{Over, Search};
use dyno_model::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_model::units::format_duration;
use std::fmt::Write as _;

/// All levels, one per line.
pub(crate) fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    let number = plan.levels.len();
    let search = course_search(plan);
    let first = if search.is_some() { "first " } else { "" };
    let _ = writeln!(text, "{first}{number} level{}:", if number == 1 { "" } else { "s" });
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
        let _ = writeln!(text, "then {more}, chosen from the results so far.");
    }
    let course = &plan.course;
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
    let bound: Option<u64> = plan.levels.iter().map(|level| level.duration_ns).sum();
    match bound.filter(|_| search.is_none()) {
        Some(time) => {
            let _ = writeln!(text, "At most {}, plus drain.", format_duration(time));
        }
        None => {
            let _ =
                writeln!(text, "An estimate of the duration follows after the first responses.");
        }
    }
    text
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
        Search::Capacity { levels, over, .. } => {
            let kind = match over {
                Over::Rate => "rates",
                Over::Concurrency => "concurrencies",
            };
            format!("at most {} more {kind} around the limit", left(*levels))
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
