//! Twins: listed, shown, and fitted to runs.

use crate::place::Place;
use crate::process::run;

#[test]
fn twins_are_listed_with_their_errors_and_shown_in_full() {
    let place = Place::new();
    let listed = run(place.dyno("twins")).expect_status(&[0]);
    let default = dyno_engine::twin::Twin::default_name();
    assert!(listed.stdout.contains(&format!("{default}*")), "{}", listed.said());
    for line in listed.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let shown = run(place.dyno(&format!("twins show {default}"))).expect_status(&[0]);
    // What is shown is the file, ready to be changed.
    let copy = place.file("copy.toml", &shown.stdout);
    run(place.dyno(&format!("predict --twin {copy} --concurrency 1 --requests 2 --quiet")))
        .expect_status(&[0]);
    run(place.dyno("twins show nobody"))
        .expect_status(&[2])
        .expect_words(&["nobody", "dyno twins"]);
    run(place.dyno(&format!("twins verify {default}"))).expect_status(&[0]);
    run(place.dyno(&format!("twins {default}")))
        .expect_status(&[2])
        .expect_words(&[&format!("did you mean `dyno twins show {default}`?")]);
}

/// Predicts levels to fit to.
fn predict(place: &Place, out: &str, args: &str) {
    let args = format!("predict --quiet --json --out {out} {args}");
    run(place.dyno(&args)).expect_status(&[0]);
}

#[test]
fn fit_names_every_reason_at_once_and_does_not_begin() {
    let place = Place::new();
    predict(&place, "one", "--concurrency 2 --requests 10 --output-tokens 8");
    predict(&place, "poisson", "--rate 1,2 --duration 20s --warmup 2s --output-tokens 8");
    place.file("there.toml", "");
    for (args, words) in [
        ("one --out twin.toml", vec!["1 of 1 levels", "at least 2"]),
        (
            "poisson --out twin.toml",
            vec![
                "left out 2 levels (rate 1, rate 2): ",
                "warm-up",
                "--arrival constant",
                "0 of 2 levels",
            ],
        ),
        ("nowhere one --out twin.toml", vec!["`nowhere`", "1 of 1 levels"]),
        ("nowhere --out there.toml", vec!["`nowhere`", "--out: `there.toml` exists"]),
        ("one --out no/such/twin.toml", vec!["no directory `no/such`", "1 of 1 levels"]),
    ] {
        let refused = run(place.dyno(&format!("fit {args}"))).expect_status(&[2]);
        let refused = refused.expect_words(&words);
        assert!(!refused.stderr.contains("fitting"), "{}", refused.said());
    }
    assert!(!place.path().join("twin.toml").exists());
    let mut chinese = place.dyno("fit poisson --out twin.toml");
    chinese.env("LC_ALL", "zh_CN.UTF-8");
    run(chinese).expect_status(&[2]).expect_words(&["未参与拟合", "预热", "2 个档位中有 0 个"]);
}

#[test]
fn a_fit_that_predicts_its_own_levels_badly_is_warned_about() {
    let place = Place::new();
    let small = "--requests 4 --input-tokens 8 --output-tokens 3";
    predict(&place, "good", &format!("--concurrency 1,2 {small}"));
    let good = run(place.dyno("fit good --out good.toml")).expect_status(&[0]);
    assert!(!good.stderr.contains("POOR FIT"), "{}", good.said());
    assert!(good.stdout.contains("leave-one-out error"), "{}", good.said());
    good.expect_words(&["fitting 2 levels; this takes"]);
    // Another server in the same table, which is many times slower.
    let slow = crate::predict::TWIN.replace("base_ms = 20", "base_ms = 900");
    let slow = place.file("slow.toml", &slow);
    predict(&place, "slow", &format!("--twin {slow} --concurrency 3 {small}"));
    run(place.dyno("fit good slow --out poor.toml"))
        .expect_status(&[6])
        .expect_words(&["warning: POOR FIT", "leave-one-out error is over 30 %"]);
    assert!(place.path().join("poor.toml").exists());
    let quiet = run(place.dyno("fit good --out quiet.toml --quiet")).expect_status(&[0]);
    assert_eq!(quiet.stderr, "");
}
