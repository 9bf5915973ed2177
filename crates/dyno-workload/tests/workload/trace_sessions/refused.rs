//! What is no chain of turns is refused by its line and field.

use super::forms::*;
use super::*;

#[test]
fn branches_are_refused_by_their_line_and_field() {
    let subagent = weka(json!([
        {"t": 0.0, "type": "s", "model": "m-1", "in": 900, "out": 40},
        {"t": 1.0, "type": "subagent", "agent_id": "x", "requests": [{"t": 0.0, "in": 5, "out": 5}]},
        {"t": 3.0, "type": "s", "model": "m-1", "in": 1000, "out": 40, "api_time": 1},
    ]));
    let child = json!({
        "schema": "dynamo.request.trace.v1", "event_type": "request_end", "event_time_unix_ms": 9,
        "agent_context": {"session_id": "c", "parent_session_id": "a"},
        "request": {"request_received_ms": 1, "output_tokens": 1, "replay": {"input_length": 4}},
    });
    let joined = json!({"session_id": "a", "timestamp": 5, "input_length": 9_000, "output_length": 1, "wait_for": ["r1", "r2"]});
    let shrunk = json!({"session_id": "a", "delay": 5, "input_length": 1_310, "output_length": 1});
    let parallel = EVENTS.map(|(s, start, end, i, o)| {
        let start = if start == 1_400 { 850 } else { start };
        format!("{s},{start},{end},{i},{o}\n")
    });
    let parallel = "who,sent,done,in,out\n".to_owned() + &parallel.concat();
    const SKIP: &str = ", or skip_bad=true to skip such records";
    for (text, spec, why, left) in [
        (
            subagent,
            "session:w.json",
            "w.json:1: request 2: the field \"type\" is \"subagent\", with requests beside those of \
             the session, and sessions do not branch; remove it",
            vec![2],
        ),
        (
            dynamo() + &lines(&[child]),
            "trace:d.jsonl",
            "d.jsonl:7: the field \"agent_context.parent_session_id\" makes the session a part of \
             \"a\", and sessions do not branch; remove the requests of subagents",
            vec![3, 2],
        ),
        (
            mooncake() + &lines(&[joined]),
            "trace:m.jsonl",
            "m.jsonl:6: the field \"wait_for\" makes the request wait for others than the one before \
             it, which a session cannot do; remove it",
            vec![3, 2],
        ),
        (
            mooncake() + &lines(&[shrunk]),
            "trace:m.jsonl",
            "m.jsonl:6: the field \"input_length\" is 1310, and its session has 1310 tokens by then: \
             the history was cut, or the request is of another branch, and a session only grows; \
             remove it, or give it another session",
            vec![3, 2],
        ),
        (
            parallel,
            "trace:t.csv,session=who,time=sent,end=done,unit=ms,input=in,output=out",
            "t.csv:4: the request was sent 50 ms before the response to the one before it in its \
             session was complete, and a session has no parallel requests; remove it, or give it \
             another session",
            vec![2, 2],
        ),
    ] {
        let starts = if spec.starts_with("session") { Starts::Given } else { Starts::Recorded };
        let error = opened(&text, spec, starts).expect_err(spec).to_string();
        assert_eq!(error, format!("{why}{SKIP}"));
        let read = opened(&text, &format!("{spec},skip_bad=true"), starts).expect("the rest");
        let turns: Vec<usize> = sessions(&read).iter().map(Vec::len).collect();
        assert_eq!((turns, read.tally().skipped), (left, 1), "{spec}");
    }
}

#[test]
fn clocks_that_are_a_little_off_make_no_parallel_requests() {
    for (early, accepted) in [(0, true), (10, true), (11, false), (500, false)] {
        let text = format!("s,t,e,i,o\nx,1000,2000,50,5\nx,{},3000,90,5\n", 2_000 - early);
        let spec = "trace:t.csv,session=s,time=t,end=e,unit=ms,input=i,output=o";
        let read = opened(&text, spec, Starts::Recorded);
        assert_eq!(read.is_ok(), accepted, "{early} ms early");
        let pauses = read.map(|read| sessions(&read)[0][1].0);
        assert!(pauses.is_err() || pauses.is_ok_and(|pause| pause == 0));
    }
}

#[test]
fn a_misspelt_session_end_or_hash_is_no_field() {
    for (misspelt, key) in [
        ("session=whom,time=sent,end=done", "\"whom\", which session= names"),
        ("session=who,time=sent,end=dome", "\"dome\", which end= names"),
        ("session=who,time=sent,end=done,hash=ids", "\"ids\", which hash= names"),
        ("session=who,time=sent,gap=wait", "\"wait\", which gap= names"),
    ] {
        let spec = format!("trace:t.csv,{misspelt},unit=ms,input=in,output=out");
        let error = opened(&table(), &spec, Starts::Recorded).expect_err(misspelt).to_string();
        let said =
            format!("t.csv:2: there is no field {key}; the fields are done, in, out, sent, who");
        assert_eq!(error, format!("{said}; name one of them"));
    }
}

#[test]
fn requests_with_a_blank_session_are_counted() {
    let text = "who,sent,in,out\na,0,100,5\n,10,100,5\na,500,300,5\n ,20,100,5\n";
    let spec = "trace:t.csv,session=who,time=sent,unit=ms,input=in,output=out";
    let read = opened(text, spec, Starts::Recorded).expect("read");
    assert_eq!((read.len(), read.tally().without_session), (3, 2));
}

#[test]
fn a_response_that_ends_before_its_request_is_refused() {
    let spec = "trace:t.csv,session=who,time=done,end=sent,unit=ms,input=in,output=out";
    let error = opened(&table(), spec, Starts::Recorded).expect_err("swapped").to_string();
    let why = "the response ends before its request is sent; swap time= and end= if all records are \
               like this; else correct it, or skip_bad=true to skip such records";
    assert_eq!(error, format!("t.csv:2: the field \"sent\" is 500 ms before \"done\": {why}"));
}
