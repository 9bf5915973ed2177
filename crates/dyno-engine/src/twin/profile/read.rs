//! Reads a twin file and rejects impossible values, with the line at fault.

use super::form::{CostFile, File, Form};
use super::{Accuracy, KINDS, SCHEMA, Twin, TwinLengths, TwinRange};
use crate::core::{ConfigError, Cost, CostKnee, Front, Launch, Rise};
use crate::slow_down::SlowDown;
use dyno_model::{Message, message};
use toml::Spanned;

impl Twin {
    /// Reads a twin from the text of `file`; messages use that name.
    pub fn parse(text: &str, file: &str) -> Result<Self, Message> {
        let at = Place { text, file };
        let form: Form = toml::from_str(text).map_err(|error| at.toml(&error))?;
        if form.schema.get_ref() != SCHEMA {
            let (file, schema) = (file.to_owned(), form.schema.into_inner());
            return Err(message!(
                "twin {file} has the schema `{schema}`; this version of Dyno reads {SCHEMA}",
                "孪生模型 {file} 的 schema 为 `{schema}`；此版本的 Dyno 读取 {SCHEMA}"
            ));
        }
        let read: File = toml::from_str(text).map_err(|error| at.toml(&error))?;
        let cost = at.cost(&read.cost)?;
        let scheduler = *read.scheduler.get_ref();
        scheduler.check().map_err(|error| at.setting(read.scheduler.span().start, &error))?;
        at.lengths(&read.lengths)?;
        if let Some(range) = &read.range {
            at.range(range)?;
        }
        if let Some(accuracy) = &read.accuracy {
            at.accuracy(accuracy.get_ref(), accuracy.span().start)?;
        }
        for (kind, typical) in &read.errors.kinds {
            let table = text.find(&format!("[errors.kinds.{kind}")).unwrap_or_default();
            if !KINDS.contains(&kind.as_str()) {
                let problem = message!(
                    "`{kind}` is no kind of load; give one of `{}`",
                    "`{kind}` 不是负载类型；请写 `{}` 之一",
                    KINDS.join("`, `")
                );
                return Err(at.wrong(table, problem));
            }
            at.accuracy(typical, table)?;
        }
        Ok(Self {
            name: read.name,
            model: read.model,
            hardware: read.hardware,
            engine: read.engine,
            provenance: read.provenance,
            reference: read.reference,
            scheduler,
            cost,
            lengths: *read.lengths.get_ref(),
            range: read.range.map(Spanned::into_inner),
            client: read.client,
            rows: read.rows,
            errors: read.errors,
            intervals: read.intervals,
            unidentified: read.unidentified,
            accuracy: read.accuracy.map(Spanned::into_inner),
        })
    }
}

/// The file being read, for error positions.
struct Place<'a> {
    text: &'a str,
    file: &'a str,
}

impl Place<'_> {
    fn wrong(&self, offset: usize, problem: Message) -> Message {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        message!(
            "twin file {file}, line {line}: {problem}",
            "孪生模型文件 {file} 第 {line} 行：{problem}",
            file = self.file
        )
    }

    fn toml(&self, error: &toml::de::Error) -> Message {
        let offset = error.span().map_or(0, |span| span.start);
        let said = error.message().replace('\n', "; ");
        self.wrong(offset, message!("{said}", "“{said}”"))
    }

    /// A setting that the scheduler rejects, with the line that sets it.
    fn setting(&self, table: usize, error: &ConfigError) -> Message {
        let name = match error {
            ConfigError::Zero(name) => name,
            ConfigError::Block(_) => "block",
            ConfigError::Ahead(_) => "steps_ahead",
            ConfigError::Pool { .. } => "context",
            _ => "",
        };
        let mut offset = table;
        for line in self.text.get(table..).unwrap_or_default().split_inclusive('\n') {
            let rest = line.trim_start().strip_prefix(name).unwrap_or_default();
            if !name.is_empty() && rest.trim_start().starts_with('=') {
                return self.wrong(offset, Message::of(error));
            }
            offset += line.len();
        }
        self.wrong(table, Message::of(error))
    }

    fn cost(&self, file: &Spanned<CostFile>) -> Result<Cost, Message> {
        let read = file.get_ref();
        let number = |name: &str, value: &Spanned<f64>, per_second: f64| {
            let given = *value.get_ref();
            if given.is_finite() && given >= 0.0 {
                return Ok(given / per_second);
            }
            let problem = message!(
                "`{name}` is {given}; give a finite number of at least 0",
                "`{name}` 为 {given}；请给出不小于 0 的有限数"
            );
            Err(self.wrong(value.span().start, problem))
        };
        let or_none = |name: &str, value: &Option<Spanned<f64>>, per_second: f64| {
            value.as_ref().map_or(Ok(0.0), |value| number(name, value, per_second))
        };
        let knee = read.knee.as_ref().map(|knee| {
            Ok(CostKnee {
                above: knee.above,
                decode: *knee.decode_us.get_ref() / 1e6,
                jump: number("knee.jump_ms", &knee.jump_ms, 1e3)?,
            })
        });
        let rise = read.rise.as_ref().map(|rise| {
            Ok(Rise {
                time: number("rise.time_ms", &rise.time_ms, 1e3)?,
                within: number("rise.within", &rise.within, 1.0)?,
            })
        });
        let launch = read.launch.as_ref().map(|launch| {
            Ok(Launch {
                decode: number("launch.decode_ms", &launch.decode_ms, 1e3)?,
                prefill: number("launch.prefill_ms", &launch.prefill_ms, 1e3)?,
                sequence: number("launch.sequence_us", &launch.sequence_us, 1e6)?,
                captured: launch.captured,
                large: or_none("launch.large_ms", &launch.large_ms, 1e3)?,
            })
        });
        let front = read.front.as_ref().map(|front| {
            let turns = front.turns.as_ref();
            Ok(Front {
                request: number("front.request_ms", &front.request_ms, 1e3)?,
                chunk: number("front.chunk_us", &front.chunk_us, 1e6)?,
                merges: front.merges,
                turns: turns.map_or(1, |turns| *turns.get_ref()),
                input: or_none("front.input_us", &front.input_us, 1e6)?,
            })
        });
        let slow_down = read.slow_down.as_ref().map(|rate| {
            let parsed = rate.get_ref().parse::<SlowDown>();
            parsed.map_err(|error| self.wrong(rate.span().start, Message::of(error)))
        });
        let cost = Cost {
            base: number("base_ms", &read.base_ms, 1e3)?,
            prefill_token: number("prefill_token_us", &read.prefill_token_us, 1e6)?,
            attention: number("attention_ns", &read.attention_ns, 1e9)?,
            decode: number("decode_us", &read.decode_us, 1e6)?,
            kv: number("kv_ns", &read.kv_ns, 1e9)?,
            prefill_base: or_none("prefill_base_ms", &read.prefill_base_ms, 1e3)?,
            knee: knee.transpose()?,
            rise: rise.transpose()?,
            launch: launch.transpose()?.unwrap_or_default(),
            front_end: or_none("front_end_ms", &read.front_end_ms, 1e3)?,
            front: front.transpose()?.unwrap_or_default(),
            noise: or_none("noise", &read.noise, 1.0)?,
            slow_down: slow_down.transpose()?.unwrap_or_default(),
        };
        cost.check().map_err(|error| match (error, &read.noise, &read.knee) {
            (ConfigError::Noise(_), Some(noise), _) => {
                self.wrong(noise.span().start, Message::of(error))
            }
            (ConfigError::Falling { .. }, _, Some(knee)) => {
                let problem = message!(
                    "`knee.decode_us` is {}; give a finite number of at least -{} (`decode_us`), \
                     or more sequences would take less time",
                    "`knee.decode_us` 为 {}；请给出不小于 -{}（`decode_us`）的有限数，\
                     否则序列越多用时反而越短",
                    knee.decode_us.get_ref(),
                    read.decode_us.get_ref(),
                );
                self.wrong(knee.decode_us.span().start, problem)
            }
            (ConfigError::Zero("front.turns") | ConfigError::Turns(_), ..) => {
                let front = read.front.as_ref().and_then(|front| front.turns.as_ref());
                let offset = front.map_or(file.span().start, |turns| turns.span().start);
                self.wrong(offset, Message::of(error))
            }
            _ => self.wrong(file.span().start, Message::of(error)),
        })?;
        Ok(cost)
    }

    fn lengths(&self, lengths: &Spanned<TwinLengths>) -> Result<(), Message> {
        let TwinLengths { input, output } = *lengths.get_ref();
        for (name, length) in [("input", input), ("output", output)] {
            let mean = length.mean.is_finite() && length.mean >= 1.0;
            if !mean || !(0.0..=10.0).contains(&length.spread) {
                let problem = message!(
                    "`{name}` has a mean of {} and a spread of {}; give a mean of at least 1 token \
                     and a spread from 0 to 10",
                    "`{name}` 的 mean 为 {}，spread 为 {}；mean 至少为 1 个 token，spread 须在 0 \
                     到 10 之间",
                    length.mean,
                    length.spread,
                );
                return Err(self.wrong(lengths.span().start, problem));
            }
        }
        Ok(())
    }

    fn accuracy(&self, accuracy: &Accuracy, offset: usize) -> Result<(), Message> {
        let Accuracy { rate, ttft, itl, latency } = *accuracy;
        let all = [("rate", Some(rate)), ("ttft", Some(ttft)), ("itl", itl)];
        for (name, percent) in all.into_iter().chain([("latency", Some(latency))]) {
            let Some(percent) = percent else { continue };
            if !(percent >= 0.0 && percent.is_finite()) {
                let problem = message!(
                    "`{name}` is {percent}; give percent, a finite number of at least 0",
                    "`{name}` 为 {percent}；请给出百分数，不小于 0 的有限数"
                );
                return Err(self.wrong(offset, problem));
            }
        }
        Ok(())
    }

    fn range(&self, range: &Spanned<TwinRange>) -> Result<(), Message> {
        let TwinRange { in_flight, rate, input, output } = *range.get_ref();
        let named =
            [("in_flight", in_flight), ("rate", rate), ("input", input), ("output", output)];
        for (name, [least, most]) in named {
            if !(least >= 0.0 && least <= most && most.is_finite()) {
                let problem = message!(
                    "`{name}` is [{least}, {most}]; give the smallest value first, then the largest",
                    "`{name}` 为 [{least}, {most}]；请先写最小值，再写最大值"
                );
                return Err(self.wrong(range.span().start, problem));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> &'static str {
        include_str!("../../../twins/generic-7b-24gb.toml")
    }

    /// What reading says if the line that starts with `key` is `line` instead, and that line.
    fn refused(key: &str, line: &str) -> (String, usize) {
        let mut at = 0;
        let changed: Vec<&str> = text()
            .lines()
            .enumerate()
            .map(|(index, old)| {
                if old.starts_with(key) {
                    at = index + 1;
                    line
                } else {
                    old
                }
            })
            .collect();
        assert_ne!(at, 0, "{key} is not in the file");
        (Twin::parse(&changed.join("\n"), "my.toml").unwrap_err().to_string(), at)
    }

    #[test]
    fn impossible_values_are_named_with_their_line() {
        let cases = [
            ("base_ms", "base_ms = -3", "`base_ms` is -3"),
            ("kv_ns", "kv_ns = nan", "`kv_ns` is NaN"),
            ("attention_ns", "attention_ns = inf", "`attention_ns` is inf"),
            ("decode_us", "decode_us = \"fast\"", "invalid type"),
            ("noise", "noise = 7", "`noise` is 7"),
            (
                "noise",
                "knee = { above = 9, decode_us = -1e9, jump_ms = 0 }",
                "`knee.decode_us` is -1000000000",
            ),
            ("noise", "slow_down = \"10%\"", "10%/min"),
            (
                "noise",
                "launch = { decode_ms = 1, prefill_ms = -2, sequence_us = 3 }",
                "`launch.prefill_ms` is -2",
            ),
            ("noise", "launch = { decode_ms = 1 }", "missing field `prefill_ms`"),
            ("noise", "front = { request_ms = 1, chunk_us = -1 }", "`front.chunk_us` is -1"),
            (
                "noise",
                "front = { request_ms = 1, chunk_us = 1, turns = 0 }",
                "`front.turns` is 0; give at least 1",
            ),
            (
                "noise",
                "front = { request_ms = 1, chunk_us = 1, turns = 4000000000 }",
                "`front.turns` is 4000000000; give 1 to 1000",
            ),
            ("noise", "front = { request_ms = 1, chunk_us = 1, processes = 2 }", "unknown field"),
            ("context", "steps_ahead = 2", "`steps_ahead` is 2; give 0 or 1"),
            ("max_seqs", "max_seqs = 0", "`max_seqs` is 0"),
            ("kv_blocks", "kv_blocks = -1", "invalid value"),
            ("context", "context = 999999", "raise `kv_blocks`"),
            ("policy", "policy = \"random\"", "unknown variant"),
            ("front_end_ms", "front_end = 3", "unknown field `front_end`"),
        ];
        for (key, line, words) in cases {
            let (error, at) = refused(key, line);
            assert!(error.contains(words), "{error}");
            assert!(error.contains(&format!("my.toml, line {at}")), "{error}; line {at}");
        }
    }

    #[test]
    fn errors_of_a_kind_of_load_that_does_not_exist_are_named_with_their_line() {
        let table = |kind: &str, rate: &str| {
            format!("[errors.kinds.{kind}]\nrate = {rate}\nttft = 1\nlatency = 1\n")
        };
        let read = |more: &str| Twin::parse(&format!("{}\n{more}", text()), "my.toml");
        let lines = text().lines().count();
        let misspelt = [table("closed", "1"), table("opne", "1")].concat();
        let error = read(&misspelt).unwrap_err().to_string();
        assert!(
            error.contains("`opne` is no kind of load; give one of `closed`, `open`"),
            "{error}"
        );
        assert!(error.contains(&format!("line {}", lines + 6)), "{error}: {lines}");
        let second = [table("closed", "1"), table("open", "-1")].concat();
        let error = read(&second).unwrap_err().to_string();
        assert!(error.contains(&format!("line {}", lines + 6)), "{error}: {lines}");
        read(&[table("sessions", "1"), table("burst", "1")].concat()).unwrap();
    }

    #[test]
    fn launches_and_the_front_end_are_read_in_their_units() {
        let more = "launch = { decode_ms = 1, prefill_ms = 20, sequence_us = 90 }\n\
                    front = { request_ms = 0.5, chunk_us = 30, merges = 128 }\n";
        let changed = text()
            .replace("noise = ", &format!("{more}noise = "))
            .replace("context = ", "steps_ahead = 1\ncontext = ");
        let twin = Twin::parse(&changed, "my.toml").unwrap();
        assert_eq!(twin.scheduler.steps_ahead, 1);
        assert_eq!(
            twin.cost.launch,
            Launch { decode: 1e-3, prefill: 0.02, sequence: 9e-5, ..Launch::default() }
        );
        let front = Front { request: 5e-4, chunk: 3e-5, merges: 128, ..Front::default() };
        assert_eq!(twin.cost.front, front);
        let short =
            text().replace("noise = ", "front = { request_ms = 0, chunk_us = 9 }\nnoise = ");
        let front = Twin::parse(&short, "my.toml").unwrap().cost.front;
        assert_eq!((front.turns, front.merges), (1, 0));
    }

    #[test]
    fn a_missing_coefficient_is_named() {
        for key in ["base_ms", "prefill_token_us", "attention_ns", "decode_us", "kv_ns"] {
            let (error, _) = refused(key, "");
            assert!(error.contains(&format!("missing field `{key}`")), "{error}");
        }
        let without = text().replace("front_end_ms", "# front_end_ms");
        assert_eq!(Twin::parse(&without, "my.toml").unwrap().cost.front_end, 0.0);
    }

    #[test]
    fn time_must_pass() {
        let zero = text()
            .replace("base_ms = ", "base_ms = 0 # ")
            .replace("decode_us = ", "decode_us = 0 # ")
            .replace("kv_ns = ", "kv_ns = 0 # ");
        let error = Twin::parse(&zero, "my.toml").unwrap_err().to_string();
        assert!(error.contains("a step that decodes takes no time"), "{error}");
    }

    #[test]
    fn a_form_of_another_version_is_refused_whatever_is_in_it() {
        let (error, _) = refused("schema", "schema = \"dyno.twin/2\"\nnew = 1");
        assert!(error.contains("`dyno.twin/2`") && error.contains(SCHEMA), "{error}");
    }

    #[test]
    fn lengths_and_ranges_must_make_sense() {
        let (error, _) = refused("input", "input = { mean = 0 }");
        assert!(error.contains("`input` has a mean of 0"), "{error}");
        let range = format!(
            "{}\n[range]\nin_flight = [9, 1]\nrate = [1, 2]\ninput = [1, 2]\noutput = [1, 2]\n",
            text()
        );
        let error = Twin::parse(&range, "my.toml").unwrap_err().to_string();
        assert!(error.contains("`in_flight` is [9, 1]"), "{error}");
    }
}
