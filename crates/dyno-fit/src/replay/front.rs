//! A client front end that handles one token after another: how long new requests wait for it.

use super::client::Timing;

/// The highest utilisation of a front end; with more, its queue would grow without bound.
const BUSIEST: f64 = 0.97;

/// Delays each request by its wait for a front end that takes `token` seconds for each token of the
/// responses under way. As in a queue with one server, the wait is the work of a step times
/// utilisation / (1 − utilisation).
pub(super) fn wait(timings: &mut [Timing], token: f64) {
    let mean_step = mean_step(timings);
    let mut firsts: Vec<f64> = timings.iter().map(|timing| timing.first).collect();
    let mut ends: Vec<f64> = timings.iter().map(|timing| timing.end).collect();
    firsts.sort_by(f64::total_cmp);
    ends.sort_by(f64::total_cmp);
    for timing in timings {
        let before = |times: &[f64]| times.partition_point(|time| *time < timing.start) as f64;
        let work = token * (before(&firsts) - before(&ends)).max(0.0);
        let busy = (work / mean_step).min(BUSIEST);
        let wait = work * busy / (1.0 - busy);
        timing.first += wait;
        timing.end += wait;
    }
}

/// The mean time between two tokens of a response.
fn mean_step(timings: &[Timing]) -> f64 {
    let gaps: f64 = timings.iter().map(|timing| f64::from(timing.output) - 1.0).sum();
    let time: f64 = timings.iter().map(|timing| timing.end - timing.first).sum();
    (time / gaps.max(1.0)).max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_with_what_is_under_way() {
        // Eleven responses with 10 ms per token; the last ones start when ten and none are under way.
        let timing = |start: f64| Timing { start, first: start, end: start + 1.0, output: 101 };
        let mut timings: Vec<Timing> = (0..10).map(|_| timing(0.0)).collect();
        timings.extend([timing(0.5), timing(2.0)]);
        wait(&mut timings, 0.0005);
        // 5 ms of work, busy half of the time.
        assert!((timings[10].first - 0.505).abs() < 1e-9, "{:?}", timings[10]);
        assert_eq!(timings[11], timing(2.0));
    }
}
