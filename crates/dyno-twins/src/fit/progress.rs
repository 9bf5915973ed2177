//! How far a fit has come, in a line.

use super::words::Say;
use dyno_fit::FitState;
use dyno_model::Language;
use std::time::Duration;

/// A time left that is estimated from less than this share jumps.
const ENOUGH: f64 = 0.05;

pub(super) fn line(state: FitState, elapsed: Duration, language: Language) -> String {
    let seconds = elapsed.as_secs_f64();
    let values = [state.steps.to_string(), time(seconds)];
    let mut line = Say::Progress.with(language, &values);
    if let Some(error) = state.error {
        line.push_str(&Say::BestError.with(language, &[format!("{:.1}", 100.0 * error)]));
    }
    if let Some(share) = state.share.filter(|share| *share >= ENOUGH) {
        let left = seconds / share - seconds;
        let values = [format!("{:.0}", 100.0 * share), time(left.ceil())];
        line.push_str(&Say::Remaining.with(language, &values));
    }
    line
}

fn time(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let elapsed = Duration::from_secs(30);
        let show = |state| line(state, elapsed, Language::English);
        let start = FitState { steps: 2, share: Some(0.01), error: None };
        assert_eq!(show(start), "fitting: 2 steps in 30 s");
        let later = FitState { steps: 40, share: Some(0.25), error: Some(0.0421) };
        assert_eq!(
            show(later),
            "fitting: 40 steps in 30 s, best error so far 4.2 %, 25 % done, about 90 s left"
        );
        let slow = FitState { steps: 4, share: Some(0.05), error: None };
        assert_eq!(show(slow), "fitting: 4 steps in 30 s, 5 % done, about 10 min left");
    }
}
