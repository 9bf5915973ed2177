use super::*;
use crate::SEC;
use crate::plan::Target;

const RATE: Load = Load::Rate { rate: 10.0, arrival: Arrival::Poisson };

fn rate(rate: f64) -> Load {
    Load::Rate { rate, arrival: Arrival::Constant }
}

fn ramp(from: f64, to: f64, over_ns: Nanos) -> Load {
    Load::Ramp { from, to, over_ns, steps: Some(10), arrival: Arrival::Poisson }
}

fn checked(load: Load, change: impl Fn(&mut LevelPlan)) -> Result<(), Message> {
    let mut plan = LevelPlan::new(load);
    plan.duration_ns = (!matches!(load, Load::Ramp { .. })).then_some(60 * SEC);
    change(&mut plan);
    check_end(&plan)?;
    check_level(&plan)
}

#[track_caller]
fn refused(load: Load, change: impl Fn(&mut LevelPlan), why: &str) {
    let said = checked(load, change).unwrap_err().to_string();
    assert!(said.contains(why), "{said}");
}

#[test]
fn what_a_command_line_can_ask_for_is_accepted() {
    let loads = [
        RATE,
        rate(1e-6),
        rate(8e5),
        Load::Concurrency { concurrency: 100_000 },
        Load::Burst { requests: 100_000 },
        Load::Trace { speed: 1e6 },
        ramp(0.0, 100_000.0, 600 * SEC),
        Load::Rate { rate: 5.0, arrival: Arrival::Gamma { shape: 0.5 } },
    ];
    for load in loads {
        assert_eq!(checked(load, |_| ()), Ok(()), "{load:?}");
        assert_eq!(checked(load, |plan| plan.warmup = Some(Warmup::Duration(SEC))), Ok(()));
        assert_eq!(checked(load, |plan| plan.requests = Some(20)), Ok(()));
    }
    let unending = |plan: &mut LevelPlan| plan.duration_ns = None;
    assert_eq!(
        checked(Load::Trace { speed: 1.0 }, unending),
        Ok(()),
        "its end is that of the trace"
    );
    assert_eq!(checked(Load::Burst { requests: 5 }, unending), Ok(()));
}

#[test]
fn a_level_without_an_end_is_refused() {
    let unending = |plan: &mut LevelPlan| plan.duration_ns = None;
    for load in [RATE, Load::Concurrency { concurrency: 1 }] {
        refused(load, unending, "a level without an end");
    }
}

#[test]
fn loads_that_no_machine_can_hold_are_refused() {
    refused(Load::Concurrency { concurrency: u32::MAX }, |_| (), "concurrency = 4294967295");
    refused(Load::Concurrency { concurrency: 0 }, |_| (), "accepted are 1 to 100000");
    refused(Load::Burst { requests: u64::MAX }, |_| (), "burst = ");
    for value in [0.0, -1.0, 1e7, f64::NAN, f64::INFINITY] {
        refused(rate(value), |_| (), "rate = ");
        refused(Load::Trace { speed: value }, |_| (), "speed = ");
    }
    refused(ramp(0.0, f64::NAN, SEC), |_| (), "to = NaN");
    refused(ramp(0.0, 1.0, u64::MAX), |_| (), "over_ns = ");
    refused(rate(1e6), |_| (), "arrivals = 60000000; accepted are 0 to 50000000");
    refused(ramp(1e6, 1e6, 600 * SEC), |_| (), "arrivals = 600000000");
    refused(RATE, |plan| plan.requests = Some(u64::MAX), "requests = ");
    refused(RATE, |plan| plan.warmup = Some(Warmup::Requests(60_000_000)), "arrivals = ");
    refused(RATE, |plan| plan.duration_ns = Some(u64::MAX), "duration_ns = ");
    refused(RATE, |plan| plan.drain_ns = u64::MAX, "drain_ns = ");
    refused(RATE, |plan| plan.max_concurrency = Some(1 << 30), "max_concurrency = ");
    refused(RATE, |plan| plan.inputs = Some(u32::MAX), "inputs = ");
    let gamma = |shape| Load::Rate { rate: 5.0, arrival: Arrival::Gamma { shape } };
    refused(gamma(0.0), |_| (), "shape = 0; accepted are 0.01 to 1000");
    refused(gamma(f64::NAN), |_| (), "shape = NaN");
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let checked = |change: &dyn Fn(&mut Plan)| {
        let mut plan = Plan::new(Target::at("http://127.0.0.1:9"));
        change(&mut plan);
        check_plan(&plan)
    };
    assert_eq!(checked(&|plan| plan.shard = Shard { index: 3, of: 4 }), Ok(()));
    let said = checked(&|plan| plan.shard = Shard { index: 4, of: 4 }).unwrap_err();
    assert_eq!(said.to_string(), "the plan says shard.index = 4; accepted are 0 to 3");
    assert!(checked(&|plan| plan.shard = Shard { index: 5, of: 0 }).is_err());
    assert!(checked(&|plan| plan.timeouts.total_ns = u64::MAX).is_err());
    assert!(checked(&|plan| plan.course.cooldown_ns = u64::MAX).is_err());
    assert!(checked(&|plan| plan.allow_failures = f64::NAN).is_err());
    assert!(checked(&|plan| plan.levels = vec![LevelPlan::new(RATE); MOST_LEVELS + 1]).is_err());
    assert!(checked(&|plan| plan.levels.push(LevelPlan::new(rate(f64::NAN)))).is_err());
    assert_eq!(checked(&|plan| plan.levels.push(LevelPlan::new(RATE))), Ok(()), "no end yet");
    let ladder = |most| Search::Ladder { most, per_slot: None };
    assert_eq!(checked(&|plan| plan.course.search = Some(ladder(512))), Ok(()));
    let said = checked(&|plan| plan.course.search = Some(ladder(u32::MAX))).unwrap_err();
    assert_eq!(
        said.to_string(),
        "the plan says search.most = 4294967295; accepted are 1 to 100000"
    );
}
