//! The notes that stand in `environment.json`, each with its words in English. They are known by
//! name, so that a report can say them in another language.

use crate::template::fill;
use dyno_model::environment::Note;

macro_rules! notes {
    ($($name:ident: $code:literal, $what:literal, $advice:expr;)*) => {
        /// A note whose words are known; [`fill`] says what the places in them are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Known { $($name,)* }

        impl Known {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its stable name; several notes may share one.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What was seen, with places for values.
            pub fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)* }
            }

            /// What to do about it.
            pub fn advice(self) -> Option<&'static str> {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

notes! {
    ModelsUnknown: "models_unknown", "/v1/models did not answer: {}", None;
    PreflightFailed: "preflight_failed", "the preflight's answer was not proper ({}): {}", None;
    LengthNotFixed: "length_not_fixed",
        "the server takes no field that fixes the output length: answers end when the model wants",
        Some("compare output tokens before comparing anything else");
    NoUsage: "no_usage",
        "the server reports no token usage: output tokens are counted as events",
        Some("token figures are estimates unless every event carries one token");
    NotStreamed: "not_streamed",
        "the server answered a streaming request with a whole body",
        Some("there is no TTFT, TPOT or ITL; check the server's streaming settings");
    FieldRefused: "field_refused", "the server does not take `{}`: {}", None;
    TokenizerEstimate: "tokenizer_estimate",
        "prompt lengths are estimates: no tokenizer was given",
        Some("give the model's folder or tokenizer.json with --tokenizer");
    PromptLengthsWrong: "prompt_lengths_wrong",
        "of the prompts that were counted again, {} were off",
        Some("please report it with the name of the tokenizer");
    TokenCountsDiffer: "token_counts_differ",
        "a prompt of {} tokens by our count has {} by the server's",
        Some("--tokenizer has to be the model's own, chat template and all");
    DataSkipped: "data_selected", "records skipped as bad, over all levels: {}", None;
    DataShort: "data_selected", "records left out as too short, over all levels: {}", None;
    DataLong: "data_selected", "records left out as too long, over all levels: {}", None;
    DataCut: "data_selected", "records cut to the longest allowed, over all levels: {}", None;
    PromptsRepeat: "prompts_repeat",
        "some prompts were sent more than once",
        Some("a prefix cache makes repeated prompts faster than they are; use --unique-prefix");
    ConversationsRepeat: "prompts_repeat",
        "some conversations were led more than once",
        Some("a prefix cache makes repeated prompts faster than they are; use --unique-prefix");
    TraceSkipped: "trace_selected", "requests of the trace skipped as bad rows: {}", None;
    TraceFailed: "trace_selected",
        "requests of the trace left out, as they failed when recorded: {}", None;
    TraceOutside: "trace_selected", "requests of the trace left out by from= and to=: {}", None;
    TraceShort: "trace_selected", "requests of the trace left out as too short: {}", None;
    TraceLong: "trace_selected", "requests of the trace left out as too long: {}", None;
    TraceBeyondLimit: "trace_selected", "requests of the trace beyond the limit: {}", None;
    TraceCut: "trace_selected", "requests of the trace cut to the longest allowed: {}", None;
    TraceReordered: "trace_selected",
        "requests of the trace out of order in the file, put in the order of their times: {}", None;
    TraceMismatched: "trace_selected",
        "requests of the trace with more or fewer hash ids than their length has blocks: {}",
        Some("if these are many, say with block= how many tokens a hash id stands for");
    TraceWithoutOutput: "trace_selected",
        "requests of the trace recorded without output, asked for one token: {}", None;
    TraceRaised: "trace_selected",
        "requests of the trace shorter than the chat template, sent at its length: {}", None;
    TracePrefixes: "trace_prefixes_approximate",
        "shared prefixes of the trace are met only about: the tokenizer has too few words of one \
         token",
        None;
    MetricsGaps: "metrics_gaps",
        "{} of {} questions for the server's figures failed: {}",
        Some("its own figures are of the times in which it answered");
    TwinMadeUp: "beyond_range",
        "the twin {} was fitted to no measurement; its figures are made up",
        Some("read shapes, not figures; fit a twin to your own sweep with `dyno fit`");
    BeyondInFlight: "beyond_range",
        "{} in flight is {} times beyond the {} to {} that the twin {} was fitted on",
        Some("the further beyond, the less it is worth");
    BeyondRate: "beyond_range",
        "{} requests per second is {} times beyond the {} to {} that the twin {} was fitted on",
        Some("the further beyond, the less it is worth");
    BeyondInput: "beyond_range",
        "{} tokens in is {} times beyond the {} to {} that the twin {} was fitted on",
        Some("the further beyond, the less it is worth");
    BeyondOutput: "beyond_range",
        "{} tokens out is {} times beyond the {} to {} that the twin {} was fitted on",
        Some("the further beyond, the less it is worth");
    StoppedOn: "stopped_on", "no more levels were run: {} was met at {}", None;
    Interleaved: "interleaved",
        "this is {} of two, measured in turns, level by level; {} is {}, {}", None;
    StoppedOnOther: "stopped_with_other",
        "no more levels were run: on {}, {} was met at {}", None;
    LostOther: "stopped_with_other",
        "no more levels were run: {}, which took turns with it, was lost", None;
    AbortedOther: "stopped_with_other",
        "no more levels were run: {}, which took turns with it, could not go on", None;
    InterruptedOther: "stopped_with_other",
        "no more levels were run: interrupted when it was the turn of {}", None;
    TargetLost: "target_lost",
        "the target was lost at {}, {} into the run: {}; the last answer, to request {} of level \
         {}, had ended {} before",
        Some("--resume DIR goes on once it is up again");
    TargetLostUnanswered: "target_lost",
        "the target was lost at {}, {} into the run: {}; no request had been answered",
        Some("--resume DIR goes on once it is up again");
}

impl Known {
    /// The note, with its places filled in.
    pub fn note(self, values: Vec<String>) -> Note {
        Note {
            code: self.code().to_owned(),
            what: fill(self.what(), &values),
            advice: self.advice().map(str::to_owned),
            values,
        }
    }

    /// Which one a note is; nothing where its words are none of these.
    pub fn of(note: &Note) -> Option<Self> {
        let is = |known: &&Self| {
            known.code() == note.code && fill(known.what(), &note.values) == note.what
        };
        Self::ALL.iter().find(is).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::places;

    #[test]
    fn every_note_is_known_again() {
        for known in Known::ALL {
            let places = places(known.what());
            let values = (0..places.len()).map(|at| format!("value {at}")).collect();
            let note = known.note(values);
            assert_eq!(Known::of(&note), Some(*known), "{note:?}");
            let json = serde_json::to_string(&note).unwrap();
            assert_eq!(serde_json::from_str::<Note>(&json).unwrap(), note);
        }
    }

    #[test]
    fn a_note_of_an_older_version_is_read() {
        let saved = r#"{"code": "models_unknown", "what": "/v1/models did not answer: 404"}"#;
        let note: Note = serde_json::from_str(saved).unwrap();
        assert_eq!(Known::of(&note), None);
        let saved = r#"{"code": "no_usage", "what": "other words", "advice": null}"#;
        assert_eq!(Known::of(&serde_json::from_str(saved).unwrap()), None);
    }
}
