//! Usage errors: status 2, nothing on stdout, and a message that names the flag and says what would be
//! valid.

use crate::cli::common::{dyno, run, transcript};

const MISTAKES: &[&[&str]] = &[
    &["bnech"],
    &["serve"],
    &["bench", "--concurency", "8"],
    &["bench", "--nonsense"],
    &["predict", "http://localhost:8000"],
    &["compare"],
    &["bench", "localhost:8000"],
    &["bench", "ftp://localhost"],
    &["bench", "http://me:secret@localhost"],
    &["bench", "http://localhost:8000#top"],
    &["bench", "http://localhost:99999"],
    &["bench", "http://localhost", "http://localhost"],
    &["bench", "--concurrency", "0"],
    &["bench", "--concurrency", "8 16"],
    &["bench", "--concurrency"],
    &["bench", "--rate", "x"],
    &["bench", "--rate", "-2"],
    &["bench", "--rate", "inf"],
    &["bench", "--rate", "1e9"],
    &["bench", "--rate", "1", "--rate", "2"],
    &["bench", "--rate", "1000000", "--duration", "1h"],
    &["bench", "--concurrency", "8", "--rate", "2"],
    &["bench", "--arrival", "poisson"],
    &["bench", "--rate", "2", "--arrival", "gamma"],
    &["bench", "--rate", "2", "--arrival", "gamma:0"],
    &["bench", "--ramp", "1..50 over 5m"],
    &["bench", "--ramp", "1..50/s"],
    &["bench", "--ramp", "1..50/s over 0s"],
    &["bench", "--ramp", "5..5/s over 1m"],
    &["bench", "--ramp", "-1..5/s over 1m"],
    &["bench", "--ramp", "1..5/s over 1m in 1 steps"],
    &["bench", "--ramp", "1000..100000/s over 1h"],
    &["bench", "--ramp", "0..0.1/s over 1s"],
    &["bench", "--ramp", "1..5/s over 1m", "--rate", "2"],
    &["bench", "--ramp", "1..5/s over 1m", "--duration", "2m"],
    &["bench", "--ramp", "1..5/s over 1m", "--warmup", "20"],
    &["bench", "--ramp", "0..5/s over 1m", "--warmup", "20s"],
    &["bench", "--soak", "0s", "--rate", "2"],
    &["bench", "--soak", "2h"],
    &["bench", "--soak", "2h", "--rate", "2,4"],
    &["bench", "--soak", "2h", "--rate", "2", "--output-tokens", "8,16"],
    &["bench", "--soak", "2h", "--rate", "2", "--duration", "1h"],
    &["bench", "--soak", "2h", "--rate", "2", "--requests", "100"],
    &["bench", "--soak", "2h", "--burst", "8"],
    &["bench", "--soak", "2h", "--ramp", "1..5/s over 1m"],
    &["bench", "--burst", "8", "--requests", "9"],
    &["bench", "--burst", "8", "--duration", "9s"],
    &["bench", "--burst", "8", "--warmup", "9s"],
    &["bench", "--live", "--quiet"],
    &["bench", "--no-progress", "--live"],
    &["bench", "--requests", "0"],
    &["bench", "--duration", "60"],
    &["bench", "--duration", "0s"],
    &["bench", "--duration", "-3s"],
    &["bench", "--warmup", "soon"],
    &["bench", "--input-tokens", "0"],
    &["bench", "--output-tokens", "20000000"],
    &["bench", "--temperature", "hot"],
    &["bench", "--api", "grpc"],
    &["bench", "http://h/v1/completions", "--api", "openai-chat"],
    &["bench", "--usage", "some"],
    &["bench", "--extra-body", "[1]"],
    &["bench", "--extra-body", "{\"stream\": false}"],
    &["bench", "--header", "no colon"],
    &["bench", "--header", "Host:elsewhere"],
    &["bench", "--api-key-file", "missing.txt"],
    &["bench", "--api-key", "k", "--header", "Authorization:x"],
    &["bench", "--ca-cert", "missing.pem"],
    &["bench", "--allow-failures", "150%"],
    &["bench", "--slo", "ttft.p99<500"],
    &["bench", "--slo", "tfft.p99<500ms"],
    &["bench", "--slo", "ttft<500ms and errors<1%"],
    &["bench", "--slo", "throughput<5/s"],
    &["bench", "--slo", "-1%"],
    &["bench", "--slo", "ttft.p99<500ms", "--no-stream"],
    &["bench", "--seed", "-1"],
    &["bench", "--insecure=yes"],
    &["bench", "--out", "used"],
    &["bench", "--out", "used/plan.json"],
    &["bench", "--config", "missing.toml"],
    &["bench", "--config", "unknown-key.toml"],
    &["bench", "--config", "bad-value.toml"],
    &["bench", "--config", "not.toml"],
    &["bench", "--config", "key.toml"],
    &["bench", "--config", "two-loads.toml"],
    &["engine", "--port", "70000"],
    &["engine", "--host", "example.com"],
    &["engine", "--scripted", "ttft=soon"],
    &["engine", "--fault", "gremlins"],
    &["engine", "--fault", "http-500:every=0"],
    &["report", "nowhere"],
    &["report"],
    &["report", "--format", "pdf"],
    &["report", "--lang", "fr"],
    &["report", "--per-request"],
    &["report", "--json", "--format", "csv"],
    &["help", "nonsense"],
    &["help", "unts"],
    &["bench", "--requests", "2m"],
    &["bench", "--duration", "1h30"],
    &["bench", "--duration", "5x"],
    &["runs", "--since", "soon"],
    &["runs", "delete", "nowhere", "--yes"],
    &["runs", "tag", "nowhere", "+x"],
    &["open"],
    &["completions", "tcsh"],
    &["completions"],
    &["man", "nonsense"],
];

#[test]
fn every_mistake_is_named() {
    let here = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(here.path().join(name), text).unwrap();
    write("unknown-key.toml", "seed = 1\ninput_tokens = 512\n");
    write("bad-value.toml", "seed = 1\n\nrate = \"fast\"\n");
    write("not.toml", "seed = \n");
    write("key.toml", "api-key = \"hush\"\n");
    write("two-loads.toml", "rate = 1\nburst = 2\n");
    std::fs::create_dir(here.path().join("used")).unwrap();
    write("used/plan.json", "{}");

    let mut all = String::new();
    for args in MISTAKES {
        let output = run(here.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
        for secret in ["secret", "hush"] {
            assert!(!stderr.contains(secret), "{args:?}: {stderr}");
        }
        all.push_str(&format!("$ dyno {}\n{stderr}\n", args.join(" ")));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn arguments_that_are_not_utf8_do_not_panic() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let here = tempfile::tempdir().unwrap();
    for flag in ["--rate", "--header", "--model", "--config", "--out", "--api-key-file"] {
        let mut command = dyno(here.path(), &["bench", "http://h", "--concurrency", "x", flag]);
        let output = command.arg(OsStr::from_bytes(b"\xff\xfe")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag}");
    }
}

#[test]
fn the_version_is_printed() {
    let here = tempfile::tempdir().unwrap();
    let version = transcript(here.path(), &["--version"]);
    assert!(version.contains(concat!("dyno ", env!("CARGO_PKG_VERSION"))), "{version}");
}
