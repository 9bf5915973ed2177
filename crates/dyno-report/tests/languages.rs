//! Every finding, in every language.
#![allow(clippy::unwrap_used)]

use dyno_analysis::Finding;
use dyno_analysis::findings::{Figure, NoInterval, NoWindow, OverTime, ServerFinding};
use dyno_analysis::slo::FewSamples;
use dyno_model::Diagnostic;
use dyno_model::Language;
use dyno_words::notes::Known;

/// One of each, and both of each that has two ways to be said.
fn all() -> Vec<Finding> {
    let few = |figure: &str| FewSamples { figure: figure.to_owned(), samples: 12, needed: 1000 };
    let mut all = vec![
        Finding::SendLag { p99_ms: 12.34, limit_ms: 5.0 },
        Finding::ReadLag { timer: false, p99_ms: 3.0, limit_ms: 1.0 },
        Finding::ReadLag { timer: true, p99_ms: 3.0, limit_ms: 1.0 },
        Finding::OutOfFiles(1),
        Finding::OutOfFiles(2),
        Finding::OutOfPorts(3),
        Finding::OffSchedule { sent: 90, scheduled: 100 },
        Finding::EngineSlip { p99_ms: 7.0, limit_ms: 2.0 },
        Finding::RecordsMissing { records: 9, issued: 10, warmup: false },
        Finding::RecordsMissing { records: 9, issued: 10, warmup: true },
        Finding::ShortOfPlan { issued: 9, planned: 10 },
        Finding::Partial,
        Finding::Interrupted,
        Finding::TargetLost,
        Finding::Aborted,
        Finding::NothingCompleted,
        Finding::NothingMeasured { warmup: 0 },
        Finding::NothingMeasured { warmup: 1 },
        Finding::Failures { failed: 3, ended: 30, allowed: 0.01 },
        Finding::Coalesced(0.25),
        Finding::MixedSources { input: true, output: true },
        Finding::MixedSources { input: true, output: false },
        Finding::MixedSources { input: false, output: true },
        Finding::PastCapacity { rate: 20.0, low: 11.0, high: 12.0 },
        Finding::SloSamples(vec![few("ttft.p99"), few("tpot.p99.9")]),
        Finding::ClockStepped(-1500.0),
        Finding::InputLength { asked: 100.0, mean: 117.0 },
        Finding::OutputLength { short: 3, of: 9, mean: 60.0, asked: 128.0 },
        Finding::TokensUnknown { input: 4, output: 5 },
        Finding::NoTerminal { streams: 1, of: 2 },
        Finding::FirstChunk { streams: 1, of: 2 },
        Finding::OneBurst { streams: 1, of: 2 },
        Finding::NoTokenTimes { streams: 1, of: 2 },
        Finding::SurvivorsOnly(1),
        Finding::Resent(2),
        Finding::SessionsBroken { broken: 1, started: 9 },
        Finding::Stragglers { requests: 1, stretched_s: 4.0, duration_s: 20.0 },
        Finding::NoIntervals(NoInterval::Burst),
        Finding::NoIntervals(NoInterval::FewBlocks { blocks: 1 }),
        Finding::Damaged("a frame is cut off at byte 4711".to_owned()),
        Finding::PlanDiffers,
        Finding::LevelsNotRun { ran: 1, planned: 3 },
        Finding::BegunAgain { labels: vec!["c=1".to_owned(), "c=2".to_owned()] },
        Finding::SloNotMet("ttft.p99<1s".to_owned()),
    ];
    let windows = [
        NoWindow::SlotsMissing { seen: 3, of: 8 },
        NoWindow::FewTurns { window_s: 1.0, needed_s: 2.0 },
        NoWindow::TooShort { window_s: 1.0, needed_s: 2.0 },
        NoWindow::Idle { window_s: 1.0 },
        NoWindow::Saturated { surplus: 0.2 },
        NoWindow::Trend { growth: 0.5 },
        NoWindow::Trend { growth: -0.5 },
        NoWindow::TraceTrend { growth: 0.5, arrivals: None },
        NoWindow::TraceTrend { growth: 0.5, arrivals: Some(0.1) },
    ];
    all.extend(windows.map(Finding::NoSteadyWindow));
    for figure in [Figure::Ttft, Figure::Latency, Figure::Throughput] {
        let (rate, after_s, before_ms, last_ms) = (12.5, 75.0, 80.0, 12_000.0);
        let left = OverTime::LeftLevel { rate, after_s, figure, before_ms, last_ms };
        let drift = OverTime::Drift { figure, first: 80.0, last: 100.0 };
        all.extend([left, drift].map(Finding::OverTime));
    }
    for failed in [false, true] {
        let (rate, after_s, offered, completed) = (12.5, 75.0, 20.0, 13.0);
        let bent = OverTime::Bent { rate, after_s, offered, completed, in_flight: 70, failed };
        all.push(Finding::OverTime(bent));
    }
    let over_time = [
        OverTime::FailuresCreep { first: 0.0, last: 0.05, after_s: 3600.0 },
        OverTime::MemoryGrows { first: 2e9, last: 3e9, per_hour: 5e8 },
        OverTime::SoakTooShort { stretches: 1, needed: 20 },
    ];
    all.extend(over_time.map(Finding::OverTime));
    for (kv_use, all_after) in [(None, true), (None, false), (Some(0.99), true), (Some(1.0), false)]
    {
        let label = "c=64".to_owned();
        let full = ServerFinding::KvFull { label, preemptions: 1, kv_use, all_after };
        all.push(Finding::Server(full));
    }
    for (running, kv_full) in [(None, None), (Some(8.0), Some(true)), (Some(8.0), Some(false))] {
        let queue = ServerFinding::Queue { share: 0.7, waiting: 3.5, running, kv_full };
        all.push(Finding::Server(queue));
    }
    let server = [
        ServerFinding::Fewer { server: 3.0, here: 8.0 },
        ServerFinding::More { server: 8.0, here: 3.0 },
        ServerFinding::CachedRandom { share: 0.4 },
    ];
    all.extend(server.map(Finding::Server));
    all.extend(Known::ALL.iter().map(|known| {
        let values = (0..6).map(|at| format!("value-{at}"));
        let places = known.what().matches("{}").count();
        Finding::Noted(known.note(values.take(places).collect()))
    }));
    all
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

/// Whatever looks like a number, in order of size.
fn figures(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let mut figures: Vec<String> = parts
        .map(|part| part.trim_matches('.').to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    figures.sort();
    figures
}

#[test]
fn every_finding_is_said_in_both_languages() {
    for finding in all() {
        let [english, chinese]: [Diagnostic; 2] =
            [Language::English, Language::Chinese].map(|language| finding.reason_in(language));
        assert_eq!(english, finding.reason(), "English is what is written down");
        assert_eq!(english.code, chinese.code);
        assert_eq!(english.advice.is_some(), chinese.advice.is_some(), "{finding:?}");
        let texts = |reason: &Diagnostic| {
            [Some(reason.what.clone()), reason.advice.clone()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        };
        for (english, chinese) in texts(&english).iter().zip(texts(&chinese)) {
            assert!(!is_chinese(english), "{english}");
            assert!(is_chinese(&chinese), "{chinese}");
            for text in [english, &chinese] {
                assert!(!text.contains(['{', '}', '|']) && !text.is_empty(), "{text}");
            }
        }
        let (said, meant) = (figures(&chinese.what), figures(&english.what));
        let names_count = matches!(finding, Finding::OverTime(OverTime::SoakTooShort { .. }));
        assert!(said == meant || names_count, "{} / {}", english.what, chinese.what);
        assert_eq!(english.in_language(Language::Chinese), chinese);
    }
}

#[test]
fn the_list_has_every_finding() {
    let mut codes: Vec<String> = all().iter().map(|finding| finding.code().to_owned()).collect();
    codes.sort();
    codes.dedup();
    insta::assert_snapshot!(codes.join("\n"));
}

#[test]
fn what_was_read_from_a_file_keeps_its_words() {
    let written = serde_json::to_string(&Finding::Partial.reason()).unwrap();
    let read: Diagnostic = serde_json::from_str(&written).unwrap();
    assert_eq!(read, Finding::Partial.reason());
    assert_eq!(read.in_language(Language::Chinese), read);
    assert_eq!(
        Diagnostic::new("code", "words", None::<&str>).in_language(Language::Chinese).what,
        "words"
    );
}
