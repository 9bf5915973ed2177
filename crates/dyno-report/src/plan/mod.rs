//! The plan as text: what will be run, in which order, and when each level stops.

mod time;
mod words;

pub use words::Say;

use dyno_analysis::search::{FEW_TURNOVERS, TURNOVERS, lasting};
use dyno_model::level_schedule::{Over, Range, Search};
use dyno_model::plan::{Api, DataPlan, LevelPlan, Load, Plan, Task, Warmup};
use dyno_model::units::{format_duration, to_s};
use dyno_model::{Language, Nanos};
use dyno_search::sweep;
use dyno_words::escape::escape;
use dyno_words::{columns, level_name};
use std::fmt::Write as _;

/// What the data of a plan are, which only a look into them tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Data {
    /// Conversations, whose users wait for responses before they go on.
    pub conversations: bool,
    /// How many requests a trace has.
    pub requests: Option<u64>,
    /// How long its schedule is.
    pub lasts: Option<Nanos>,
}

/// What a plan does not say of its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Its data.
    pub data: Data,
    /// Nothing is sent, so that no estimate follows.
    pub dry_run: bool,
    /// The levels that a run that is resumed has finished.
    pub finished: Vec<u32>,
    /// Each level runs on a second server, too.
    pub versus: bool,
}

/// All levels, one per line, and how long they take.
pub fn plan(plan: &Plan, around: &Around, language: Language) -> String {
    let (data, dry_run) = (around.data, around.dry_run);
    let mut text = String::new();
    let number = plan.levels.len();
    let search = course_search(plan, language);
    let head = if search.is_some() { Say::FirstLevels } else { Say::Levels };
    let mut lines = vec![head.with(language, &[number.to_string()])];
    let task = plan.request.task;
    let rows: Vec<[String; 4]> =
        plan.levels.iter().map(|level| row(level, data, task, language)).collect();
    let width =
        |column: usize| rows.iter().map(|row| columns::width(&row[column])).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for (number, [label, load, lengths, stop]) in (1..).zip(&rows) {
        let [label, load, lengths] =
            [(label, 0), (load, 1), (lengths, 2)].map(|(cell, at)| columns::left(cell, widths[at]));
        lines.push(format!("{number:4}  {label}  {load}  {lengths}  {stop}"));
    }
    if let Some(more) = &search {
        lines.push(Say::Then.with(language, &[more]));
    }
    let api = &plan.target.api;
    if *api == Api::AUTO {
        lines.push(Say::ApiAsked.text(language).to_owned());
    } else if *api != Api::default() {
        // The path of the target may have decided it.
        lines.push(Say::Api.with(language, &[api.name()]));
    }
    lines.extend(sources(plan, language));
    let course = &plan.course;
    if let Some(most) = plan.levels.iter().find_map(|level| level.max_concurrency) {
        lines.push(Say::MostInFlight.with(language, &[most.to_string()]));
    }
    let mut between = vec![Say::Drained.text(language).to_owned()];
    if course.cooldown_ns > 0 {
        between.push(Say::Pause.with(language, &[format_duration(course.cooldown_ns)]));
    }
    if course.reset_cache {
        between.push(Say::Reset.text(language).to_owned());
    }
    if number > 1 || search.is_some() {
        let between = between.join(language.comma());
        lines.push(Say::Between.with(language, &[between]));
    }
    for condition in &course.stop_on {
        lines.push(Say::StopsAfter.with(language, &[condition.to_string()]));
    }
    let predicted = plan.target.predicted;
    let bound = time::bound(plan, around).filter(|_| search.is_none());
    match (bound, capacity_time(plan, dry_run, language)) {
        (_, Some(time)) => lines.push(time),
        (Some(bound), None) => {
            let say = match (predicted, bound.warm_up_known) {
                (true, _) => Say::AtMostVirtual,
                (false, true) => Say::AtMost,
                (false, false) => Say::AtMostWarm,
            };
            lines.push(say.with(language, &[about(bound.time)]));
        }
        (None, None) if predicted => {}
        (None, None) => lines.push(match time::expected(plan, around) {
            Some(time) => Say::About.with(language, &[about(time)]),
            None => no_estimate(dry_run, language).to_owned(),
        }),
    }
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Where prompts come from and who sends them, as far as that was asked for.
fn sources(plan: &Plan, language: Language) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(spec) = &plan.data.spec {
        lines.push(Say::Data.with(language, &[escape(spec, 300)]));
    }
    if let Some(share) = plan.data.cache_hit {
        let spec = plan.data.spec.as_deref().unwrap_or_default();
        let given = spec.split([',', ':']).find_map(|part| part.trim().strip_prefix("groups="));
        let groups = given.map_or_else(|| DataPlan::CACHE_GROUPS.to_string(), |n| escape(n, 20));
        let share = format!("{:.3}", share * 100.0);
        let share = share.trim_end_matches('0').trim_end_matches('.').to_owned();
        lines.push(Say::CacheHit.with(language, &[share, groups]));
    }
    if let Some(fleet) = &plan.fleet {
        let say = if fleet.bus { Say::BusAgents } else { Say::Agents };
        lines.push(say.with(language, &[fleet.agents.to_string()]));
    }
    lines
}

/// Why there is no estimate yet.
fn no_estimate(dry_run: bool, language: Language) -> &'static str {
    let say = if dry_run { Say::NoEstimate } else { Say::EstimateFollows };
    say.text(language)
}

/// How long a search for a capacity takes, each level and in total.
fn capacity_time(plan: &Plan, dry_run: bool, language: Language) -> Option<String> {
    let Some(Search::Capacity { over, range, levels, least_requests, arrival, quick, .. }) =
        &plan.course.search
    else {
        return None;
    };
    let first = plan.levels.first()?;
    let warm_up = time::warm_up(first).unwrap_or(0);
    let between = first.drain_ns.saturating_add(plan.course.cooldown_ns).saturating_add(warm_up);
    let Some(time) = first.duration_ns else {
        let estimate = no_estimate(dry_run, language);
        let requests = Say::EachRequests.with(language, &[first.requests?.to_string()]);
        return Some(format!("{requests}{}{estimate}", language.choose([" ", ""])));
    };
    let budget = plan.course.search.as_ref().and_then(Search::budget);
    let all = |each: u64| {
        let level = each.saturating_add(between);
        let all = u64::from(*levels).saturating_mul(level);
        // The last level begins within the budget.
        about(budget.map_or(all, |budget| all.min(budget.saturating_add(level))))
    };
    let least = least_requests.to_string();
    let turnovers = if *quick { FEW_TURNOVERS } else { TURNOVERS }.to_string();
    let text = match (over, range) {
        (Over::Concurrency, _) => Say::Each.with(language, &[about(time), all(time)]),
        (Over::Rate, Range::Between([low, _])) => {
            let load = Load::Rate { rate: *low, arrival: *arrival };
            let longest = lasting(time, *least_requests, &load);
            let values = [about(time), about(longest), low.to_string(), least, all(longest)];
            Say::EachUpTo.with(language, &values)
        }
        (Over::Rate, _) => {
            Say::EachOrLonger.with(language, &[about(time), least, turnovers, all(time)])
        }
    };
    Some(match budget {
        Some(budget) => {
            let rough = Say::Rough.with(language, &[about(budget)]);
            format!("{rough}{}{text}", language.choose([" ", ""]))
        }
        None => text,
    })
}

/// Which levels a resumed run still has to run.
pub fn left(plan: &Plan, run: &str, finished: &[u32], language: Language) -> String {
    let is_finished = |index: usize| finished.iter().any(|level| *level as usize == index);
    let levels = plan.levels.iter().enumerate();
    let left = levels.filter(|(index, _)| !is_finished(*index));
    let left: Vec<_> = left.map(|(_, level)| level_name(&level.label, language)).collect();
    let left = left.join(language.comma());
    let more = match plan.course.search {
        Some(_) if left.is_empty() => Say::SearchLeft.text(language).to_owned(),
        Some(_) => Say::ThenSearchLeft.with(language, &[left]),
        None => left,
    };
    let values = [run.to_owned(), finished.len().to_string(), more];
    Say::Resumes.with(language, &values) + "\n"
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
fn course_search(plan: &Plan, language: Language) -> Option<String> {
    let left = |all: u32| (all as usize).saturating_sub(plan.levels.len());
    let say = |what: Say, values: &[String]| what.with(language, values);
    Some(match plan.course.search.as_ref()? {
        Search::Sweep { points, .. } => say(Say::SweepRates, &[left(*points).to_string()]),
        Search::Ladder { most, .. } => say(Say::Doubling, &[most.to_string()]),
        Search::Capacity { levels, over, range, .. } => {
            let more = left(*levels);
            let number = more.to_string();
            match (over, range) {
                (Over::Rate, Range::Between([low, high])) => {
                    say(Say::RatesBetween, &[number, low.to_string(), high.to_string()])
                }
                (Over::Concurrency, Range::Between([low, high])) => {
                    say(Say::ConcurrenciesBetween, &[number, low.to_string(), high.to_string()])
                }
                (Over::Rate, Range::Near(load)) => {
                    say(Say::RatesAround, &[number, load.to_string()])
                }
                (Over::Concurrency, Range::Near(load)) => {
                    say(Say::ConcurrenciesAround, &[number, load.to_string()])
                }
                (Over::Rate, Range::Unknown) => {
                    let most = plan.levels.first().and_then(|level| level.max_concurrency);
                    let full = most.unwrap_or(sweep::IN_FLIGHT);
                    let rates = more.saturating_sub(1);
                    say(Say::FullFirst, &[full.to_string(), rates.to_string()])
                }
                (Over::Concurrency, Range::Unknown) => say(Say::ConcurrenciesHighest, &[number]),
            }
        }
    })
}

fn row(level: &LevelPlan, data: Data, task: Task, language: Language) -> [String; 4] {
    let say = |what: Say, values: &[String]| what.with(language, values);
    let load = match level.load {
        Load::Concurrency { concurrency } => {
            let what = if data.conversations { Say::Users } else { Say::InFlight };
            say(what, &[concurrency.to_string()])
        }
        Load::Rate { rate, arrival } => format!("{rate}/s {arrival}"),
        Load::Ramp { from, to, steps: None, .. } => {
            say(Say::Ramp, &[from.to_string(), to.to_string()])
        }
        Load::Ramp { from, to, steps: Some(steps), .. } => {
            say(Say::RampInSteps, &[from.to_string(), to.to_string(), steps.to_string()])
        }
        Load::Burst { requests } => say(Say::AtOnce, &[requests.to_string()]),
        Load::Trace { speed } => say(Say::TraceTimes, &[speed.to_string()]),
    };
    let input = level.input_tokens.0.clone();
    let lengths = match task.generates() {
        // Its own lengths, whatever the plan says.
        true if data.requests.is_some() => say(Say::OfTrace, &[]),
        true => say(Say::Lengths, &[input, level.output_tokens.0.clone()]),
        false => match level.inputs.or((input != "data").then(|| task.usual_inputs())) {
            Some(inputs) => say(Say::Texts, &[inputs.to_string(), input]),
            None => say(Say::TextsOfData, &[]),
        },
    };
    let warmup = level.warmup.map(|warmup| match warmup {
        Warmup::Requests(number) => say(Say::AfterRequests, &[number.to_string()]),
        Warmup::Duration(time) => say(Say::AfterTime, &[format_duration(time)]),
    });
    let stop = [
        level.requests.or(data.requests).map(|number| say(Say::Requests, &[number.to_string()])),
        level.duration_ns.map(format_duration),
    ];
    let either = language.choose([" or ", "或 "]);
    let stop = stop.into_iter().flatten().collect::<Vec<_>>().join(either);
    let stop = [Some(stop).filter(|stop| !stop.is_empty()), warmup];
    let stop = stop.into_iter().flatten().collect::<Vec<_>>();
    [level_name(&level.label, language).into_owned(), load, lengths, stop.join(language.comma())]
}
