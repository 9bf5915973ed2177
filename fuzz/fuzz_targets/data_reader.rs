//! Any bytes, under any kind: they are recognised, read to the end and selected from, or refused
//! with a message, and never with a panic. What was read survives being written as lines.

#![no_main]

use dyno_model::Language;
use dyno_model::prompt::{Content, Item};
use dyno_workload::data::shown::{self, First};
use dyno_workload::data::{DataKind, DataOrder, DataSet, DataSpec, Format, Outside, PromptSelection, convert};
use dyno_workload::trace::{Trace, TraceLimits, TraceProfile};
use libfuzzer_sys::fuzz_target;

const SPECS: [&str; 17] = [
    "f",
    "f,skip_bad=true",
    "f.csv,skip_bad=true",
    "openqa:f,skip_bad=true",
    "long:f",
    "lines:f,skip_bad=true",
    "json:f,prompt=a.b,skip_bad=true",
    "csv:f,skip_bad=true",
    "sharegpt:f,turns=all,skip_bad=true",
    "session:f,skip_bad=true",
    "json:f,system=s,output_tokens=n",
    "parquet:f",
    "trace:f",
    "trace:f,skip_bad=true,block=3,from=1ms,to=1h,speed=0.5",
    "f.csv",
    "f,turns=all,skip_bad=true",
    "json:f,prompt=a,context=b,skip_bad=true",
];

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let Some(spec) = SPECS.get(usize::from(*choice) % SPECS.len()) else { return };
    let Ok(spec) = spec.parse::<DataSpec>() else { return };
    let name = spec.path.as_deref().and_then(|path| path.to_str()).unwrap_or("f");
    if spec.kind == Some(DataKind::Trace) {
        return replay(name, bytes, &spec);
    }
    let data = match DataSet::from_bytes(name, bytes, &spec) {
        Ok(data) => data,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(!data.recognised().to_string().contains('\n'));
    if let Ok(conversations) = data.conversations() {
        conversations.for_each(drop);
    }
    let Ok(reading) = data.open() else { return };
    let items: Vec<Item> = reading.map_while(Result::ok).collect();
    describe(&data, items.first());
    select(&data);
    // Conversations of a session are lists of messages, even of one.
    let led = spec.kind == Some(DataKind::Session);
    written_and_read_again(&items, if led { "session:f" } else { "lines:f" });
});

/// What is said about a file breaks no line and moves no cursor, whatever the file holds.
fn describe(data: &DataSet, item: Option<&Item>) {
    let harmless = |text: &str| assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
    let recognised = data.recognised();
    assert!(recognised.warnings().iter().all(|warning| !warning.to_string().contains('\n')));
    for language in [Language::English, Language::Chinese] {
        let fields = shown::fields(recognised, language);
        harmless(&fields);
        assert!(fields.lines().count() <= 1 + recognised.fields.len() + recognised.unused.len());
        if let Some(item) = item {
            let first = First { content: item.content.clone(), tokens: 1 };
            harmless(&shown::first(&first, true, language));
        }
    }
}

fn replay(name: &str, bytes: &[u8], spec: &DataSpec) {
    let limits = TraceLimits { max_input: Some(1_000), truncate: true, ..TraceLimits::default() };
    let trace = match Trace::from_bytes(name, bytes, spec, &limits) {
        Ok(trace) => trace,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(!trace.recognised().to_string().contains('\n'));
    assert!(trace.len() > 0 && trace.schedule().is_sorted());
    assert!(trace.requests().all(|r| (1..=1_000).contains(&r.input) && r.output > 0));
    let profile = TraceProfile::of(&trace);
    assert!(profile.reuse.is_none_or(|reuse| reuse.seen <= reuse.input));
    assert!(!profile.to_string().is_empty());
}

fn select(data: &DataSet) {
    let selection = PromptSelection {
        order: DataOrder::Shuffle,
        seed: 1,
        max_input: Some(8),
        outside: Outside::Truncate,
        unique_prefix: true,
        ..PromptSelection::default()
    };
    let count = |content: &Content| match content {
        Content::Text(text) => Ok(text.chars().count() as u32 / 4),
        Content::Messages(messages) => Ok(messages.len() as u32 * 3),
        Content::Body(_) => Ok(9),
        Content::Recorded(prompt) => Ok(prompt.messages.len() as u32),
        Content::Texts(texts) => Ok(texts.texts.len() as u32),
    };
    if let Ok(selected) = selection.of(data, Some(Box::new(count))) {
        selected.take(50).for_each(drop);
    }
}

fn written_and_read_again(items: &[Item], spec: &str) {
    let mut lines = Vec::new();
    let written = convert(items.iter().cloned().map(Ok), Format::Lines, &mut lines);
    assert_eq!(written.ok(), Some(items.len() as u64));
    if items.is_empty() {
        return;
    }
    let Ok(spec) = spec.parse::<DataSpec>() else { return };
    let again = DataSet::from_bytes("f", &lines, &spec).and_then(|data| data.open()?.collect());
    match again {
        Ok(again) => {
            let again: Vec<Item> = again;
            assert_eq!(again, items);
        }
        Err(error) => panic!("{error}"),
    }
}
