//! Which fields that are not sent get a warning: those that were probably meant to be part of the
//! prompt. The rule was set on the forms of `data_sets.rs` and [`TUNED`]; the table below is of
//! [`HELD_OUT`], forms of other sets that were not used to set it.
#![allow(clippy::expect_used)]

use dyno_workload::data::{DataSet, DataSpec};
use serde_json::{Map, Value, json};

/// What a field holds, and how many characters of it.
#[derive(Clone, Copy)]
enum Is {
    /// What is sent.
    Sent(usize),
    /// Text that belongs to the prompt.
    Belongs(usize),
    /// A list or an object that belongs to the prompt.
    Nested(usize),
    /// A response, or something about one.
    Other(usize),
    /// The same in a list or an object.
    OtherNested(usize),
}
use Is::{Belongs, Nested, Other, OtherNested, Sent};

type Form = (&'static str, &'static [(&'static str, Is)]);

const TUNED: &[Form] = &[
    (
        "edits of code",
        &[
            ("instruction", Sent(40)),
            ("old_contents", Belongs(2500)),
            ("new_contents", Other(2600)),
        ],
    ),
    (
        "mathematics",
        &[("problem", Sent(200)), ("solution", Other(900)), ("generations", OtherNested(15000))],
    ),
    ("translations", &[("text", Sent(200)), ("translation", Other(230))]),
];

const HELD_OUT: &[Form] = &[
    ("dialogues", &[("prompt", Sent(30)), ("dialogue", Belongs(600)), ("summary", Other(210))]),
    (
        "search",
        &[("query", Sent(40)), ("passages", Nested(3000)), ("wellFormedAnswers", OtherNested(95))],
    ),
    (
        "several hops",
        &[
            ("question", Sent(100)),
            ("context", Nested(5500)),
            ("supporting_facts", OtherNested(60)),
        ],
    ),
    ("databases", &[("question", Sent(70)), ("schema", Belongs(900)), ("query", Other(150))]),
    (
        "finance",
        &[
            ("question", Sent(90)),
            ("pre_text", Nested(2500)),
            ("post_text", Nested(2500)),
            ("table", Nested(900)),
            ("explanation", Other(400)),
        ],
    ),
    ("functions", &[("query", Sent(120)), ("tools", Belongs(1500)), ("answers", Other(250))]),
    ("word problems", &[("question", Sent(250)), ("answer", Other(900))]),
    (
        "preferences",
        &[("instruction", Sent(300)), ("completions", OtherNested(9000)), ("source", Other(10))],
    ),
    (
        "synthetic",
        &[
            ("instruction", Sent(90)),
            ("response", Other(2000)),
            ("intent", Other(110)),
            ("knowledge", Other(230)),
        ],
    ),
    (
        "reasoning",
        &[
            ("problem", Sent(400)),
            ("deepseek_reasoning", Other(8000)),
            ("ground_truth_solution", Other(1000)),
            ("test_cases", Other(3000)),
        ],
    ),
    ("ranked", &[("prompt", Sent(300)), ("answers", OtherNested(6000)), ("turns_count", Other(0))]),
    (
        "medicine",
        &[("question", Sent(100)), ("context", Nested(1400)), ("long_answer", Other(250))],
    ),
    (
        "papers",
        &[
            ("question", Sent(60)),
            ("abstract", Belongs(1200)),
            ("full_text", Nested(25000)),
            ("answers", OtherNested(200)),
        ],
    ),
    (
        "contests",
        &[("question", Sent(1400)), ("solutions", Other(3000)), ("input_output", Other(5000))],
    ),
    (
        "tickets",
        &[("text", Sent(200)), ("thread_history", Belongs(3000)), ("agent_reply", Other(400))],
    ),
    (
        "traced calls",
        &[("messages", Sent(500)), ("metadata", OtherNested(600)), ("output", OtherNested(600))],
    ),
    ("personas", &[("prompt", Sent(100)), ("persona", Nested(400)), ("scores", Other(0))]),
    ("news", &[("input", Sent(100)), ("body_text", Belongs(3000)), ("headline", Other(60))]),
    (
        "experts",
        &[
            ("Question", Sent(500)),
            ("Explanation", Other(900)),
            ("Pre-Revision Question", Other(480)),
            ("Canary String", Other(120)),
        ],
    ),
    ("web pages", &[("question", Sent(80)), ("html", Belongs(9000)), ("url", Other(120))]),
    ("stories", &[("prompt", Sent(150)), ("story", Other(4000)), ("author", Other(12))]),
    (
        "plans",
        &[
            ("instruction", Sent(250)),
            ("observation_history", Nested(1200)),
            ("expert_action", Other(30)),
        ],
    ),
];

/// Text that no other field has.
fn prose(name: &str, characters: usize) -> String {
    let words = format!("some words of {name} in a row ");
    words.chars().cycle().take(characters).collect()
}

fn value(is: Is, name: &str) -> Value {
    match is {
        Sent(length) if name == "messages" => {
            json!([{"role": "user", "content": prose(name, length)}])
        }
        Sent(length) | Belongs(length) | Other(length) => json!(prose(name, length)),
        Nested(length) | OtherNested(length) => {
            json!([{"title": "a", "parts": [prose(name, length / 2), prose(name, length - length / 2)]}])
        }
    }
}

/// The forms as data: each field that is not sent, whether it belongs to the prompt, and whether it
/// gets a warning.
fn judged(forms: &[Form]) -> Vec<(String, bool, bool)> {
    let mut judged = Vec::new();
    for (form, fields) in forms {
        let record: Map<String, Value> =
            fields.iter().map(|(name, is)| ((*name).to_owned(), value(*is, name))).collect();
        let line = serde_json::to_string(&record).expect("JSON");
        let spec: DataSpec = "f.jsonl".parse().expect("good");
        let data = DataSet::from_bytes("f.jsonl", line.as_bytes(), &spec);
        let data = data.unwrap_or_else(|error| panic!("{form}: {error}"));
        let unused = &data.recognised().unused;
        for (name, is) in *fields {
            let belongs = matches!(is, Belongs(_) | Nested(_));
            let Some(field) = unused.iter().find(|field| field.field == *name) else {
                assert!(matches!(is, Sent(_)), "{form}: {name} is sent");
                continue;
            };
            judged.push((format!("{form}: {name}"), belongs, field.overlooked));
        }
    }
    judged
}

#[test]
fn fields_that_belong_to_the_prompt_get_a_warning() {
    let judged = judged(HELD_OUT);
    let named = |belongs: bool, warned: bool| -> Vec<&str> {
        let these = judged.iter().filter(|(_, b, w)| (*b, *w) == (belongs, warned));
        these.map(|(name, ..)| name.as_str()).collect()
    };
    let (hits, correct) = (named(true, true).len(), named(false, false).len());
    println!("                 warned  silent");
    println!("belongs          {hits:>6}  {:>6}", named(true, false).len());
    println!("does not belong  {:>6}  {correct:>6}", named(false, true).len());
    assert_eq!(named(true, false), Vec::<&str>::new(), "missed");
    let alarms = ["synthetic: knowledge", "traced calls: metadata", "stories: story"];
    assert_eq!(named(false, true), alarms, "false alarms");
    assert_eq!((hits, correct), (16, 30));
}

#[test]
fn the_forms_that_set_the_rule_are_judged_right() {
    for (name, belongs, warned) in judged(TUNED) {
        assert_eq!(warned, belongs, "{name}");
    }
}

#[test]
fn a_warning_says_how_to_send_the_field() {
    let text = format!("{{\"question\": \"Why?\", \"evidence\": \"{}\"}}", prose("evidence", 300));
    let open = |spec: &str| {
        let spec: DataSpec = spec.parse().expect("good");
        DataSet::from_bytes("q.jsonl", text.as_bytes(), &spec).expect("opens")
    };
    assert_eq!(
        open("q.jsonl").recognised().warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "q.jsonl: the field \"evidence\" is not sent, although it is longer than the prompts (300 \
          characters on average, the prompts 4); write context=evidence to put it before the \
          prompt, or prompt=evidence to send it instead"
        ]
    );
    assert!(open("q.jsonl,context=evidence").recognised().warnings().is_empty());
    assert!(open("q.jsonl,prompt=evidence").recognised().warnings().is_empty());
    // A name can be anything.
    let text = text.replace("evidence\"", "two\\nlines\"");
    let odd = DataSet::from_bytes("q", text.as_bytes(), &"q".parse().expect("good"));
    let warnings = odd.expect("opens").recognised().warnings();
    assert!(warnings.len() == 1 && !warnings[0].to_string().contains('\n'), "{warnings:?}");
}
