//! Ticks with labels that never run into each other: those that would are left out.

use super::canvas::{Anchor, Canvas, Text};
use super::measure::width;

/// Font size of tick labels.
pub(super) const SIZE: f64 = 11.0;

/// A place at an axis.
#[derive(Debug, Clone)]
pub(super) struct Tick {
    /// In pixels.
    pub(super) at: f64,
    pub(super) label: String,
}

/// Which labels are shown: as many as have room between `room`, evenly chosen where that gives
/// enough. `ways` is how much of the axis each label takes.
fn chosen(ticks: &[Tick], ways: &[f64], room: [f64; 2], gap: f64) -> Vec<usize> {
    let span = |i: usize| [ticks[i].at - ways[i] / 2.0, ticks[i].at + ways[i] / 2.0];
    let fits = |i: &usize| span(*i)[0] >= room[0] && span(*i)[1] <= room[1];
    let apart = |a: usize, b: usize| {
        let ([a_low, a_high], [b_low, b_high]) = (span(a), span(b));
        a_high + gap <= b_low || b_high + gap <= a_low
    };
    let all: Vec<usize> = (0..ticks.len()).filter(fits).collect();
    let every = |stride: usize| all.iter().copied().step_by(stride).collect::<Vec<usize>>();
    let clear = |some: &Vec<usize>| some.windows(2).all(|pair| apart(pair[0], pair[1]));
    let even = (1..=all.len().max(1)).map(every).find(clear).unwrap_or_default();
    let mut greedy: Vec<usize> = all.last().copied().into_iter().collect();
    for i in all.iter().copied() {
        let before = greedy.len().checked_sub(2).map(|at| greedy[at]);
        if apart(i, greedy[greedy.len() - 1]) && before.is_none_or(|before| apart(before, i)) {
            greedy.insert(greedy.len() - 1, i);
        }
    }
    if even.len() * 5 >= greedy.len() * 4 { even } else { greedy }
}

/// Labels below a plot, centred on their ticks.
pub(super) fn below(canvas: &mut Canvas, ticks: &[Tick], y: f64, room: [f64; 2]) {
    let ways: Vec<f64> = ticks.iter().map(|tick| width(&tick.label, SIZE, false)).collect();
    canvas.open("dc-axis-x");
    for i in chosen(ticks, &ways, room, 4.0) {
        let Tick { at, label } = &ticks[i];
        text(canvas, *at, y, Anchor::Middle, label);
    }
    canvas.close();
}

/// Labels to the left of a plot, ending at `x`.
pub(super) fn beside(canvas: &mut Canvas, ticks: &[Tick], x: f64, room: [f64; 2]) {
    let ways = vec![SIZE; ticks.len()];
    canvas.open("dc-axis-y");
    for i in chosen(ticks, &ways, room, 3.0) {
        let Tick { at, label } = &ticks[i];
        text(canvas, x, *at + SIZE * 0.36, Anchor::End, label);
    }
    canvas.close();
}

fn text(canvas: &mut Canvas, x: f64, y: f64, anchor: Anchor, text: &str) {
    canvas.text(&Text { class: "dc-tick", x, y, anchor, size: SIZE, bold: false, text });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(places: &[f64], way: f64) -> Vec<usize> {
        let ticks: Vec<Tick> =
            places.iter().map(|at| Tick { at: *at, label: String::new() }).collect();
        chosen(&ticks, &vec![way; places.len()], [-100.0, 1000.0], 2.0)
    }

    #[test]
    fn even_ticks_are_thinned_evenly_and_uneven_ones_where_they_crowd() {
        let even: Vec<f64> = (0..10).map(|i| f64::from(i) * 10.0).collect();
        assert_eq!(choose(&even, 8.0).len(), 10);
        assert_eq!(choose(&even, 18.0), [0, 2, 4, 6, 8]);
        assert_eq!(choose(&[0.0, 1.0, 2.0, 4.0, 50.0, 100.0, 200.0], 20.0), [0, 4, 5, 6]);
        assert_eq!(choose(&[0.0, 990.0, 995.0], 20.0), [0, 1], "inside the room");
        assert!(choose(&[], 5.0).is_empty());
    }
}
