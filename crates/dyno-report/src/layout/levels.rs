//! One row per level: every number of a summary, and an empty cell for an absent one.

use super::column::Column;
use super::remarks::reasons;
use super::table::LayoutTable;
use dyno_model::Language;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{
    Distribution, LevelSummary, RunSummary, ServerTimesSummary, Summary, Trees,
};
use std::io::{self, Write};

/// A level and its run.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelRow<'a> {
    pub(super) run: &'a RunSummary,
    pub(super) level: &'a LevelSummary,
}

/// A column of such rows.
pub(super) type LevelColumn<'a> = Column<LevelRow<'a>>;

/// A count, a number or a time of the trees of a level.
type TreeCount = fn(&Trees) -> u64;
type TreeNumber = fn(&Trees) -> Option<f64>;
type TreeTime = fn(&Trees) -> Option<&Distribution>;

/// One of the server's own times.
type ServerTime = fn(&ServerTimesSummary) -> Option<&Distribution>;

const SERVER_TIMES: [(&str, ServerTime); 6] = [
    ("server_queue", |times| times.queue.as_ref()),
    ("server_prefill", |times| times.prefill.as_ref()),
    ("server_decode", |times| times.decode.as_ref()),
    ("server_load", |times| times.load.as_ref()),
    ("server_total", |times| times.total.as_ref()),
    ("outside_server", |times| times.outside.as_ref()),
];

/// The levels of all runs in one table.
pub(super) fn write<'a>(
    out: &mut dyn Write,
    table: LayoutTable,
    runs: impl Iterator<Item = &'a Summary>,
) -> io::Result<()> {
    let of_run = |summary: &'a Summary| {
        summary.levels.iter().map(|level| LevelRow { run: &summary.run, level })
    };
    table.write(out, &columns(), runs.flat_map(of_run))
}

fn columns<'a>() -> Vec<LevelColumn<'a>> {
    let mut columns: Vec<LevelColumn<'a>> = vec![
        LevelColumn::text("run_id", |row| Some(row.run.id.clone())),
        LevelColumn::text("run_label", |row| row.run.label.clone()),
        LevelColumn::text("model", |row| row.run.model.clone()),
        LevelColumn::truth("simulated", |row| Some(row.run.simulated)),
        LevelColumn::text("level", |row| Some(row.level.label.clone())),
        LevelColumn::whole("level_index", |row| Some(row.level.index)),
        LevelColumn::whole("repeat", |row| row.level.repeat),
        LevelColumn::text("load", |row| Some(row.level.load.kind.to_string())),
        LevelColumn::number("load_value", |row| row.level.load.value),
        LevelColumn::own("verdict", |row| Some(row.level.verdict)),
        LevelColumn::text("reasons", |row| {
            Some(reasons(row.level, Language::English)).filter(|reasons| !reasons.is_empty())
        }),
        LevelColumn::truth("partial", |row| Some(row.level.partial)),
        LevelColumn::whole("planned", |row| row.level.requests.planned),
        LevelColumn::whole("completed", |row| row.level.requests.completed),
        LevelColumn::whole("failed", |row| row.level.requests.failed),
        LevelColumn::whole("dropped", |row| row.level.requests.dropped),
        LevelColumn::whole("censored", |row| row.level.requests.censored),
        LevelColumn::number("duration_s", |row| row.level.duration_s),
        LevelColumn::number("requests_per_s", |row| row.level.throughput.requests_per_s),
        LevelColumn::number("output_tokens_per_s", |row| row.level.throughput.output_tokens_per_s),
        LevelColumn::number("total_tokens_per_s", |row| row.level.throughput.total_tokens_per_s),
        LevelColumn::number("steady_window_s", |row| row.level.steady.map(|s| s.window_s)),
        LevelColumn::number("steady_requests_per_s", |row| {
            row.level.steady.and_then(|s| s.throughput.requests_per_s)
        }),
        LevelColumn::number("steady_output_tokens_per_s", |row| {
            row.level.steady.and_then(|s| s.throughput.output_tokens_per_s)
        }),
        LevelColumn::number("steady_total_tokens_per_s", |row| {
            row.level.steady.and_then(|s| s.throughput.total_tokens_per_s)
        }),
        LevelColumn::number("offered_per_s", |row| row.level.offered_per_s),
        LevelColumn::truth("saturated", |row| row.level.saturated),
        LevelColumn::number("concurrency_mean", |row| row.level.concurrency.map(|c| c.mean)),
        LevelColumn::whole("concurrency_peak", |row| row.level.concurrency.map(|c| c.peak)),
        LevelColumn::whole("input_tokens_total", |row| {
            row.level.input_tokens.and_then(|t| t.total)
        }),
        LevelColumn::number("input_tokens_mean", |row| row.level.input_tokens.map(|t| t.mean)),
        LevelColumn::whole("output_tokens_total", |row| {
            row.level.output_tokens.and_then(|t| t.total)
        }),
        LevelColumn::number("output_tokens_mean", |row| row.level.output_tokens.map(|t| t.mean)),
        LevelColumn::truth("slo_passed", |row| {
            row.level.slo.as_ref().and_then(|s| s.verdict.passed)
        }),
        LevelColumn::number("goodput_per_s", |row| {
            row.level.slo.as_ref().and_then(|s| s.goodput_per_s)
        }),
    ];
    let (later, times): (Vec<Time>, Vec<Time>) = Time::ALL.into_iter().partition(|t| t.is_later());
    times.into_iter().for_each(|time| of_time(&mut columns, time));
    // New columns go after those of version 0.1, whose places must not change.
    columns.push(LevelColumn::own("slo_outcome", |row| {
        row.level.slo.as_ref().map(|s| s.verdict.outcome)
    }));
    columns.extend([
        LevelColumn::number("cached_share", |row| row.level.cache.as_ref()?.share),
        LevelColumn::number("cached_beyond_shared", |row| row.level.cache.as_ref()?.beyond_shared),
        LevelColumn::whole("shed", |row| row.level.requests.shed),
        LevelColumn::whole("server_times_count", |row| {
            row.level.server_times.as_ref().map(|times| times.reported)
        }),
        LevelColumn::number("inputs_per_request", |row| row.level.inputs_per_request),
        LevelColumn::number("inputs_per_s", |row| row.level.throughput.inputs_per_s),
        LevelColumn::number("input_tokens_per_s", |row| row.level.throughput.input_tokens_per_s),
        LevelColumn::number("body_bytes_per_s", |row| row.level.throughput.body_bytes_per_s),
        LevelColumn::number("steady_inputs_per_s", |row| row.level.steady?.throughput.inputs_per_s),
    ]);
    for (name, time) in SERVER_TIMES {
        for statistic in [Statistic::Mean, Statistic::P50, Statistic::P99] {
            let name = format!("{name}_{}_ms", statistic.key());
            columns.push(LevelColumn::number(name, move |row| {
                time(row.level.server_times.as_ref()?)?.get(statistic)
            }));
        }
    }
    later.into_iter().for_each(|time| of_time(&mut columns, time));
    columns.push(LevelColumn::whole("unconfirmed", |row| row.level.requests.unconfirmed));
    columns.push(LevelColumn::own("uncertain", |row| {
        Some(uncertain(row.level).join(" ")).filter(|names| !names.is_empty())
    }));
    columns.push(LevelColumn::whole("overflowed", |row| row.level.requests.overflowed));
    let speeds = [
        Metric::PerUser,
        Metric::PerUserP75,
        Metric::PerUserP90,
        Metric::RequestSpeed,
        Metric::RequestSpeedP90,
        Metric::OverallSpeed,
    ];
    for metric in speeds {
        columns.push(LevelColumn::number(metric.info().id, move |row| metric.value(row.level)));
    }
    of_trees(&mut columns);
    columns
}

/// How the trees of a level ended, how long they took, and what a cache could have held.
fn of_trees(columns: &mut Vec<LevelColumn<'_>>) {
    let counts: [(&str, TreeCount); 10] = [
        ("trees_started", |trees| trees.started),
        ("trees_completed", |trees| trees.completed),
        ("trees_failed", |trees| trees.failed),
        ("trees_overflowed", |trees| trees.overflowed),
        ("trees_cut", |trees| trees.cut),
        ("tree_sessions", |trees| trees.sessions),
        ("tree_subagents", |trees| trees.subagents),
        ("tree_requests_cancelled", |trees| trees.cancelled),
        ("responses_trimmed", |trees| trees.fidelity.trimmed),
        ("histories_cut", |trees| trees.fidelity.cut),
    ];
    for (name, count) in counts {
        columns.push(LevelColumn::whole(name, move |row| row.level.trees.as_ref().map(count)));
    }
    let times: [(&str, TreeTime, f64); 5] = [
        ("tree_duration_s", |trees| trees.duration.as_ref(), 1e3),
        ("tree_active_s", |trees| trees.active.as_ref(), 1e3),
        ("tree_idle_s", |trees| trees.idle.as_ref(), 1e3),
        ("tree_join_wait_s", |trees| trees.join_wait.as_ref(), 1e3),
        ("tree_stretch", |trees| trees.stretch.as_ref(), 1.0),
    ];
    for (name, of, unit) in times {
        for which in [Statistic::Mean, Statistic::P50, Statistic::P90] {
            let value = move |row: &LevelRow<'_>| of(row.level.trees.as_ref()?)?.get(which);
            columns.push(LevelColumn::number(format!("{name}_{}", which.key()), move |row| {
                value(row).map(|value| value / unit)
            }));
        }
    }
    let numbers: [(&str, TreeNumber); 10] = [
        ("trees_live_mean", |trees| Some(trees.live?.mean)),
        ("trees_live_peak", |trees| Some(trees.live?.peak as f64)),
        ("tree_parallel_mean", |trees| Some(trees.parallel?.mean)),
        ("gap_error_p50_ms", |trees| Some(trees.fidelity.gap_error_ms?.p50)),
        ("gap_error_p99_ms", |trees| Some(trees.fidelity.gap_error_ms?.p99)),
        ("gaps_skipped_s", |trees| Some(trees.fidelity.skipped_s)),
        ("idle_skipped_s", |trees| Some(trees.fidelity.idle_skipped_s)),
        ("output_kept", |trees| trees.fidelity.output_kept),
        ("ideal_cache_of_prompts", |trees| Some(trees.ideal_cache?.of_prompts)),
        ("ideal_cache_with_responses", |trees| Some(trees.ideal_cache?.with_responses)),
    ];
    for (name, number) in numbers {
        columns.push(LevelColumn::number(name, move |row| number(row.level.trees.as_ref()?)));
    }
}

/// The columns of a level whose values the client could measure only roughly.
pub(super) fn uncertain(level: &LevelSummary) -> Vec<String> {
    let rates = [Metric::RequestRate, Metric::OutputRate, Metric::TotalRate];
    let rates = rates.into_iter().filter(|rate| level.is_uncertain(*rate, None));
    let steady = if level.steady.is_some() { "steady_" } else { "" };
    let rates = rates.map(|rate| format!("{steady}{}", rate.info().id));
    let of_time = |time: Time| {
        let rough = |which: &Statistic| level.is_uncertain(Metric::Time(time), Some(*which));
        let name = move |which: Statistic| format!("{}_{}_ms", time.info().column, which.key());
        Statistic::ALL.into_iter().filter(rough).map(name).collect::<Vec<String>>()
    };
    rates.chain(Time::ALL.into_iter().flat_map(of_time)).collect()
}

/// Every statistic of a time.
fn of_time<'a>(columns: &mut Vec<LevelColumn<'a>>, time: Time) {
    let of = move |row: &LevelRow<'a>| row.level.times[time].as_ref();
    let name = time.info().column;
    columns.push(LevelColumn::whole(format!("{name}_count"), move |row| of(row)?.count));
    for statistic in Statistic::ALL {
        let name = format!("{name}_{}_ms", statistic.key());
        columns.push(LevelColumn::number(name, move |row| of(row)?.get(statistic)));
    }
}
