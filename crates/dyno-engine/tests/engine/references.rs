//! The reference rows: all can be read, are in order, and pass every check that they do not list as failed.
#![allow(clippy::unwrap_used)]

use ReferenceValue::{
    CompletedRate, DurationS, Expected, Failed, ItlMs, LatencyPerOutputTokenMs, LatencyPerTokenMs,
    LatencyS, OutputTokens, OutputTokensPerS, P50S, P90S, P99S, Succeeded, Total,
    TotalOutputTokens, TtftMs,
};
use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::{
    ClientKind, Reference, ReferenceLoad, ReferenceRow, ReferenceValue, Repaired,
};
use proptest::prelude::*;

/// Name, and rows fitted, held out and left out.
const EXPECTED: [(&str, [usize; 3]); 26] = [
    ("deepseek-coder-6-7b-8x910b4-mindie", [4, 4, 3]),
    ("qwen-14b-a100-40gb-vllm-matrix", [8, 8, 0]),
    ("qwen1-5-14b-8x910b4-mindie", [5, 4, 0]),
    ("qwen1-5-7b-8x910b4-mindie", [6, 6, 0]),
    ("qwen1-5-7b-8x910b4-mindie-long", [2, 2, 0]),
    ("qwen1-5-7b-8x910b4-vllm", [4, 4, 0]),
    ("qwen2-5-72b-8x910b4-vllm", [2, 2, 0]),
    ("qwen2-72b-4xa100-vllm", [6, 5, 0]),
    ("qwen2-72b-4xl20-vllm", [6, 5, 0]),
    ("qwen2-72b-8x910b4-mindie", [5, 4, 0]),
    ("qwen2-72b-8x910b4-mindie-long", [2, 1, 3]),
    ("qwen2-72b-8xa100-vllm", [6, 5, 0]),
    ("qwen2-72b-8xl20-lmdeploy", [6, 5, 0]),
    ("qwen2-72b-8xl20-sglang", [5, 5, 1]),
    ("qwen2-72b-8xl20-vllm", [6, 5, 0]),
    ("qwen2-72b-awq-2xa100-vllm", [3, 3, 5]),
    ("qwen2-72b-awq-4xa100-vllm", [3, 2, 6]),
    ("qwen2-72b-gptq-int8-4xl20-vllm", [6, 5, 0]),
    ("qwen2-7b-4xt4-vllm", [2, 2, 7]),
    ("qwen2-7b-4xt4-vllm-long", [3, 2, 4]),
    ("qwen2-7b-4xt4-xinference", [2, 1, 8]),
    ("qwen2-moe-57b-2xa100-vllm", [4, 4, 3]),
    ("qwen2-moe-57b-4xa100-vllm", [6, 5, 0]),
    ("qwen2-moe-57b-4xl20-vllm", [6, 5, 0]),
    ("unnamed-vllm-long-prompts", [6, 5, 0]),
    ("unnamed-vllm-short-bursts", [6, 6, 0]),
];

fn of_kind(kind: ClientKind) -> Vec<Reference> {
    Reference::all().unwrap().into_iter().filter(|r| r.client.kind == kind).collect()
}

fn near(value: f64, expected: f64, share: f64) -> bool {
    (value / expected - 1.0).abs() <= share
}

#[test]
fn all_are_read_with_the_rows_they_should_have() {
    let all = Reference::all().unwrap();
    let found: Vec<_> = all
        .iter()
        .map(|r| {
            (r.name.as_str(), [r.fitted().count(), r.held_out().count(), r.left_out().count()])
        })
        .collect();
    assert_eq!(found, EXPECTED);
    assert!(Reference::names().eq(EXPECTED.iter().map(|(name, _)| *name)));
    for r in &all {
        assert_eq!(Reference::named(&r.name).unwrap().as_ref(), Some(r));
        assert_eq!(r.usable().count() + r.left_out().count(), r.rows.len(), "{}", r.name);
    }
    assert_eq!(Reference::named("no-such-table").unwrap(), None);
}

#[test]
fn every_table_of_every_source_is_there_whole() {
    let rows = |kind| of_kind(kind).iter().map(|r| r.rows.len()).collect::<Vec<_>>();
    assert_eq!(rows(ClientKind::Guidellm01), [11; 12]);
    assert_eq!(rows(ClientKind::Closed).iter().sum::<usize>(), 94);
    assert_eq!(rows(ClientKind::Burst).iter().sum::<usize>(), 23);
    assert_eq!(rows(ClientKind::Matrix), [16]);
}

#[test]
fn every_reference_file_is_in_the_list() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/twins/reference");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut listed: Vec<_> = Reference::names().map(|name| format!("{name}.toml")).collect();
    listed.sort();
    assert_eq!(files, listed);
}

#[test]
fn rows_are_in_order_of_load() {
    for r in Reference::all().unwrap() {
        let key = |row: &ReferenceRow| {
            let length = row
                .get(ReferenceValue::InputTokens)
                .filter(|_| row.load != ReferenceLoad::Concurrency);
            let answer =
                row.metrics.get(&OutputTokens).filter(|_| row.load == ReferenceLoad::Cell).copied();
            [length, row.level(), answer].map(|part| part.unwrap_or_default())
        };
        for pair in r.rows.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            assert!((a.load, key(a)) < (b.load, key(b)), "{}: {a:?} before {b:?}", r.name);
        }
    }
}

#[test]
fn fitted_and_held_out_rows_alternate_and_the_matrix_is_a_checkerboard() {
    for r in Reference::all().unwrap() {
        for (index, row) in r.usable().enumerate() {
            let turn = if row.load == ReferenceLoad::Cell { index / 4 + index % 4 } else { index };
            assert_eq!(row.fitted, Some(turn % 2 == 0), "{}: {row:?}", r.name);
        }
    }
}

#[test]
fn each_kind_of_client_has_the_figures_that_a_fit_needs() {
    for r in Reference::all().unwrap() {
        let needs: &[ReferenceValue] = match r.client.kind {
            ClientKind::Guidellm01 => &[CompletedRate, LatencyS, TtftMs, OutputTokensPerS],
            ClientKind::Closed => &[LatencyS, Expected, Total, Succeeded, Failed],
            ClientKind::Burst => &[DurationS, TtftMs, ReferenceValue::TpotMs, OutputTokensPerS],
            ClientKind::Matrix => &[OutputTokensPerS, LatencyPerOutputTokenMs],
        };
        for row in r.usable() {
            assert!(needs.iter().all(|f| row.get(*f).is_some()), "{}: {row:?}", r.name);
            assert!(r.input_tokens(row).is_some() && r.output_tokens(row).is_some(), "{}", r.name);
            assert!(r.client.streamed || row.get(TtftMs).is_none(), "{}", r.name);
        }
    }
}

#[test]
fn offered_rates_lie_on_the_grid_of_their_sweep() {
    for r in of_kind(ClientKind::Guidellm01) {
        let rate = |row: &ReferenceRow| row.get(CompletedRate).unwrap();
        let (low, high) = (rate(&r.rows[0]), rate(&r.rows[10]));
        for (index, row) in r.rows[1..10].iter().enumerate() {
            let grid = low + (high - low) * (index + 1) as f64 / 9.0;
            assert!((row.level().unwrap() - grid).abs() < 0.012, "{}: {row:?}", r.name);
        }
    }
}

#[test]
fn usable_rows_of_a_sweep_agree_with_themselves() {
    for r in of_kind(ClientKind::Guidellm01) {
        for row in r.usable() {
            let [rate, latency, ttft, tokens] =
                [CompletedRate, LatencyS, TtftMs, OutputTokensPerS].map(|f| row.get(f).unwrap());
            let offered = row.level().unwrap_or(f64::INFINITY);
            assert!(rate <= offered * 1.005 + 0.005, "{}: {row:?}", r.name);
            assert!(near(tokens / rate, 128.0, 0.11 + 0.005 / rate), "{}: {row:?}", r.name);
            if let Some(itl) = row.get(ItlMs) {
                let gaps = (latency * 1e3 - ttft) / itl;
                assert!(near(gaps, 127.0, 0.11), "{}: {row:?}", r.name);
            }
        }
    }
}

#[test]
fn usable_rows_of_a_closed_loop_agree_with_themselves() {
    for r in of_kind(ClientKind::Closed) {
        for row in &r.rows {
            let count = |f: ReferenceValue| row.get(f).unwrap();
            assert_eq!(count(Succeeded) + count(Failed), count(Total), "{}: {row:?}", r.name);
            assert!(count(Total) <= count(Expected), "{}: {row:?}", r.name);
            assert!(row.get(P50S) <= row.get(P90S) && row.get(P90S) <= row.get(P99S));
        }
        for row in r.usable() {
            let (Some(rate), Some(wall), Some(tokens)) =
                (row.get(CompletedRate), row.get(DurationS), row.get(OutputTokensPerS))
            else {
                continue;
            };
            let rounding = 0.0005 / rate;
            let done = row.get(Succeeded).unwrap();
            assert!(near(done / wall, rate, 0.001 + rounding), "{}: {row:?}", r.name);
            let each = row.get(OutputTokens).unwrap();
            assert!(near(tokens / rate, each, 0.05 + rounding), "{}: {row:?}", r.name);
            // Little's law, but for what filling and draining can explain.
            if let Some(slowest) = row.get(P99S) {
                let busy = rate * row.get(LatencyS).unwrap() / row.level().unwrap();
                assert!(busy * (1.0 + rounding) >= 1.0 - slowest / wall, "{}: {row:?}", r.name);
                assert!(busy <= 1.0 + rounding, "{}: {row:?}", r.name);
            }
        }
    }
}

#[test]
fn bursts_and_cells_agree_with_themselves() {
    for r in of_kind(ClientKind::Burst) {
        for row in &r.rows {
            let wall = row.get(DurationS).unwrap();
            assert_eq!(f64::from(r.requests(row).unwrap()), row.get(Succeeded).unwrap());
            let tokens = row.get(TotalOutputTokens).unwrap() / wall;
            assert!((tokens - row.get(OutputTokensPerS).unwrap()).abs() < 0.006 + 0.002 * tokens);
        }
    }
    for r in of_kind(ClientKind::Matrix) {
        for row in &r.rows {
            let (input, output) = (r.input_tokens(row).unwrap(), r.output_tokens(row).unwrap());
            let rate = row.get(OutputTokensPerS).unwrap() / output;
            assert!((rate - row.get(CompletedRate).unwrap()).abs() < 0.006, "{row:?}");
            let by_answer = row.get(LatencyPerOutputTokenMs).unwrap() * output;
            let by_all = row.get(LatencyPerTokenMs).unwrap() * (input + output);
            assert!(near(by_all, by_answer, 0.005), "{row:?}");
        }
    }
}

#[test]
fn a_repair_is_used_and_an_unreliable_figure_is_not() {
    let r = Reference::named("qwen2-72b-4xa100-vllm").unwrap().unwrap();
    let row = r.rows.iter().find(|row| row.get(CompletedRate) == Some(3.99)).unwrap();
    assert_eq!((row.value, row.level()), (Some(6.43), Some(4.43)));
    assert!(row.suspect.as_ref().unwrap().contains("an inference"));

    let r = Reference::named("qwen2-72b-8xl20-vllm").unwrap().unwrap();
    assert_eq!(r.rows.iter().filter(|row| row.get(ItlMs).is_none()).count(), 6);
    assert!(r.rows.iter().all(|row| row.metrics.contains_key(&ItlMs)));

    let r = Reference::named("qwen-14b-a100-40gb-vllm-matrix").unwrap().unwrap();
    let cut: Vec<_> = r.rows.iter().filter(|row| row.repaired != Repaired::default()).collect();
    let lengths: Vec<_> = cut.iter().map(|row| r.output_tokens(row).unwrap()).collect();
    assert_eq!(lengths, [1920.0, 1536.0, 1024.0]);
}

#[test]
fn what_is_stated_of_the_engine_is_known() {
    let known = Reference::named("qwen2-7b-4xt4-vllm").unwrap().unwrap().known;
    assert_eq!(
        (known.cards, known.tensor_parallel, known.context),
        (Some(4), Some(4), Some(16000))
    );
    assert_eq!(known.data_type.as_deref(), Some("float16"));
    assert_eq!(known.max_seqs, None);
    let unnamed = Reference::named("unnamed-vllm-long-prompts").unwrap().unwrap();
    assert_eq!((unnamed.model, unnamed.hardware, unnamed.known.cards), (None, None, None));
}

const HEAD: &str = "schema = \"dyno.reference/1\"\nname = \"t\"\nengine = \"e\"\nsource = \"s\"\n\
                    client = { kind = \"closed\", streamed = false }\n[[rows]]\n";

fn refusal(row: &str) -> String {
    Reference::parse("t", &format!("{HEAD}{row}")).unwrap_err().to_string()
}

#[test]
fn a_contradiction_is_refused_with_its_place() {
    let fine = "load = \"concurrency\"\nvalue = 8\nlatency_s = 2\nfitted = true\n";
    assert_eq!(Reference::parse("t", &format!("{HEAD}{fine}")).unwrap().rows[0].level(), Some(8.0));
    for (row, wants) in [
        (fine.replace("value = 8\n", ""), "reference `t`, row 1: a row of load Concurrency needs"),
        (fine.replace("concurrency", "throughput"), "row 1: a row of load Throughput has no"),
        (fine.replace("fitted = true\n", ""), "row 1: give either `fitted` or `left_out`"),
        (format!("{fine}left_out = \"why\"\n"), "row 1: give either `fitted` or `left_out`"),
        (fine.replace("= 2", "= 0"), "row 1: LatencyS is 0; leave out"),
        (fine.replace("= 2", "= nan"), "row 1: LatencyS is NaN"),
        (fine.replace("= 8", "= -1"), "row 1: the level -1 is not above 0"),
        (format!("{fine}unreliable = [\"p90_s\"]\n"), "row 1: P90S is listed as unreliable"),
        (format!("{fine}repaired = {{ value = 9 }}\n"), "row 1: say in `suspect` why"),
        (format!("{fine}speed = 1\n"), "speed"),
        (fine.replace("load = \"concurrency\"", "load = \"heavy\""), "heavy"),
    ] {
        let error = refusal(&row);
        assert!(error.contains(wants), "{error} should say {wants}");
    }
    let other = HEAD.replace("reference/1", "reference/9");
    let unknown = Reference::parse("t", &format!("{other}{fine}")).unwrap_err().to_string();
    assert!(unknown.contains("this version reads"), "{unknown}");
    let misnamed = Reference::parse("u", &format!("{HEAD}{fine}")).unwrap_err().to_string();
    assert!(misnamed.contains("reference `u` is named `t`"), "{misnamed}");
}

proptest! {
    /// A damaged file is read or refused; it never panics.
    #[test]
    fn damage_is_survived(at in 0usize..4000, with in "[ -~\\n]{0,3}", which in 0usize..26) {
        let name = EXPECTED[which].0;
        let path = format!("{}/twins/reference/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let mut text: Vec<char> = std::fs::read_to_string(path).unwrap().chars().collect();
        let at = at.min(text.len() - 1);
        text.splice(at..=at, with.chars());
        let _ = Reference::parse(name, &text.into_iter().collect::<String>());
    }
}

#[test]
fn no_file_is_left_out_of_the_list() {
    let named = |folder: &str| {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let tables = files.filter(|path| path.extension().is_some_and(|end| end == "toml"));
        let mut names: Vec<_> =
            tables.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let twins = Twin::shipped().iter().map(|(name, _)| *name);
    assert!(twins.eq(named("twins")), "the list is in src/twin/files.rs");
    assert!(Reference::names().eq(named("twins/reference")));
}
