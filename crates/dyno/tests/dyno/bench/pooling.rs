//! Embeddings, rerankers and scores: many texts in a request, one body in response, and no stream.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::{Ended, run};
use crate::bench::web::{self, Web};
use dyno_model::outcome::{FailureClass, Outcome};
use serde_json::{Value, json};

/// Slow enough for any machine to measure, with lengths that a script counts as asked.
const SLOW: &str = "ttft=40ms,itl=1ms,tokens=16";
const FEW: &str = "--concurrency 2 --requests 12";

fn measured(place: &Place, url: &str, args: &str) -> Value {
    let ended = run(place.bench(url, args)).expect_measured();
    ended.json()
}

#[test]
fn embeddings_are_measured_by_texts_and_have_no_token_times() {
    let engine = Engine::start(SLOW, &[]);
    let place = Place::new();
    let args = format!("{FEW} --api openai-embeddings --inputs 8 --input-tokens 32");
    let summary = measured(&place, &engine.url(), &args);
    let level = &summary["levels"][0];
    assert_eq!(level["requests"]["completed"], 12, "{level:#}");
    assert_eq!(level["inputs_per_request"], 8.0);
    let rate = |name: &str| level["throughput"][name].as_f64().unwrap();
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
    assert!(close(rate("inputs_per_s"), 8.0 * rate("requests_per_s")));
    // The engine counts words, of which a text has as many as was asked for.
    assert!(close(rate("input_tokens_per_s"), 8.0 * 32.0 * rate("requests_per_s")), "{level:#}");
    assert!(rate("body_bytes_per_s") > 0.0);
    for absent in ["ttft_ms", "tpot_ms", "itl_ms", "chunk_gap_ms", "output_length"] {
        assert_eq!(level[absent], Value::Null, "{absent}");
    }
    let mean = |name: &str| level[name]["mean"].as_f64().unwrap();
    assert!(mean("headers_ms") <= mean("latency_ms"), "{level:#}");
    let found = codes(&level["notes"]);
    for length in ["output_length", "tokens_unknown", "input_length"] {
        assert!(!found.contains(&length.to_owned()), "{found:?}");
    }
    let noted = codes(&place.json("environment.json")["notes"]);
    assert!(!noted.iter().any(|code| code.contains("length") || code == "no_usage"), "{noted:?}");
    let preflight = &place.json("environment.json")["preflight"];
    assert!(preflight["dimensions"].as_u64().is_some_and(|size| size > 0), "{preflight}");
    for record in place.requests() {
        assert_eq!((record.inputs, record.requested_output), (Some(8), None));
        assert!(record.body_bytes.is_some_and(|bytes| bytes > 8 * 16) && !record.streamed);
        assert!(record.headers.is_some());
    }
}

#[test]
fn every_report_shows_texts_instead_of_tokens_that_there_are_not() {
    let engine = Engine::start(SLOW, &[]);
    let place = Place::new();
    let args = format!("{FEW} --api openai-embeddings --inputs 4 --report html,svg,markdown,csv");
    let summary = measured(&place, &engine.url(), &args);
    let report = |args: &str| run(place.dyno(args)).expect_status(&[0]).stdout;
    let text = report("report run").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("inputs/s"), "{text}");
    let level = &summary["levels"][0];
    let value = |time: &str, which: &str| level[time][which].as_f64();
    let differ = ["mean", "p50", "p99"].iter().any(|which| {
        let both = value("headers_ms", which).zip(value("latency_ms", which));
        both.is_some_and(|(headers, latency)| latency - headers > 0.01 * latency)
    });
    assert_eq!(text.contains("headers after"), differ, "{text}");
    assert!(text.contains("4 inputs and"), "{text}");
    let markdown = report("report run --format markdown");
    assert!(markdown.contains("| Inputs/s |"), "{markdown}");
    for document in [text, markdown] {
        for absent in ["TTFT", "TPOT", "ITL", "out tok/s", "Output tokens"] {
            assert!(!document.contains(absent), "{absent} in:\n{document}");
        }
    }
    let csv = report("report run --format csv");
    let (head, row) = csv.split_once('\n').unwrap();
    // Reasons of a verdict may hold commas, in quotes.
    let plain: String = row.split('"').step_by(2).collect();
    let cells = head.trim_end().split(',').zip(plain.trim_end().split(','));
    let cell = |name: &str| cells.clone().find(|(head, _)| *head == name).unwrap().1.to_owned();
    assert_eq!(cell("inputs_per_request"), "4");
    assert!(cell("headers_p50_ms").parse::<f64>().unwrap() > 0.0 && cell("ttft_p50_ms").is_empty());
    // Lines of Chinese break between any two characters.
    let chinese: String = report("report run --lang zh").split_whitespace().collect();
    assert_eq!(
        (chinese.contains("条/秒"), chinese.contains("响应头")),
        (true, differ),
        "{chinese}"
    );
}

#[test]
fn a_list_of_inputs_is_a_grid() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 1,2 --requests 4 --api openai-embeddings --inputs 1,16 \
                --input-tokens 8";
    let summary = measured(&place, &engine.url(), args);
    let levels: Vec<(&Value, &Value)> = summary["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| (&level["label"], &level["inputs_per_request"]))
        .collect();
    // Which of the two numbers is the length is said.
    let expected =
        [("8 tok×1 @1", 1.0), ("8 tok×16 @1", 16.0), ("8 tok×1 @2", 1.0), ("8 tok×16 @2", 16.0)];
    let expected: Vec<(Value, Value)> =
        expected.iter().map(|(label, inputs)| (json!(label), json!(inputs))).collect();
    assert_eq!(levels, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
}

#[test]
fn rerankers_and_scores_count_documents() {
    for api in ["rerank", "tei-rerank", "score"] {
        let engine = Engine::start(QUICK, &[]);
        let place = Place::new();
        let args = format!("{FEW} --api {api} --inputs 5 --input-tokens 40");
        let level = &measured(&place, &engine.url(), &args)["levels"][0];
        assert_eq!(level["requests"]["completed"], 12, "{api}: {level:#}");
        assert_eq!(level["inputs_per_request"], 5.0);
        // A query of 10 tokens is read with each of 5 documents of 30.
        let tokens = level["input_tokens"]["mean"].as_f64().unwrap();
        assert!((tokens - 5.0 * 40.0).abs() <= 5.0, "{api}: {tokens}");
        let record = place.requests().pop().unwrap();
        assert_eq!(record.requested_input, Some(10 + 5 * 30), "each text counts once");
        let notes = level["notes"].as_array().unwrap();
        let counted = notes.iter().find(|note| note["code"] == "pairs_counted").unwrap();
        assert!(counted["what"].as_str().unwrap().contains("160"), "{counted}");
        if api == "tei-rerank" {
            assert!(record.server.is_some_and(|times| times.total.is_some()));
        }
    }
}

/// SGLang scores by the probabilities of tokens, which the user has to name.
#[test]
fn labels_make_scores_those_of_sglang() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let labels = r#"{"label_token_ids":[9454,2753]}"#;
    let args = format!("{FEW} --api score --inputs 5 --input-tokens 40 --extra-body {labels}");
    let level = &measured(&place, &engine.url(), &args)["levels"][0];
    assert_eq!(level["requests"]["completed"], 12, "{level:#}");
    assert_eq!(level["inputs_per_request"], 5.0);

    let server = Web::start(|request| match request.is("POST /v1/score") {
        true => web::json("200 OK", r#"{"scores":[[0.5,0.5],[0.1,0.9]],"object":"scoring"}"#),
        false => web::openai(request),
    });
    let place = Place::new();
    let args = format!("{FEW} --api score --inputs 2 --input-tokens 40 --extra-body {labels}");
    let level = &measured(&place, &server.url(), &args)["levels"][0];
    assert_eq!(level["requests"]["completed"], 12, "{level:#}");
    for sent in server.generations() {
        let body = sent.json();
        assert!(body["query"].is_string() && body.get("text_1").is_none(), "{body}");
        assert_eq!(body["items"].as_array().map(Vec::len), Some(2), "{body}");
        assert_eq!(body["label_token_ids"], json!([9454, 2753]));
    }
}

#[test]
fn texts_and_lists_of_a_file_are_sent() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    place.file("lines.txt", "one two\nthree\nfour five six\nseven\n");
    let summary = |place: &Place, args: &str| measured(place, &engine.url(), args);
    let args = "--api openai-embeddings --concurrency 1 --requests 2 --inputs 2 --data lines.txt";
    summary(&place, args);
    let tokens: Vec<u64> = place.requests().iter().map(|r| r.input.unwrap().tokens).collect();
    assert_eq!(tokens, [3, 4], "two texts each, in the order of the file");
    let args = "--api openai-embeddings --concurrency 1 --requests 4 --inputs 2 --data lines.txt";
    let place = Place::new();
    place.file("lines.txt", "one two\nthree\n");
    summary(&place, args);
    let notes = place.json("environment.json")["notes"].to_string();
    assert!(notes.contains("some texts were sent more than once"), "{notes}");
    assert!(!notes.contains("--unique-prefix"), "{notes}");

    let place = Place::new();
    let lists = "{\"query\": \"what\", \"documents\": [\"a b\", \"c\", \"d\"]}\n\
                 {\"query\": \"who\", \"passages\": [\"a\"]}\n";
    place.file("ranked.jsonl", lists);
    summary(&place, "--api rerank --concurrency 1 --requests 2 --data ranked.jsonl");
    let inputs: Vec<_> = place.requests().iter().map(|record| record.inputs).collect();
    assert_eq!(inputs, [Some(3), Some(1)]);
    // Elsewhere it is a prompt, and the plan says which API it is.
    let shown = run(place.dyno("data show ranked.jsonl")).expect_status(&[0]).stdout;
    assert!(shown.contains("--api rerank"), "{shown}");
    let plan = format!("bench {}/v1/rerank --concurrency 1 --requests 2 --dry-run", engine.url());
    let plan = run(place.dyno(&plan)).expect_status(&[0]).stdout;
    assert!(plan.contains("API: rerank."), "{plan}");
    let args = "--api rerank --requests 2 --data ranked.jsonl --inputs 4";
    run(place.dyno(&format!("bench {} --out other {args}", engine.url())))
        .expect_status(&[2])
        .expect_words(&["--inputs", "records of the data"]);
}

/// A server that lists a model and responds to everything else with `body`.
fn responding(body: &'static str) -> Web {
    Web::start(move |request| match request.is("GET ") {
        true => web::models(&["m"]),
        false => web::json("200 OK", body),
    })
}

#[test]
fn fewer_vectors_than_texts_are_a_failure() {
    let server = responding(
        r#"{"object":"list","data":[{"index":0,"embedding":[0.1,0.2]}],"usage":{"prompt_tokens":4}}"#,
    );
    let place = Place::new();
    let args = "--concurrency 1 --requests 3 --api openai-embeddings --inputs 4";
    run(place.bench(&server.url(), args)).expect_status(&[5]);
    for record in place.requests() {
        assert_eq!(record.outcome, Outcome::Failed(FailureClass::OutputShort));
        assert_eq!(record.detail.unwrap().to_string(), "1 results for 4 inputs");
    }
    // A run without a single success is still one of embeddings.
    assert_eq!(place.json("summary.json")["levels"][0]["inputs_per_request"], 4.0);
    let text = run(place.dyno("report run")).stdout;
    assert!(text.contains("inputs/s") && !text.contains("out tok/s"), "{text}");
}

#[test]
fn what_a_reranker_leaves_out_because_it_was_told_to_is_no_failure() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let mut command =
        place.bench(&engine.url(), &format!("{FEW} --api rerank --inputs 4 --input-tokens 16"));
    command.args(["--extra-body", r#"{"top_n": 2}"#]);
    let summary = run(command).expect_measured().json();
    assert_eq!(summary["levels"][0]["requests"]["completed"], 12);
}

fn refused(args: &str, words: &[&str]) -> Ended {
    run(Place::new().dyno(args)).expect_status(&[2]).expect_words(words)
}

#[test]
fn flags_that_make_no_sense_are_refused() {
    let api = "--api openai-embeddings";
    for (args, words) in [
        (format!("bench {api} --slo ttft.p99<1s"), ["ttft.p99", "not measured with openai-emb"]),
        (format!("bench {api} --output-tokens 8"), ["--output-tokens", "generates no text"]),
        (format!("bench {api} --until-stable=tpot.mean"), ["tpot.mean", "not measured"]),
        (format!("bench {api} --inputs 0"), ["--inputs", "from 1 to"]),
        (format!("predict {api} --requests 5"), ["--api", "a twin predicts"]),
        ("bench --inputs 4".to_owned(), ["--inputs", "openai-chat generates text"]),
        ("bench --slo inputs>5/s".to_owned(), ["inputs", "not measured with openai-chat"]),
    ] {
        refused(&args, &words);
    }
}

#[test]
fn runs_are_compared_by_texts_and_a_capacity_is_found() {
    let place = Place::new();
    let engine = EngineProcess::start(&place, "ttft=200ms,itl=1ms,tokens=16");
    let url = engine.url();
    let args = "--concurrency 8 --requests 64 --api openai-embeddings --inputs 4 --seed 1";
    for out in ["a", "b"] {
        run(place.dyno(&format!("bench {url} --out {out} --quiet {args}"))).expect_measured();
    }
    let compared = run(place.dyno("compare a b --format json")).expect_status(&[0, 6]).stdout;
    assert!(compared.contains("inputs_per_s") && !compared.contains("ttft_mean"), "{compared}");
    let gate = "gate b --baseline a --max-regression 50% --metric inputs_per_s --json";
    let gate = run(place.dyno(gate)).expect_status(&[0, 6]);
    assert!(gate.stdout.contains("inputs_per_s"), "{}", gate.said());
    let other = "--concurrency 8 --requests 16 --api openai-embeddings --inputs 8";
    run(place.dyno(&format!("bench {url} --out c --quiet {other}"))).expect_measured();
    let apart = run(place.dyno("compare a c")).expect_status(&[6]);
    assert!(apart.said().contains("the same --inputs"), "{}", apart.said());

    // Its verdicts alone decide its status, not those of the runs above.
    let alone = Place::new();
    let mut command = alone.dyno(&format!(
        "capacity {url} --out found --quiet --api openai-embeddings --over concurrency \
         --between 8..16 --levels 4 --requests 120 --inputs 2"
    ));
    command.args(["--slo", "latency.p90<30s"]);
    let found = run(command).expect_measured();
    assert!(found.stdout.contains(" for latency.p90<30s"), "{}", found.said());
}
