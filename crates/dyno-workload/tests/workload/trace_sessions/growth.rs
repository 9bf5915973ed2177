//! Prompts that grow as the sessions did, and what is said about them.

use super::forms::*;
use super::*;

#[test]
fn a_conversation_grows_as_its_session_did() {
    let read = opened(&dynamo(), "trace:t", Starts::Recorded).expect("sessions");
    let made = prompts(&read, 3, false);
    let count = |text: &str| Tokenizer::estimate().count(text).unwrap();
    for (index, turns) in (0_u64..).zip(expected()) {
        let talk = made.conversation(index).unwrap();
        assert_eq!(talk.input_tokens, Some(turns[0].1));
        let mut history = 0;
        for (turn, (pause, input, output)) in talk.turns.iter().zip(&turns) {
            history += count(&turn.messages[0].content);
            assert_eq!((turn.think / MS, history, turn.output_tokens), (*pause, *input, *output));
            history += turn.output_tokens;
        }
        assert_eq!(talk, made.conversation(index).unwrap(), "the same again");
    }
    // The first blocks of 100 tokens are the same in both sessions, and nothing after that is.
    let (one, other) =
        (words(&made.conversation(0).unwrap()), words(&made.conversation(1).unwrap()));
    let same = one[0].iter().zip(&other[0]).take_while(|(a, b)| a == b).count();
    assert!((90..=101).contains(&same), "{same} words");
    assert_ne!(one[1][..8], other[1][..8]);
    // After the last they begin again, with other words from where nothing is shared.
    let again = words(&made.conversation(2).unwrap());
    assert_ne!(again[1], one[1]);
    let unique = words(&prompts(&read, 3, true).conversation(0).unwrap());
    let other = words(&prompts(&read, 3, true).conversation(1).unwrap());
    assert_ne!(unique[0][..4], other[0][..4]);
    let apart = made.apart().unwrap().expect("a prompt");
    assert_eq!(apart.input_tokens, Some(900));
}

#[test]
fn what_is_told_about_sessions() {
    let read = opened(&trace_lab(), "trace:lab.jsonl", Starts::Recorded).expect("sessions");
    insta::assert_snapshot!(format!("{}\n{}", read.recognised(), SessionTraceProfile::of(&read)));
    // Without the ends of responses, pauses are from request to request.
    let spec = "trace:t.csv,session=who,time=sent,unit=ms,input=in,output=out";
    let read = opened(&table(), spec, Starts::Recorded).expect("sessions");
    assert_eq!(sessions(&read)[0][1].0, 1_400);
    let profile = SessionTraceProfile::of(&read);
    assert_eq!(profile.with_response, 3);
    let told = "  3 of them include the time of the recorded response\n";
    assert!(profile.to_string().contains(told), "{profile}");
}
