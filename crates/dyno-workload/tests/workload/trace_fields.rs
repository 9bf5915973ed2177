//! Traces whose fields the user names, and the forms of simulators and workload generators.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::traces_made::{AZURE, MOONCAKE, opened, trace};
use dyno_words::Note;
use dyno_workload::data::{DataError, DataKind, DataSet, DataSpec};
use dyno_workload::trace::{Trace, TraceFormat, TraceLimits, TraceOptions};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

type Rows = Vec<(u64, u32, u32, Vec<u64>)>;

fn rows(trace: &Trace) -> Rows {
    trace.requests().map(|r| (r.at, r.input, r.output, r.hashes.to_vec())).collect()
}

fn said(text: &str, spec: &str) -> String {
    opened(text, spec, TraceLimits::default()).expect_err("refused").to_string()
}

const SHOP: &str = "when;who;prompt;answer;blocks\n\
    2025-02-03 09:00:00.250;ann;300;20;7|8\n\
    2025-02-03 09:00:01;bob;410;5;7|9\n\
    2025-02-03 09:00:00.500;ann;52;0;\n";

#[test]
fn any_table_is_a_trace_once_its_fields_are_named() {
    let read =
        trace(SHOP, "trace:shop.txt,time=when,input=prompt,output=answer,hash=blocks,block=256");
    assert_eq!(
        read.recognised().to_string(),
        "shop.txt: mapped trace, 3 requests over 750 ms, hash ids of 256-token blocks"
    );
    assert_eq!(
        rows(&read),
        [(0, 300, 20, vec![7, 8]), (250 * MS, 52, 1, vec![]), (750 * MS, 410, 5, vec![7, 9]),]
    );
    assert_eq!(read.format(), TraceFormat::Mapped);
}

#[test]
fn fields_of_json_may_be_nested_and_ids_any_texts() {
    let text = r#"{"meta": {"sent": 1700000000.25}, "usage": {"in": 40, "out": 3}, "kv": ["ab", "cd"]}
{"meta": {"sent": 1700000001.5}, "usage": {"in": 41, "out": 4}, "kv": ["ab", "ef"]}"#;
    let spec = "trace:log,time=meta.sent,unit=s,input=usage.in,output=usage.out,hash=kv,block=20";
    let read = rows(&trace(text, spec));
    assert_eq!(read[1].0, 1_250 * MS);
    assert_eq!(read[0].3[0], read[1].3[0], "the same text is the same block");
    assert_ne!(read[0].3[1], read[1].3[1]);
    let named = r#"{"a.b": 5, "input": 3, "output": 1}"#;
    let spec = "trace:log,time=a.b,unit=ms,input=input,output=output";
    assert_eq!(trace(named, spec).len(), 1, "a name with a dot goes before a path");
}

#[test]
fn gaps_add_up_to_times() {
    // What was before the first request does not matter.
    let text = "pause,in,out\n7,10,1\n250,20,2\n1.5,30,3\n0,40,4\n";
    let read = trace(text, "trace:g.csv,gap=pause,unit=ms,input=in,output=out");
    let times: Vec<u64> = read.schedule().collect();
    assert_eq!(times, [0, 250 * MS, 251_500_000, 251_500_000]);
}

#[test]
fn a_known_form_needs_only_what_differs() {
    let text = "Timestamp,Request tokens,Response tokens,real_ms\n5,9,1,5100\n6,8,1,6900\n";
    let read = trace(text, "trace:b.csv,time=real_ms,unit=ms");
    assert_eq!(rows(&read), [(0, 9, 1, vec![]), (1_800 * MS, 8, 1, vec![])]);
    assert_eq!(read.format(), TraceFormat::BurstGpt);
}

#[test]
fn what_is_missing_is_named_with_the_columns_that_there_are() {
    for (spec, why) in [
        (
            "trace:shop.csv,time=when,input=prompt",
            "shop.csv is not trace: it is of no known form; the fields are answer, blocks, prompt, \
             when, who; say which field holds what, as in trace:FILE,output=FIELD; or leave trace: \
             out to send its prompts",
        ),
        (
            "trace:shop.csv,time=when,input=prompt,output=reply",
            "shop.csv:2: there is no field \"reply\", which output= names; the fields are answer, \
             blocks, prompt, when, who; name one of them, or skip_bad=true to skip such records",
        ),
        (
            "trace:shop.csv,time=prompt,input=prompt,output=answer",
            "shop.csv:2: the field \"prompt\" is \"300\", not a date such as 2024-05-10 00:00:00; for \
             a number add unit=s, unit=ms, unit=us or unit=ns; say its unit, or skip_bad=true to \
             skip such records",
        ),
        (
            "trace:shop.csv,time=who,unit=ms,input=prompt,output=answer",
            "shop.csv:2: the field \"who\" is \"ann\", not a time in milliseconds such as 27482; \
             correct it, or skip_bad=true to skip such records",
        ),
        (
            "trace:shop.csv,time=when,input=prompt,output=answer,hash=block",
            "shop.csv:2: there is no field \"block\", which hash= names; the fields are answer, \
             blocks, prompt, when, who; name one of them",
        ),
        (
            "trace:shop.csv,time=blocks,input=prompt,output=answer",
            "shop.csv:2: the field \"blocks\" is \"7|8\", not a date such as 2024-05-10 \
             00:00:00.25, 2024-05-10T00:00:00Z, 2024/05/10 00:00:00 +02:00 or 20240510T000000Z; \
             correct it, or skip_bad=true to skip such records",
        ),
    ] {
        assert_eq!(said(SHOP, spec), why);
    }
    let nested = r#"{"at": 5, "usage": {"prompt": 3, "more": {"answer": 1}}, "extra": {}}"#;
    assert_eq!(
        said(nested, "trace:n,time=at,unit=ms,input=usage.input,output=usage.more.answer"),
        "n:1: there is no field \"usage.input\", which input= names; the fields are at, extra, \
         usage.more.answer, usage.prompt; name one of them, or skip_bad=true to skip such records"
    );
    for (options, why) in [
        ("unit=h,time=t", "unit=h is not possible; write unit=s, ms, us, ns or iso"),
        ("unit=ms", "unit= needs time= as well; add it, or leave unit= out"),
        ("time=", "time= is not possible; write time=FIELD: the name of a column or a field"),
        ("gap=g", "gap= needs unit= as well; add it, or leave gap= out"),
        (
            "gap=g,unit=iso",
            "unit=iso is not possible; write unit=s, ms, us or ns: a gap is a number",
        ),
        (
            "time=t,gap=g,unit=ms",
            "time= and gap= both say when a request is sent; give one of them, or session= as well",
        ),
        ("end=e,time=t", "end= needs session= as well; add it, or leave end= out"),
    ] {
        let spec: DataSpec = format!("trace:t,{options}").parse().expect("a form");
        assert_eq!(TraceOptions::of(&spec).expect_err(options).to_string(), why);
    }
    let unnamed = "t.csv,time=when".parse::<DataSpec>().expect_err("not called a trace");
    assert_eq!(
        unnamed.to_string(),
        "time= is for traces; if it is one, write trace:t.csv,time=when"
    );
}

#[test]
fn numbers_that_are_too_large_are_called_so() {
    let said = |time: &str, input: &str, unit: &str| {
        let text = format!("t,i,o\n{time},{input},1\n");
        let error = said(&text, &format!("trace:g.csv,time=t,unit={unit},input=i,output=o"));
        let why = error.strip_suffix(", or skip_bad=true to skip such records").expect("skippable");
        why.strip_prefix("g.csv:2: the field ").expect("the place").to_owned()
    };
    assert_eq!(
        said("5", "5000000000", "ms"),
        "\"i\" is 5000000000, too large for a number of tokens; correct it"
    );
    assert_eq!(
        said("5", "99999999999999999999", "ms"),
        "\"i\" is 99999999999999999999, too large for a number of tokens; correct it"
    );
    assert_eq!(
        said("1770109200000000", "5", "ms"),
        "\"t\" is \"1770109200000000\", too large for a time in milliseconds; if it is a date, \
         write time=t,unit=us"
    );
    assert_eq!(
        said("99999999999999999999", "5", "ns"),
        "\"t\" is \"99999999999999999999\", too large for a time in nanoseconds; correct it"
    );
}

/// The notes about the times of a table with these.
fn told(times: &[&str], keys: &str) -> Vec<(u64, Note)> {
    let rows: String = times.iter().map(|time| format!("{time};5;1\n")).collect();
    let spec = format!("trace:t.csv,time=t,input=i,output=o{keys}");
    let told = trace(&format!("t;i;o\n{rows}"), &spec).tally().told();
    told.iter().map(|told| (told.count, told.note)).collect()
}

#[test]
fn times_that_may_be_meant_otherwise_are_told() {
    let mixed = ["2026-02-03 09:00:00", "2026-02-03T09:00:01Z", "2026/02/03 09:00:02,5"];
    assert_eq!(told(&mixed, ""), [(2, Note::TraceWithoutZone)]);
    assert_eq!(told(&mixed[1..2], ""), []);
    assert_eq!(told(&[mixed[0], mixed[2]], ""), [], "only differences count");
    let zones = ["2026-02-03 09:00:00 UTC", "2026-02-03 09:00:01+02:00", "20260203T090002Z"];
    let told_of = told(&zones, "");
    assert_eq!(told_of, [(1, Note::TraceReordered)], "all have a zone");

    assert_eq!(told(&zones[..1], ",unit=ms"), [(1, Note::TraceDates)]);
    assert_eq!(told(&zones[..1], ",unit=iso"), []);

    let micros = ["1770109200000000", "1770109201000000", "1770109203000000"];
    assert_eq!(told(&micros, ",unit=ns"), [(3, Note::TraceOtherUnit)]);
    assert_eq!(told(&micros, ",unit=us"), []);
    assert_eq!(told(&["1770109200", "1770109201"], ",unit=ms"), [(2, Note::TraceOtherUnit)]);
    assert_eq!(told(&["1770109200", "1770109201"], ",unit=s"), []);
    assert_eq!(told(&["0", "1770109200"], ",unit=ms"), [], "from 0 on: twenty days");
}

#[test]
fn azure_in_whole_milliseconds() {
    let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n1200,74,3\n1250,96,2\n";
    assert_eq!(rows(&trace(text, "trace:a.csv")), [(0, 74, 3, vec![]), (50 * MS, 96, 2, vec![])]);
    let fractions = text.replace("1250", "1250.5");
    assert_eq!(
        said(&fractions, "trace:a.csv"),
        "a.csv:3: the field \"TIMESTAMP\" is \"1250.5\", not a time such as 2024-05-10 \
         00:00:00.009930+00:00 or 27482 whole milliseconds; say its unit, as in \
         trace:FILE,time=TIMESTAMP,unit=s, or skip_bad=true to skip such records"
    );
    let seconds = trace(&fractions, "trace:a.csv,time=TIMESTAMP,unit=s");
    assert_eq!(seconds.duration(), 50_500 * MS);
}

#[test]
fn simulators_and_generators() {
    let expected = [(0, 12, 34, vec![]), (1_500 * MS, 56, 7, vec![])];
    for (name, form, text) in [
        (
            "v.csv",
            TraceFormat::Vidur,
            "arrived_at,num_prefill_tokens,num_decode_tokens\n0.25,12,34\n1.75,56,7\n",
        ),
        (
            "s.tsv",
            TraceFormat::LlmServingSim,
            "input_toks\toutput_toks\tarrival_time_ns\n12\t34\t1000000\n56\t7\t1501000000\n",
        ),
        (
            "s.jsonl",
            TraceFormat::LlmServingSim,
            "{\"input_toks\":12,\"output_toks\":34,\"arrival_time_ns\":5,\"input_tok_ids\":[1]}\n\
             {\"input_toks\":56,\"output_toks\":7,\"arrival_time_ns\":1500000005}\n",
        ),
        (
            "g.csv",
            TraceFormat::ServeGen,
            "request_id,timestamp,input_tokens,output_tokens\n0,0.5,12,34\n1,2.0,56,7\n",
        ),
        (
            "w.jsonl",
            TraceFormat::Aibrix,
            "{\"timestamp\":100,\"requests\":[{\"prompt\":\"Hi\",\"prompt_length\":12,\"output_length\":34}]}\n\
             {\"timestamp\":1600,\"requests\":[{\"prompt\":\"Ho\",\"prompt_length\":56,\"output_length\":7}]}\n",
        ),
        (
            "old.json",
            TraceFormat::Aibrix,
            "[{\"Timestamp\":100,\"Requests\":[{\"Prompt\":\"Hi\",\"Prompt Length\":12,\"Output Length\":34}]},\
             {\"Timestamp\":1600,\"Requests\":[{\"Prompt\":\"Ho\",\"Prompt Length\":56,\"Output Length\":7}]}]",
        ),
        (
            "d.jsonl",
            TraceFormat::Dynamo,
            "{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\"event_time_unix_ms\":1700,\
             \"request\":{\"request_received_ms\":1000,\"output_tokens\":34,\"replay\":{\"input_length\":12}}}\n\
             {\"timestamp\":9,\"event\":{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\
             \"request\":{\"request_received_ms\":2500,\"output_tokens\":7,\"replay\":{\"input_length\":56}}}}\n",
        ),
    ] {
        let read = trace(text, &format!("trace:{name}"));
        assert_eq!((read.format(), rows(&read)), (form, expected.to_vec()), "{name}");
        let place = tempfile::tempdir().expect("folder");
        let path = place.path().join(name);
        std::fs::write(&path, text).expect("written");
        let error = DataSet::new(&path.display().to_string().parse().unwrap()).expect_err(name);
        let by_shape = matches!(error, DataError::Elsewhere { kind: DataKind::Trace, .. });
        assert!(by_shape, "{name} is not taken for prompts: {error}");
    }
}

#[test]
fn all_requests_of_a_moment_and_what_they_lack() {
    let two = "{\"timestamp\":0,\"requests\":[{\"prompt_length\":5,\"output_length\":1},\
               {\"prompt_length\":6,\"output_length\":2}]}\n{\"timestamp\":9,\"requests\":[]}\n";
    assert_eq!(rows(&trace(two, "trace:w")), [(0, 5, 1, vec![]), (0, 6, 2, vec![])]);
    let none = "{\"timestamp\":0,\"requests\":[{\"prompt_length\":5,\"output_length\":null}]}\n";
    assert_eq!(
        said(none, "trace:w"),
        "w:1: request 1 has no \"output_length\", and a replay needs the length; generate the \
         workload with it, or skip_bad=true to skip such records"
    );
}

#[test]
fn dynamo_says_how_large_its_blocks_are() {
    let text = "{\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"tool_end\",\"tool\":{}}\n\
        {\"schema\":\"dynamo.request.trace.v1\",\"event_type\":\"request_end\",\"request\":\
        {\"request_received_ms\":1000,\"output_tokens\":3,\"replay\":{\"trace_block_size\":64,\
        \"input_length\":100,\"input_sequence_hashes\":[11,12]}}}\n";
    let read = trace(text, "trace:d.jsonl");
    assert_eq!((read.len(), read.block()), (1, 64));
    assert_eq!(rows(&read)[0].3, [11, 12]);
    assert_eq!(trace(text, "trace:d.jsonl,block=16").block(), 16);
}

/// A time as the decimal text of so many units of 10^`places` nanoseconds.
fn decimal(nanos: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    match places {
        0 => nanos.to_string(),
        places => format!("{}.{:0width$}", nanos / unit, nanos % unit, width = places as usize),
    }
}

proptest! {
    #[test]
    fn times_are_exact_to_the_nanosecond_in_every_unit(
        times in prop::collection::vec(0_u64..2_000_000_000_000_000_000, 1..20),
    ) {
        let first = *times.iter().min().unwrap();
        let mut expected: Vec<u64> = times.iter().map(|at| at - first).collect();
        expected.sort_unstable();
        for (unit, places) in [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)] {
            let mut table = "t,i,o\n".to_owned();
            let mut lines = String::new();
            for at in &times {
                let at = decimal(*at, places);
                table.push_str(&format!("{at},5,1\n"));
                lines.push_str(&format!("{{\"t\":\"{at}\",\"i\":5,\"o\":1}}\n"));
            }
            for (name, text) in [("t.csv", table), ("t.jsonl", lines)] {
                let spec = format!("trace:{name},time=t,unit={unit},input=i,output=o");
                let read: Vec<u64> = trace(&text, &spec).schedule().collect();
                prop_assert_eq!(&read, &expected, "{} in {}", name, unit);
            }
        }
        let whole: String = times.iter()
            .map(|at| format!("{{\"t\":{at},\"i\":5,\"o\":1}}\n")).collect();
        let spec = "trace:t,time=t,unit=ns,input=i,output=o";
        let read: Vec<u64> = trace(&whole, spec).schedule().collect();
        prop_assert_eq!(read, expected, "as JSON numbers");
    }

    #[test]
    fn a_mapped_file_and_the_same_in_a_known_form_have_the_same_rows(
        requests in prop::collection::vec(
            (0_u64..10_000_000, 1_u32..5_000, 1_u32..900, prop::collection::vec(0_u64..9, 0..5)),
            1..30,
        ),
    ) {
        let (mut known, mut other) = (String::new(), String::new());
        let mut azure = ("TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned(), "z,y,x\n".to_owned());
        for (at, input, output, ids) in &requests {
            known.push_str(&format!(
                "{{\"timestamp\":{at},\"input_length\":{input},\"output_length\":{output},\"hash_ids\":{ids:?}}}\n"
            ));
            other.push_str(&format!(
                "{{\"a\":{{\"b\":{at}}},\"in\":{input},\"out\":{output},\"ids\":{ids:?}}}\n"
            ));
            azure.0.push_str(&format!("{at},{input},{output}\n"));
            azure.1.push_str(&format!("{output},{input},{at}\n"));
        }
        let mapped = "trace:m,time=a.b,unit=ms,input=in,output=out,hash=ids";
        prop_assert_eq!(rows(&trace(&known, "trace:k")), rows(&trace(&other, mapped)));
        let renamed = "trace:k,time=timestamp,unit=ms,input=input_length,output=output_length,\
                       hash=hash_ids";
        prop_assert_eq!(rows(&trace(&known, "trace:k")), rows(&trace(&known, renamed)));
        let mapped = "trace:m.csv,time=x,unit=ms,input=y,output=z";
        prop_assert_eq!(rows(&trace(&azure.0, "trace:a.csv")), rows(&trace(&azure.1, mapped)));
    }

    #[test]
    fn any_bytes_with_any_mapping_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        head in 0_usize..4,
    ) {
        let heads: [&[u8]; 4] = [b"", b"a,b,c\n", b"{\"a\":1,\"b\":2,\"c\":3}\n", b"[{\"a\":"];
        let bytes = [heads[head], &bytes].concat();
        for keys in ["time=a,unit=s,input=b,output=c", "gap=a,unit=us,input=b,output=c,hash=c"] {
            let spec = format!("trace:t,{keys},skip_bad=true").parse().expect("good");
            if let Err(error) = Trace::from_bytes("t", &bytes, &spec, &TraceLimits::default()) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn known_traces_are_unchanged_by_their_own_names() {
    let spec = "trace:a.csv,time=TIMESTAMP,unit=iso,input=ContextTokens,output=GeneratedTokens";
    assert_eq!(rows(&trace(AZURE, spec)), rows(&trace(AZURE, "trace:a.csv")));
    let spec = "trace:m,time=timestamp,unit=ms,input=input_length,output=output_length";
    let without: Rows = rows(&trace(MOONCAKE, "trace:m"))
        .into_iter()
        .map(|(at, input, output, _)| (at, input, output, vec![]))
        .collect();
    assert_eq!(rows(&trace(MOONCAKE, spec)), without, "a whole mapping without hash= has no ids");
}
