//! What goes wrong in documents is read as far as it can be, and said.

use super::*;
use dyno_model::metric::Time;

#[test]
fn every_defect_is_named_with_its_line() {
    let imported = read("defects.md");
    let errors = problems(&imported, Severity::Error);
    let expected = [
        (
            7,
            "`3.52 sec` does not fit the column Requests per Second: cells may be shifted; the \
             row is left out: asynchronous@5.48 req/sec | 3.52 sec | 88.33 ms | 29.09 ms | \
             635.34 tokens/sec | ",
        ),
        (
            8,
            "5 cells under 6 columns; the row is left out: asynchronous@7.79 req/sec | 7.57 \
             req/sec | 4.43 sec | 96.01 ms | 36.37 ms",
        ),
        (9, "113420 has no unit, and in guidellm's unit it exceeds the latency"),
        (10, "`Request Latency`: `7.7x6 sec` is not a valid value; it is left out"),
        (15, "rows of guidellm's table without its header: the columns are unknown"),
        (18, "metrics without the row above them that states the concurrency of each column"),
        (21, "a table of six columns of numbers without a header: the columns are unknown"),
        (
            26,
            "`concurrency 8`: a mean latency of 3213 s at 2.474 requests/s would mean \
             a concurrency of 7949",
        ),
        (31, "4 cells under 3 columns; the row is left out: p50 | 3.2461 | 3.4271 | 3.7514"),
        (35, "the block has no closing line and no times"),
        (37, "`Benchmark duration (s)`: `12.3x` is not a valid value; it is left out"),
    ];
    assert_eq!(errors.len(), expected.len(), "{errors:#?}");
    for (found, expected) in errors.iter().zip(expected) {
        assert_eq!(*found, expected);
    }
}

#[test]
fn what_is_sound_is_read_all_the_same() {
    let imported = read("defects.md");
    assert_eq!(imported.runs.len(), 3, "tables without a header are none");
    let levels = &imported.runs[0].summary.levels;
    let names = ["concurrency 1", "rate 3.17", "rate 10.89", "rate 12.4", "unlimited"];
    assert_eq!(labels(&imported.runs[0]), names);
    // Units that differ within a column.
    assert_eq!(mean(&levels[1].times[Time::Latency]), Some(2620.0));
    assert_eq!(mean(&levels[1].times[Time::Ttft]), Some(82.49));
    assert_eq!(levels[1].throughput.output_tokens_per_s, Some(1370.10));
    assert_eq!(
        (mean(&levels[2].times[Time::Ttft]), mean(&levels[2].times[Time::Latency])),
        (None, Some(5610.0))
    );
    assert_eq!((&levels[3].times[Time::Latency], &levels[3].times[Time::ChunkGap]), (&None, &None));
    let pivot = &imported.runs[1].summary.levels;
    assert_eq!(
        (mean(&pivot[0].times[Time::Latency]), mean(&pivot[1].times[Time::Latency])),
        (None, Some(3391.0))
    );
    assert_eq!(pivot[1].throughput.output_tokens_per_s, Some(1119.102));
    let block = &imported.runs[2].summary.levels[0];
    assert_eq!((block.requests.completed, block.duration_s), (Some(100), None));
}

#[test]
fn advice_says_what_to_do() {
    for problem in read("defects.md").problems {
        assert!(problem.advice.as_ref().unwrap().len() > 10, "{problem:?}");
        let words = dyno_words::on_line(&problem).what;
        assert!(words.starts_with("line ") && words.ends_with(&problem.what), "{words}");
    }
}

#[test]
fn a_block_that_lost_an_end_takes_nothing_of_the_next() {
    let text = fixture("vllm.txt");
    let rule = "==================================================\n";
    let cut = text.replace(rule, "");
    let imported = read_text(&cut);
    let whole = read("vllm.txt");
    let figures = |imported: &Imported| -> Vec<_> {
        let levels = imported.runs.iter().flat_map(|run| &run.summary.levels);
        levels.map(|level| level.reported.clone().unwrap().figures).collect()
    };
    assert_eq!(figures(&imported), figures(&whole));
    assert_eq!(imported.runs.len(), 3);
}

#[test]
fn a_block_that_lost_its_title_is_known_by_its_rows() {
    let text = fixture("vllm-today.txt")
        .replace("============ Serving Benchmark Result ============\n", "");
    let imported = read_text(&text);
    assert_eq!(imported.runs[0].summary.levels[0].requests.completed, Some(118));
    let notes = problems(&imported, Severity::Note);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].1.contains("without the line `Serving Benchmark Result`"));
}

#[test]
fn an_evalscope_block_that_ends_early_is_reported() {
    let imported =
        read_text("Benchmarking summary:\n Number of concurrency: 8\n\nAnd so on it went.\n");
    assert_eq!(problems(&imported, Severity::Error), [(1, "the block ends before its latencies")]);
    let prose = import_bytes("a.md", b"We look at the Benchmarking summary:\n\nIt is good.\n");
    assert!(prose.is_err());
}
