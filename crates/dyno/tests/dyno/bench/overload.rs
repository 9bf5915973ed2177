//! Servers that refuse requests because they have too many: every run ends by its plan with the right
//! counts, the client does not flood what refuses it, and requests are sent again where asked.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::{Ended, run};

use dyno_model::record::RequestRecord;
use serde_json::{Value, json};

const SHORT: &str = "--output-tokens 16 --input-tokens 16";

/// A run against an engine with this fault.
fn bench(fault: &str, args: &str) -> (Place, Ended) {
    let engine = Engine::start(QUICK, &[fault]);
    let place = Place::new();
    let ended = run(place.bench(&engine.url(), &format!("{SHORT} {args}")));
    (place, ended)
}

#[track_caller]
fn counted(ended: &Ended, wanted: &Value) -> Value {
    let level = ended.json()["levels"][0].clone();
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(level["requests"][name], *value, "{name}: {}", ended.said());
    }
    level
}

#[test]
fn a_closed_loop_of_64_of_which_every_second_request_is_shed() {
    let (place, ended) = bench("http-429:every=2", "--concurrency 64 --requests 640");
    let ended = ended.expect_unless_invalid(5);
    let level = counted(
        &ended,
        &json!({ "planned": 640, "completed": 320, "failed": 0, "shed": 320, "dropped": 0,
                 "censored": 0, "failures": {} }),
    );
    assert_eq!(level["ending"], "requests", "{}", ended.said());
    let overload = &level["overload"];
    assert_eq!(overload["shed"], json!({ "http.429": 320 }), "{}", ended.said());
    assert_eq!(overload["retry_after_s"], Value::Null);
    assert!(overload["pauses"]["count"].as_u64().unwrap() >= 250, "{}", ended.said());
    // A caveat about the server, not a failure and not a reason to distrust the measurement.
    let reasons = codes(&level["reasons"]);
    assert!(reasons.contains(&"overloaded".to_owned()), "{reasons:?}");
    assert!(!reasons.contains(&"failures".to_owned()), "{reasons:?}");
    let late = &level["with_failures"];
    assert_eq!((&late["requests"], &late["infinite"]), (&json!(640), &json!(320)));
    let infinite = ["p90", "p95", "p99"];
    for name in infinite {
        assert_eq!(late["latency_ms"][name], Value::Null, "{}", ended.said());
        assert!(late["latency_ms"]["infinite"].as_array().unwrap().contains(&json!(name)));
    }

    let text = run(place.dyno("report run")).expect_status(&[0]);
    let words = ["shed: 50 %", "320 \u{d7} http.429", "failed/shed", "(320 of 640)", "p90 ∞"];
    for words in words {
        assert!(text.stdout.contains(words), "{words}: {}", text.said());
    }
    let rows = run(place.dyno("report run --format csv --per-request")).expect_status(&[0]);
    assert_eq!(rows.stdout.matches(",shed,http.429,").count(), 320, "{}", rows.stdout);
}

#[test]
fn an_open_loop_of_which_every_second_request_is_shed_keeps_its_schedule() {
    let (place, ended) = bench("http-503:every=2", "--rate 200 --duration 2s --slo ttft.p50<30s");
    let level = ended.json()["levels"][0].clone();
    let requests = |name: &str| level["requests"][name].as_u64().unwrap();
    let (sent, shed) = (requests("planned"), requests("shed"));
    assert_eq!((requests("completed") + shed, requests("failed")), (sent, 0), "{}", ended.said());
    assert!(shed == sent / 2 && sent > 300, "{}", ended.said());
    assert_eq!(level["ending"], "duration", "{}", ended.said());
    assert_eq!(level["overload"]["pauses"], Value::Null, "{}", ended.said());
    assert_eq!(level["overload"]["shed"], json!({ "http.503": shed }), "{}", ended.said());
    // What was shed did not meet the SLO.
    let met = level["slo"]["met_share"].as_f64().unwrap();
    assert!((met - 0.5).abs() < 0.01, "{met}: {}", ended.said());
    assert_eq!(place.json("summary.json"), ended.json());
}

#[test]
fn a_server_that_refuses_everything_is_not_flooded() {
    let (_, ended) = bench("http-429", "--concurrency 64 --duration 3s");
    let ended = ended.expect_status(&[5]);
    let level = counted(&ended, &json!({ "completed": 0, "failed": 0, "dropped": 0 }));
    assert_eq!(level["ending"], "duration", "{}", ended.said());
    // Waits of 10, 20, … 640 ms and 1 s: at most ten requests of each slot.
    let shed = level["requests"]["shed"].as_u64().unwrap();
    assert!((64..=640).contains(&shed), "{shed}: {}", ended.said());
    let share = level["overload"]["pauses"]["share"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&share), "{share}: {}", ended.said());
    assert!(codes(&level["reasons"]).contains(&"nothing_completed".to_owned()));
}

#[test]
fn a_server_says_how_long_to_wait() {
    let fault = "http-429:every=2:retry-after=0.3s";
    let (place, ended) = bench(fault, "--concurrency 4 --requests 24 --allow-failures 60%");
    let ended = ended.expect_measured();
    let level = counted(&ended, &json!({ "completed": 12, "shed": 12, "failed": 0 }));
    let asked = &level["overload"]["retry_after_s"];
    assert_eq!(*asked, json!({ "count": 12, "min": 0.3, "max": 0.3 }), "{}", ended.said());
    assert!(!codes(&level["reasons"]).contains(&"overloaded".to_owned()), "60 % are allowed");
    let records = place.requests();
    for slot in 0..4 {
        let own: Vec<&RequestRecord> = records.iter().filter(|one| one.slot == slot).collect();
        for two in own.windows(2).filter(|two| !two[0].is_completed()) {
            assert_eq!(two[1].intended, two[0].end + 300_000_000);
        }
    }
    let text = run(place.dyno("report run")).expect_status(&[0]);
    assert!(text.stdout.contains("Retry-After 0.3"), "{}", text.said());
}

#[test]
fn refused_requests_are_sent_again_where_asked() {
    let loads = ["--concurrency 8 --requests 60", "--rate 100 --requests 60", "--burst 60"];
    for load in loads {
        let args = format!("{load} --on-shed retry");
        let (place, ended) = bench("http-429:every=3:retry-after=0.02s", &args);
        let ended = ended.expect_measured();
        let wanted = json!({ "planned": 60, "completed": 60, "failed": 0, "shed": 0 });
        let level = counted(&ended, &wanted);
        let retried = &level["overload"]["retried"];
        let requests = retried["requests"].as_u64().unwrap();
        assert_eq!(retried["completed"], requests, "{}", ended.said());
        // Two thirds of all attempts are served.
        assert_eq!(retried["retries"], 29, "{}", ended.said());
        assert!(retried["final_latency_ms"]["p50"].as_f64() >= Some(25.0), "{}", ended.said());
        let records = place.requests();
        let again: Vec<&RequestRecord> = records.iter().filter(|one| one.retries > 0).collect();
        assert_eq!(again.len() as u64, requests);
        for record in again {
            let refused = record.first_refused.unwrap();
            let sent = record.sent.unwrap() - record.widths.unwrap().sent;
            assert!(sent < refused, "{record:?}");
            assert!(refused + 20_000_000 <= record.first.unwrap(), "{record:?}");
        }
        let text = run(place.dyno("report run")).expect_status(&[0]);
        assert!(text.stdout.contains("sent again: first refusal after"), "{}", text.said());
        // What the server said is not lost with the success of the last attempt.
        let about = format!("{requests} × http.429, Retry-After 0.0");
        assert!(text.stdout.contains(&about), "{}", text.said());
        let asked = &level["overload"]["retry_after_s"];
        assert_eq!((&asked["count"], &asked["max"]), (&json!(requests), &json!(0.02)));
        assert_eq!(level["overload"]["refused_first"], json!({ "http.429": requests }));
    }
}

#[test]
fn conversations_go_on_when_a_turn_was_sent_again() {
    let args = "--data session,turns=3 --concurrency 4 --requests 24 --on-shed retry";
    let (place, ended) = bench("http-503:every=4", args);
    let ended = ended.expect_measured();
    counted(&ended, &json!({ "completed": 24, "shed": 0, "failed": 0 }));
    let records = place.requests();
    assert!(records.iter().any(|one| one.retries > 0 && one.turn.unwrap().number > 1));
}

#[test]
fn a_request_that_is_refused_too_often_is_shed() {
    let args = "--concurrency 2 --requests 6 --on-shed retry --max-retries 3";
    let (_, ended) = bench("http-429:retry-after=0.01s", args);
    let ended = ended.expect_status(&[5]);
    let level = counted(&ended, &json!({ "completed": 0, "shed": 6, "failed": 0 }));
    assert_eq!(level["overload"]["retried"]["retries"], 18, "{}", ended.said());
    assert_eq!(level["overload"]["retried"]["completed"], 0);
}

#[test]
fn a_proxy_before_dead_backends_is_a_lost_target() {
    let (place, ended) = bench("http-503", "--concurrency 4,8 --duration 60s");
    let ended = ended.expect_status(&[3]).expect_words(&[
        "no request completed for 30s",
        "http.503",
        "told to refuse",
    ]);
    let summary = ended.json();
    assert_eq!(summary["run"]["ending"], "target_lost", "{}", ended.said());
    assert_eq!(summary["levels"].as_array().unwrap().len(), 1, "the second level must not begin");
    let shed = summary["levels"][0]["requests"]["shed"].as_u64().unwrap();
    assert!((50..300).contains(&shed), "{shed}: {}", ended.said());
    assert_eq!(place.json("summary.json"), summary);
}

#[test]
fn failures_end_a_run_where_so_many_are_too_many() {
    let args = "--concurrency 4,8 --requests 400 --max-failures 20";
    let (_, ended) = bench("http-500:every=4", args);
    let ended = ended.expect_unless_invalid(5).expect_words(&["--max-failures"]);
    let summary = ended.json();
    assert_eq!(summary["run"]["ending"], "max_failures", "{}", ended.said());
    assert_eq!(summary["levels"].as_array().unwrap().len(), 1, "{}", ended.said());
    let level = &summary["levels"][0];
    let failed = level["requests"]["failed"].as_u64().unwrap();
    assert!((20..24).contains(&failed), "{failed}: {}", ended.said());
    assert!(codes(&level["reasons"]).contains(&"max_failures".to_owned()), "{}", ended.said());

    // They are counted over all levels, and refusals are none.
    let (_, ended) = bench("http-500:every=4", "--concurrency 4,8 --requests 60 --max-failures 20");
    assert_eq!(ended.json()["run"]["ending"], "max_failures", "{}", ended.said());
    assert_eq!(ended.json()["levels"].as_array().unwrap().len(), 2, "{}", ended.said());
    let (_, ended) = bench("http-429:every=4", "--concurrency 4 --requests 200 --max-failures 20");
    assert_eq!(ended.json()["run"]["ending"], "requests", "{}", ended.said());
}
