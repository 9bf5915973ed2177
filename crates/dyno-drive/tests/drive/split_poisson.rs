//! Poisson arrivals that are split over eight load generators which do not start quite together. The
//! merged arrivals must still be a Poisson process. Printed with `--nocapture`, next to a split in
//! turn, which fails.
#![allow(clippy::unwrap_used)]

use dyno_drive::Share;
use dyno_drive::paced::PacedArrivals;
use dyno_drive::ramp::RampArrivals;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard};
use dyno_model::{MS, Nanos, SEC};
use dyno_stats::rng::SplitMix;
use dyno_stats::{index_of_dispersion, ks_one_sample};

const SEEDS: u64 = 60;
const RATE: f64 = 200.0;
const TIME: Nanos = 30 * SEC;
const OF: u32 = 8;
const WINDOWS: [Nanos; 3] = [20 * MS, 50 * MS, 200 * MS];
const LOAD: Load = Load::Rate { rate: RATE, arrival: Arrival::Poisson };

#[derive(Clone, Copy, Debug)]
enum Split {
    Hashed,
    InTurn,
}

fn schedule(seed: u64) -> Vec<Nanos> {
    let plan = LevelPlan { duration_ns: Some(TIME), ..LevelPlan::new(LOAD) };
    PacedArrivals::new(seed, 0, RATE, Arrival::Poisson, &plan, false)
        .take_while(|due| *due < TIME)
        .collect()
}

/// The arrivals of each part, a schedule being split in one way or the other.
fn parts(seed: u64, split: Split, schedule: &[Nanos]) -> Vec<Vec<Nanos>> {
    let part = |index| {
        let share = Share::new(LOAD, None, (seed, 0), Shard { index, of: OF });
        let own = |at: u64| match split {
            Split::Hashed => share.has(at),
            Split::InTurn => at % u64::from(OF) == u64::from(index),
        };
        (0..).zip(schedule).filter(|(at, _)| own(*at)).map(|(_, due)| *due).collect()
    };
    (0..OF).map(part).collect()
}

/// Normally distributed.
fn start_errors(seed: u64, deviation: Nanos) -> Vec<f64> {
    let mut rng = SplitMix::new(seed ^ 0x5eed);
    let normal = |_| {
        let (u, v) = (rng.unit(), rng.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos() * deviation as f64
    };
    (0..OF).map(normal).collect()
}

/// All parts together, each shifted by its start error, without the ends where not all are sending.
fn merged(parts: &[Vec<Nanos>], errors: &[f64]) -> Vec<f64> {
    let shift = |(part, error): (&Vec<Nanos>, &f64)| {
        part.iter().map(|due| *due as f64 + error).collect::<Vec<_>>()
    };
    let mut all: Vec<f64> = parts.iter().zip(errors).flat_map(shift).collect();
    all.retain(|at| *at >= SEC as f64 && *at < (TIME - SEC) as f64);
    all.sort_by(f64::total_cmp);
    all
}

fn dispersion(arrivals: &[f64], window: Nanos) -> f64 {
    let mut counts = vec![0; ((TIME - 2 * SEC) / window) as usize];
    for at in arrivals {
        let window = ((at - SEC as f64) / window as f64) as usize;
        if let Some(count) = counts.get_mut(window) {
            *count += 1;
        }
    }
    index_of_dispersion(&counts).unwrap()
}

fn is_exponential(arrivals: &[f64], rate: f64) -> bool {
    let gaps: Vec<f64> = arrivals.windows(2).map(|w| (w[1] - w[0]) / 1e9).collect();
    ks_one_sample(&gaps, |gap| 1.0 - (-gap * rate).exp()).unwrap().p >= 0.01
}

struct Row {
    /// Mean index of dispersion in windows of 20, 50 and 200 ms; 1 for a Poisson process.
    dispersion: [f64; 3],
    /// How many of the seeds fail Kolmogorov–Smirnov at 1 %: gaps of all arrivals, and of one part.
    merged_fails: usize,
    part_fails: usize,
}

fn row(split: Split, deviation: Nanos) -> Row {
    let mut row = Row { dispersion: [0.0; 3], merged_fails: 0, part_fails: 0 };
    for seed in 0..SEEDS {
        let parts = parts(seed, split, &schedule(seed));
        let all = merged(&parts, &start_errors(seed, deviation));
        for (sum, window) in row.dispersion.iter_mut().zip(WINDOWS) {
            *sum += dispersion(&all, window) / SEEDS as f64;
        }
        row.merged_fails += usize::from(!is_exponential(&all, RATE));
        let one: Vec<f64> = parts[0].iter().map(|due| *due as f64).collect();
        row.part_fails += usize::from(!is_exponential(&one, RATE / f64::from(OF)));
    }
    row
}

#[test]
fn merged_arrivals_stay_poisson_whatever_the_start_errors() {
    println!("split     error   20 ms  50 ms  200 ms   KS merged   KS of a part  (of {SEEDS})");
    let tell = |split: Split, error: Nanos| {
        let row = row(split, error);
        let [a, b, c] = row.dispersion;
        let (name, error) = (format!("{split:?}"), error / MS);
        let (merged, part) = (row.merged_fails, row.part_fails);
        println!("{name:8} {error:3} ms   {a:5.2}  {b:5.2}  {c:6.2} {merged:11} {part:14}");
        row
    };
    for error in [0, 5 * MS, 50 * MS] {
        let row = tell(Split::Hashed, error);
        assert!(row.dispersion.iter().all(|index| (index - 1.0).abs() < 0.05), "{error} ns");
        // At 1 %, four or more of 60 have a chance of 0.3 %.
        assert!(row.merged_fails <= 3 && row.part_fails <= 3, "{error} ns");
    }
    for error in [0, 5 * MS, 50 * MS] {
        let control = tell(Split::InTurn, error);
        assert!(control.part_fails == SEEDS as usize, "every n-th is not Poisson");
        let least = control.dispersion.into_iter().fold(f64::MAX, f64::min);
        if error == 50 * MS {
            assert!(least < 0.8, "{least}");
        }
        match error {
            // Nothing was shifted, so the parts still fit together.
            0 => assert!(least > 0.95, "{least}"),
            _ => assert!(control.merged_fails > SEEDS as usize / 2, "{}", control.merged_fails),
        }
    }
}

#[test]
fn so_do_those_of_a_ramp() {
    // In the time of the unit process, a ramp is an even rate.
    let load =
        Load::Ramp { from: 50.0, to: 350.0, over_ns: TIME, steps: None, arrival: Arrival::Poisson };
    let ramp = load.ramp().unwrap();
    let mut fails = 0;
    for seed in 0..SEEDS {
        let all: Vec<Nanos> = RampArrivals::new(seed, 0, ramp, Arrival::Poisson, 0).collect();
        let share = Share::new(load, None, (seed, 0), Shard { index: 3, of: OF });
        let own = (0..).zip(&all).filter(|(at, _)| share.has(*at)).map(|(_, due)| due);
        let unit: Vec<f64> = own.map(|due| ramp.due_by(*due) * 1e9).collect();
        fails += usize::from(!is_exponential(&unit, 1.0 / f64::from(OF)));
    }
    assert!(fails <= 3, "{fails} of {SEEDS} parts of a ramp are not Poisson");
}
