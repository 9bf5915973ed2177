//! The metrics of one level, above the table.

use super::TextOptions;
use super::agents::agents;
use super::cache::cache;
use super::grid::{Column, small};
use super::overload;
use super::paint::{heading, verdict};
use super::server::{cost, joined, server};
use super::server_times::server_times;
use super::slices::slices;
use super::trees::trees;
use super::turns::turns;
use crate::marks::Marks;
use crate::messages::{Say, TreeText};
use crate::selection::which_name;
use crate::trees::{lines, speed};
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::summary::{
    Distribution, Lag, LevelSummary, Ranges, RunSummary, Stamps, Tokens, round6,
};
use dyno_words::columns::{ABSENT, cut_middle, maybe, millis, number, width, wrap};
use dyno_words::escape::escape;

/// The longest text of a diagnostic or of a server that is shown whole.
pub(super) const LONGEST_TEXT: usize = 300;
const DIFFERS: f64 = 0.05;

/// `name: text`; the text starts on the next line where the name takes too much of the line.
fn named(name: &str, text: &str, options: &TextOptions) -> String {
    let start = format!("  {name}{}", options.language.colon());
    if width(&start) * 5 <= options.prose() * 2 {
        return wrap(&start, text, options.prose());
    }
    format!("{}\n{}", start.trim_end(), wrap("    ", text, options.prose()))
}

/// The metrics of one level. What was found is said at the end, for all levels.
pub(super) fn level(level: &LevelSummary, run: &RunSummary, options: &TextOptions) -> String {
    let language = options.language;
    let colon = language.colon();
    let word = level.verdict.name(language);
    let room = options.prose().saturating_sub(width(colon) + width(word));
    let label = heading(&cut_middle(&escape(&level.label, 40), room), options);
    let mut out = format!("\n{label}{colon}{}\n", verdict(level.verdict, options));
    for line in overload::lines(level, options).into_iter().chain(failures(level, options)) {
        out.push_str(&line);
    }
    let texts = [
        requests(level, language),
        work(level, language),
        scheduled(level, language),
        overload::with_failures(level, language),
        to_headers(level, language),
    ];
    for text in texts.into_iter().flatten() {
        out.push_str(&wrap("  ", &text, options.prose()));
    }
    out.push_str(&turns(level, &mut Marks::default(), options));
    for (name, text) in lines(level, language) {
        out.push_str(&named(name, &text, options));
    }
    let speeds = level.interactivity.filter(|_| options.details && level.trees.is_none());
    if let Some(text) = speeds.and_then(|of| speed(&of, language)) {
        out.push_str(&named(TreeText::Interactivity.text(language), &text, options));
    }
    out.push_str(&trees(level, &mut Marks::default(), options));
    out.push_str(&slices(level, &mut Marks::default(), options));
    out.push_str(&intervals(level, options));
    let price = run.gpu_cost.as_ref();
    let exact = |text: Option<String>| text.filter(|_| options.details);
    for (name, text) in [
        (Say::InstrumentRanges, exact(ranges(level, language))),
        (Say::OutputLengths, lengths(level, language)),
        (Say::Cost, level.cost.and_then(|of| cost(&of, price, language))),
        (Say::Cache, level.cache.as_ref().and_then(|of| cache(of, language))),
        (Say::Server, level.server.as_ref().and_then(|of| server(of, language))),
        (Say::ServerTimes, server_times(level, language)),
        (Say::Client, exact(client(level, language))),
        (Say::Stated, stated(level, language)),
    ] {
        if let Some(text) = text {
            out.push_str(&named(name.text(language), &text, options));
        }
    }
    out.push_str(&agents(level, options));
    out
}

fn failures(level: &LevelSummary, options: &TextOptions) -> Vec<String> {
    let mut lines = Vec::new();
    for (class, count) in &level.requests.failures {
        let failed = Say::Failed.with(options.language, &[&count.to_string(), class]);
        lines.push(wrap("  ", &failed, options.prose()));
        lines.extend(said(level, class, options));
    }
    lines
}

/// Error messages of a class, a line each.
pub(super) fn said(level: &LevelSummary, class: &str, options: &TextOptions) -> Vec<String> {
    let quoted = quoted(level, class, options.language);
    quoted.iter().map(|text| wrap("      ", text, options.prose())).collect()
}

/// Error messages of a class, in quotes.
pub(super) fn quoted(level: &LevelSummary, class: &str, language: Language) -> Vec<String> {
    let texts = level.failure_samples.get(class).into_iter().flatten();
    let quoted =
        |text: &String| format!("“{}”", escape(level.failure_in(text, language), LONGEST_TEXT));
    texts.map(quoted).collect()
}

/// Values as another tool reported them, in its own names and units.
fn stated(level: &LevelSummary, language: Language) -> Option<String> {
    let figures = &level.reported.as_ref().filter(|reported| !reported.figures.is_empty())?.figures;
    let each =
        figures.iter().map(|(name, value)| format!("{} {}", escape(name, 60), round6(*value)));
    Some(each.collect::<Vec<_>>().join(language.semicolon()))
}

/// Arrivals that did not end in an answer or a failure.
fn requests(level: &LevelSummary, language: Language) -> Option<String> {
    let r = &level.requests;
    let others = r.censored.unwrap_or_default() + r.overflowed.unwrap_or_default();
    let ended = r.ended().map(|ended| ended + others);
    let none = [r.unconfirmed, r.dropped, r.overflowed, r.censored]
        .iter()
        .all(|n| n.is_none_or(|n| n == 0));
    if none && (ended == r.planned || r.planned.is_none()) {
        return None;
    }
    let counts = [
        (r.planned, Say::CountPlanned),
        (r.completed, Say::CountCompleted),
        (r.failed, Say::CountFailed),
        (r.unconfirmed, Say::CountUnconfirmed),
        (r.shed, Say::CountShed),
        (r.dropped, Say::CountDropped),
        (r.overflowed, Say::CountOverflowed),
        (r.censored, Say::CountCensored),
    ];
    // Requests that were unconfirmed, shed, dropped or censored are the exception.
    let shown = counts.iter().enumerate().filter(|(at, (n, _))| *at < 3 || *n != Some(0));
    let all = shown.filter_map(|(_, (n, say))| Some(say.with(language, &[(*n)?.to_string()])));
    Some(all.collect::<Vec<_>>().join(language.comma()))
}

fn work(level: &LevelSummary, language: Language) -> Option<String> {
    let duration = number(level.duration_s?);
    let t = &level.throughput;
    let [requests, output, total] =
        [t.requests_per_s, t.output_tokens_per_s, t.total_tokens_per_s].map(maybe);
    let mean = |tokens: Option<Tokens>| tokens.map(|tokens| number(tokens.mean));
    let whole = match level.has_inputs() {
        true => {
            let rates = [t.inputs_per_s, t.input_tokens_per_s, t.rate(Metric::BodyRate)].map(maybe);
            let [inputs, tokens, body] = rates;
            Say::WholeRunInputs.with(language, &[requests, inputs, tokens, body, duration])
        }
        false => Say::WholeRun.with(language, &[requests, output, total, duration]),
    };
    let texts = [
        Some(whole),
        level.steady.map(|steady| Say::SteadyWindow.with(language, &[number(steady.window_s)])),
        level.concurrency.map(|flight| {
            Say::InFlight.with(language, &[number(flight.mean), flight.peak.to_string()])
        }),
        mean(level.output_tokens).map(|output| match mean(level.input_tokens) {
            Some(input) => Say::TokensOutAndIn.with(language, &[output, input]),
            None => Say::TokensOut.with(language, &[output]),
        }),
        level.inputs_per_request.map(|inputs| {
            let inputs = if inputs.fract() == 0.0 { inputs.to_string() } else { number(inputs) };
            match mean(level.input_tokens) {
                Some(tokens) => Say::InputsAndTokens.with(language, &[inputs, tokens]),
                None => Say::Inputs.with(language, &[inputs]),
            }
        }),
    ];
    joined(texts, language)
}

/// Requested and received output lengths, where they may differ.
fn lengths(level: &LevelSummary, language: Language) -> Option<String> {
    let of = level.output_lengths?;
    let values = [of.requested_mean, of.received_mean, of.reached_share * 100.0].map(number);
    Some(Say::LengthsSideBySide.with(language, &values))
}

/// When the headers came, and the whole response: other tools stop at the headers.
fn to_headers(level: &LevelSummary, language: Language) -> Option<String> {
    if !level.headers_differ() {
        return None;
    }
    let [headers, latency] = [Time::Headers, Time::Latency].map(|time| level.times[time].as_ref());
    let (headers, latency) = (headers?, latency?);
    let both = |which| Some([headers.get(which)?, latency.get(which)?]);
    let which = [Statistic::P50, Statistic::Mean].into_iter().find(|w| both(*w).is_some())?;
    let [first, last] = both(which)?;
    let name = which_name(which, language);
    let values = [millis(first), millis(last), millis((last - first).max(0.0)), name];
    Some(Say::ToHeaders.with(language, &values))
}

/// Times from the schedule, where they tell something else than those from sending.
fn scheduled(level: &LevelSummary, language: Language) -> Option<String> {
    let pairs = [
        (Say::TtftP50P99, &level.times[Time::Ttft], &level.times[Time::TtftScheduled]),
        (Say::LatencyP50P99, &level.times[Time::Latency], &level.times[Time::LatencyScheduled]),
    ];
    let differs = |sent: &Option<Distribution>, scheduled: &Option<Distribution>| {
        let values = |d: &Distribution| [d.mean, d.p50, d.p99];
        match (sent, scheduled) {
            (Some(a), Some(b)) => values(a).iter().zip(values(b)).any(
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

/// A small table of intervals, without the rows that have none.
fn intervals(level: &LevelSummary, options: &TextOptions) -> String {
    let language = options.language;
    let times = [Time::Ttft, Time::Itl, Time::Tpot, Time::Latency].into_iter();
    let known = times.filter_map(|time| {
        let of = level.times[time].as_ref().filter(|of| of.ci95.mean.is_some())?;
        Some((language.choose(time.info().short).to_owned(), of))
    });
    let (names, known): (Vec<String>, Vec<&Distribution>) = known.unzip();
    if known.is_empty() {
        return String::new();
    }
    let statistics =
        [(Statistic::Mean, 2), (Statistic::P50, 0), (Statistic::P90, 3), (Statistic::P99, 1)];
    let column = |(which, rank): (Statistic, u8)| {
        let cell = |of: &&Distribution| {
            let interval = of.interval(which);
            let shown = interval.map(|ends| ends.map(millis).join("–"));
            shown.unwrap_or_else(|| ABSENT.to_owned())
        };
        let head = which_name(which, language);
        Column {
            group: String::new(),
            head,
            cells: known.iter().map(cell).collect(),
            rank,
            nominal: 0,
        }
    };
    let columns = statistics.into_iter().map(column).collect();
    format!("  {}\n", Say::Intervals.text(language))
        + &small(4, &names, columns, options.prose(), language)
}

/// Instrument ranges, where they are wider than the digits that are printed; those of one metric stand
/// together.
fn ranges(level: &LevelSummary, language: Language) -> Option<String> {
    let times = [Time::Ttft, Time::Itl, Time::Tpot, Time::Latency].map(Metric::Time);
    let rates = [Metric::RequestRate, Metric::OutputRate];
    let of_metric = |metric: Metric| {
        let show = if metric.is_time() { millis } else { number };
        let range = |statistic: Option<Statistic>| {
            let [low, high] = level.instrument_range(metric, statistic)?.map(show);
            let which = statistic.map(|which| which_name(which, language) + " ");
            (low != high).then(|| format!("{}{low}–{high}", which.unwrap_or_default()))
        };
        let all: Vec<String> = match metric.is_time() {
            true => Ranges::OF.iter().filter_map(|which| range(Some(*which))).collect(),
            false => range(None).into_iter().collect(),
        };
        let name = language.choose(metric.info().short);
        let unit = if metric.is_time() { " ms" } else { "" };
        (!all.is_empty()).then(|| format!("{name} {}{unit}", all.join(language.comma())))
    };
    let all: Vec<String> = rates.into_iter().chain(times).filter_map(of_metric).collect();
    (!all.is_empty()).then(|| all.join(language.semicolon()))
}

/// What shows how exactly a level was measured.
pub(crate) fn exactness(level: &LevelSummary, language: Language) -> Option<String> {
    let name = Say::InstrumentRanges.text(language).to_owned() + language.colon();
    joined([ranges(level, language).map(|text| name + &text), client(level, language)], language)
}

/// The delays of the client; a prediction has none.
fn client(level: &LevelSummary, language: Language) -> Option<String> {
    let stamps = level.instrument.and_then(|instrument| instrument.stamps);
    if stamps == Some(Stamps::Virtual) {
        return None;
    }
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
        stamps.and_then(|stamps| match stamps {
            Stamps::Kernel => Some(Say::KernelStamps.text(language).to_owned()),
            Stamps::Client => Some(Say::ClientStamps.text(language).to_owned()),
            Stamps::Mixed => Some(Say::MixedStamps.text(language).to_owned()),
            Stamps::Virtual => None,
        }),
        c.cpu_share.map(|share| Say::Cpu.with(language, &[number(share * 100.0)])),
        lag(Say::EngineSlip, level.engine_slip_ms),
    ];
    joined(texts, language)
}
