//! How quickly traces are read and their prompts are ready: a million rows of each form, then
//! 100,000 prompts of 1,024 tokens in blocks of 512 and of 16 tokens, on one thread.
//!
//! `cargo run --release -p dyno-workload --example trace_speed`

use std::error::Error;
use std::fmt::Write;
use std::time::Instant;

use dyno_model::prompt::Content;
use dyno_workload::data::DataSpec;
use dyno_workload::random::key::Key;
use dyno_workload::tokenizer::Tokenizer;
use dyno_workload::trace::{Trace, TraceLimits, TraceProfile, TracePrompts};

const ROWS: u64 = 1_000_000;
const PROMPTS: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    for (name, header, row) in [
        ("azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n", azure as fn(u64) -> String),
        ("burstgpt.csv", BURST_GPT, burst_gpt),
        ("mooncake.jsonl", "", mooncake),
    ] {
        let mut text = header.to_owned();
        (0..ROWS).for_each(|index| text.push_str(&row(index)));
        let start = Instant::now();
        let trace = opened(name, &text, "")?;
        let took = start.elapsed().as_secs_f64();
        println!("{}", trace.recognised());
        let size = text.len() as f64 / 1e6;
        println!("  {size:.0} MB read in {took:.2} s: {:.0} MB a second", size / took);
        let start = Instant::now();
        let profile = TraceProfile::of(&trace);
        println!("  told about in {:.2?}; {:?}", start.elapsed(), profile.reuse);
    }
    for block in [512, 16] {
        let mut text = String::new();
        for index in 0..PROMPTS {
            let ids: Vec<u64> = (0..1_024 / block).map(|b| b * (index % 1_000)).collect();
            let _ = writeln!(
                text,
                r#"{{"timestamp":{index},"input_length":1024,"output_length":1,"hash_ids":{ids:?}}}"#
            );
        }
        let trace = opened("t.jsonl", &text, &format!(",block={block}"))?;
        let prompts =
            TracePrompts::new(&Tokenizer::estimate(), trace, Key::new(1, 0), true, false)?;
        let start = Instant::now();
        let mut bytes = 0;
        for index in 0..PROMPTS {
            if let Some(item) = prompts.prompt(index)?
                && let Content::Text(text) = item.content
            {
                bytes += text.len();
            }
        }
        println!(
            "{PROMPTS} prompts of 1,024 tokens in blocks of {block}: {:.2?}, {} MB, {:?}",
            start.elapsed(),
            bytes / 1_000_000,
            prompts.checks()
        );
    }
    Ok(())
}

fn opened(name: &str, text: &str, options: &str) -> Result<Trace, Box<dyn Error>> {
    let spec: DataSpec = format!("trace:{name}{options}").parse()?;
    Ok(Trace::from_bytes(name, text.as_bytes(), &spec, &TraceLimits::default())?)
}

fn azure(index: u64) -> String {
    let (minute, second) = (index / 60_000, index / 1_000 % 60);
    let hour = minute / 60;
    let minute = minute % 60;
    format!("2023-11-16 {hour:02}:{minute:02}:{second:02}.{:03}9600,4808,10\n", index % 1_000)
}

const BURST_GPT: &str = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,\
                         Total tokens,Log Type\n";

fn burst_gpt(index: u64) -> String {
    format!("{index}.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,API log\n")
}

fn mooncake(index: u64) -> String {
    let ids: Vec<u64> =
        (0..14).map(|place| if place < 4 { place } else { index + place }).collect();
    format!(
        "{{\"timestamp\": {index}, \"input_length\": 6758, \"output_length\": 500, \
         \"hash_ids\": {ids:?}}}\n"
    )
}
