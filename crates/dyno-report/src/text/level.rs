//! What there is to say about one level, under the table.

use super::TextOptions;
use super::cache::cache;
use super::paint::{heading, verdict};
use super::server::{cost, joined, server};
use super::slices::slices;
use super::turns::turns;
use crate::marks::Marks;
use crate::messages::Say;
use dyno_model::Diagnostic;
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Metric, Time};
use dyno_model::summary::{
    Distribution, Lag, LevelSummary, Ranges, RunSummary, Stamps, Tokens, round6,
};
use dyno_words::columns::{ABSENT, left, maybe, millis, number, right, wrap};
use dyno_words::escape::escape;

const LONGEST_WORDS: usize = 300;
const DIFFERS: f64 = 0.05;

/// A reason or note: what was seen, then what to do.
pub(super) fn reason(mark: &str, reason: &Diagnostic, options: &TextOptions) -> String {
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
    let language = options.language;
    let colon = language.colon();
    let mut out = format!("\n{label}{colon}{}\n", verdict(level.verdict, options));
    let mark = if level.verdict == Verdict::Invalid { "✗" } else { "!" };
    level.reasons.iter().for_each(|r| out.push_str(&reason(mark, r, options)));
    level.notes.iter().for_each(|r| out.push_str(&reason("·", r, options)));
    for line in failures(level, options) {
        out.push_str(&line);
    }
    let texts = [requests(level, language), work(level, language), scheduled(level, language)];
    for text in texts.into_iter().flatten() {
        out.push_str(&wrap("  ", &text, options.width));
    }
    out.push_str(&turns(level, &mut Marks::default(), language));
    out.push_str(&slices(level, &mut Marks::default(), language));
    out.push_str(&intervals(level, language));
    out.push_str(&ranges(level, options));
    let price = run.gpu_cost.as_ref();
    for (name, text) in [
        (Say::Cost, level.cost.and_then(|figures| cost(&figures, price, language))),
        (Say::Cache, level.cache.as_ref().and_then(|figures| cache(figures, language))),
        (Say::Server, level.server.as_ref().and_then(|figures| server(figures, language))),
        (Say::Client, client(level, language)),
        (Say::Stated, stated(level, language)),
    ] {
        if let Some(text) = text {
            let name = format!("  {}{colon}", name.text(language));
            out.push_str(&wrap(&name, &text, options.width));
        }
    }
    out
}

fn failures(level: &LevelSummary, options: &TextOptions) -> Vec<String> {
    let mut lines = Vec::new();
    for (class, count) in &level.requests.failures {
        let failed = Say::Failed.with(options.language, &[&count.to_string(), class]);
        lines.push(format!("  {failed}\n"));
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

/// What another tool stated of it, in its own words and units.
fn stated(level: &LevelSummary, language: Language) -> Option<String> {
    let figures = &level.reported.as_ref().filter(|reported| !reported.figures.is_empty())?.figures;
    let each =
        figures.iter().map(|(name, value)| format!("{} {}", escape(name, 60), round6(*value)));
    Some(each.collect::<Vec<_>>().join(language.semicolon()))
}

/// Arrivals that did not end in an answer or a failure.
fn requests(level: &LevelSummary, language: Language) -> Option<String> {
    let r = &level.requests;
    let ended = r.ended().map(|ended| ended + r.censored.unwrap_or_default());
    let none = [r.dropped, r.censored].iter().all(|n| n.is_none_or(|n| n == 0));
    if none && (ended == r.planned || r.planned.is_none()) {
        return None;
    }
    let counts = [
        (r.planned, Say::CountPlanned),
        (r.completed, Say::CountCompleted),
        (r.failed, Say::CountFailed),
        (r.dropped, Say::CountDropped),
        (r.censored, Say::CountCensored),
    ];
    let all = counts.iter().filter_map(|(n, say)| Some(say.with(language, &[(*n)?.to_string()])));
    Some(all.collect::<Vec<_>>().join(language.comma()))
}

fn work(level: &LevelSummary, language: Language) -> Option<String> {
    let duration = number(level.duration_s?);
    let t = &level.throughput;
    let [requests, output, total] =
        [t.requests_per_s, t.output_tokens_per_s, t.total_tokens_per_s].map(maybe);
    let mean = |tokens: Option<Tokens>| tokens.map(|tokens| number(tokens.mean));
    let texts = [
        Some(Say::WholeRun.with(language, &[requests, output, total, duration])),
        level.steady.map(|steady| Say::SteadyWindow.with(language, &[number(steady.window_s)])),
        level.concurrency.map(|flight| {
            Say::InFlight.with(language, &[number(flight.mean), flight.peak.to_string()])
        }),
        mean(level.output_tokens).map(|output| match mean(level.input_tokens) {
            Some(input) => Say::TokensOutAndIn.with(language, &[output, input]),
            None => Say::TokensOut.with(language, &[output]),
        }),
    ];
    joined(texts, language)
}

/// Times from the schedule, where they tell something else than those from sending.
fn scheduled(level: &LevelSummary, language: Language) -> Option<String> {
    let pairs = [
        (Say::TtftP50P99, &level.times[Time::Ttft], &level.times[Time::TtftScheduled]),
        (Say::LatencyP50P99, &level.times[Time::Latency], &level.times[Time::LatencyScheduled]),
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
    let open = matches!(level.load.kind, LoadKind::Rate | LoadKind::Trace);
    if !open && !pairs.iter().any(|(_, sent, scheduled)| differs(sent, scheduled)) {
        return None;
    }
    let texts: Vec<String> = pairs
        .iter()
        .filter_map(|(say, _, scheduled)| {
            let d = scheduled.as_ref()?;
            let ms = |v: Option<f64>| v.map_or_else(|| ABSENT.to_owned(), millis);
            Some(say.with(language, &[ms(d.p50), ms(d.p99)]))
        })
        .collect();
    let joined = texts.join(language.semicolon());
    (!texts.is_empty()).then(|| Say::FromSchedule.with(language, &[joined]))
}

/// A small table of intervals, without the rows and columns that have none.
fn intervals(level: &LevelSummary, language: Language) -> String {
    let figures = [
        ("TTFT", &level.times[Time::Ttft]),
        ("ITL", &level.times[Time::Itl]),
        ("TPOT", &level.times[Time::Tpot]),
        (Say::Latency.text(language), &level.times[Time::Latency]),
    ];
    let row = |[name, figures @ ..]: [&str; 5]| {
        let figures = figures.map(|figure| right(figure, 15)).join(" ");
        format!("{}\n", format!("    {} {figures}", left(name, 8)).trim_end())
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
    let head = row(["", Say::Mean.text(language), "p50", "p90", "p99"]);
    format!("  {}\n{head}{rows}", Say::Intervals.text(language))
}

/// What the client can be sure of, where that is wider than the digits that are printed.
fn ranges(level: &LevelSummary, options: &TextOptions) -> String {
    let language = options.language;
    let figures = [Time::Ttft, Time::Itl, Time::Tpot, Time::Latency]
        .into_iter()
        .flat_map(|time| Ranges::OF.map(|statistic| (Metric::Time(time), Some(statistic))));
    let rates = [Metric::RequestRate, Metric::OutputRate].map(|metric| (metric, None));
    let wide = rates.into_iter().chain(figures).filter_map(|(metric, statistic)| {
        let show = if metric.is_time() { millis } else { number };
        let [low, high] = level.instrument_range(metric, statistic)?.map(show);
        let which = statistic.map_or(String::new(), |statistic| format!(" {}", statistic.name()));
        let name = language.choose(metric.info().short);
        let unit = metric.unit().name();
        (low != high).then(|| format!("{name}{which} {low}–{high} {unit}"))
    });
    let all: Vec<String> = wide.collect();
    if all.is_empty() {
        return String::new();
    }
    let name = format!("  {}{}", Say::InstrumentRanges.text(language), language.colon());
    wrap(&name, &all.join(language.semicolon()), options.width)
}

fn client(level: &LevelSummary, language: Language) -> Option<String> {
    let c = &level.client;
    let lag = |say: Say, lag: Option<Lag>| {
        lag.map(|lag| say.with(language, &[number(lag.p99), number(lag.max)]))
    };
    let replay = |lag: Lag| Say::ReplayLag.with(language, &[lag.p50, lag.p99, lag.max].map(number));
    let texts = [
        if level.load.kind == LoadKind::Trace {
            c.send_lag_ms.map(replay)
        } else {
            lag(Say::SendLag, c.send_lag_ms)
        },
        lag(Say::Connect, c.connect_ms),
        lag(Say::ReadLag, c.read_lag_ms),
        lag(Say::ReadDelay, c.read_delay_ms),
        lag(Say::TimerLag, c.timer_lag_ms).filter(|_| c.read_lag_ms.is_some()),
        c.blind_s
            .zip(c.longest_stall_ms)
            .filter(|(blind, _)| *blind > 0.0)
            .map(|(blind, longest)| Say::Stalls.with(language, &[number(blind), number(longest)])),
        level
            .instrument
            .and_then(|instrument| instrument.stamps)
            .map(|stamps| match stamps {
                Stamps::Kernel => Say::KernelStamps.text(language).to_owned(),
                Stamps::Client => Say::ClientStamps.text(language).to_owned(),
                Stamps::Mixed => Say::MixedStamps.text(language).to_owned(),
                Stamps::Virtual => String::new(),
            })
            .filter(|text| !text.is_empty()),
        c.cpu_share.map(|share| Say::Cpu.with(language, &[number(share * 100.0)])),
        lag(Say::EngineSlip, level.engine_slip_ms),
    ];
    joined(texts, language)
}
