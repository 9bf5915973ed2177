//! What is printed of a fit.

use dyno_fit::{FitCompared, Fitted, Report, Role};

/// Settings, intervals, errors, and the fitted rows.
pub(crate) fn fitted(found: &Fitted) {
    let twin = &found.twin;
    let scheduler = &twin.scheduler;
    println!(
        "  {:?}, {} sequences, {} tokens, prefix cache {}, {} steps ahead, launch {} ms, front end \
         {} µs a chunk, {} turns",
        scheduler.policy,
        scheduler.max_seqs,
        scheduler.token_budget,
        scheduler.prefix_cache,
        scheduler.steps_ahead,
        1e3 * twin.cost.launch.prefill,
        1e6 * twin.cost.front.chunk,
        twin.cost.front.turns,
    );
    for (name, [low, high]) in &twin.intervals {
        println!("  {name} {low:.4} to {high:.4}");
    }
    for (figure, error) in &twin.errors.fitted {
        let left = found.leave_one_out.get(figure).copied().unwrap_or(f64::NAN);
        println!("  {:20} {error:6.2} %, leave-one-out {left:6.2} %", figure.name());
    }
    found.report.levels.iter().filter(|level| level.role == Role::Fitted).for_each(row);
}

/// The held-out rows, and the errors on them.
pub(crate) fn rows(report: &Report) {
    report.levels.iter().filter(|level| level.role == Role::HeldOut).for_each(row);
    for (figure, error) in &report.errors.held_out {
        println!("  {:20} {error:6.2} % held out", figure.name());
    }
}

fn row(level: &FitCompared) {
    print!("  {:8.8} {:16}", format!("{:?}", level.role), level.label);
    for (figure, (measured, simulated)) in &level.metrics {
        print!(" {} {measured:.2} {:.2}", figure.name(), simulated.unwrap_or(f64::NAN));
    }
    println!();
}
