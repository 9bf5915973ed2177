//! Messages in a Chinese locale.

use crate::cli::common::dyno;

#[test]
fn notes_and_prefixes_follow_the_locale() {
    let here = tempfile::tempdir().unwrap();
    let args = ["predict", "--concurrency", "1", "--requests", "2", "--out", "run"];
    let output = dyno(here.path(), &args).env("LANG", "zh_CN.UTF-8").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for text in ["提示：使用孪生模型", "提示：随机种子 0", "测试目录：run", "报告：run/report.html"]
    {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(!said.contains("note:") && !said.contains("run directory"), "{said}");
    let mut english = dyno(here.path(), &["report", "run", "--lang", "en"]);
    let english = english.env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert!(String::from_utf8_lossy(&english.stdout).contains("valid"));
    let wrong = dyno(here.path(), &["bench", "--rate", "x"]).env("LC_ALL", "zh").output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("错误：--rate"), "{wrong:?}");
}

/// Mistakes of different kinds: flags, values, combinations, files, settings, levels and columns.
const MISTAKES: [&[&str]; 16] = [
    &["bnch"],
    &["bench", "--foo"],
    &["bench", "--concurrency", "0"],
    &["bench", "--rate", "1", "--burst", "3"],
    &["bench", "--config", "settings.toml"],
    &["bench", "--api-key-file", "no such file"],
    &["bench", "--extra-body", "[1]"],
    &["bench", "--ramp", "steep"],
    &["bench", "--slo", "ttft.p99<1s", "--no-stream"],
    &["bench", "--out", "settings.toml"],
    &["capacity"],
    &["capacity", "--slo", "ttft.p99<1s", "--concurrency", "4"],
    &["doctor", "--lang", "fr"],
    &["runs", "--dir", "nowhere"],
    &["report", "--percentiles", "42"],
    &["baseline", "list"],
];

/// Three English words in a row, apart from what is quoted: a sentence that was not translated.
fn english(text: &str) -> Option<String> {
    let unquoted: String = text.split('`').step_by(2).collect();
    let unquoted: String = unquoted.split(['“', '”']).step_by(2).collect();
    let mut row = Vec::new();
    for word in unquoted.split([' ', '\n']) {
        match !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()) {
            true => row.push(word),
            false => row.clear(),
        }
        if row.len() == 3 {
            return Some(row.join(" "));
        }
    }
    None
}

#[test]
fn mistakes_are_explained_in_chinese() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("settings.toml"), "rates = 1\n").unwrap();
    for args in MISTAKES {
        let output = dyno(here.path(), args).env("LANG", "zh_CN.UTF-8").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.starts_with("错误："), "{args:?}: {said}");
        assert_eq!(english(&said), None, "{args:?}: {said}");
        let chinese = |line: &str| line.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(said.lines().all(chinese), "{args:?}: {said}");

        let mut command = dyno(here.path(), args);
        let output = command.env("LANG", "zh_CN.UTF-8").env("LC_ALL", "C").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("error: ") && !said.lines().any(chinese), "{args:?}: {said}");
    }
}

/// What people type when they come from another tool, in a hurry, or for the first time.
const TYPICAL: [&[&str]; 25] = [
    &["bench", "localhost:8000"],
    &["bench", "http://127.0.0.1:1", "--concurrency", "1", "--requests", "1"],
    &["bench", "--duration", "60"],
    &["bench", "--requests", "2m"],
    &["bench", "--concurrency", "8 16"],
    &["bench", "--concurrency", "0"],
    &["bench", "--concurrency", "8", "--rate", "2"],
    &["bench", "http://127.0.0.1:1", "--sweep", "8"],
    &[
        "bench",
        "--backend",
        "vllm",
        "--base-url",
        "http://127.0.0.1:1",
        "--num-prompts",
        "100",
        "--request-rate",
        "4",
        "--ignore-eos",
        "--save-result",
    ],
    &["bench", "--timeout", "30s"],
    &["bench", "--png"],
    &["bench", "--top-p", "0.9"],
    &["bench", "--concurency", "8"],
    &["bench", "--slo", "ttft<500ms"],
    &["bench", "--slo", "ttft.p99<500"],
    &["bench", "--slo", "throughput<5/s"],
    &["bench", "--extra-body", "{top_p: 0.9}"],
    &["bench", "--header", "X-Team core"],
    &["bench", "--data", "missing.jsonl"],
    &["bench", "--api", "grpc"],
    &["bench", "--out", "used"],
    &["capacity"],
    &["setup"],
    &["report", "nowhere"],
    &["report", "--format", "pdf"],
];

/// Each with its message in both languages, for reading aloud.
#[test]
fn twenty_five_typical_mistakes_are_explained() {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("used")).unwrap();
    std::fs::write(here.path().join("used/plan.json"), "{}").unwrap();
    let chinese = |line: &str| line.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let mut all = String::new();
    for args in TYPICAL {
        all.push_str(&format!("$ dyno {}\n", args.join(" ")));
        for locale in ["C", "zh_CN.UTF-8"] {
            let output = dyno(here.path(), args).env("LC_ALL", locale).output().unwrap();
            assert!(matches!(output.status.code(), Some(2 | 3)), "{args:?}: {output:?}");
            let said = String::from_utf8(output.stderr).unwrap();
            let said: String = said
                .lines()
                .filter(|line| !line.starts_with("note: ") && !line.starts_with("提示："))
                .map(|line| format!("{line}\n"))
                .collect();
            if locale == "C" {
                assert!(said.starts_with("error: ") && !said.lines().any(chinese), "{said}");
            } else {
                assert!(said.starts_with("错误：") && said.lines().all(chinese), "{said}");
                assert_eq!(english(&said), None, "{args:?}: {said}");
            }
            all.push_str(&said);
        }
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

/// What `dyno data show` prints in Chinese.
fn shown(here: &std::path::Path, spec: &str) -> String {
    let mut command = dyno(here, &["data", "show", spec]);
    let output = command.env("LANG", "zh_CN.UTF-8").output().unwrap();
    String::from_utf8(if output.status.success() { output.stdout } else { output.stderr }).unwrap()
}

#[test]
fn data_are_shown_in_chinese_with_their_samples() {
    let here = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(here.path().join(name), text).unwrap();
    write("gate.csv", "chat,sent,in,out\na,0,120,30\na,4500,300,20\n,5000,80,4\n");
    let sessions =
        shown(here.path(), "trace:gate.csv,session=chat,time=sent,unit=ms,input=in,output=out");
    for line in [
        "gate.csv：按指定字段读取的会话，2 个会话，共 3 个请求，时长 5 s",
        "  1  输入 120，输出 30；4.5 s 后：输入 300，输出 20",
        "  2  输入 80，输出 4",
        "流量记录中会话字段为空、各自作为一个会话回放的请求：1",
    ] {
        assert!(sessions.lines().any(|shown| shown.ends_with(line)), "{line}: {sessions}");
    }
    let plain = shown(here.path(), "trace:gate.csv,time=sent,unit=ms,input=in,output=out");
    assert!(plain.contains("\n  2  4.5 s：输入 300，输出 20\n"), "{plain}");
    let missing =
        shown(here.path(), "trace:gate.csv,session=chatt,time=sent,unit=ms,input=in,output=out");
    assert!(
        missing.contains("没有 session= 指定的字段 \"chatt\"；字段有 chat, in, out, sent"),
        "{missing}"
    );

    let long = format!("{{\"prompt\":\"{}\"}}\n", "x".repeat(212));
    write("long.jsonl", &long);
    let prompts = shown(here.path(), "long.jsonl");
    assert!(prompts.contains("x……（略去 52 个字符）"), "{prompts}");
    write("body.jsonl", "{\"model\":\"mine\",\"prompt\":\"Why?\",\"top_k\":3}\n");
    let body = shown(here.path(), "body.jsonl");
    assert!(body.contains("测试会设置 model、stream"), "{body}");
}

#[test]
fn a_plan_follows_the_locale() {
    let here = tempfile::tempdir().unwrap();
    let args = ["predict", "--concurrency", "1,8", "--duration", "60s", "--warmup", "10s"];
    let mut command = dyno(here.path(), &[&args[..], &["--dry-run"]].concat());
    let output = command.env("LANG", "zh_CN.UTF-8").output().unwrap();
    let plan = String::from_utf8(output.stdout).unwrap();
    for text in ["2 个档位：", "并发 8", "输入 256，输出 64", "60s，预热 10s 后", "档位之间："]
    {
        assert!(plan.contains(text), "{text}: {plan}");
    }
    assert_eq!(english(&plan), None, "{plan}");
}

#[test]
fn english_is_noticed() {
    assert_eq!(english("错误：`a b c d` 与 --rate 的 some text here").unwrap(), "some text here");
    assert_eq!(english("--ramp '1..50/s over 5m in 10 steps'"), None);
}
