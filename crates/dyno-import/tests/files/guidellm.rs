//! guidellm, from 0.1 on.

use crate::{close, import, loads, notes, reported, run};
use dyno_model::Verdict;
use dyno_model::metric::Time;

#[test]
fn the_first_version_is_computed_from_its_requests() {
    let run = run("guidellm-0.1.json");
    let summary = &run.summary;
    let wanted = [("concurrency", Some(1.0)), ("rate", Some(4.0)), ("unlimited", None)];
    assert_eq!(loads(&run), wanted);
    assert_eq!(summary.run.model.as_deref(), Some("tiny-7b"));
    assert_eq!(summary.run.started.as_deref(), Some("2024-07-14T23:33:20Z"));
    let level = &summary.levels[0];
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    // 100, 110, 120 and 130 ms; gaps of 20, 20 and 30 ms.
    assert_eq!((ttft.count, ttft.mean), (Some(4), Some(115.0)));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(185.0));
    close(level.times[Time::Tpot].as_ref().unwrap().mean, 70.0 / 3.0, 1e-5);
    assert_eq!(level.times[Time::Itl].as_ref().unwrap().count, Some(12));
    // Four requests at 0.5 s, the last of which takes 0.2 s.
    assert_eq!(level.duration_s, Some(1.7));
    let failed = &summary.levels[1].requests;
    assert_eq!((failed.completed, failed.failed), (Some(4), Some(1)));
    assert!(summary.levels.iter().all(|level| level.verdict == Verdict::Unjudged));
    assert!(run.records.is_some() && run.plan.is_some());
}

#[test]
fn every_later_version_gives_the_same_kind_of_level() {
    for (name, load, version) in [
        ("guidellm-0.2.json", ("rate", Some(8.0)), None),
        ("guidellm-0.3.json", ("concurrency", Some(2.0)), None),
        ("guidellm-0.6.json", ("rate", Some(4.0)), Some("0.6.0")),
        ("guidellm-0.8.json", ("concurrency", Some(1.0)), Some("0.8.1")),
    ] {
        let run = run(name);
        assert_eq!(loads(&run)[0], load, "{name}");
        let summary = &run.summary;
        let origin = summary.run.origin.as_ref().unwrap();
        assert_eq!((origin.tool.as_str(), origin.version.as_deref()), ("guidellm", version));
        assert_eq!(summary.run.model.as_deref(), Some("tiny"));
        assert_eq!(summary.run.target.as_deref(), Some("http://localhost:8000"));
        let level = &summary.levels[0];
        assert_eq!(level.requests.completed, Some(6), "{name}");
        assert_eq!(level.requests.failed, Some(0));
        // Recomputed values equal those that the tool reports.
        let stat = |metric: &str, stat| reported(level, &format!("{metric}.successful.{stat}"));
        let ttft = level.times[Time::Ttft].as_ref().unwrap();
        close(ttft.mean, stat("time_to_first_token_ms", "mean"), 1e-4);
        close(ttft.max, stat("time_to_first_token_ms", "max"), 1e-4);
        close(
            level.times[Time::Tpot].as_ref().unwrap().mean,
            stat("inter_token_latency_ms", "mean"),
            1e-3,
        );
        // guidellm's latency goes to the end of the body, Dyno's to the last output.
        close(
            level.times[Time::Latency].as_ref().unwrap().mean,
            stat("request_latency", "mean") * 1e3,
            0.02,
        );
        assert_eq!(level.output_tokens.unwrap().total, Some(96));
        // It keeps no times between the first and the last token.
        assert_eq!((&level.times[Time::Itl], &level.times[Time::ChunkGap]), (&None, &None));
        assert_eq!(level.integrity.one_burst_share, None);
        assert!(run.records.is_some());
    }
}

#[test]
fn open_loops_have_due_times() {
    let run = run("guidellm-0.6.json");
    let level = &run.summary.levels[0];
    let mean = |figure: &Option<dyno_model::summary::Distribution>| figure.as_ref()?.mean;
    let [sent, due] =
        [mean(&level.times[Time::Ttft]).unwrap(), mean(&level.times[Time::TtftScheduled]).unwrap()];
    assert!(due > sent, "{due} {sent}");
    assert_eq!(level.client.send_lag_ms.unwrap().count, 6);
    let closed = super::run("guidellm-0.8.json");
    assert!(closed.summary.levels.iter().all(|level| level.times[Time::TtftScheduled].is_none()));
    assert!(closed.summary.levels.iter().all(|level| level.client.send_lag_ms.is_none()));
}

#[test]
fn results_are_not_computed_from_a_sample_of_the_requests() {
    let imported = import("guidellm-sampled.json");
    assert!(notes(&imported)[0].contains("2 of 6 requests"), "{:?}", imported.problems);
    let run = &imported.runs[0];
    assert!(run.records.is_none() && run.plan.is_none());
    let level = &run.summary.levels[0];
    assert_eq!(level.requests.completed, Some(6));
    let told = reported(level, "time_to_first_token_ms.successful.mean");
    close(level.times[Time::Ttft].as_ref().unwrap().mean, told, 1e-6);
    let p99 = reported(level, "time_to_first_token_ms.successful.percentiles.p99");
    close(level.times[Time::Ttft].as_ref().unwrap().p99, p99, 1e-6);
}
