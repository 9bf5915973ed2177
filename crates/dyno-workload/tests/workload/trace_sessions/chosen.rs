//! What a specification names, cuts and speeds up.

use super::forms::*;
use super::*;

#[test]
fn what_a_specification_names() {
    let place = tempfile::tempdir().expect("folder");
    let path = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let lab = path("lab.jsonl", &trace_lab());
    let talk = json!({"conversation_id": "c", "turn": 1, "role": "user", "content": "Hi"});
    let talk = path("talk.jsonl", &lines(&[talk]));
    let flat = path("flat.jsonl", "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}\n");
    let named = |text: String| TraceSessions::named_by(&text.parse().expect("good"));
    for kind in ["", "trace:", "session:"] {
        assert_eq!(named(format!("{kind}{lab}")), Some(SessionsOf::Lengths));
        assert_eq!(named(format!("{kind}{flat}")), None);
    }
    assert_eq!(named(format!("session:{talk}")), Some(SessionsOf::Text));
    assert_eq!(named(format!("json:{lab}")), None);
    // A whole mapping without sessions replays the requests at their times.
    let flat = "time=timing_events.1.timestamp,input=input_tokens_total,output=output_tokens";
    assert_eq!(named(format!("trace:{lab},{flat}")), None);
    let error = opened(
        "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}\n",
        "session:f",
        Starts::Given,
    );
    assert_eq!(
        error.expect_err("no sessions").to_string(),
        "f is not session: it holds requests that do not wait for each other; replay it with \
         trace:FILE, or name the field of their sessions with session="
    );
}

#[test]
fn sessions_are_cut_limited_and_sped_up() {
    let read = |spec: &str, limits| limited(&trace_lab(), spec, Starts::Recorded, limits);
    let none = TraceLimits::default();
    let fast = read("trace:t,speed=2", none).expect("both");
    assert_eq!(starts(&fast), [0, 150]);
    assert_eq!(sessions(&fast)[0][1], (250, 1_200, 60), "pauses, too");
    let late = read("trace:t,from=200ms", none).expect("one");
    assert_eq!((starts(&late), late.tally().outside), (vec![100], 3));
    assert_eq!(
        late.recognised().to_string(),
        "t: TraceLab sessions, 2 sessions with 5 requests over 300 ms; 1 of them, from 200 ms on"
    );
    let few = read("trace:t", TraceLimits { limit: Some(1), ..none }).expect("one");
    assert_eq!((few.len(), few.tally().beyond_limit), (1, 2));
    let short = read("trace:t", TraceLimits { max_input: Some(1_200), ..none }).expect("one");
    assert_eq!((starts(&short), short.tally().dropped_long), (vec![300], 3));
    let long = read("trace:t", TraceLimits { min_input: Some(800), ..none }).expect("one");
    assert_eq!((starts(&long), long.tally().dropped_short), (vec![0], 2));
    let given = opened(&trace_lab(), "session:t,turns=2,think=2s", Starts::Given).expect("both");
    assert_eq!(sessions(&given).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let talk = prompts(&given, 1, false).conversation(0).unwrap();
    assert_eq!(talk.turns.iter().map(|turn| turn.think / MS).collect::<Vec<_>>(), [0, 2_000]);
}
