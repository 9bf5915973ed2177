//! The options of generated agentic traffic: what they take, and what is said of what they do not take.

#![allow(clippy::unwrap_used)]

use dyno_workload::agentic::AgenticOptions;
use dyno_workload::data::DataSpec;
use dyno_workload::session::Think;

fn options(text: &str) -> Result<AgenticOptions, String> {
    let spec: DataSpec = text.parse().map_err(|error| format!("{error}"))?;
    AgenticOptions::new(&spec).map_err(|error| error.to_string())
}

#[test]
fn every_option_is_taken() {
    let all = "agentic,turns=20,system=9k,first=1k-2k,growth=lognormal(300,1),output=normal(99,9),gap=lognormal(5s,1),\
               tools=50%,subagents=0.1,parallel=1-4,subturns=zipf(1.2,1-40),background=0,trim=100%,cut=0,context=64k";
    let read = options(all).unwrap();
    assert_eq!(read.turns.to_string(), "20");
    assert_eq!(read.first.to_string(), "1000-2000");
    assert_eq!(read.growth.to_string(), "lognormal(300,1)");
    assert_eq!(read.subturns.to_string(), "zipf(1.2,1-40)");
    assert_eq!(read.gap, Think::LogNormal(5_000_000_000, 1.0));
    assert_eq!((read.tools, read.subagents, read.trim, read.context), (0.5, 0.1, 1.0, 64_000));
    assert_eq!(options("agentic").unwrap(), AgenticOptions::default());
    let spec: DataSpec = all.parse().unwrap();
    assert_eq!(spec.to_string().parse::<DataSpec>().unwrap(), spec);
    let escaped: DataSpec = "agentic,growth=lognormal(300\\,1)".parse().unwrap();
    assert_eq!(escaped, "agentic,growth=lognormal(300,1)".parse().unwrap());
}

#[test]
fn what_cannot_be_taken_is_named_with_what_to_write() {
    for (text, said) in [
        (
            "agentic,turn=20",
            "unknown key \"turn\" (did you mean turns?); the keys of agentic without a file are turns, ",
        ),
        (
            "agentic,turns=many",
            "turns=: length `many`: `many` is not a whole number of tokens; write a length as 512",
        ),
        ("agentic,turns=10k", "turns=: 10000 is more than 2000; write at most 2000"),
        (
            "agentic,growth=normal(5)",
            "growth=: length `normal(5)`: normal() takes two values; write a length as 512",
        ),
        (
            "agentic,gap=10",
            "gap=10 is not possible; write gap=10s, gap=1s-30s, gap=exp(10s) or gap=lognormal(10s,2)",
        ),
        ("agentic,gap=lognormal(10s,9)", "gap=lognormal(10s,9) is not possible; write gap=10s"),
        (
            "agentic,tools=200%",
            "tools=200% is not possible; write tools=5%: a share from 0% to 100%",
        ),
        ("agentic,parallel=1-1000", "parallel=: 1000 is more than 100; write at most 100"),
        (
            "agentic,context=1k-2k",
            "context=1k-2k is not possible; write context=200k: one number of tokens",
        ),
        ("agentic,context=2000k", "context=: 2000000 is more than 1000000; write at most 1000000"),
        (
            "agentic,context=1000,system=800,first=300,growth=1,output=1",
            "context=: 1000 tokens have no room for system=, first=, growth= and output=, which need 1102; write a larger",
        ),
        ("agentic,cut=1%,cut=2%", "cut= is given twice"),
    ] {
        let found = options(text).unwrap_err();
        assert!(found.contains(said), "{text}: {found}");
    }
}
