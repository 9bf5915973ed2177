//! What is typed, and what comes of it.

use super::*;
use crate::args::values::Secret;
use crate::args::{Cli, Command};
use clap::Parser;
use dyno_model::level_schedule::Search;
use dyno_model::plan::{Api, Arrival, LevelPlan, Load, Warmup};
use dyno_model::{Nanos, SEC};

fn typed(line: &[&str]) -> Inputs {
    let argv = ["dyno", "bench"].iter().chain(line);
    match Cli::try_parse_from(argv).unwrap().command {
        Command::Bench(args) => (*args).into(),
        other => panic!("{other:?}"),
    }
}

fn resolved(line: &[&str]) -> Result<Resolved, UsageError> {
    resolve(typed(line), &Given::default(), &ProcessEnv::default())
}

fn error_of(line: &[&str]) -> String {
    resolved(line).unwrap_err().to_string()
}

#[test]
fn nothing_typed_is_a_ladder_past_the_knee_of_the_embedded_engine() {
    let resolved = resolved(&[]).unwrap();
    assert_eq!(resolved.order.reach.url, None);
    assert_eq!(resolved.order.plan.target.url, None);
    assert_eq!(
        resolved.order.plan.target.embedded.as_deref(),
        Some(dyno_engine::twin::Twin::default_name())
    );
    let stops = |plan: &Plan| -> Vec<(String, Option<u64>, Option<Nanos>)> {
        let of = |level: &LevelPlan| (level.label.clone(), level.requests, level.duration_ns);
        plan.levels.iter().map(of).collect()
    };
    let ladder = |steps: &[u64], seconds: u64| -> Vec<(String, Option<u64>, Option<Nanos>)> {
        let step = |n: &u64| (format!("concurrency {n}"), Some(20 * n), Some(seconds * SEC));
        steps.iter().map(step).collect()
    };
    assert_eq!(stops(&resolved.order.plan), ladder(&[1, 8, 32, 96], 12));
    // Somebody's server is treated more gently.
    let server = self::resolved(&["http://h:1"]).unwrap();
    assert_eq!(stops(&server.order.plan), ladder(&[1, 4, 16], 20));
    let lengths = |level: &LevelPlan| (level.input_tokens.0.clone(), level.output_tokens.0.clone());
    assert_eq!(lengths(&resolved.order.plan.levels[0]), ("256".to_owned(), "64".to_owned()));
    assert_eq!(resolved.order.plan.allow_failures, 0.01);
    assert_eq!(resolved.order.plan.timeouts.first_token_ns, resolved.order.plan.timeouts.total_ns);
    let seed = resolved.order.plan.seed;
    let said = format!("random seed {seed}; repeat with --seed {seed}");
    assert!(resolved.notes.iter().any(|note| note.to_string() == said), "{:?}", resolved.notes);
}

#[test]
fn a_load_without_a_stop_runs_for_half_a_minute() {
    for flag in ["--concurrency=8", "--rate=2.5"] {
        let level = &resolved(&[flag]).unwrap().order.plan.levels[0];
        assert_eq!((level.requests, level.duration_ns), (None, Some(30_000_000_000)));
    }
    let level = resolved(&["--concurrency=8", "--requests=5"]).unwrap().order.plan.levels.remove(0);
    assert_eq!((level.requests, level.duration_ns), (Some(5), None));
}

#[test]
fn a_burst_is_its_own_number_of_requests() {
    let plan = resolved(&["--burst=1,2,4", "--warmup=3"]).unwrap().order.plan;
    let counts: Vec<_> = plan.levels.iter().map(|level| level.requests).collect();
    assert_eq!(counts, [Some(1), Some(2), Some(4)]);
    assert_eq!(plan.levels[2].load, Load::Burst { requests: 4 });
    assert_eq!(plan.levels[0].warmup, Some(Warmup::Requests(3)));
    assert!(error_of(&["--burst=2", "--requests=9"]).starts_with("--requests:"));
    assert!(error_of(&["--burst=2", "--duration=9s"]).starts_with("--duration:"));
    assert!(error_of(&["--burst=2", "--warmup=9s"]).starts_with("--warmup:"));
}

#[test]
fn arrivals_are_poisson_unless_said_otherwise_and_need_a_rate() {
    let load = |line: &[&str]| resolved(line).unwrap().order.plan.levels[0].load;
    assert_eq!(load(&["--rate=3"]), Load::Rate { rate: 3.0, arrival: Arrival::Poisson });
    assert_eq!(
        load(&["--rate=3", "--arrival=gamma:2"]),
        Load::Rate { rate: 3.0, arrival: Arrival::Gamma { shape: 2.0 } }
    );
    let sweep = |line: &[&str]| resolved(line).unwrap().order.plan.course.search;
    let spaced = |line: &[&str]| match sweep(line) {
        Some(Search::Sweep { arrival, .. }) => arrival,
        other => panic!("{other:?}"),
    };
    assert_eq!(spaced(&["--sweep"]), Arrival::Poisson);
    assert_eq!(spaced(&["--sweep", "--arrival=constant"]), Arrival::Constant);
    assert!(error_of(&["--arrival=poisson"]).contains("--rate"));
    assert!(error_of(&["--arrival=poisson", "--concurrency=1"]).contains("--rate"));
}

#[test]
fn one_kind_of_load_at_most() {
    let text = error_of(&["--concurrency=1", "--rate=1", "--burst=1"]);
    assert!(text.contains("--concurrency") && text.contains("--rate, --burst"), "{text}");
}

#[test]
fn a_schedule_that_would_not_fit_in_memory_is_refused() {
    assert!(error_of(&["--rate=1000000", "--duration=51s"]).starts_with("--rate:"));
    assert!(resolved(&["--rate=1000000", "--duration=51s", "--requests=10"]).is_ok());
    assert!(error_of(&["--rate=1", "--requests=50000001"]).starts_with("--rate:"));
    assert!(error_of(&["--rate=1000000", "--duration=1s", "--warmup=60s"]).starts_with("--rate:"));
}

#[test]
fn a_ramp_is_one_level_that_lasts_its_time() {
    let plan =
        resolved(&["--ramp=1..50/s over 5m in 10 steps", "--requests=9"]).unwrap().order.plan;
    let [level] = plan.levels.as_slice() else { panic!("{:?}", plan.levels) };
    let ramp = level.load.ramp().unwrap();
    assert_eq!((ramp.from, ramp.to, ramp.steps), (1.0, 50.0, Some(10)));
    assert_eq!((level.duration_ns, level.requests), (Some(300_000_000_000), Some(9)));
    assert_eq!(level.label, "ramp 1..50/s");
    let saved = serde_json::to_string(&plan).unwrap();
    assert!(saved.contains(r#""kind":"ramp""#) && !saved.contains("soak"), "{saved}");
    let grid = resolved(&["--ramp=1..50/s over 5m", "--output-tokens=8,32"]).unwrap().order.plan;
    assert_eq!(grid.levels[1].label, "256→32 @1..50/s");
    let gamma = resolved(&["--ramp=1..50/s over 5m", "--arrival=gamma:2"]).unwrap().order.plan;
    let arrival = Arrival::Gamma { shape: 2.0 };
    assert!(matches!(gamma.levels[0].load, Load::Ramp { arrival: a, .. } if a == arrival));
    assert!(error_of(&["--ramp=1000..100000/s over 1h"]).starts_with("--ramp:"));
    assert!(resolved(&["--ramp=1000..100000/s over 1h", "--requests=10"]).is_ok());
}

#[test]
fn a_soak_is_one_load_for_a_time() {
    let plan = resolved(&["--soak=2h", "--concurrency=8"]).unwrap().order.plan;
    assert_eq!(plan.levels[0].duration_ns, Some(7_200_000_000_000));
    assert!(plan.levels[0].soak && plan.levels.len() == 1);
    assert!(serde_json::to_string(&plan).unwrap().contains(r#""soak":true"#));
    for line in [&["--soak=2h"][..], &["--soak=2h", "--rate=1,2"]] {
        assert!(error_of(line).starts_with("--soak:"), "{line:?}");
    }
}

#[test]
fn equal_levels_have_different_names() {
    let plan = resolved(&["--concurrency=8,8,4"]).unwrap().order.plan;
    let labels: Vec<_> = plan.levels.iter().map(|level| level.label.as_str()).collect();
    assert_eq!(labels, ["concurrency 8", "concurrency 8 (2)", "concurrency 4"]);
}

#[test]
fn the_dialect_follows_the_path_and_must_not_contradict_it() {
    let api = |line: &[&str]| resolved(line).unwrap().order.plan.target.api;
    assert_eq!(api(&["http://h/v1"]), Api::named("openai-chat"));
    assert_eq!(api(&["http://h/v1/completions"]), Api::named("openai-completions"));
    assert_eq!(api(&["http://h/v1/chat/completions/"]), Api::named("openai-chat"));
    assert_eq!(api(&["http://h", "--api=openai-completions"]), Api::named("openai-completions"));
    assert!(error_of(&["http://h/v1/completions", "--api=openai-chat"]).starts_with("--api:"));
    // Infinity has the API `rerank` where Text Embeddings Inference has its own.
    assert_eq!(api(&["http://h/rerank", "--api=rerank"]), Api::named("rerank"));
    assert_eq!(api(&["http://h/rerank"]), Api::named("tei-rerank"));
}

#[test]
fn a_path_that_is_nearly_one_of_an_api_is_a_mistake() {
    for (typed, meant) in [
        ("/v1/chat/completion", "/v1/chat/completions"),
        ("/g/v1/chat/completon", "/v1/chat/completions"),
        ("/v1/message", "/v1/messages"),
        ("/v1/embedding", "/v1/embeddings"),
        ("/api/chats", "/api/chat"),
    ] {
        let text = error_of(&[&format!("http://h{typed}")]);
        assert!(text.contains(&format!("did you mean {meant}?")), "{typed}: {text}");
    }
    for path in ["/v1", "/g/v1", "/completion", "/x/completion", "/completions", "/v2/rerank"] {
        assert!(resolved(&[&format!("http://h{path}")]).is_ok(), "{path}");
    }
}

#[test]
fn a_key_comes_from_the_file_then_the_flag_then_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, "  from-file \nsecond line\n").unwrap();
    let from_file = format!("--api-key-file={}", file.display());
    let surroundings =
        ProcessEnv { api_key: Some(Ok(Secret("from-env".to_owned()))), ..ProcessEnv::default() };
    let key = |line: &[&str]| {
        let resolved = resolve(typed(line), &Given::default(), &surroundings).unwrap();
        (resolved.order.reach.secrets.api_key, resolved.warnings.len())
    };
    assert_eq!(key(&["http://h", &from_file, "--api-key=typed"]), (Some("from-file".into()), 1));
    assert_eq!(key(&["http://h", "--api-key=typed"]), (Some("typed".into()), 1));
    assert_eq!(key(&["http://h"]), (Some("from-env".into()), 0));
    assert_eq!(key(&["http://h", "--header=authorization:Basic x"]), (None, 0));
    assert_eq!(key(&[]), (None, 0));
}

#[test]
fn key_files_that_do_not_serve_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, "\nhush\n").unwrap();
    let flag = format!("--api-key-file={}", file.display());
    let text = error_of(&["http://h", &flag]);
    assert!(text.contains("key` is empty") && !text.contains("hush"), "{text}");
    assert!(error_of(&["http://h", "--api-key-file=nowhere"]).contains("`nowhere`"));
    assert!(error_of(&["http://h", &flag, "--header=Authorization:x"]).contains("empty"));
}

#[test]
fn secrets_show_nowhere() {
    let resolved =
        resolved(&["http://h/v1?key=hush", "--header=X-Key:hush", "--api-key=hush"]).unwrap();
    assert_eq!(resolved.order.plan.target.header_names, ["X-Key"]);
    assert_eq!(resolved.order.plan.target.url.as_deref(), Some("http://h/v1?key=…"));
    assert_eq!(
        resolved.order.reach.url.map(|url| url.full().to_owned()).as_deref(),
        Some("http://h/v1?key=hush")
    );
    assert_eq!(resolved.order.reach.secrets.headers, [("X-Key".to_owned(), "hush".to_owned())]);
    let told =
        format!("{:?} {:?} {:?}", resolved.order.reach.secrets, resolved.notes, resolved.warnings);
    let saved = serde_json::to_string(&resolved.order.plan).unwrap();
    assert!(!told.contains("hush") && !saved.contains("hush"));
    assert!(!format!("{:?}", typed(&["http://h?k=hush", "--api-key=hush"])).contains("hush"));
}

#[test]
fn a_password_of_the_bus_is_warned_of_and_shown_nowhere() {
    let on_bus = |bus: &str| {
        let line = ["http://h", "--agents=2", bus];
        assert!(!format!("{:?}", typed(&line)).contains("hush"));
        let resolved = resolved(&line).unwrap();
        let saved = serde_json::to_string(&resolved.order.plan).unwrap();
        let told = format!("{:?} {:?} {saved}", resolved.notes, resolved.warnings);
        assert!(!told.contains("hush"), "{told}");
        resolved.warnings
    };
    let warnings = on_bus("--bus=nats://ann:hush@bus");
    assert!(
        warnings.len() == 1 && warnings[0].to_string().contains("DYNO_BUS_PASSWORD"),
        "{warnings:?}"
    );
    assert_eq!(on_bus("--bus=nats://hush@bus").len(), 1);
    assert!(on_bus("--bus=nats://bus").is_empty());
}

#[test]
fn proxies_are_said_to_be_ignored() {
    let surroundings =
        ProcessEnv { proxies: vec!["HTTPS_PROXY".to_owned()], ..ProcessEnv::default() };
    let notes = resolve(typed(&["http://h"]), &Given::default(), &surroundings).unwrap().notes;
    assert!(
        notes.iter().any(|note| note.to_string().starts_with("HTTPS_PROXY ignored")),
        "{notes:?}"
    );
}

#[test]
fn a_directory_in_use_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let flag = format!("--out={}", dir.path().display());
    assert!(resolved(&[&flag]).is_ok());
    std::fs::write(dir.path().join("x"), "").unwrap();
    assert!(error_of(&[&flag]).contains("not empty"));
}

#[test]
fn lists_of_lengths_make_a_grid_for_every_load() {
    let plan =
        resolved(&["--concurrency=8,16", "--input-tokens=128,64-256", "--output-tokens=8,32"])
            .unwrap()
            .order
            .plan;
    let labels: Vec<&str> = plan.levels.iter().map(|level| level.label.as_str()).collect();
    assert_eq!(labels[..5], ["128→8 @8", "128→32 @8", "64-256→8 @8", "64-256→32 @8", "128→8 @16"]);
    assert_eq!(labels.len(), 8);
    let rate = resolved(&["--rate=2.5", "--output-tokens=8,32"]).unwrap().order.plan;
    assert_eq!(rate.levels[1].label, "256→32 @2.5/s");
}

/// C12: a burst and a closed loop with the same lengths had the same name.
#[test]
fn bursts_are_recognised_by_their_names() {
    let labels = |line: &[&str]| -> Vec<String> {
        let plan = resolved(line).unwrap().order.plan;
        plan.levels.into_iter().map(|level| level.label).collect()
    };
    let lengths = ["--input-tokens=64", "--output-tokens=32,64"];
    let of = |load| labels(&[&[load], &lengths[..]].concat());
    assert_eq!(of("--burst=16"), ["64→32 burst 16", "64→64 burst 16"]);
    assert_eq!(of("--concurrency=16"), ["64→32 @16", "64→64 @16"]);
    assert_eq!(labels(&["--burst=1,16"]), ["burst 1", "burst 16"]);
}

#[test]
fn data_flags_that_contradict_each_other_are_named() {
    let wrong = |line: &[&str]| resolved(line).unwrap_err().to_string();
    for (line, flag) in [
        (&["--limit=5"][..], "--limit: selects prompts of a file"),
        (&["--data=openqa", "--input-tokens=5"], "--input-tokens: sets the length of random"),
        (&["--data=openqa", "--truncate"], "--truncate: truncates prompts"),
        (
            &["--data=openqa", "--min-input-tokens=9", "--max-input-tokens=5"],
            "--min-input-tokens: 9 is more than",
        ),
        (&["--data=nonsense:x"], "--data: "),
        (&["--data=no-such-file.jsonl"], "--data: there is no file no-such-file.jsonl"),
        (&["--data=random,prefix=x"], "--data: prefix=x is not possible; write prefix=512"),
        (&["--tokenizer=no-such-folder"], "--tokenizer: "),
    ] {
        assert!(wrong(line).starts_with(flag), "{line:?}: {}", wrong(line));
    }
    assert!(resolved(&["--data=random,prefix=8,groups=2"]).is_ok());
    assert!(resolved(&["--data=openqa", "--max-input-tokens=10", "--truncate"]).is_ok());
}

#[test]
fn an_slo_is_kept_in_the_plan_and_told_of_where_it_cannot_be_judged() {
    let slo = "--slo=ttft.p99 < 0.5s, errors<1%";
    let plan = resolved(&[slo, "--concurrency=8", "--requests=1000"]).unwrap();
    assert_eq!(plan.order.plan.slo.unwrap().to_string(), "ttft.p99<500ms and errors<1%");
    assert!(!plan.notes.iter().any(|note| note.to_string().contains("--slo")), "{:?}", plan.notes);
    for load in [&["--concurrency=8", "--requests=999"][..], &["--burst=2000,999"]] {
        let notes = resolved(&[&[slo], load].concat()).unwrap().notes;
        let told =
            notes.iter().map(ToString::to_string).find(|note| note.starts_with("--slo: ")).unwrap();
        assert!(told.contains("need 1000 requests per level, and one level has 999"), "{told}");
    }
    let text = error_of(&[slo, "--no-stream"]);
    assert!(text.starts_with("--slo: ttft.p99 needs streamed responses"), "{text}");
    assert!(resolved(&["--slo=latency.p90<5s", "--no-stream"]).is_ok());
    assert_eq!(resolved(&[]).unwrap().order.plan.slo, None);
}

/// Section 7: `dyno init` was answered with two commands as if they were one.
#[test]
fn several_commands_that_are_equally_far_away_are_no_suggestion() {
    use clap::CommandFactory;
    let of = |typed: &str| {
        let error = crate::args::Cli::command().try_get_matches_from(["dyno", typed]);
        crate::usage::from_clap(&error.unwrap_err(), "dyno").message.hint().unwrap().to_string()
    };
    assert_eq!(of("lit"), "`dyno --help` lists the commands");
    assert_eq!(of("bnech"), "did you mean `dyno bench`?");
}
