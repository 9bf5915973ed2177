//! Other people's clients against the engine: what it serves is the API they know.

use crate::bench::engines::EngineProcess;
use crate::bench::place::{NOT_OURS, Place};
use crate::bench::process::run;
use std::path::PathBuf;
use std::process::Command;

/// Where `scripts/test` puts Python with the clients.
fn python() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let python = target.join("test-clients/bin/python");
    assert!(
        python.exists(),
        "the official clients are missing at {}; run scripts/test, which installs them",
        python.display()
    );
    python
}

/// What the engine calls its model.
const MODEL: &str = "harbour-7b";

/// Runs a script with a client, which is given the engine's address and the name of its model.
fn satisfies(script: &str) {
    let place = Place::new();
    let engine = EngineProcess::with(&place, &format!("--model {MODEL}"));
    let script = place.file("client.py", script);
    let mut command = Command::new(python());
    command.arg(script).args([engine.url().as_str(), MODEL]).current_dir(place.path());
    NOT_OURS.iter().for_each(|name| {
        command.env_remove(name);
    });
    run(command).expect_status(&[0]).expect_words(&["all done"]);
}

#[test]
fn openai_streams_chats_and_responses_and_embeds() {
    satisfies(include_str!("clients/openai_client.py"));
}

#[test]
fn anthropic_streams_messages_and_counts_tokens() {
    satisfies(include_str!("clients/anthropic_client.py"));
}

#[test]
fn ollama_chats_and_generates() {
    satisfies(include_str!("clients/ollama_client.py"));
}

#[test]
fn cohere_ranks_documents() {
    satisfies(include_str!("clients/cohere_client.py"));
}
