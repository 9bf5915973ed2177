//! Messages in a Chinese locale.

use crate::common::dyno;

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
const MISTAKES: [&[&str]; 12] = [
    &["bnch"],
    &["bench", "--foo"],
    &["bench", "--concurrency", "0"],
    &["bench", "--rate", "1", "--burst", "3"],
    &["bench", "--config", "settings.toml"],
    &["bench", "--api-key-file", "no such file"],
    &["bench", "--extra-body", "[1]"],
    &["bench", "--ramp", "steep"],
    &["bench", "--slo", "ttft.p99<1s", "--no-stream"],
    &["capacity"],
    &["report", "--percentiles", "42"],
    &["baseline", "list"],
];

/// Three English words in a row, apart from what is quoted: a sentence that was not translated.
fn english(text: &str) -> Option<String> {
    let unquoted: String = text.split('`').step_by(2).collect();
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
