//! Other people's clients against the engine: what it serves is the API they know.

use crate::engines::EngineProcess;
use crate::place::Place;
use crate::process::run;
use std::path::PathBuf;
use std::process::Command;

/// Where `scripts/test` puts Python with the official client.
fn python() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let python = target.join("test-clients/bin/python");
    assert!(
        python.exists(),
        "the official openai client is missing at {}; run scripts/test, which installs it",
        python.display()
    );
    python
}

const SCRIPT: &str = r#"
import sys, openai
client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
model = client.models.list().data[0].id
ask = [{"role": "user", "content": "one two three"}]
extra = {"ignore_eos": True}

stream = client.chat.completions.create(
    model=model, messages=ask, stream=True, max_tokens=9,
    stream_options={"include_usage": True}, extra_body=extra)
text, finish, usage, pieces = "", None, None, 0
for chunk in stream:
    for choice in chunk.choices:
        if choice.delta.content:
            text += choice.delta.content
            pieces += 1
        finish = choice.finish_reason or finish
    usage = chunk.usage or usage
assert pieces == 9 and len(text.split()) == 9, (pieces, text)
assert finish == "length", finish
assert (usage.prompt_tokens, usage.completion_tokens) == (3, 9), usage

whole = client.chat.completions.create(model=model, messages=ask, max_tokens=5, extra_body=extra)
assert len(whole.choices[0].message.content.split()) == 5, whole
assert whole.usage.total_tokens == 8, whole

old = client.completions.create(model=model, prompt="a b", max_tokens=4, stream=True, extra_body=extra)
assert sum(1 for chunk in old if chunk.choices and chunk.choices[0].text) == 4

try:
    client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "w " * 20000}], max_tokens=5)
    raise SystemExit("a prompt over the context length was taken")
except openai.BadRequestError as error:
    assert "maximum context length" in str(error), error
print("all done", file=sys.stderr)
"#;

#[test]
fn the_official_client_streams_a_chat() {
    let place = Place::new();
    let engine = EngineProcess::with(&place, "");
    let script = place.file("chat.py", SCRIPT);
    let mut command = Command::new(python());
    command.arg(script).arg(engine.url()).current_dir(place.path());
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    run(command).expect_status(&[0]).expect_words(&["all done"]);
}
