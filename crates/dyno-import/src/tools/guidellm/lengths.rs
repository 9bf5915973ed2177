//! The lengths that guidellm requested, where its prompts were synthetic and all of the same length.

use dyno_form::json::{at, count, list, number, text};
use serde_json::{Map, Value};

/// The requested lengths in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lengths {
    pub(super) input: Option<u32>,
    pub(super) output: Option<u32>,
}

impl Lengths {
    /// From the arguments of a report, or from those of one of its benchmarks in older versions.
    pub(super) fn of(report: &Value, benchmark: &Value) -> Self {
        let only = |path: &[&str]| match list(report, path).map(Vec::as_slice) {
            Some([one]) => Some(one.clone()),
            _ => None,
        };
        let older = || text(benchmark, &["request_loader", "data"]).map(Value::String);
        let data = only(&["args", "data"])
            .or_else(|| only(&["config", "spec", "data"]))
            .or_else(|| only(&["args", "spec", "data"]))
            .or_else(older);
        match data.as_ref() {
            Some(Value::String(words)) => Self::of_data(&described(words)),
            Some(data) => Self::of_data(data),
            None => Self::default(),
        }
    }

    fn of_data(data: &Value) -> Self {
        // A shared beginning and later turns make prompts longer than that.
        let longer = ["prefix_tokens", "prefix_buckets"].iter().any(|name| stated(data, name))
            || number(data, &["turns"]).is_some_and(|turns| turns > 1.0);
        let length = |name: &str| {
            let varies = ["stdev", "min", "max"];
            let fixed = !varies.iter().any(|part| stated(data, &format!("{name}_{part}")));
            u32::try_from(count(data, &[name])?).ok().filter(|_| fixed && !longer)
        };
        Self { input: length("prompt_tokens"), output: length("output_tokens") }
    }
}

fn stated(data: &Value, name: &str) -> bool {
    at(data, &[name]).is_some_and(|value| !value.is_null())
}

/// `{"prompt_tokens": 256}` or `prompt_tokens=256,output_tokens=128`.
fn described(words: &str) -> Value {
    if let Ok(data) = serde_json::from_str::<Value>(words) {
        return data;
    }
    let pairs = words.split(',').filter_map(|pair| pair.split_once('='));
    let fields = pairs.map(|(name, value)| {
        let value = value.trim();
        let number = value.parse::<u64>().map(Value::from);
        (name.trim().to_owned(), number.unwrap_or_else(|_| Value::String(value.to_owned())))
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(report: Value, benchmark: Value) -> (Option<u32>, Option<u32>) {
        let lengths = Lengths::of(&report, &benchmark);
        (lengths.input, lengths.output)
    }

    #[test]
    fn every_version_writes_them_elsewhere() {
        let loader = |data: &str| json!({"request_loader": {"data": data}});
        let fixed = (Some(256), Some(128));
        assert_eq!(of(json!({}), loader("prompt_tokens=256,output_tokens=128")), fixed);
        assert_eq!(of(json!({}), loader(r#"{"prompt_tokens": 256, "output_tokens": 128}"#)), fixed);
        let args = json!({"args": {"data": ["prompt_tokens=256, output_tokens=128"]}});
        assert_eq!(of(args, json!({})), fixed);
        let spec = json!({"prompt_tokens": 256, "prompt_tokens_stdev": null, "output_tokens": 128});
        assert_eq!(of(json!({"config": {"spec": {"data": [spec]}}}), json!({})), fixed);
    }

    #[test]
    fn lengths_that_vary_are_not_stated() {
        let of = |data: &str| of(json!({"args": {"data": [data]}}), json!({}));
        assert_eq!(of("prompt_tokens=256,prompt_tokens_stdev=9,output_tokens=8"), (None, Some(8)));
        assert_eq!(of("prompt_tokens=256,output_tokens=8,turns=3"), (None, None));
        assert_eq!(of("prompt_tokens=256,output_tokens=8,prefix_tokens=64"), (None, None));
        assert_eq!(of("questions.jsonl"), (None, None));
    }
}
