//! What there is to say about one level, under the table.

use super::TextOptions;
use super::layout::{ABSENT, maybe, millis, number, wrap};
use super::paint::{heading, verdict};
use super::server::{cost, server};
use super::slices::slices;
use super::table::Marks;
use super::turns::turns;
use crate::escape::escape;
use crate::findings::Reason;
use crate::summary::{Distribution, Lag, LevelSummary, RunSummary};
use crate::verdict::Verdict;

const LONGEST_WORDS: usize = 300;
const DIFFERS: f64 = 0.05;
const TRACE: &str = "trace";

/// A reason or note: what was seen, then what to do.
pub(super) fn reason(mark: &str, reason: &Reason, options: &TextOptions) -> String {
    let what = escape(&reason.what, LONGEST_WORDS);
    let mut out = wrap(&format!("  {mark} "), &what, options.width);
    if let Some(advice) = &reason.advice {
        out.push_str(&wrap("      → ", &escape(advice, LONGEST_WORDS), options.width));
    }
    out
}

/// The block of one level.
pub(super) fn level(level: &LevelSummary, run: &RunSummary, options: &TextOptions) -> String {
    let label = heading(&escape(&level.label, 40), options);
    let mut out = format!("\n{label}: {}\n", verdict(level.verdict, options));
    let mark = if level.verdict == Verdict::Invalid { "✗" } else { "!" };
    level.reasons.iter().for_each(|r| out.push_str(&reason(mark, r, options)));
    level.notes.iter().for_each(|r| out.push_str(&reason("·", r, options)));
    for line in failures(level, options) {
        out.push_str(&line);
    }
    for text in [requests(level), work(level), scheduled(level)].into_iter().flatten() {
        out.push_str(&wrap("  ", &text, options.width));
    }
    out.push_str(&turns(level, &mut Marks::default()));
    out.push_str(&slices(level, &mut Marks::default()));
    out.push_str(&intervals(level));
    for (name, text) in [
        ("  cost: ", level.cost.and_then(|figures| cost(&figures, run.gpu_cost.as_ref()))),
        ("  server: ", level.server.as_ref().and_then(server)),
        ("  client: ", client(level)),
    ] {
        if let Some(text) = text {
            out.push_str(&wrap(name, &text, options.width));
        }
    }
    out
}

fn failures(level: &LevelSummary, options: &TextOptions) -> Vec<String> {
    let mut lines = Vec::new();
    for (class, count) in &level.requests.failures {
        lines.push(format!("  failed {count} × {class}\n"));
        for words in level.failure_samples.get(class).into_iter().flatten() {
            lines.push(wrap(
                "      “",
                &format!("{}”", escape(words, LONGEST_WORDS)),
                options.width,
            ));
        }
    }
    lines
}

/// Arrivals that did not end in an answer or a failure.
fn requests(level: &LevelSummary) -> Option<String> {
    let r = &level.requests;
    let others = [(r.dropped, "dropped"), (r.censored, "censored")];
    let ended = r.ended().map(|ended| ended + r.censored.unwrap_or_default());
    let none = others.iter().all(|(n, _)| n.is_none_or(|n| n == 0));
    if none && (ended == r.planned || r.planned.is_none()) {
        return None;
    }
    let counts = [(r.planned, "planned"), (r.completed, "completed"), (r.failed, "failed")];
    let all =
        counts.iter().chain(&others).filter_map(|(n, name)| Some(format!("{} {name}", (*n)?)));
    Some(all.collect::<Vec<_>>().join(", "))
}

fn work(level: &LevelSummary) -> Option<String> {
    let duration = level.duration_s?;
    let t = &level.throughput;
    let mut text = format!(
        "whole run: {} req/s, {} out tok/s, {} total tok/s over {} s",
        maybe(t.requests_per_s),
        maybe(t.output_tokens_per_s),
        maybe(t.total_tokens_per_s),
        number(duration)
    );
    if let Some(steady) = &level.steady {
        text.push_str(&format!("; steady window {} s", number(steady.window_s)));
    }
    if let Some(flight) = &level.concurrency {
        text.push_str(&format!("; in flight {} mean, {} peak", number(flight.mean), flight.peak));
    }
    if let Some(tokens) = &level.output_tokens {
        text.push_str(&format!("; {} tokens out", number(tokens.mean)));
        if let Some(input) = &level.input_tokens {
            text.push_str(&format!(" and {} in", number(input.mean)));
        }
        text.push_str(" a request");
    }
    Some(text)
}

/// Times from the schedule, where they tell something else than those from sending.
fn scheduled(level: &LevelSummary) -> Option<String> {
    let pairs = [
        ("TTFT", &level.ttft_ms, &level.ttft_scheduled_ms),
        ("latency", &level.latency_ms, &level.latency_scheduled_ms),
    ];
    let differs = |sent: &Option<Distribution>, scheduled: &Option<Distribution>| {
        let figures = |d: &Distribution| [d.mean, d.p50, d.p99];
        match (sent, scheduled) {
            (Some(a), Some(b)) => figures(a).iter().zip(figures(b)).any(
                |(a, b)| matches!((a, b), (Some(a), Some(b)) if (b - a).abs() > DIFFERS * a.abs()),
            ),
            _ => false,
        }
    };
    let open = matches!(level.load.kind.as_str(), "rate" | TRACE);
    if !open && !pairs.iter().any(|(_, sent, scheduled)| differs(sent, scheduled)) {
        return None;
    }
    let texts: Vec<String> = pairs
        .iter()
        .filter_map(|(name, _, scheduled)| {
            let d = scheduled.as_ref()?;
            let ms = |v: Option<f64>| v.map_or_else(|| ABSENT.to_owned(), millis);
            Some(format!("{name} {} p50, {} p99", ms(d.p50), ms(d.p99)))
        })
        .collect();
    (!texts.is_empty()).then(|| format!("from the schedule, ms: {}", texts.join("; ")))
}

/// A small table of intervals, without the rows and columns that have none.
fn intervals(level: &LevelSummary) -> String {
    let figures = [
        ("TTFT", &level.ttft_ms),
        ("ITL", &level.itl_ms),
        ("TPOT", &level.tpot_ms),
        ("latency", &level.latency_ms),
    ];
    let row = |cells: [&str; 5]| {
        let line = format!(
            "    {:<8} {:>15} {:>15} {:>15} {:>15}",
            cells[0], cells[1], cells[2], cells[3], cells[4]
        );
        format!("{}\n", line.trim_end())
    };
    let rows: String = figures
        .iter()
        .filter_map(|(name, figure)| {
            let ci = figure.as_ref()?.ci95;
            ci.mean?;
            let [mean, p50, p90, p99] = [ci.mean, ci.p50, ci.p90, ci.p99].map(|interval| {
                interval.map_or_else(
                    || ABSENT.to_owned(),
                    |[low, high]| format!("{}–{}", millis(low), millis(high)),
                )
            });
            Some(row([name, &mean, &p50, &p90, &p99]))
        })
        .collect();
    if rows.is_empty() {
        return rows;
    }
    format!("  95 % intervals, ms\n{}{rows}", row(["", "mean", "p50", "p90", "p99"]))
}

fn client(level: &LevelSummary) -> Option<String> {
    let c = &level.client;
    let lag = |name: &str, lag: Option<Lag>| {
        lag.map(|lag| format!("{name} p99 {}, max {} ms", number(lag.p99), number(lag.max)))
    };
    let replay = |lag: Lag| {
        let [p50, p99, max] = [lag.p50, lag.p99, lag.max].map(number);
        format!("replay lag p50 {p50}, p99 {p99}, max {max} ms")
    };
    let texts: Vec<String> = [
        if level.load.kind == TRACE {
            c.send_lag_ms.map(replay)
        } else {
            lag("send lag", c.send_lag_ms)
        },
        lag("connect", c.connect_ms),
        lag("read lag", c.read_lag_ms),
        lag("timer lag", c.timer_lag_ms),
        c.cpu_share.map(|share| format!("CPU {} %", number(share * 100.0))),
        lag("engine slip", level.engine_slip_ms),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}
