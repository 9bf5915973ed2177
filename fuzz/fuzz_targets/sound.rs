//! What must hold for any bytes that are imported: they are read or refused, and whatever is read is made
//! of sound metrics and can be written down.

use dyno_import::import_bytes;

pub fn check(name: &str, bytes: &[u8]) {
    let imported = match import_bytes(name, bytes) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(!imported.runs.is_empty() || !imported.problems.is_empty());
    for problem in &imported.problems {
        assert!(!problem.what.is_empty() && problem.advice.is_some());
    }
    for run in &imported.runs {
        for level in &run.summary.levels {
            let mut reported = level.reported.iter().flat_map(|level| level.figures.values());
            assert!(reported.all(|value| value.is_finite()));
            let rates = [level.throughput.requests_per_s, level.throughput.output_tokens_per_s];
            assert!(rates.iter().flatten().all(|rate| rate.is_finite() && *rate >= 0.0));
            assert!(level.duration_s.is_none_or(|duration| duration.is_finite() && duration >= 0.0));
        }
        let recognised = run.summary.run.origin.as_ref().and_then(|origin| origin.recognised.as_ref());
        assert!(recognised.is_some_and(|recognised| !recognised.by.is_empty()));
        assert!(serde_json::to_string(&run.summary).is_ok());
    }
}
