//! The ticks of an axis, the labels of numbers, and the points of a line.

use dyno_chart::axis::{Thinning, shown};
use dyno_chart::numbers::{label, time};
use dyno_chart::{Axis, Point, Series, Ticks, Trust, numbers};

fn labels(low: f64, high: f64) -> Vec<String> {
    let axis = Axis::across(Ticks::Decades, &[low, high], &[]);
    let ticks = axis.placed(&axis.on([0.0, 500.0]));
    assert!(ticks.iter().all(|tick| (0.0..=500.0).contains(&tick.at)), "{ticks:?}");
    ticks.into_iter().map(|tick| tick.label).collect()
}

#[test]
fn a_logarithmic_axis_has_round_figures_however_narrow_it_is() {
    assert_eq!(labels(3.0, 70.0), ["2", "5", "10", "20", "50", "100"]);
    assert_eq!(labels(150.0, 156.0), ["145", "150", "155", "160"]);
    assert_eq!(labels(150.0, 150.0), ["144", "146", "148", "150", "152", "154", "156"]);
    assert_eq!(labels(0.1, 10_000.0).len(), 6);
}

fn choose(places: &[f64], way: f64, thinning: Thinning) -> Vec<usize> {
    let spans: Vec<[f64; 2]> = places.iter().map(|at| [at - way / 2.0, at + way / 2.0]).collect();
    shown(&spans, [-100.0, 1000.0], 2.0, thinning)
}

#[test]
fn even_ticks_are_thinned_evenly_and_uneven_ones_where_they_crowd() {
    let even: Vec<f64> = (0..10).map(|i| f64::from(i) * 10.0).collect();
    assert_eq!(choose(&even, 8.0, Thinning::Even).len(), 10);
    assert_eq!(choose(&even, 18.0, Thinning::Even), [0, 2, 4, 6, 8]);
    assert_eq!(choose(&even, 18.0, Thinning::Crowded), [0, 2, 4, 6, 9]);
    let uneven = [0.0, 1.0, 2.0, 4.0, 50.0, 100.0, 200.0];
    assert_eq!(choose(&uneven, 20.0, Thinning::Even), [0, 4, 5, 6]);
    let inside = choose(&[0.0, 990.0, 995.0], 20.0, Thinning::Even);
    assert_eq!(inside, [0, 1], "inside the room");
    assert!(choose(&[], 5.0, Thinning::Even).is_empty());
}

#[test]
fn decimals_are_those_of_the_step() {
    assert_eq!(numbers::labels(&[0.0, 2.5, 5.0]), ["0", "2.5", "5.0"]);
    assert_eq!(numbers::labels(&[0.0, 5000.0, 10_000.0]), ["0", "5k", "10k"]);
    assert_eq!(numbers::labels(&[0.0, 0.00002]), ["0", "0.00002"]);
    assert_eq!(numbers::labels(&[0.0, 1e-9]), ["0", "1e-9"]);
    assert_eq!(numbers::labels(&[0.0, 5e20])[1], "5e20");
}

#[test]
fn single_figures_are_short() {
    let shown = [1.0, 0.5, 150.0, 4096.0, 3.9333, 250_000.0, 1e-7].map(label);
    assert_eq!(shown, ["1", "0.5", "150", "4096", "3.933", "250k", "1e-7"]);
    let shown = [0.0, 0.5, 30.0, 90.0, 3600.0, 5400.0].map(time);
    assert_eq!(shown, ["0", "0.5s", "30s", "1m30s", "1h", "1h30m"]);
}

fn line(points: &[(f64, Option<f64>, Trust)]) -> Series {
    let points = points.iter().map(|(x, y, trust)| Point::of(*x, *y, *trust)).collect();
    Series { name: String::new(), points }
}

#[test]
fn a_line_passes_the_mean_of_rounds_and_bad_ones_only_where_there_is_no_other() {
    let (good, bad) = (Trust::Good, Trust::Bad);
    let stops = line(&[
        (1.0, Some(2.0), good),
        (1.0, Some(4.0), good),
        (1.0, Some(90.0), bad),
        (2.0, Some(8.0), bad),
        (2.0, None, good),
        (3.0, None, good),
    ])
    .stops();
    let found: Vec<_> = stops.iter().map(|stop| (stop.x, stop.y, stop.bad)).collect();
    assert_eq!(found, [(1.0, Some(3.0), false), (2.0, Some(8.0), true), (3.0, None, true)]);
}

#[test]
fn what_cannot_be_drawn_is_absent_and_has_no_interval() {
    let mut one = line(&[(1.0, Some(f64::INFINITY), Trust::Good), (f64::NAN, None, Trust::Good)]);
    one.points[0].interval = Some([1.0, 2.0]);
    let one = one.drawable();
    assert_eq!((one.points.len(), one.points[0].y, one.points[0].interval), (1, None, None));
    assert_eq!(one.values().count(), 0);
}
