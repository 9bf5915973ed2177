//! Responses of one token: there is no time between tokens.

use super::*;
use dyno_engine::twin::Twin;

fn one_token(trial: &Trial) -> Trial {
    let mut load = trial.clone();
    load.requests.iter_mut().for_each(|sent| sent.output = 1);
    measured(load)
}

#[test]
fn a_twin_of_responses_with_one_token_can_be_written_and_read() {
    let trials = [closed(1), closed(4), closed(16), open(15.0)].map(|trial| one_token(&trial));
    assert!(Figures::of(&trials[0]).unwrap().get(Quantity::ItlMean).is_nan());
    let found =
        fitted(&trials, &FitSettings { token_budget: Some(2048), ..FitSettings::default() });
    let twin = found.twin("one");
    assert!(found.residual() < 0.05, "{}", found.residual());
    let read = Twin::parse(&twin.to_toml(), "one.toml").unwrap_or_else(|error| panic!("{error}"));
    let accuracy = read.accuracy.unwrap();
    assert_eq!(accuracy.itl, None);
    assert!(accuracy.ttft.is_finite() && accuracy.latency.is_finite());
    // What decoding takes cannot be known.
    assert!(found.unknown.contains(&Unknown::Coefficient("decode_us")), "{:?}", found.unknown);
}
