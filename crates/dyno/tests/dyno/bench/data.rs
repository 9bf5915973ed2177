//! What is sent from the files people have, and what happens when they are not what they seem.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use dyno_model::record::Phase;

/// The prompts of a run, in order.
fn prompts(server: &Web, place: &Place, args: &str) -> Vec<String> {
    let before = server.generations().len();
    let args = format!("--concurrency 1 --output-tokens 4 {args}");
    run(place.bench(&server.url(), &args)).expect_measured();
    let text = |seen: &Seen| seen.json()["messages"][0]["content"].as_str().unwrap().to_owned();
    server.generations()[before..].iter().map(text).collect()
}

const QUESTIONS: &str = r#"{"question": "What is a knee?", "human_answers": []}
{"question": "什么是拐点？"}
{"question": "Why three?"}
"#;

#[test]
fn questions_are_sent_in_their_order_and_again_when_they_run_out() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("open_qa.jsonl", QUESTIONS);
    let sent = prompts(&server, &place, &format!("--requests 5 --data {file}"));
    assert_eq!(
        sent,
        ["What is a knee?", "什么是拐点？", "Why three?", "What is a knee?", "什么是拐点？"]
    );
    let notes = codes(&place.json("summary.json")["notes"]);
    assert!(notes.contains(&"prompts_repeat".to_owned()), "{notes:?}");
    assert_eq!(place.json("plan.json")["data"]["spec"], file.as_str());
}

#[test]
fn a_field_of_another_name_needs_no_sed() {
    let server = Web::start(web::openai);
    let code = "{\"id\": 1, \"task\": \"sort a list\"}\n{\"id\": 2, \"task\": \"add\"}\n";
    let place = Place::new();
    let file = place.file("code.jsonl", code);
    let args = format!("--requests 2 --data {file},prompt=task");
    assert_eq!(prompts(&server, &place, &args), ["sort a list", "add"]);
    // A common name is found by itself.
    let place = Place::new();
    let file = place.file("code.jsonl", &code.replace("task", "input"));
    assert_eq!(
        prompts(&server, &place, &format!("--requests 2 --data {file}")),
        ["sort a list", "add"]
    );
}

#[test]
fn the_shuffle_and_the_limit_depend_on_the_seed_alone() {
    let server = Web::start(web::openai);
    let sent = |seed: u32| {
        let args = format!("--requests 12 --data openqa --order shuffle --limit 50 --seed {seed}");
        prompts(&server, &Place::new(), &args)
    };
    let first = sent(1);
    assert_eq!(first, sent(1));
    assert_ne!(first, sent(2));
}

#[test]
fn every_prompt_is_made_unique_on_demand() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("one.txt", "the same line\n");
    let args = format!("--requests 4 --data lines:{file} --unique-prefix");
    let mut sent = prompts(&server, &place, &args);
    assert!(sent.iter().all(|prompt| prompt.ends_with("the same line")), "{sent:?}");
    sent.sort();
    sent.dedup();
    assert_eq!(sent.len(), 4);
}

/// 200 questions, of which line 61 is cut off.
fn broken_at_61() -> String {
    let line = |number: u32| match number {
        61 => "{\"question\": \"Why 61".to_owned(),
        _ => format!("{{\"question\": \"Why {number}?\"}}"),
    };
    (1..=200).map(|number| line(number) + "\n").collect()
}

#[test]
fn a_broken_line_is_found_before_the_first_request() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("open_qa.jsonl", &broken_at_61());
    let csv: String =
        (1..=200).map(|n| format!("Why {n}?{}\n", if n == 60 { ",3" } else { "" })).collect();
    let csv = place.file("open_qa.csv", &format!("prompt\n{csv}"));
    for (file, at) in [(&file, "open_qa.jsonl:61:"), (&csv, "open_qa.csv:61:")] {
        let args = format!("--concurrency 2 --requests 20 --data {file}");
        let ended = run(place.bench(&server.url(), &args)).expect_status(&[2]);
        assert!(ended.stderr.contains(at), "{}", ended.stderr);
        assert!(ended.stderr.contains("skip_bad=true"), "{}", ended.stderr);
    }
    assert!(server.asked("").is_empty(), "nothing reached the server");
    assert!(!place.run_dir().exists());

    // With --json there are no notes.
    let said = |place: &Place, data: &str| {
        let url = server.url();
        let args = format!("bench {url} --concurrency 2 --requests 20 --out run --data {data}");
        run(place.dyno(&args)).expect_measured().stderr
    };
    let stderr = said(&place, &format!("{file},skip_bad=true"));
    assert!(stderr.contains("data: all 200 records checked"), "{stderr}");
    assert!(stderr.contains("1 of them cannot be used"), "{stderr}");
    // What --limit leaves out need not be good.
    let stderr = said(&Place::new(), &format!("{file} --limit 60"));
    assert!(stderr.contains("data: the first 60 records checked"), "{stderr}");
}

#[test]
fn a_file_that_breaks_during_the_run_ends_it_and_keeps_what_was_measured() {
    let place = Place::new();
    let good = QUESTIONS.repeat(4);
    let file = place.file("open_qa.jsonl", &good);
    let path = place.path().join("open_qa.jsonl");
    // The first level has read the file when its last requests arrive.
    let seen = std::sync::atomic::AtomicU32::new(0);
    let server = Web::start(move |request| {
        if request.is("POST") && seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 10 {
            std::fs::write(&path, format!("{good}{{broken\n")).unwrap();
        }
        web::openai(request)
    });
    let args = format!("--concurrency 1,2 --requests 12 --output-tokens 4 --data {file}");
    let ended = run(place.bench(&server.url(), &args)).expect_status(&[2]);
    let words = "open_qa.jsonl` changed while the run was going on";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert_eq!(place.json("summary.json")["levels"][0]["requests"]["completed"], 12);
}

#[test]
fn bad_records_that_were_skipped_are_counted() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let file = place.file("open_qa.jsonl", &format!("{}{{broken\n", QUESTIONS.repeat(4)));
    let args = format!("--concurrency 2 --requests 13 --data {file},skip_bad=true");
    run(place.bench(&engine.url(), &args)).expect_measured();
    let summary = place.json("summary.json");
    assert_eq!(summary["levels"][0]["requests"]["completed"], 13);
    let skipped =
        summary["notes"].as_array().unwrap().iter().find(|note| note["code"] == "data_selected");
    assert!(
        skipped.is_some_and(|note| note["what"].as_str().unwrap().ends_with(": 1")),
        "{summary}"
    );
}

#[test]
fn what_is_read_ahead_and_never_sent_does_not_count() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let file = place.file("open_qa.jsonl", &QUESTIONS.repeat(4));
    let args = format!("--concurrency 1 --requests 9 --data {file}");
    run(place.bench(&engine.url(), &args)).expect_measured();
    let notes = codes(&place.json("summary.json")["notes"]);
    assert!(!notes.contains(&"prompts_repeat".to_owned()), "{notes:?}");
}

#[test]
fn what_cannot_be_sent_is_said_before_anything_is() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let file = place.file("open_qa.jsonl", QUESTIONS);
    let args = format!("--data {file} --min-input-tokens 5000");
    let ended = run(place.bench(&engine.url(), &args)).expect_status(&[2]);
    assert!(ended.stderr.contains("open_qa.jsonl"), "{}", ended.stderr);
    assert!(!place.run_dir().exists() && engine.begun() == 0);
    let args = "--data random,prefix=64,groups=2 --input-tokens 80,10";
    let ended = run(place.bench(&engine.url(), args)).expect_status(&[2]);
    assert!(ended.stderr.contains("--input-tokens: "), "{}", ended.stderr);
    assert!(!place.run_dir().exists() && engine.begun() == 0);
}

#[test]
fn random_prompts_have_the_servers_own_length() {
    // The engine's tokenizer counts words, and its /tokenize says so.
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 4 --requests 12 --input-tokens 7,80 --output-tokens 3,16";
    run(place.bench(&engine.url(), args)).expect_measured();
    let summary = place.json("summary.json");
    let labels: Vec<&str> = summary["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["7→3 @4", "7→16 @4", "80→3 @4", "80→16 @4"]);
    let lengths = [(7, 3), (7, 16), (80, 3), (80, 16)];
    for record in place.requests().iter().filter(|record| record.phase == Phase::Measured) {
        let (input, output) = lengths[record.level as usize];
        assert_eq!(record.input.unwrap().tokens, input);
        assert_eq!(record.requested_input.map(u64::from), Some(input));
        assert_eq!(record.output.unwrap().tokens, output);
    }
    let notes = codes(&summary["notes"]);
    assert!(!notes.contains(&"tokenizer_estimate".to_owned()), "{notes:?}");
    assert!(!notes.contains(&"token_counts_differ".to_owned()), "{notes:?}");
}

#[test]
fn lengths_follow_their_distribution_and_data_bring_their_own() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 8 --requests 60 --input-tokens 20-60 --output-tokens 2-9";
    run(place.bench(&engine.url(), args)).expect_measured();
    let seen = |of: fn(&dyno_model::record::RequestRecord) -> u64| {
        let all: Vec<u64> = place.requests().iter().map(of).collect();
        (*all.iter().min().unwrap(), *all.iter().max().unwrap())
    };
    let (shortest, longest) = seen(|r| r.input.unwrap().tokens);
    assert!(shortest >= 20 && longest <= 60 && longest - shortest > 20, "{shortest} {longest}");
    let (shortest, longest) = seen(|r| r.output.unwrap().tokens);
    assert!(shortest >= 2 && longest <= 9 && longest - shortest >= 5, "{shortest} {longest}");

    let place = Place::new();
    let file = place.file("own.csv", "prompt,output_tokens\nalpha beta,5\ngamma,11\n");
    let args = format!("--concurrency 1 --requests 2 --data {file}");
    run(place.bench(&engine.url(), &args)).expect_measured();
    let mut outputs: Vec<u64> =
        place.requests().iter().map(|record| record.output.unwrap().tokens).collect();
    outputs.sort_unstable();
    assert_eq!(outputs, [5, 11]);
}

#[test]
fn data_are_shown_and_converted() {
    let place = Place::new();
    let file = place.file("open_qa.jsonl", QUESTIONS);
    let shown = run(place.dyno(&format!("data show {file}"))).expect_status(&[0]);
    for part in ["JSON lines", "3 items", "estimated", "What is a knee?", "什么是拐点？"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let convert = |spec: &str, to: &str, out: &str| {
        run(place.dyno(&format!("data convert {spec} --to {to} --out {out}")))
    };
    convert(&file, "parquet", "a.parquet").expect_status(&[0]);
    convert("a.parquet", "json", "b.json").expect_status(&[0]);
    convert("b.json", "lines", "c.txt").expect_status(&[0]);
    let lines = std::fs::read_to_string(place.path().join("c.txt")).unwrap();
    assert!(lines.contains("What is a knee?") && lines.contains("什么是拐点？"), "{lines}");
    let again = convert("b.json", "lines", "c.txt").expect_status(&[2]);
    assert!(again.stderr.contains("--out: cannot write"), "{}", again.stderr);
}

#[test]
fn a_trace_is_shown_by_its_times_lengths_and_shared_beginnings() {
    let place = Place::new();
    let rows = r#"{"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 500, "input_length": 600, "output_length": 26, "hash_ids": [46, 48]}
{"timestamp": 10000, "input_length": 700, "output_length": 0, "hash_ids": [49]}
"#;
    let file = place.file("trace.jsonl", rows);
    let shown = run(place.dyno(&format!("data show {file}"))).expect_status(&[0]);
    for part in [
        "Mooncake trace, 3 requests over 10 s, hash ids of 512-token blocks\n",
        "  0.200 per second on average\n",
        "  512 of 1,955 input tokens: a prefix cache can save 26.2 % at most\n",
        "  2  at 500 ms: 600 in, 26 out, ids 46, 48\n",
        "requests of the trace whose number of hash ids does not match their length: 1; if there \
         are many, set the number of tokens per hash id with block=\n",
        "requests of the trace recorded without output, sent with one output token: 1\n",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let part = format!("data show trace:{file},from=400ms,to=1s,speed=2");
    let part = run(place.dyno(&part)).expect_status(&[0]);
    assert!(part.stdout.contains("replayed: 1 request in 50 ms\n"), "{}", part.stdout);
    assert!(
        part.stdout.contains("requests of the trace left out by from= and to=: 2\n"),
        "{}",
        part.stdout
    );
    for (args, said) in [
        ("show trace:FILE --order shuffle", "--order: a trace is replayed in the order of its"),
        ("show trace:FILE,from=1h", "the trace runs from 0 s to 10 s"),
        ("convert FILE --to lines --out x", "no prompts to convert"),
    ] {
        let refused = run(place.dyno(&format!("data {}", args.replace("FILE", &file))));
        assert!(refused.expect_status(&[2]).stderr.contains(said), "{args}");
    }
}

/// Prompts that another program writes: kept for every level, not stored, not sent to agents.
#[test]
fn prompts_of_standard_input_are_sent_at_every_level() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("prompts.txt", "one prompt\ntwo prompts\n");
    let piped = |args: &str| {
        let args = format!("--requests 4 --output-tokens 4 --data lines:- {args}");
        let mut command = place.bench(&server.url(), &args);
        command.stdin(std::fs::File::open(&file).unwrap());
        command.output().unwrap()
    };
    let refused = piped("--concurrency 1 --agents 2");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("--agents: standard input cannot be sent to agents"), "{said}");
    piped("--concurrency 1,2");
    let text = |seen: &Seen| seen.json()["messages"][0]["content"].as_str().unwrap().to_owned();
    let mut sent: Vec<String> = server.generations().iter().map(text).collect();
    sent.sort();
    assert_eq!(sent.iter().filter(|text| *text == "one prompt").count(), 4, "{sent:?}");
    assert_eq!(sent.iter().filter(|text| *text == "two prompts").count(), 4, "{sent:?}");
    let spec = place.json("plan.json")["data"]["spec"].clone();
    assert_eq!(spec, "lines:-");
    let mut again = place.dyno("bench --resume");
    again.arg(place.run_dir());
    run(again).expect_status(&[2]).expect_words(&["from standard input, which is not stored"]);
}
