//! What an agent accepts of a plan. A coordinator has checked its command line, but anybody who may write to
//! a bus can send a plan: one without an end, or one that is larger than any machine.

use crate::message::{PrepareLevel, Setup};
use dyno_model::{Message, limits};

/// Whether an agent accepts a run; the reason if not.
pub fn check_setup(setup: &Setup) -> Result<(), Message> {
    limits::check_shard(setup.shard)?;
    limits::check_plan(&setup.plan)
}

/// Whether an agent accepts a level; the reason if not.
pub fn check_level(prepare: &PrepareLevel) -> Result<(), Message> {
    limits::check_end(&prepare.plan)?;
    limits::check_taken(prepare.taken)?;
    limits::check_level(&prepare.plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;
    use dyno_model::plan::{Arrival, LevelPlan, Load, Plan, Shard, Target};

    const RATE: Load = Load::Rate { rate: 10.0, arrival: Arrival::Poisson };

    #[test]
    fn levels_are_checked() {
        let prepare = |taken, duration_ns, drain_ns| {
            let plan = LevelPlan { duration_ns, drain_ns, ..LevelPlan::new(RATE) };
            check_level(&PrepareLevel { level: 1, plan, taken, failures: None })
        };
        assert_eq!(prepare(1_000_000, Some(SEC), SEC), Ok(()));
        let said = |checked: Result<(), Message>| checked.unwrap_err().to_string();
        assert!(said(prepare(1 << 63, Some(SEC), SEC)).contains("taken = 9223372036854775808"));
        assert!(said(prepare(0, None, SEC)).contains("a level without an end"));
        assert!(said(prepare(0, Some(SEC), u64::MAX)).contains("drain_ns = "));
    }

    #[test]
    fn runs_are_checked() {
        let setup = |shard, change: fn(&mut Plan)| {
            let mut plan = Plan::new(Target::at("http://127.0.0.1:9"));
            change(&mut plan);
            let (run, url) = ("run".to_owned(), "http://127.0.0.1:9".to_owned());
            let settled = serde_json::Value::Null;
            let (files, sources) = (Vec::new(), Vec::new());
            check_setup(&Setup { run, plan, shard, url, settled, files, cpu: None, sources })
        };
        assert_eq!(setup(Shard { index: 3, of: 4 }, |_| ()), Ok(()));
        assert!(setup(Shard { index: 4, of: 4 }, |_| ()).is_err());
        assert!(setup(Shard::WHOLE, |plan| plan.timeouts.total_ns = u64::MAX).is_err());
    }
}
