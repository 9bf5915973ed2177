//! Which fields of a file are sent, and what is said about the others.

use crate::bench::place::Place;
use crate::bench::process::run;
use crate::bench::web::{self, Web};

/// What a server gets of a file: its first request's messages by role.
fn first_request(name: &str, text: &str, options: &str) -> (Vec<String>, String) {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file(name, text);
    let url = server.url();
    let args = format!(
        "bench {url} --concurrency 1 --requests 1 --output-tokens 4 --out run --data {file}{options}"
    );
    let ended = run(place.dyno(&args)).expect_measured();
    let request = server.generations().first().expect("a request").json();
    let said = |message: &serde_json::Value| {
        format!("{}: {}", message["role"].as_str().unwrap(), message["content"].as_str().unwrap())
    };
    (request["messages"].as_array().unwrap().iter().map(said).collect(), ended.stderr)
}

#[test]
fn an_instruction_is_sent_with_its_context() {
    let record = r#"{"instruction": "Which bird?", "context": "The moa.", "response": "It"}"#;
    let (sent, stderr) = first_request("dolly.jsonl", record, "");
    assert_eq!(sent, ["user: Which bird?\n\nThe moa."]);
    assert!(stderr.contains("prompt from \"instruction\" + \"context\""), "{stderr}");
    assert!(!stderr.contains("not sent"), "{stderr}");
}

#[test]
fn a_logged_request_is_sent_without_its_response() {
    let log = r#"{"model": "other", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}], "temperature": 0.1}"#;
    assert_eq!(first_request("log.jsonl", log, "").0, ["user: hi"]);
    let batch = format!("{{\"custom_id\": \"1\", \"method\": \"POST\", \"body\": {log}}}");
    assert_eq!(first_request("batch.jsonl", &batch, "").0, ["user: hi"]);
}

#[test]
fn long_text_that_is_not_sent_is_said_before_the_run() {
    let evidence = "The lamp was lit every night. ".repeat(20);
    let record = format!("{{\"prompt\": \"Who lit it?\", \"evidence\": \"{evidence}\"}}");
    let (sent, stderr) = first_request("own.jsonl", &record, "");
    assert_eq!(sent, ["user: Who lit it?"]);
    let warning = "the field \"evidence\" is not sent, although it is longer than the prompts (600 \
                   characters on average, the prompts 11); write context=evidence";
    assert!(stderr.starts_with("warning: ") && stderr.contains(warning), "{stderr}");
    let (sent, stderr) = first_request("own.jsonl", &record, ",context=evidence");
    assert_eq!(sent, [format!("user: {evidence}\n\nWho lit it?")]);
    assert!(!stderr.contains("warning: "), "{stderr}");
}

#[test]
fn what_is_sent_and_what_is_not_is_shown_in_both_languages() {
    let place = Place::new();
    let record =
        r#"{"question": "Why?", "system": "Be brief.", "note": "a\u001b[31mred", "tags": []}"#;
    let file = place.file("q.jsonl", record);
    let english = run(place.dyno(&format!("data show {file}"))).expect_status(&[0]).stdout;
    for line in [
        "fields\n  prompt: \"question\"\n  system message: \"system\"\n",
        "  not sent: \"note\", for example a\\u{1b}[31mred\n",
        "\nthe first request, about 5 tokens (estimated)\n  system: Be brief.\n  user: Why?\n",
    ] {
        assert!(english.contains(line), "{english}");
    }
    let chinese = place.dyno(&format!("data show {file}")).env("LANG", "zh_CN.UTF-8").output();
    let chinese = String::from_utf8(chinese.unwrap().stdout).unwrap();
    for line in [
        "字段\n  提示词：\"question\"\n  系统消息：\"system\"\n",
        "  不发送：\"note\"，例如 a\\u{1b}[31mred\n",
        "\n第一个请求，约 5 个 token（估计）\n  system: Be brief.\n  user: Why?\n",
    ] {
        assert!(chinese.contains(line), "{chinese}");
    }
}
