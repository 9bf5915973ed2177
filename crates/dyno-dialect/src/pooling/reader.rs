//! Reads vectors and scores: how many there are, the input tokens, the server's times and errors. By
//! their fields rather than by the server: some wrap their results in an object, under several names,
//! and some respond with a bare list. The numbers themselves are not kept.

use crate::framing::WireFrame;
use crate::pieces::not_json;
use crate::scan::{Scan, Scanner, count_of};
use crate::{Delta, Keep, Malformed, Reader, ServerError, excerpt};
use dyno_model::record::ServerTimes;

const NS_PER_MS: u64 = 1_000_000;

/// What each text gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Vector,
    Score,
}

/// The reader.
#[derive(Debug)]
pub(super) struct Results {
    kind: Kind,
    /// What the headers say.
    head: Delta,
}

impl Results {
    pub(super) fn vectors() -> Self {
        Self { kind: Kind::Vector, head: Delta::default() }
    }

    pub(super) fn scores() -> Self {
        Self { kind: Kind::Score, head: Delta::default() }
    }
}

impl Reader for Results {
    /// Text Embeddings Inference puts its counts and times there, in whole milliseconds.
    fn headers(&mut self, header: &dyn Fn(&str) -> Option<String>) {
        let number = |name: &str| header(name)?.trim().parse::<u64>().ok();
        let time = |name: &str| number(name)?.checked_mul(NS_PER_MS);
        self.head.input_tokens = header("x-compute-tokens").and_then(|n| count_of(n.as_bytes()));
        let times = ServerTimes {
            queue: time("x-queue-time"),
            prefill: time("x-inference-time"),
            total: time("x-total-time"),
            ..ServerTimes::default()
        };
        self.head.times = (times != ServerTimes::default()).then_some(times);
    }

    fn frame(&mut self, frame: WireFrame<'_>, keep: Keep) -> Result<Delta, Malformed> {
        self.whole(frame.data, keep)
    }

    fn whole(&mut self, body: &[u8], _: Keep) -> Result<Delta, Malformed> {
        let mut gather = Gather { kind: self.kind, ..Gather::default() };
        gather.response(body).map_err(|bad| not_json(body, bad))?;
        Ok(Delta {
            output: gather.results > 0,
            results: Some(gather.results),
            dimensions: gather.dimensions,
            // A count of zero is none: some servers only fill the field in.
            input_tokens: gather.input.filter(|n| *n > 0).or(self.head.input_tokens),
            times: self.head.times,
            error: gather.error,
            terminal: true,
            ..Delta::default()
        })
    }
}

#[derive(Debug, Default)]
struct Gather {
    kind: Kind,
    results: u32,
    dimensions: Option<u32>,
    input: Option<u64>,
    error: Option<ServerError>,
}

impl Gather {
    fn response(&mut self, bytes: &[u8]) -> Scan<()> {
        let mut scan = Scanner::new(bytes)?;
        match scan.peek() {
            b'[' => scan.array(&mut |scan| self.item(scan))?,
            _ => self.object(&mut scan, bytes)?,
        }
        scan.end()
    }

    fn object(&mut self, scan: &mut Scanner<'_>, bytes: &[u8]) -> Scan<()> {
        let (mut failed, mut overloaded) = (false, false);
        scan.object(&mut |scan, key| match key {
            b"data" | b"results" | b"rankings" if scan.peek() == b'[' => {
                scan.array(&mut |scan| self.item(scan))
            }
            b"scores" if self.kind == Kind::Score && scan.peek() == b'[' => {
                scan.array(&mut |scan| self.of_labels(scan))
            }
            b"usage" => self.usage(scan),
            b"meta" => self.billing(scan),
            b"object" => {
                failed |= scan.value()? == b"\"error\"";
                Ok(())
            }
            b"error" if scan.null()? => Ok(()),
            b"error" => {
                let message = String::from_utf8_lossy(scan.value()?);
                self.error = Some(ServerError::new(message));
                Ok(())
            }
            b"error_type" => {
                overloaded |= scan.value()?.eq_ignore_ascii_case(b"\"overloaded\"");
                Ok(())
            }
            _ => scan.value().map(drop),
        })?;
        if failed && self.error.is_none() {
            self.error = Some(ServerError::new(excerpt(bytes)));
        }
        if let Some(error) = &mut self.error {
            error.overloaded |= overloaded;
        }
        Ok(())
    }

    /// A result: an object, or a vector by itself.
    fn item(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        match (scan.peek(), self.kind) {
            (b'{', _) => {}
            (b'[', Kind::Vector) => return self.vector(scan),
            _ => return scan.value().map(drop),
        }
        scan.object(&mut |scan, key| match (key, self.kind) {
            (b"embedding", Kind::Vector) => self.vector(scan),
            (b"score" | b"relevance_score" | b"logit", Kind::Score) => {
                let is_there = !scan.null()?;
                self.results += u32::from(is_there);
                if is_there { scan.value().map(drop) } else { Ok(()) }
            }
            // SGLang counts for each document.
            (b"meta_info", _) => {
                let before = self.input.take();
                self.usage(scan)?;
                self.input = match (before, self.input) {
                    (Some(before), Some(more)) => Some(before.saturating_add(more)),
                    (before, more) => before.or(more),
                };
                Ok(())
            }
            _ => scan.value().map(drop),
        })
    }

    /// SGLang's result for one text: a number for each label, or a number. An empty list is none.
    fn of_labels(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        let found = match scan.peek() {
            b'[' => scan.numbers()? > 0,
            b'-' | b'0'..=b'9' => scan.number().map(|_| true)?,
            _ => scan.value().map(|_| false)?,
        };
        self.results += u32::from(found);
        Ok(())
    }

    /// A list of numbers, or their bytes in base64; of an empty one nothing is counted.
    fn vector(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        const BYTES_OF_A_NUMBER: usize = 4;
        let size = match scan.peek() {
            b'[' => scan.numbers()?,
            b'"' => {
                let text = scan.string()?;
                let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
                (text.len() * 3 / 4).saturating_sub(padding) / BYTES_OF_A_NUMBER
            }
            _ => {
                scan.value()?;
                0
            }
        };
        if size > 0 {
            self.results += 1;
            self.dimensions = self.dimensions.or(u32::try_from(size).ok());
        }
        Ok(())
    }

    /// Nothing is generated, so all tokens are those of the input.
    fn usage(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        if scan.peek() != b'{' {
            return scan.value().map(drop);
        }
        let (mut prompt, mut total) = (None, None);
        scan.object(&mut |scan, key| {
            match key {
                b"prompt_tokens" => prompt = scan.count()?,
                b"total_tokens" => total = scan.count()?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        self.input = prompt.or(total).or(self.input);
        Ok(())
    }

    /// Cohere's `meta`: its tokens count, its search units are no tokens.
    fn billing(&mut self, scan: &mut Scanner<'_>) -> Scan<()> {
        if scan.peek() != b'{' {
            return scan.value().map(drop);
        }
        scan.object(&mut |scan, key| match key {
            b"tokens" if scan.peek() == b'{' => scan.object(&mut |scan, key| {
                match key {
                    b"input_tokens" => self.input = scan.count()?.or(self.input),
                    _ => scan.value().map(drop)?,
                }
                Ok(())
            }),
            _ => scan.value().map(drop),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read(mut reader: Results, body: Value) -> Delta {
        reader.whole(body.to_string().as_bytes(), Keep::default()).unwrap()
    }

    #[test]
    fn scores_are_counted_in_every_form() {
        let scored = |name: &str| json!([{"index": 1, name: 0.5}, {"index": 0, name: -1e-3}]);
        for body in [
            scored("score"),
            json!({"results": scored("relevance_score"), "usage": {"total_tokens": 9}}),
            json!({"data": scored("score"), "usage": null}),
            json!({"rankings": scored("logit")}),
            json!({"scores": [[0.9, 0.1], [0.2, 0.8]], "model": "m", "object": "scoring"}),
            json!({"scores": [0.9, 0.2], "usage": null}),
            json!({"scores": [[0.9], [], null, [0.5]]}),
        ] {
            assert_eq!(read(Results::scores(), body.clone()).results, Some(2), "{body}");
        }
        let vectors = json!({"data": [{"embedding": [0.5]}]});
        assert_eq!(read(Results::scores(), vectors).results, Some(0));
    }

    proptest! {
        #[test]
        fn every_vector_and_score_is_counted_whatever_surrounds_it(
            vectors in prop::collection::vec(prop::collection::vec(any::<f32>(), 1..20), 0..6),
            before in ".{0,20}",
            pretty in any::<bool>(),
        ) {
            let finite = |n: &f32| if n.is_finite() { *n } else { 0.0 };
            let vectors: Vec<Vec<f32>> =
                vectors.iter().map(|one| one.iter().map(finite).collect()).collect();
            let item = |one: &Vec<f32>| json!({"note": before, "embedding": one, "score": one[0]});
            let data: Vec<Value> = vectors.iter().map(item).collect();
            let body = json!({"id": before, "data": data, "usage": {"prompt_tokens": 3}});
            let text = match pretty {
                true => serde_json::to_string_pretty(&body).unwrap(),
                false => body.to_string(),
            };
            for (mut reader, size) in [
                (Results::vectors(), vectors.first().map(|one| one.len() as u32)),
                (Results::scores(), None),
            ] {
                let delta = reader.whole(text.as_bytes(), Keep::default()).unwrap();
                prop_assert_eq!(delta.results, Some(vectors.len() as u32));
                prop_assert_eq!(delta.dimensions, size);
                prop_assert_eq!(delta.input_tokens, Some(3));
            }
        }

        #[test]
        fn a_body_that_is_cut_off_is_malformed(at in any::<prop::sample::Index>()) {
            let body = json!({"data": [{"index": 0, "embedding": [0.5, -1e-3, 7]}]}).to_string();
            let cut = &body.as_bytes()[..at.index(body.len())];
            prop_assert!(Results::vectors().whole(cut, Keep::default()).is_err());
        }
    }

    #[test]
    fn search_units_are_no_tokens() {
        let meta = |meta: Value| read(Results::scores(), json!({"results": [], "meta": meta}));
        let billed = json!({"billed_units": {"search_units": 3}});
        assert_eq!(meta(billed).input_tokens, None);
        let counted = json!({"tokens": {"input_tokens": 40}, "billed_units": {"search_units": 3}});
        assert_eq!(meta(counted).input_tokens, Some(40));
    }

    #[test]
    fn tokens_of_each_document_are_added_up() {
        let of = |tokens: u32| json!({"score": 1.0, "meta_info": {"prompt_tokens": tokens}});
        assert_eq!(read(Results::scores(), json!([of(4), of(5)])).input_tokens, Some(9));
    }

    #[test]
    fn a_vector_without_numbers_is_none() {
        let body = json!({"data": [{"embedding": []}, {"embedding": null}, {"embedding": [1, 2]}]});
        let delta = read(Results::vectors(), body);
        assert_eq!((delta.results, delta.dimensions), (Some(1), Some(2)));
    }

    #[test]
    fn the_numbers_of_base64_are_four_bytes_each() {
        // 12 and 16 bytes.
        for (text, size) in [("AAAAAAAAAAAAAAAA", 3), ("AAAAAAAAAAAAAAAAAAAAAA==", 4)] {
            let delta = read(Results::vectors(), json!({"data": [{"embedding": text}]}));
            assert_eq!(delta.dimensions, Some(size));
        }
    }

    #[test]
    fn overload_is_told_from_other_errors() {
        let error = |kind: &str| {
            let body = json!({"error": "no room", "error_type": kind});
            read(Results::scores(), body).error.unwrap()
        };
        assert!(error("Overloaded").overloaded && !error("Backend").overloaded);
        assert!(error("Backend").message.contains("no room"));
    }
}
