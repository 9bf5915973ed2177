//! `dyno doctor`: what this machine can measure, whatever that is.

use crate::bench::place::Place;
use crate::bench::process::run;

#[test]
fn it_tells_the_ladder_and_the_limits() {
    let place = Place::new();
    let ended = run(place.dyno("doctor --quick --json")).expect_status(&[0]);
    let found = ended.json();
    assert_eq!(found["schema"], "dyno.doctor/1", "{}", ended.said());
    assert!(found["limits"]["cores"].as_u64().unwrap() >= 1, "{}", ended.said());
    for limit in ["open_files", "ports"] {
        assert!(found["limits"].get(limit).is_some(), "{}", ended.said());
    }
    assert!(found["limits"]["load_average"].as_f64().unwrap() >= 0.0, "{}", ended.said());
    assert!(found["limits"]["machine_cores"].as_u64().unwrap() >= 1, "{}", ended.said());
    let ladder = found["ladder"].as_array().unwrap();
    assert!(!ladder.is_empty(), "{}", ended.said());
    for step in ladder {
        assert!(step["streams"].as_u64().unwrap() > 0, "{step}");
        assert!(step["tokens_per_s"].as_f64().unwrap() > 0.0, "{step}");
        for figure in ["ttft_bias_ms", "ttft_jitter_ms", "itl_bias_ms", "send_lag_p99_ms"] {
            assert!(step[figure].is_f64(), "{figure}: {step}");
        }
        assert!(step["client_valid"].is_boolean() && step["reasons"].is_array(), "{step}");
    }
    assert!(found["flat_out_tokens_per_s"].as_f64().unwrap() > 0.0, "{}", ended.said());
    assert!(found["advice"].is_array(), "{}", ended.said());
    // It leaves nothing in the directory where it was run.
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}
