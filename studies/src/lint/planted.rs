//! Defects that are planted in what a tool states: typical errors of copying, counting and units.

use super::random::Random;
use super::simulated::Load;
use super::stated::Stated;

/// A defect: changes what is stated of one level or of several; false where it cannot be planted.
pub(super) type Plant = fn(&mut Vec<Stated>, &mut Random) -> bool;

/// Every defect, with what was done.
pub(super) const DEFECTS: [(&str, Plant); 20] = [
    ("5 % of the completed requests dropped", |levels, random| {
        let level = pick(levels, random);
        level.completed -= (level.completed / 20).max(1);
        true
    }),
    ("failed requests left out", |levels, random| {
        let level = pick(levels, random);
        level.planned += level.failed.unwrap_or(0).max(level.planned / 20);
        level.failed = level.failed.map(|_| 0);
        true
    }),
    ("requests/s × 1.1", |levels, random| {
        pick(levels, random).per_s *= 1.1;
        true
    }),
    ("tokens/s × 1.1", |levels, random| {
        pick(levels, random).output_per_s *= 1.1;
        true
    }),
    ("total tokens/s × 1.1", |levels, random| {
        pick(levels, random).total_per_s *= 1.1;
        true
    }),
    ("input tokens × 2", |levels, random| {
        pick(levels, random).input_tokens *= 2;
        true
    }),
    ("a fifth fewer planned than completed", |levels, random| {
        let level = pick(levels, random);
        level.planned -= level.planned / 5;
        true
    }),
    ("duration of another run", |levels, random| {
        let factor = random.one_of(&[0.6, 0.8, 1.3, 2.0]);
        pick(levels, random).duration_s *= factor;
        true
    }),
    ("TTFT in s, labelled ms", |levels, _| {
        levels.iter_mut().for_each(|level| level.ttft = level.ttft.scaled(1e-3));
        true
    }),
    ("all times in s, labelled ms", |levels, _| {
        for level in levels.iter_mut() {
            for time in [&mut level.ttft, &mut level.latency, &mut level.itl, &mut level.tpot] {
                *time = time.scaled(1e-3);
            }
        }
        true
    }),
    ("latency below TTFT", |levels, random| {
        let level = pick(levels, random);
        level.latency = level.ttft.scaled(0.8);
        true
    }),
    ("ITL and TPOT swapped", |levels, _| {
        for level in levels.iter_mut() {
            std::mem::swap(&mut level.itl, &mut level.tpot);
        }
        levels.iter().all(|level| {
            let ratio = level.itl.mean / level.tpot.mean.max(1e-9);
            !level.itl.is_empty() && !(0.8..1.25).contains(&ratio)
        })
    }),
    ("ITL column shifted by a row", |levels, _| {
        let itls: Vec<_> = levels.iter().map(|level| level.itl.clone()).collect();
        for (i, level) in levels.iter_mut().enumerate() {
            level.itl = itls[(i + 1) % itls.len()].clone();
        }
        levels.len() > 2
    }),
    ("median and p99 swapped", |levels, random| {
        pick(levels, random).latency.swapped = true;
        true
    }),
    ("a row copied", |levels, _| {
        let Some(last) = levels.len().checked_sub(1).filter(|last| *last > 0) else { return false };
        levels[last] = Stated { load: levels[last].load, ..levels[last - 1].clone() };
        true
    }),
    ("half the concurrency stated", |levels, random| {
        let level = pick(levels, random);
        match &mut level.load {
            Load::Concurrency(slots) if *slots > 1 && u64::from(*slots) * 4 < level.planned => {
                *slots /= 2;
                true
            }
            _ => false,
        }
    }),
    ("double the concurrency stated", |levels, random| {
        let level = pick(levels, random);
        match &mut level.load {
            Load::Concurrency(slots) if *slots > 1 && u64::from(*slots) * 4 < level.planned => {
                *slots *= 2;
                true
            }
            _ => false,
        }
    }),
    ("half the rate stated", |levels, random| {
        let level = pick(levels, random);
        let (completed, completed_all) = (level.per_s, level.planned >= 100);
        match &mut level.load {
            // Only where the server kept up.
            Load::Rate(rate) if completed_all && completed > 0.8 * *rate => {
                *rate /= 2.0;
                true
            }
            _ => false,
        }
    }),
    ("ten times the rate stated", |levels, random| match &mut pick(levels, random).load {
        Load::Rate(rate) => {
            *rate *= 10.0;
            true
        }
        _ => false,
    }),
    ("cut off by a time-out of a round time", |levels, random| {
        let level = pick(levels, random);
        let round = [5e3, 10e3, 30e3, 60e3]
            .into_iter()
            .find(|ms| level.latency.percentile(90.0) < *ms && *ms < level.latency.max);
        let Some(round) = round else { return false };
        level.latency = level.latency.cut(round * random.between(0.997, 0.9999));
        let failed = level.completed - level.latency.count() as u64;
        level.completed -= failed;
        level.failed = level.failed.map(|before| before + failed);
        level.per_s = level.completed as f64 / level.duration_s;
        level.failed.is_some()
    }),
];

fn pick<'a>(levels: &'a mut [Stated], random: &mut Random) -> &'a mut Stated {
    let places: Vec<usize> = (0..levels.len()).collect();
    &mut levels[random.one_of(&places)]
}
