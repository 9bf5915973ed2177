//! Requests as swim lanes: the requests of a lane follow one another, so that as many lanes are
//! occupied as requests are in flight. Shared by the SVG charts and the page.

use super::chosen::even;
use dyno_analysis::detail::{Bar, Became};

/// The most lanes that can be read in one chart.
pub const MOST: usize = 24;

/// The lanes that are shown.
#[derive(Debug)]
pub struct Lanes<'a> {
    /// The requests of each lane, in the order in which they were due.
    pub shown: Vec<Vec<&'a Bar>>,
}

impl Lanes<'_> {
    /// Requests in the lanes that are shown.
    pub fn requests(&self) -> usize {
        self.shown.iter().map(Vec::len).sum()
    }
}

/// Puts each request into the first lane that is free when it is due. Of more than [`MOST`] lanes,
/// those with failures are shown first, up to half of the room; the others are evenly spaced. The
/// same requests always give the same lanes.
pub fn lanes<'a>(bars: impl IntoIterator<Item = &'a Bar>) -> Lanes<'a> {
    let mut bars: Vec<&Bar> = bars.into_iter().collect();
    bars.sort_by(|a, b| a.due_s.total_cmp(&b.due_s).then(a.index.cmp(&b.index)));
    let mut all: Vec<Vec<&Bar>> = Vec::new();
    for bar in bars {
        let is_free =
            |lane: &&mut Vec<&Bar>| lane.last().is_none_or(|last| last.end_s <= bar.due_s);
        match all.iter_mut().find(is_free) {
            Some(lane) => lane.push(bar),
            None => all.push(vec![bar]),
        }
    }
    let chosen = chosen(&all);
    let lanes = all.into_iter().enumerate();
    let shown = lanes.filter(|(i, _)| chosen.contains(i)).map(|(_, lane)| lane).collect();
    Lanes { shown }
}

fn chosen(all: &[Vec<&Bar>]) -> Vec<usize> {
    if all.len() <= MOST {
        return (0..all.len()).collect();
    }
    let failed = |lane: &[&Bar]| lane.iter().any(|bar| bar.became != Became::Completed);
    let (bad, good): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| failed(&all[*i]));
    let for_bad = (MOST / 2).max(MOST.saturating_sub(good.len()));
    let mut some: Vec<usize> = even(bad.len(), for_bad).into_iter().map(|i| bad[i]).collect();
    some.extend(even(good.len(), MOST - some.len()).into_iter().map(|i| good[i]));
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(index: u64, due_s: f64, end_s: f64) -> Bar {
        let became = Became::Completed;
        let (sent_s, first_s) = (Some(due_s), None);
        Bar {
            index,
            warmup: false,
            due_s,
            sent_s,
            first_s,
            end_s,
            output: None,
            retries: 0,
            became,
        }
    }

    fn indices(lanes: &Lanes) -> Vec<Vec<u64>> {
        lanes.shown.iter().map(|lane| lane.iter().map(|bar| bar.index).collect()).collect()
    }

    #[test]
    fn requests_of_a_lane_follow_one_another() {
        let bars = [bar(2, 1.0, 3.0), bar(0, 0.0, 1.0), bar(1, 0.0, 2.5), bar(3, 2.5, 4.0)];
        let lanes = lanes(&bars);
        assert_eq!(indices(&lanes), [vec![0, 2], vec![1, 3]]);
        assert_eq!(lanes.requests(), 4);
    }

    #[test]
    fn no_more_lanes_are_shown_than_can_be_read() {
        let mut burst: Vec<Bar> = (0..100).map(|i| bar(i, 0.0, 1.0)).collect();
        burst[61].became = Became::Dropped;
        let lanes = lanes(&burst);
        assert_eq!((lanes.shown.len(), lanes.requests()), (MOST, MOST));
        let shown = indices(&lanes).concat();
        assert!([0, 61, 99].iter().all(|index| shown.contains(index)), "{shown:?}");
    }
}
