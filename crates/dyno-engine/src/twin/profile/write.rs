//! Writes a twin file that people can read.

use super::{Accuracy, ReferenceValue, SCHEMA, Twin, TwinClient};
use crate::core::{Cost, Front, Launch, Policy, Scheduler};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

impl Twin {
    /// The text of its file. Reading it gives this twin, to six digits.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "schema = {}", quoted(SCHEMA))?;
        writeln!(out, "name = {}", quoted(&self.name))?;
        for (key, value) in [("model", &self.model), ("hardware", &self.hardware)] {
            if let Some(value) = value {
                writeln!(out, "{key} = {}", quoted(value))?;
            }
        }
        writeln!(out, "engine = {}", quoted(&self.engine))?;
        writeln!(out, "provenance = {}", quoted(&self.provenance))?;
        if let Some(reference) = &self.reference {
            writeln!(out, "reference = {}", quoted(reference))?;
        }
        if !self.unidentified.is_empty() {
            writeln!(out, "unidentified = {}", list(&self.unidentified))?;
        }
        scheduler(out, &self.scheduler)?;
        cost(out, &self.cost)?;
        self.known(out)
    }

    fn known(&self, out: &mut String) -> fmt::Result {
        if !self.intervals.is_empty() {
            writeln!(out, "\n[intervals]")?;
            for (name, interval) in &self.intervals {
                writeln!(out, "{} = {}", key(name), pair(*interval))?;
            }
        }
        writeln!(out, "\n[lengths]")?;
        for (name, length) in [("input", self.lengths.input), ("output", self.lengths.output)] {
            let (mean, spread) = (number(length.mean), number(length.spread));
            writeln!(out, "{name} = {{ mean = {mean}, spread = {spread} }}")?;
        }
        if let Some(range) = &self.range {
            writeln!(out, "\n[range]")?;
            writeln!(out, "in_flight = {}", pair(range.in_flight))?;
            writeln!(out, "rate = {}", pair(range.rate))?;
            writeln!(out, "input = {}", pair(range.input))?;
            writeln!(out, "output = {}", pair(range.output))?;
        }
        if self.client != TwinClient::default() {
            writeln!(out, "\n[client]")?;
            if let Some(in_flight) = self.client.in_flight {
                writeln!(out, "in_flight = {in_flight}")?;
            }
            writeln!(out, "token_us = {}", number(self.client.token_us))?;
        }
        if let Some(accuracy) = self.accuracy {
            writeln!(out, "\n[accuracy]")?;
            percents(out, accuracy)?;
        }
        let rows = [
            ("fitted", &self.rows.fitted),
            ("held_out", &self.rows.held_out),
            ("left_out", &self.rows.left_out),
        ];
        if rows.iter().any(|(_, rows)| !rows.is_empty()) {
            writeln!(out, "\n[rows]")?;
        }
        for (name, rows) in rows {
            if !rows.is_empty() {
                writeln!(out, "{name} = {}", list(rows))?;
            }
        }
        errors(out, "fitted", &self.errors.fitted)?;
        errors(out, "held_out", &self.errors.held_out)?;
        for (kind, typical) in &self.errors.kinds {
            writeln!(out, "\n[errors.kinds.{}]", key(kind))?;
            percents(out, *typical)?;
        }
        Ok(())
    }
}

fn percents(out: &mut String, Accuracy { rate, ttft, itl, latency }: Accuracy) -> fmt::Result {
    let all = [("rate", Some(rate)), ("ttft", Some(ttft)), ("itl", itl)];
    for (name, percent) in all.into_iter().chain([("latency", Some(latency))]) {
        if let Some(percent) = percent {
            writeln!(out, "{name} = {}", number(percent))?;
        }
    }
    Ok(())
}

fn scheduler(out: &mut String, scheduler: &Scheduler) -> fmt::Result {
    let policy = match scheduler.policy {
        Policy::PrefillFirst => "prefill_first",
        Policy::Chunked => "chunked",
    };
    writeln!(out, "\n[scheduler]")?;
    writeln!(out, "policy = {}", quoted(policy))?;
    writeln!(out, "max_seqs = {}", scheduler.max_seqs)?;
    writeln!(out, "token_budget = {}", scheduler.token_budget)?;
    writeln!(out, "block = {}", scheduler.block)?;
    writeln!(out, "kv_blocks = {}", scheduler.kv_blocks)?;
    writeln!(out, "prefix_cache = {}", scheduler.prefix_cache)?;
    if let Some(context) = scheduler.context {
        writeln!(out, "context = {context}")?;
    }
    match scheduler.steps_ahead {
        0 => Ok(()),
        ahead => writeln!(out, "steps_ahead = {ahead}"),
    }
}

fn cost(out: &mut String, cost: &Cost) -> fmt::Result {
    writeln!(out, "\n[cost]")?;
    writeln!(out, "base_ms = {}", number(cost.base * 1e3))?;
    writeln!(out, "prefill_token_us = {}", number(cost.prefill_token * 1e6))?;
    writeln!(out, "attention_ns = {}", number(cost.attention * 1e9))?;
    writeln!(out, "decode_us = {}", number(cost.decode * 1e6))?;
    writeln!(out, "kv_ns = {}", number(cost.kv * 1e9))?;
    writeln!(out, "prefill_base_ms = {}", number(cost.prefill_base * 1e3))?;
    if let Some(knee) = cost.knee {
        let (decode, jump) = (number(knee.decode * 1e6), number(knee.jump * 1e3));
        let above = knee.above;
        writeln!(out, "knee = {{ above = {above}, decode_us = {decode}, jump_ms = {jump} }}")?;
    }
    if let Some(rise) = cost.rise {
        let (time, within) = (number(rise.time * 1e3), number(rise.within));
        writeln!(out, "rise = {{ time_ms = {time}, within = {within} }}")?;
    }
    if cost.launch != Launch::default() {
        let Launch { decode, prefill, sequence, captured, large } = cost.launch;
        let [decode, prefill, large] = [decode, prefill, large].map(|time| number(time * 1e3));
        let sequence = number(sequence * 1e6);
        writeln!(
            out,
            "launch = {{ decode_ms = {decode}, prefill_ms = {prefill}, sequence_us = {sequence}, \
             captured = {captured}, large_ms = {large} }}"
        )?;
    }
    writeln!(out, "front_end_ms = {}", number(cost.front_end * 1e3))?;
    if cost.front != Front::default() {
        let Front { request, input, turns, chunk, merges } = cost.front;
        let [input, chunk] = [input, chunk].map(|time| number(time * 1e6));
        let request = number(request * 1e3);
        writeln!(
            out,
            "front = {{ request_ms = {request}, input_us = {input}, turns = {turns}, \
             chunk_us = {chunk}, merges = {merges} }}"
        )?;
    }
    writeln!(out, "noise = {}", number(cost.noise))?;
    match cost.slow_down.is_none() {
        true => Ok(()),
        false => writeln!(out, "slow_down = {}", quoted(&cost.slow_down.to_string())),
    }
}

fn errors(out: &mut String, name: &str, errors: &BTreeMap<ReferenceValue, f64>) -> fmt::Result {
    // An error that is no number says nothing, and reading would refuse it.
    let known = || errors.iter().filter(|(_, percent)| percent.is_finite());
    if known().next().is_some() {
        writeln!(out, "\n[errors.{name}]")?;
    }
    for (figure, percent) in known() {
        writeln!(out, "{} = {}", figure.name(), number(*percent))?;
    }
    Ok(())
}

/// A number with six digits, as TOML and people write it.
fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    format!("{rounded}")
}

fn pair([least, most]: [f64; 2]) -> String {
    format!("[{}, {}]", number(least), number(most))
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04X}", control as u32);
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

fn list(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A key, quoted unless it may stand bare.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_bare = !name.is_empty() && name.chars().all(bare);
    if is_bare { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (name, text) in Twin::shipped() {
            let twin = Twin::parse(text, name).unwrap();
            assert_eq!(Twin::parse(&twin.to_toml(), name).unwrap(), twin);
        }
    }

    #[test]
    fn what_a_twin_does_not_have_is_not_written() {
        for (name, text) in Twin::shipped() {
            let written = Twin::parse(text, name).unwrap().to_toml();
            for key in ["steps_ahead", "launch", "front ="] {
                assert!(!written.contains(key) || text.contains(key), "{name}: {key}");
            }
        }
    }

    #[test]
    fn odd_words_and_rare_settings_survive() {
        let (name, text) = Twin::shipped()[0];
        let mut twin = Twin::parse(text, name).unwrap();
        twin.provenance = "a \"quoted\\\" line\nand\ta second, 4 × A100 \u{7f}".to_owned();
        twin.intervals.insert("knee.above".to_owned(), [1e-9, 1e12]);
        twin.cost.slow_down = "10%/min".parse().unwrap();
        twin.accuracy = Some(Accuracy { rate: 1.5, ttft: 11.0, itl: Some(8.0), latency: 4.0 });
        let closed = Accuracy { rate: 0.5, ttft: 4.0, itl: None, latency: 1.0 };
        twin.errors.kinds.insert("closed".to_owned(), closed);
        twin.scheduler.steps_ahead = 1;
        twin.cost.launch =
            Launch { decode: 0.001, prefill: 0.01, sequence: 9e-5, captured: 512, large: 0.02 };
        twin.cost.front = Front { request: 2e-4, input: 1e-6, turns: 12, chunk: 3e-5, merges: 128 };
        assert_eq!(Twin::parse(&twin.to_toml(), name).unwrap(), twin);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let (name, text) = Twin::shipped()[0];
        let mut twin = Twin::parse(text, name).unwrap();
        twin.accuracy = Some(Accuracy { rate: 1.5, ttft: 11.0, itl: None, latency: 4.0 });
        twin.errors.fitted = BTreeMap::from([(ReferenceValue::ItlMs, f64::NAN)]);
        twin.errors.held_out =
            BTreeMap::from([(ReferenceValue::ItlMs, f64::NAN), (ReferenceValue::TtftMs, 3.0)]);
        let read = Twin::parse(&twin.to_toml(), name).unwrap();
        assert_eq!(read.accuracy, twin.accuracy);
        assert!(read.errors.fitted.is_empty());
        assert_eq!(read.errors.held_out, BTreeMap::from([(ReferenceValue::TtftMs, 3.0)]));
    }
}
