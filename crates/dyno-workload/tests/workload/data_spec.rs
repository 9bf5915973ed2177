//! Valid values of `--data`, and the errors for invalid ones.
#![allow(clippy::expect_used)]

use dyno_model::Language;
use dyno_workload::data::{DataKind, DataSpec, Turns};
use proptest::prelude::*;

fn parsed(text: &str) -> DataSpec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    match text.parse::<DataSpec>() {
        Ok(spec) => panic!("{text} became {spec:?}"),
        Err(error) => error.to_string(),
    }
}

fn path(spec: &DataSpec) -> Option<&str> {
    spec.path.as_deref().and_then(|path| path.to_str())
}

#[test]
fn kinds_and_paths() {
    let spec = parsed("openqa");
    assert_eq!((spec.kind, path(&spec)), (Some(DataKind::OpenQa), None));
    let spec = parsed("sharegpt:conv.json,turns=all,skip_bad=true");
    assert_eq!((spec.kind, path(&spec)), (Some(DataKind::ShareGpt), Some("conv.json")));
    assert_eq!((spec.turns, spec.skip_bad), (Some(Turns::All), true));
    let spec = parsed("some/file.jsonl,prompt=input,output_tokens=n");
    assert_eq!((spec.kind, path(&spec)), (None, Some("some/file.jsonl")));
    assert_eq!(spec.mapping.prompt.map(|field| field.to_string()), Some("\"input\"".into()));
    assert_eq!(spec.mapping.output_tokens.map(|field| field.to_string()), Some("\"n\"".into()));
    assert_eq!(parsed("long,lang=zh").lang, Some(Language::Chinese));
}

#[test]
fn paths_with_commas_colons_and_backslashes() {
    assert_eq!(path(&parsed(r"json:a\,b.json,prompt=x")), Some("a,b.json"));
    assert_eq!(path(&parsed(r"C:\data\set.jsonl")), Some(r"C:\data\set.jsonl"));
    assert_eq!(path(&parsed(r"csv:C:\data\set.csv")), Some(r"C:\data\set.csv"));
    assert_eq!(path(&parsed("./data:v2.jsonl")), Some("./data:v2.jsonl"));
    assert_eq!(path(&parsed("part=1/x.jsonl")), Some("part=1/x.jsonl"));
}

#[test]
fn options_of_kinds_made_elsewhere_are_kept_and_can_be_checked() {
    let spec = parsed("random,prefix=64,groups=4");
    assert_eq!((spec.option("prefix"), spec.option("groups")), (Some("64"), Some("4")));
    assert!(spec.only(&["prefix", "groups"]).is_ok());
    assert_eq!(
        parsed("trace:azure.csv,sped=2").only(&["speed", "from", "to"]).map_err(|e| e.to_string()),
        Err("unknown key \"sped\" (did you mean speed?); the keys of trace are speed, from, to"
            .into())
    );
    let spec = parsed("session:conv.json,turns=8,messages=chat,skip_bad=true");
    assert_eq!((spec.option("turns"), spec.skip_bad), (Some("8"), true));
    assert!(spec.mapping.messages.is_some());
}

/// Section 7: `turns=3` was said to be wrong.
#[test]
fn a_misspelt_kind_with_options_is_named() {
    let refused = refused("sesion,turns=3");
    assert_eq!(
        refused,
        "there is no kind \"sesion\"; did you mean session? A file of that name is written with ./ before it"
    );
    // A file of such a name is still one.
    assert_eq!(path(&parsed("sesion,prompt=a")), Some("sesion"));
    assert!(parsed("-").is_stdin() && parsed("lines:-,skip_bad=true").is_stdin());
    assert!(!parsed("./-").is_stdin() && !parsed("openqa").is_stdin());
}

#[test]
fn mistakes_are_named() {
    let cases = [
        ("", "the data specification is empty; write KIND[:PATH][,key=value…], as in openqa"),
        (
            "opneqa:x.jsonl",
            "unknown kind \"opneqa\" in \"opneqa:x.jsonl\" (did you mean openqa?); the kinds are \
             openqa, long, lines, json, csv, parquet, sharegpt, random, session, trace, agentic. A path \
             that contains a colon is written ./opneqa:x.jsonl",
        ),
        (
            "openqa:",
            "\"openqa:\" has no path after its colon; name the file, or leave the colon out",
        ),
        ("json", "json needs a file: write json:PATH"),
        ("random:x", "random takes no file, and \"x\" was given; leave it out"),
        ("x,y.jsonl", "\"y.jsonl\" is not key=value; a comma inside a path is written \\,"),
        (
            "prompt=input",
            "\"prompt=input\" is an option; a kind or a path comes first, as in \
             json:FILE,prompt=input",
        ),
        (
            "json:x,promt=a",
            "unknown key \"promt\" (did you mean prompt?); the keys of json are prompt, context, system, \
             output_tokens, messages, turns, skip_bad",
        ),
        (
            "x,temperature=0",
            "unknown key \"temperature\"; the keys of a file are prompt, context, system, output_tokens, messages, \
             turns, skip_bad",
        ),
        ("x,prompt=a,prompt=b", "prompt= is given twice; give it once"),
        ("x,turns=2", "turns=2 is not possible; write turns=first or turns=all"),
        ("x,skip_bad=yes", "skip_bad=yes is not possible; write skip_bad=true or skip_bad=false"),
        ("x,prompt=", "prompt= is not possible; write prompt=FIELD"),
        (
            "x,prompt=a,messages=b",
            "prompt= and messages= both say where the prompt is; give one of them",
        ),
        (
            "openqa:x,lang=en",
            "lang= chooses among built-in texts, and \"x\" is a file; leave one of them out",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refused(text), message, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused_without_panic(text in ".{0,60}") {
        if let Ok(spec) = text.parse::<DataSpec>() {
            let again: DataSpec = spec.to_string().parse().expect("reads back");
            prop_assert_eq!(again, spec);
        }
    }

    #[test]
    fn written_and_read_again_it_is_the_same(
        kind in prop::sample::select(vec!["", "json:", "csv:", "sharegpt:", "lines:"]),
        path in r"[a-z,./]{1,12}\.[a-z]{2}",
        prompt in prop::option::of("[a-z.,=]{1,8}"),
        all in any::<bool>(),
        skip_bad in any::<bool>(),
    ) {
        let mut text = format!("{kind}{}", path.replace(',', "\\,"));
        if let Some(prompt) = &prompt {
            text += &format!(",prompt={}", prompt.replace(',', "\\,"));
        }
        text += &format!(",turns={},skip_bad={skip_bad}", if all { "all" } else { "first" });
        let spec: DataSpec = text.parse().expect("is well formed");
        prop_assert_eq!(spec.path.as_deref().and_then(|path| path.to_str()), Some(&*path));
        prop_assert_eq!(spec.to_string().parse::<DataSpec>().expect("reads back"), spec);
    }
}
