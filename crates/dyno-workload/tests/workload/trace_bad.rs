//! Every way in which a trace can be wrong: one message, with file, line and what would fix it.

#![allow(clippy::expect_used)]

use crate::traces_made::{AZURE, BURST_GPT, MOONCAKE, opened, trace};
use dyno_workload::data::DataSpec;
use dyno_workload::trace::{Trace, TraceLimits, TraceOptions};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const SKIP: &str = ", or skip_bad=true to skip such records";

fn said(text: &str, spec: &str, limits: TraceLimits) -> String {
    opened(text, spec, limits).expect_err("refused").to_string()
}

#[test]
fn nothing_left_says_where_it_went() {
    let none = TraceLimits::default();
    let bounded = TraceLimits { min_input: Some(5_000), ..none };
    let small = TraceLimits { max_input: Some(10), ..none };
    for (options, limits, why) in [
        (
            ",from=10m",
            none,
            "6 of 6 requests are not within the time from 10 min on; the trace runs from 0 s to \
             27.482 s",
        ),
        (
            ",from=16s,to=17s",
            none,
            "6 of 6 requests are not within the time from 16 s to 17 s; the trace runs from 0 s \
             to 27.482 s",
        ),
        ("", bounded, "6 requests with fewer than 5000 input tokens; lower the minimum"),
        ("", small, "6 requests with more than 10 input tokens; raise the maximum or truncate"),
        ("", TraceLimits { limit: Some(0), ..none }, "the limit is 0; set it to at least 1"),
    ] {
        let said = said(MOONCAKE, &format!("trace:t{options}"), limits);
        assert_eq!(said, format!("t has nothing left to send: {why}"));
    }
}

#[test]
fn options_that_are_not_possible() {
    for speed in ["0", "-1", "fast", "NaN", "2e6", "1e-7"] {
        let spec: DataSpec = format!("trace:t,speed={speed}").parse().expect("a form");
        let said = format!(
            "speed={speed} is not possible; write speed=2 for twice as fast: a number from \
             0.000001 to 1000000"
        );
        assert_eq!(TraceOptions::of(&spec).expect_err(speed).to_string(), said);
    }
    for (options, said) in [
        (
            "from=10",
            "from=10 is not possible; write from=10s: a time from the first request on, with its \
             unit",
        ),
        (
            "to=soon",
            "to=soon is not possible; write to=5m: a time from the first request on, with its \
             unit",
        ),
        (
            "from=70s,to=70s",
            "to=70s is not possible; write to=70s with from=10s: it must be after from",
        ),
        (
            "block=0",
            "block=0 is not possible; write block=512: the tokens of a block, 1 to 1000000",
        ),
        (
            "block=1.5",
            "block=1.5 is not possible; write block=512: the tokens of a block, 1 to 1000000",
        ),
        ("skip_bad=yes", "skip_bad=yes is not possible; write skip_bad=true or skip_bad=false"),
        (
            "sped=2",
            "unknown key \"sped\" (did you mean speed?); the keys of trace are speed, from, to, block, \
             skip_bad, time, unit, gap, end, input, output, session, hash",
        ),
    ] {
        let spec: DataSpec = format!("trace:t,{options}").parse().expect("a form");
        assert_eq!(TraceOptions::of(&spec).expect_err(options).to_string(), said);
        let error = Trace::open(&spec, &TraceLimits::default()).expect_err(options);
        assert_eq!(error.to_string(), said, "before the file is touched");
    }
    let unnamed = "t.jsonl,speed=2".parse::<DataSpec>().expect_err("not called a trace");
    let said = "speed= is for traces; if it is one, write trace:t.jsonl,speed=2";
    assert_eq!(unnamed.to_string(), said);
    let spec = "trace:t,speed=2.5,from=10s,to=5m,block=16,skip_bad=true".parse().expect("good");
    let TraceOptions { speed, from, to, block, skip_bad, .. } =
        TraceOptions::of(&spec).expect("good");
    assert_eq!((speed, from, to), (2.5, Some(10_000 * MS), Some(300_000 * MS)));
    assert_eq!((block, skip_bad), (Some(16), true));
}

#[test]
fn rows_that_are_bad() {
    let good = r#"{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":[1]}"#;
    for (bad, what) in [
        (
            r#"{"timestamp":0,"input_length":5"#,
            "not valid JSON: EOF while parsing an object at column 31, in \"…\\\":0,\
             \\\"input_length\\\":5\"; correct the record",
        ),
        ("17", "the record is a number, not an object; correct it"),
        (
            r#"{"timestamp":0,"input_length":5}"#,
            "there is no field \"output_length\"; the fields are input_length, timestamp; \
             Mooncake rows have timestamp, input_length and output_length",
        ),
        (
            r#"{"timestamp":0,"input_length":-5,"output_length":1}"#,
            "the field \"input_length\" is -5, not a whole number of at least 1; correct it",
        ),
        (
            r#"{"timestamp":0,"input_length":0,"output_length":1}"#,
            "the field \"input_length\" is 0, not a whole number of at least 1; correct it",
        ),
        (
            r#"{"timestamp":0,"input_length":5,"output_length":1.5}"#,
            "the field \"output_length\" is 1.5, not a whole number of at least 0; correct it",
        ),
        (
            r#"{"timestamp":0,"input_length":50000000,"output_length":1}"#,
            "the field \"input_length\" is 50000000, more than the 10000000 tokens that can be; \
             correct it",
        ),
        (
            r#"{"timestamp":0,"input_length":"many","output_length":1}"#,
            "the field \"input_length\" is text, not a number of tokens; correct it",
        ),
        (
            r#"{"timestamp":-1,"input_length":5,"output_length":1}"#,
            "the field \"timestamp\" is -1, not a time in milliseconds such as 27482; correct it",
        ),
        (
            r#"{"timestamp":1e30,"input_length":5,"output_length":1}"#,
            "the field \"timestamp\" is 1e+30, too large for a time in milliseconds; correct it",
        ),
        (
            r#"{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":"1"}"#,
            "the field \"hash_ids\" is text, not a list of numbers; correct it, or leave it out \
             for a prompt that shares nothing",
        ),
        (
            r#"{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":[1,-2]}"#,
            "the field \"hash_ids\" has -2 in place 2, not a whole number from 0; correct it, or \
             leave it out for a prompt that shares nothing",
        ),
    ] {
        let text = format!("{good}\n{bad}\n{good}\n");
        let said = said(&text, "trace:t.jsonl", TraceLimits::default());
        assert_eq!(said, format!("t.jsonl:2: {what}{SKIP}"));
        for spec in ["trace:t.jsonl,skip_bad=true", "t.jsonl,skip_bad=true"] {
            let read = trace(&text, spec);
            assert_eq!((read.len(), read.tally().skipped), (2, 1), "{bad}");
        }
    }
}

#[test]
fn rows_of_tables_that_are_bad() {
    for (row, what) in [
        (
            "16/11/2023 18:17:03,5,1",
            "the field \"TIMESTAMP\" is \"16/11/2023 18:17:03\", not a time such as 2024-05-10 \
             00:00:00.009930+00:00 or 27482 whole milliseconds; correct it",
        ),
        ("2023-11-16 18:17:03,,1", "the field \"ContextTokens\" is blank; correct it"),
        (
            "2023-11-16 18:17:03,5",
            "the row has 2 fields and the header 3; quote fields that hold the delimiter",
        ),
    ] {
        let text = format!("{AZURE}{row}\n");
        let said = said(&text, "trace:a.csv", TraceLimits::default());
        assert_eq!(said, format!("a.csv:5: {what}{SKIP}"));
        assert_eq!(trace(&text, "trace:a.csv,skip_bad=true").tally().skipped, 1);
    }
    let text = format!("{BURST_GPT}soon,GPT-4,1,1,2,API log\n");
    assert_eq!(
        said(&text, "trace:b.csv", TraceLimits::default()),
        format!(
            "b.csv:5: the field \"Timestamp\" is \"soon\", not a time in seconds such as 61.114; \
             correct it{SKIP}"
        )
    );
}

#[test]
fn files_that_are_no_traces() {
    let wanted = "say which field holds what, as in trace:FILE,time=FIELD,unit=ms,input=FIELD,\
        output=FIELD; or leave trace: out to send its prompts";
    let others = "for other names write trace:FILE,time=FIELD,unit=ms,input=FIELD,output=FIELD";
    for (name, text, said_of) in [
        (
            "q.jsonl",
            "{\"question\":\"a\",\"timestamp\":3}\n",
            format!(
                "is not trace: it is of no known form; the fields are question, timestamp; {wanted}"
            ),
        ),
        (
            "q.jsonl",
            "{\"timestamp\":3,\"input_length\":4}\n",
            format!(
                "is not trace: it lacks output_length; the fields are input_length, timestamp; \
                 Mooncake rows have timestamp, input_length and output_length; {others}"
            ),
        ),
        (
            "q.csv",
            "ContextTokens,when\n1,2\n",
            format!(
                "is not trace: it lacks TIMESTAMP and GeneratedTokens; the fields are \
                 ContextTokens, when; Azure rows have TIMESTAMP, ContextTokens and \
                 GeneratedTokens; {others}"
            ),
        ),
        (
            "q.txt",
            "What is a knee?\nWhat is an elbow?\n",
            "is not trace: it is one prompt per line, without fields; name a trace, or leave \
             trace: out to send its prompts"
                .into(),
        ),
    ] {
        let said = said(text, &format!("trace:{name}"), TraceLimits::default());
        assert_eq!(said, format!("{name} {said_of}"));
    }
    for (text, told) in [
        ("", "t is empty; name a file with at least one record"),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\n",
            "t holds no records, only blank lines or a header; name a file with at least one",
        ),
    ] {
        assert_eq!(said(text, "trace:t", TraceLimits::default()), told);
    }
    let zeros = "{\"timestamp\":0,\"input_length\":0,\"output_length\":1}\n".repeat(2);
    assert_eq!(
        said(&zeros, "trace:t,skip_bad=true", TraceLimits::default()),
        "t holds no usable record, and all 2 were skipped; the first: t:1: the field \
         \"input_length\" is 0, not a whole number of at least 1; correct it"
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200),
                                     form in 0_usize..4, skip: bool) {
        let head: &[u8] = match form {
            0 => b"",
            1 => b"TIMESTAMP,ContextTokens,GeneratedTokens\n",
            2 => b"Timestamp,Request tokens,Response tokens\n",
            _ => b"{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n",
        };
        let bytes = [head, &bytes].concat();
        let spec = format!("trace:t,skip_bad={skip}").parse().expect("good");
        if let Err(error) = Trace::from_bytes("t", &bytes, &spec, &TraceLimits::default()) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
