//! EvalScope's `perf`: summaries, percentiles, databases and folders.

use crate::files::{close, errors, fixture, import, loads, reported, run};
use dyno_import::{Imported, import_bytes};
use dyno_model::metric::Time;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

#[test]
fn a_folder_of_runs_is_a_sweep() {
    let run = run("evalscope-sweep");
    assert_eq!(loads(&run), [("concurrency", Some(1.0)), ("concurrency", Some(2.0))]);
    let summary = &run.summary;
    assert_eq!(summary.run.model.as_deref(), Some("tiny"));
    assert_eq!(summary.run.label.as_deref(), Some("evalscope-sweep"));
    let level = &summary.levels[1];
    assert_eq!((level.input_length, level.output_length), (Some(12), Some(16)));
    assert_eq!(level.requests.completed, Some(12));
    close(level.times[Time::Ttft].as_ref().unwrap().mean, reported(level, "Avg TTFT (ms)"), 1e-3);
    close(level.times[Time::Tpot].as_ref().unwrap().mean, reported(level, "Avg TPOT (ms)"), 2e-3);
    close(
        level.times[Time::ChunkGap].as_ref().unwrap().mean,
        reported(level, "Avg ITL (ms)"),
        2e-3,
    );
    close(level.throughput.requests_per_s, reported(level, "Req Throughput (req/s)"), 1e-4);
    // Both the summary and the percentiles are kept.
    close(
        level.times[Time::Latency].as_ref().unwrap().max,
        reported(level, "latency (s).max") * 1e3,
        1e-3,
    );
    assert_eq!(level.times[Time::Itl].as_ref().unwrap().count, Some(180));
    assert!(run.rebuilt.is_some());
}

#[test]
fn sixteen_comes_after_two() {
    let folder = tempfile::tempdir().unwrap();
    for slots in [16, 1, 2] {
        let level = folder.path().join(format!("parallel_{slots}_number_20"));
        fs::create_dir(&level).unwrap();
        fs::copy(fixture("evalscope-0.8-percentile.json"), level.join("benchmark_percentile.json"))
            .unwrap();
    }
    let imported = dyno_import::import(folder.path()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    let wanted = [1.0, 2.0, 16.0].map(|slots| ("concurrency", Some(slots)));
    assert_eq!(loads(&imported.runs[0]), wanted);
    assert_eq!(
        imported.runs[0].summary.levels[0].times[Time::Ttft].as_ref().unwrap().p90,
        Some(290.0)
    );
}

#[test]
fn old_summaries_have_no_tpot_of_their_own() {
    let run = run("evalscope-0.8-summary.json");
    assert_eq!(loads(&run), [("concurrency", Some(4.0))]);
    let level = &run.summary.levels[0];
    assert_eq!(level.duration_s, Some(12.5));
    assert_eq!((level.requests.completed, level.requests.failed), (Some(19), Some(1)));
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().mean, Some(250.0));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(2500.0));
    // It is the time of the whole test, divided by all tokens.
    assert_eq!(level.times[Time::Tpot], None);
    assert_eq!(reported(level, "Average time per output token (s)"), 0.00658);
    assert_eq!(level.throughput.output_tokens_per_s, Some(152.0));
    let later = super::run("evalscope-1.0-summary.json");
    let level = &later.summary.levels[0];
    assert_eq!(level.times[Time::Tpot].as_ref().unwrap().mean, Some(16.2));
    assert_eq!(level.times[Time::ChunkGap].as_ref().unwrap().mean, Some(16.0));
    assert_eq!(level.throughput.total_tokens_per_s, Some(600.0));
}

#[test]
fn percentiles_alone() {
    let run = run("evalscope-0.8-percentile.json");
    let level = &run.summary.levels[0];
    assert_eq!(loads(&run), [("unknown", None)]);
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.p50, ttft.p66, ttft.p98), (Some(250.0), Some(266.0), Some(298.0)));
    assert_eq!((ttft.mean, ttft.count), (None, None));
    assert_eq!(level.requests.completed, None);
}

#[test]
fn databases_of_every_version_give_the_same() {
    let newest = import("evalscope-sweep/parallel_2_number_12/benchmark_data.db");
    assert_eq!(newest.runs[0].summary.run.model.as_deref(), Some("tiny"));
    assert_eq!(newest.runs[0].summary.levels[0].requests.completed, Some(12));
    for name in ["evalscope-0.8.db", "evalscope-1.0.db"] {
        let run = run(name);
        let level = &run.summary.levels[0];
        let counts = &level.requests;
        assert_eq!((counts.completed, counts.failed), (Some(6), Some(1)), "{name}");
        assert_eq!(level.times[Time::ChunkGap].as_ref().unwrap().count, Some(90));
        assert_eq!(level.output_tokens.unwrap().total, Some(96));
        close(level.times[Time::Ttft].as_ref().unwrap().mean, 32.731, 1e-4);
        assert!(run.rebuilt.is_some());
    }
}

#[test]
fn a_foreign_database_is_reported() {
    let imported = import("tree.db");
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains("no table `result`"), "{:?}", imported.problems);
}

/// Every file of a folder, with its bytes.
fn contents(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    files.map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap())).collect()
}

/// Imports the database of a folder, and the folder, which must not change by that; how many
/// requests were completed and how many failed.
fn unchanged(folder: &Path) -> (Option<u64>, Option<u64>) {
    let before = contents(folder);
    let alone = dyno_import::import(&folder.join("benchmark_data.db")).unwrap();
    let in_folder = dyno_import::import(folder).unwrap();
    assert_eq!(contents(folder), before);
    let counts = |imported: &Imported| {
        assert_eq!(errors(imported), Vec::<String>::new());
        let requests = &imported.runs[0].summary.levels[0].requests;
        (requests.completed, requests.failed)
    };
    assert_eq!(counts(&alone), counts(&in_folder));
    counts(&alone)
}

fn copied(from: &Path, to: &Path, names: &[&str]) {
    for name in names {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn a_write_ahead_log_is_read_too() {
    let written = tempfile::tempdir().unwrap();
    let database = written.path().join("benchmark_data.db");
    fs::copy(fixture("evalscope-1.0.db"), &database).unwrap();
    assert_eq!(unchanged(written.path()), (Some(6), Some(1)));
    let connection = Connection::open(&database).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \
             INSERT INTO result SELECT * FROM result",
        )
        .unwrap();
    // While it is open, with its `-shm`; and as a program leaves it that was killed.
    assert_eq!(contents(written.path()).len(), 3);
    assert_eq!(unchanged(written.path()), (Some(12), Some(2)));
    let left = tempfile::tempdir().unwrap();
    copied(written.path(), left.path(), &["benchmark_data.db", "benchmark_data.db-wal"]);
    assert_eq!(unchanged(left.path()), (Some(12), Some(2)));
    fs::remove_file(left.path().join("benchmark_data.db-wal")).unwrap();
    assert_eq!(unchanged(left.path()), (Some(6), Some(1)));
}

#[test]
fn a_change_that_was_never_finished_is_undone() {
    let written = tempfile::tempdir().unwrap();
    let database = written.path().join("benchmark_data.db");
    fs::copy(fixture("evalscope-1.0.db"), &database).unwrap();
    let connection = Connection::open(&database).unwrap();
    let more = "INSERT INTO result SELECT * FROM result;".repeat(8);
    connection.execute_batch(&format!("PRAGMA cache_size = 1; BEGIN; {more}")).unwrap();
    let left = tempfile::tempdir().unwrap();
    copied(written.path(), left.path(), &["benchmark_data.db", "benchmark_data.db-journal"]);
    let before = fs::read(fixture("evalscope-1.0.db")).unwrap();
    assert_ne!(fs::read(left.path().join("benchmark_data.db")).unwrap(), before);
    assert_eq!(unchanged(left.path()), (Some(6), Some(1)));

    // A journal may name a file that is to be deleted when all is undone.
    let named = left.path().join("named");
    fs::write(&named, "").unwrap();
    let name = named.as_os_str().as_encoded_bytes();
    let mut journal = fs::read(left.path().join("benchmark_data.db-journal")).unwrap();
    let page = u32::try_from((1 << 30) / 4096 + 1).unwrap();
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    journal.extend(page.to_be_bytes());
    journal.extend(name);
    journal.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(left.path().join("benchmark_data.db-journal"), journal).unwrap();
    let imported = dyno_import::import(&left.path().join("benchmark_data.db")).unwrap();
    assert!(named.exists());
    assert!(errors(&imported).iter().any(|error| error.contains("several databases")));
}

#[test]
fn a_damaged_database_is_reported_with_a_log_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("benchmark_data.db");
    let mut bytes = fs::read(fixture("evalscope-1.0.db")).unwrap();
    bytes[100..].fill(0xa5);
    fs::write(&database, &bytes).unwrap();
    let alone = dyno_import::import(&database).unwrap();
    assert!(errors(&alone)[0].contains("could not be read completely"), "{:?}", alone.problems);
    fs::write(folder.path().join("benchmark_data.db-wal"), "frames").unwrap();
    let logged = dyno_import::import(&database).unwrap();
    assert!(errors(&logged)[1].contains("`-wal`"), "{:?}", logged.problems);
}

#[test]
fn a_database_cut_short_gives_the_requests_before() {
    let bytes =
        fs::read(fixture("evalscope-sweep/parallel_2_number_12/benchmark_data.db")).unwrap();
    let imported = import_bytes("cut.db", &bytes[..bytes.len() - 8192]).unwrap();
    assert!(
        errors(&imported)[0].contains("could not be read completely"),
        "{:?}",
        imported.problems
    );
}

#[test]
fn a_folder_of_nothing_known_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.md"), "# nothing\n").unwrap();
    let error = dyno_import::import(folder.path()).unwrap_err().to_string();
    assert!(error.contains("no results of a known tool"), "{error}");
}

#[test]
fn what_was_not_streamed_has_no_ttft() {
    let summary = r#"{"Test Duration (s)": 4.0, "Concurrency": 1, "Request Rate (req/s)": -1.0,
        "Total Requests": 4, "Success Requests": 4, "Failed Requests": 0, "Stream Requests": 0,
        "Non-Stream Requests": 4, "Avg Latency (s)": 1.0, "Avg TTFT (ms)": 1000.0,
        "Avg TPOT (ms)": 0.0, "Avg ITL (ms)": 0.0}"#;
    let imported = import_bytes("benchmark_summary.json", summary.as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(
        (&level.times[Time::Ttft], &level.times[Time::Tpot], &level.times[Time::ChunkGap]),
        (&None, &None, &None)
    );
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(1000.0));
    assert_eq!(level.notes[0].code, "import_not_streamed");
    assert_eq!(reported(level, "Avg TTFT (ms)"), 1000.0);
}
