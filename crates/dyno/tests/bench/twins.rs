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
    let file =
        shown.stdout.split("\nReplayed").next().unwrap().split("\nThere is no").next().unwrap();
    let copy = place.file("copy.toml", file);
    run(place.dyno(&format!("predict --twin {copy} --concurrency 1 --requests 2 --quiet")))
        .expect_status(&[0]);
    run(place.dyno("twins show nobody"))
        .expect_status(&[2])
        .expect_words(&["nobody", "dyno twins"]);
    run(place.dyno(&format!("twins verify {default}"))).expect_status(&[0]);
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let place = Place::new();
    let predict = |out: &str, args: &str| {
        let args = format!("predict --quiet --json --out {out} --output-tokens 8 {args}");
        run(place.dyno(&args)).expect_status(&[0]);
    };
    predict("one", "--concurrency 2 --requests 10");
    run(place.dyno("fit one --out twin.toml")).expect_status(&[2]).expect_words(&[
        "RUN",
        "1 of 1 levels",
        "at least 2",
    ]);
    predict("poisson", "--rate 1,2 --duration 20s");
    run(place.dyno("fit poisson --out twin.toml")).expect_status(&[2]).expect_words(&[
        "skipped: rate 1",
        "--arrival constant",
        "0 of 2 levels",
    ]);
    run(place.dyno("fit nowhere --out twin.toml")).expect_status(&[2]).expect_words(&["nowhere"]);
    place.file("there.toml", "");
    run(place.dyno("fit one --out there.toml")).expect_status(&[2]).expect_words(&["there.toml"]);
    assert!(!place.path().join("twin.toml").exists());
}
