//! The same seed sends the same bytes, whatever the data are (and, in conversations, given the
//! same answers); another seed sends others wherever anything is drawn.

use crate::bench::place::Place;
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A server whose answer depends on the request and on nothing else.
fn echoing() -> Web {
    Web::start(|request: &Seen| {
        if request.is("GET") || request.header("x-dyno-preflight").is_some() {
            return web::openai(request);
        }
        let mut hasher = DefaultHasher::new();
        request.body.hash(&mut hasher);
        web::spoken(request, &format!("{:x}", hasher.finish()))
    })
}

/// Everything that a run sends. An open loop sends on many connections, whose order is not ours.
fn bytes(server: &Web, data: &str, load: &str, seed: u64) -> Vec<(String, Vec<u8>)> {
    let before = server.generations().len();
    let args = format!("--data {data} {load} --seed {seed}");
    run(Place::new().bench(&server.url(), &args)).expect_measured();
    let sent = server.generations().split_off(before).into_iter();
    let mut sent: Vec<_> = sent.map(|seen| (seen.head, seen.body)).collect();
    if !load.contains("--concurrency") {
        sent.sort();
    }
    sent
}

/// Files of every kind that is read.
struct Files {
    place: Place,
    json: String,
    csv: String,
    parquet: String,
    lines: String,
    sharegpt: String,
    trace: String,
}

fn files() -> Files {
    let place = Place::new();
    let many = |line: &dyn Fn(u32) -> String| (0..20).map(line).collect::<String>();
    let json = place.file("a.jsonl", &many(&|i| format!("{{\"prompt\": \"say {i}\"}}\n")));
    let csv = format!("prompt,output_tokens\n{}", many(&|i| format!("say {i},{}\n", 1 + i % 4)));
    let csv = place.file("a.csv", &csv);
    let lines = place.file("a.txt", &many(&|i| format!("line {i}\n")));
    let talk = many(&|i| {
        format!(
            "{{\"conversations\": [{{\"from\": \"human\", \"value\": \"q{i}\"}}, \
             {{\"from\": \"gpt\", \"value\": \"a\"}}, {{\"from\": \"human\", \"value\": \"r{i}\"}}]}}\n"
        )
    });
    let sharegpt = place.file("talk.jsonl", &talk);
    let trace = many(&|i| {
        format!(
            "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": 2, \
             \"hash_ids\": [{}, {i}]}}\n",
            i * 3,
            513 + i,
            100 + i % 4
        )
    });
    let trace = place.file("trace.jsonl", &trace);
    let parquet = place.path().join("a.parquet").to_str().unwrap().to_owned();
    let convert = format!("data convert {json} --to parquet --out {parquet}");
    run(place.dyno(&convert)).expect_status(&[0]);
    Files { place, json, csv, parquet, lines, sharegpt, trace }
}

#[test]
fn the_same_seed_sends_the_same_bytes_of_every_kind() {
    let server = echoing();
    let files = files();
    assert!(files.place.path().exists());
    let Files { json, csv, parquet, lines, sharegpt, trace, .. } = &files;
    let closed = "--concurrency 1 --requests 6 --output-tokens 1-5";
    let kinds: Vec<(String, String)> = vec![
        ("openqa".into(), format!("{closed} --order shuffle")),
        ("long".into(), format!("{closed} --unique-prefix")),
        (format!("lines:{lines}"), format!("{closed} --order shuffle")),
        (format!("json:{json}"), format!("{closed} --order shuffle --limit 9")),
        (format!("csv:{csv}"), format!("{closed} --order shuffle --unique-prefix")),
        (format!("parquet:{parquet}"), format!("{closed} --order shuffle")),
        (format!("sharegpt:{sharegpt},turns=all"), format!("{closed} --order shuffle")),
        ("random".into(), format!("{closed} --input-tokens 20-90")),
        ("random,prefix=30,groups=2".into(), format!("{closed} --input-tokens 60")),
        ("session,turns=2-4".into(), format!("{closed} --input-tokens 30")),
        (format!("session:{sharegpt}"), format!("{closed} --order shuffle")),
        (format!("trace:{trace}"), String::new()),
        ("random".into(), "--rate 200 --requests 6 --output-tokens 1-5".to_owned()),
    ];
    let mut runner = TestRunner::new(Config { cases: 3, ..Config::default() });
    for (data, load) in &kinds {
        runner
            .run(&(0_u64..1 << 40), |seed| {
                let first = bytes(&server, data, load, seed);
                prop_assert!(first.len() >= 6, "{data}: {} requests", first.len());
                prop_assert_eq!(&first, &bytes(&server, data, load, seed), "{}", data);
                prop_assert_ne!(&first, &bytes(&server, data, load, seed + 1), "{}", data);
                Ok(())
            })
            .unwrap();
    }
}
