//! Recomputes results from the single requests that a tool saved, by Dyno's own definitions: a plan and
//! records that suffice for [`summarise`], with the tool's own values beside them.

use super::blank;
use super::frames::{plan, source};
use super::sample::times;
use super::stated::{StatedLevel, present, rounded};
use dyno_analysis::RunResults;
use dyno_analysis::summarise;
use dyno_model::metric::{PerTime, Time};
use dyno_model::summary::{
    ClientSummary, Distribution, Integrity, Origin, RequestCounts, Throughput, TokenSources,
};
use dyno_model::summary::{Extras, LevelExtras};
use dyno_model::{Diagnostic, message};
use dyno_model::{LevelSummary, Verdict};
use dyno_words::{Problem, values};
use std::path::Path;

/// A run as a whole.
#[derive(Debug, Clone)]
pub(crate) struct RunHead {
    pub(crate) origin: Origin,
    /// Which run of its file it is, from 1.
    pub(crate) ordinal: usize,
    pub(crate) label: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) started: Option<String>,
    /// The API that was called, as in a summary.
    pub(crate) api: Option<&'static str>,
    /// How many GPUs the server had.
    pub(crate) gpus: Option<u32>,
}

impl RunHead {
    /// A run of which only the origin is known.
    pub(crate) fn new(origin: Origin) -> Self {
        Self {
            origin,
            ordinal: 0,
            label: None,
            model: None,
            target: None,
            started: None,
            api: None,
            gpus: None,
        }
    }
}

/// Findings that apply to any tool's measurements.
const KEPT: [&str; 6] = [
    "nothing_completed",
    "no_steady_window",
    "tokens_unknown",
    "one_burst",
    "no_token_times",
    "stragglers",
];
/// A larger relative difference is not explained by rounding.
const MERE_ROUNDING: f64 = 0.02;
const LEAST_MS: f64 = 0.05;

/// A run of these levels, recomputed where their requests are known.
pub(crate) fn run(
    head: RunHead,
    mut found: Vec<StatedLevel>,
    problems: &mut Vec<Diagnostic>,
) -> RunResults {
    found.iter_mut().for_each(StatedLevel::settle);
    let head = RunHead { target: head.target.as_deref().map(without_secrets), ..head };
    let id = blank::id(&head.origin.file, head.ordinal);
    let plan = plan(&head, &found);
    let source = source(&id, &plan, &found);
    let recomputed = summarise(&plan, None, &source);
    let gathered = dyno_analysis::extras(&plan, &source);
    let timed: Vec<bool> = found.iter().map(|found| found.requests().is_some_and(times)).collect();
    let (mut levels, mut extras) = (Vec::new(), Extras::default());
    for ((index, found), timed) in (0..).zip(&mut found).zip(&timed) {
        let level = recomputed.levels.iter().find(|level| level.index == index);
        let level = level.filter(|_| found.requests().is_some());
        if let Some(level) = level {
            compare(&head.origin, found, level, *timed, problems);
        }
        let mut level = match level {
            Some(level) if *timed => adopted(level.clone(), found),
            Some(level) => completed(found.stated.clone(), level),
            None => found.stated.clone(),
        };
        level.duration_s = present(level.duration_s);
        let rates = &mut level.throughput;
        for rate in [
            &mut rates.requests_per_s,
            &mut rates.output_tokens_per_s,
            &mut rates.total_tokens_per_s,
        ] {
            *rate = present(*rate);
        }
        levels.push(level);
        let theirs = found.extras;
        let known = LevelExtras { burstiness: theirs.burstiness, ..gathered.of(index) };
        extras.0.insert(index, if *timed { known } else { theirs });
    }
    let whole = !timed.is_empty() && timed.iter().all(|timed| *timed);
    let file = head.origin.file.clone();
    let mut summary = blank::run(id, head.origin, levels);
    summary.run.label = head.label;
    summary.run.model = head.model;
    summary.run.target = head.target;
    summary.run.api = head.api.map(str::to_owned);
    summary.run.gpus = head.gpus;
    let by_clock = recomputed.run.started.filter(|_| whole && source.header.anchor_unix_ns > 0);
    summary.run.started = by_clock.or(head.started);
    let rebuilt = whole.then_some((plan, source));
    let stated = found.into_iter().map(|found| found.stated).collect();
    RunResults { extras, rebuilt, stated, ..RunResults::of(Path::new(&file), summary) }
}

/// An address without the name and password in it, and without its query, which may contain a key.
fn without_secrets(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else { return plain.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The recomputed level, with the tool's label.
fn adopted(recomputed: LevelSummary, found: &StatedLevel) -> LevelSummary {
    let stated = &found.stated;
    let scheduled =
        found.requests().is_some_and(|all| all.iter().any(|one| one.scheduled.is_some()));
    let findings = recomputed.reasons.into_iter().chain(recomputed.notes);
    let mut kept: Vec<_> = findings.filter(|one| KEPT.contains(&one.code.as_str())).collect();
    kept.extend(stated.notes.iter().cloned());
    let counts = recomputed.requests;
    let times = recomputed.times.map(|time, recomputed| match time {
        Time::TtftScheduled | Time::LatencyScheduled => recomputed.filter(|_| scheduled),
        Time::Itl => recomputed,
        _ => recomputed.or_else(|| stated.times[time].clone()),
    });
    LevelSummary {
        index: stated.index,
        label: stated.label.clone(),
        load: stated.load,
        input_length: stated.input_length,
        output_length: stated.output_length,
        reported: stated.reported.clone(),
        verdict: Verdict::Unjudged,
        reasons: Vec::new(),
        notes: kept,
        ending: None,
        partial: stated.partial,
        requests: RequestCounts {
            planned: stated.requests.planned.or(counts.planned),
            shed: None,
            dropped: None,
            resent: None,
            ..counts
        },
        times,
        duration_s: recomputed.duration_s.filter(|_| !found.window).or(stated.duration_s),
        throughput: if found.window { stated.throughput } else { recomputed.throughput },
        // It would be one of the warm-up and the cool-down as well.
        steady: recomputed.steady.filter(|_| !found.window),
        input_tokens: recomputed.input_tokens.or(stated.input_tokens),
        output_tokens: recomputed.output_tokens.or(stated.output_tokens),
        token_source: TokenSources::default(),
        integrity: integrity(&recomputed.integrity),
        client: ClientSummary {
            send_lag_ms: recomputed.client.send_lag_ms.filter(|_| scheduled),
            ..ClientSummary::default()
        },
        ..recomputed
    }
}

/// The tool's values; metrics that do not need send times are recomputed.
fn completed(stated: LevelSummary, recomputed: &LevelSummary) -> LevelSummary {
    let plain = |one: &Option<Distribution>| {
        one.clone().map(|one| Distribution { ci95: Default::default(), ..one })
    };
    let counts = &recomputed.requests;
    let duration = stated.duration_s.filter(|duration| *duration > 0.0);
    let per_s = |amount: Option<u64>| Some(rounded(amount? as f64 / duration?));
    let [input, output] = [&recomputed.input_tokens, &recomputed.output_tokens];
    let output_total = output.and_then(|tokens| tokens.total);
    let total = output_total.zip(input.and_then(|tokens| tokens.total)).map(|(a, b)| a + b);
    let times = PerTime::new(|time| match time {
        Time::TtftScheduled | Time::LatencyScheduled => stated.times[time].clone(),
        Time::Itl => plain(&recomputed.times[time]),
        _ => plain(&recomputed.times[time]).or_else(|| stated.times[time].clone()),
    });
    LevelSummary {
        requests: RequestCounts {
            planned: stated.requests.planned.or(counts.planned),
            shed: None,
            dropped: None,
            resent: None,
            ..counts.clone()
        },
        throughput: Throughput {
            requests_per_s: per_s(counts.completed).or(stated.throughput.requests_per_s),
            output_tokens_per_s: per_s(output_total).or(stated.throughput.output_tokens_per_s),
            total_tokens_per_s: per_s(total).or(stated.throughput.total_tokens_per_s),
            ..Throughput::default()
        },
        times,
        input_tokens: input.or(stated.input_tokens),
        output_tokens: output.or(stated.output_tokens),
        integrity: integrity(&recomputed.integrity),
        failure_samples: recomputed.failure_samples.clone(),
        failure_samples_chinese: recomputed.failure_samples_chinese.clone(),
        ..stated
    }
}

/// Other tools do not report reads and terminal events.
fn integrity(recomputed: &Integrity) -> Integrity {
    Integrity { coalesced_share: None, no_terminal_share: None, ..*recomputed }
}

/// Reports where the tool's values differ from those of its own requests.
fn compare(
    origin: &Origin,
    found: &mut StatedLevel,
    recomputed: &LevelSummary,
    timed: bool,
    problems: &mut Vec<Diagnostic>,
) {
    let both = [&found.stated, recomputed];
    let mean = |time| both.map(|one| one.times[time].as_ref().and_then(|one| one.mean));
    let counts = |one: &LevelSummary| one.requests.completed.map(|count| count as f64);
    let tpot = message!("the mean TPOT in ms", "平均 TPOT（ms）");
    let per_s = |one: &LevelSummary| one.throughput.output_tokens_per_s.filter(|_| timed);
    let pairs = [
        (message!("the mean TTFT in ms", "平均 TTFT（ms）"), mean(Time::Ttft)),
        (message!("the mean latency in ms", "平均端到端时延（ms）"), mean(Time::Latency)),
        (tpot.clone(), mean(Time::Tpot)),
        (message!("the mean chunk gap in ms", "平均数据块间隔（ms）"), mean(Time::ChunkGap)),
        (message!("output tokens per second", "每秒输出 token 数"), both.map(per_s)),
        (message!("the completed requests", "成功的请求数"), both.map(counts)),
    ];
    for (name, [stated, value]) in pairs {
        let Some((theirs, ours)) = stated.zip(value) else { continue };
        let apart = (theirs - ours).abs();
        if apart <= LEAST_MS || apart <= MERE_ROUNDING * theirs.abs().max(ours.abs()) {
            continue;
        }
        let what = match name == tpot && origin.tool == "guidellm" {
            true => Problem::FiguresWeighed,
            false => Problem::FiguresDiffer,
        };
        found.note(problems, what.with(values![name, &origin.tool, theirs, ours]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_no_secret() {
        let url = "http://me:secret@host:80/v1/chat?key=secret#secret";
        assert_eq!(without_secrets(url), "http://host:80/v1/chat");
        assert_eq!(without_secrets("localhost:8000"), "localhost:8000");
        assert_eq!(without_secrets("https://a@b@host"), "https://host");
    }
}
