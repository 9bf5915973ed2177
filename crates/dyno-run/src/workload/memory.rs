//! Whether the prompts in flight fit into memory. Each is kept until the server has taken it, so that long
//! ones times many are more than a machine has.

use dyno_model::plan::{LevelPlan, Load, Plan};
use dyno_model::{Message, message};
use dyno_words::number::bytes;
use dyno_workload::random::lengths::Lengths;

/// Bytes of a token in a request, about; twice, for the copy that is sent again if the server closes an idle
/// connection.
const TOKEN: f64 = 12.0;

/// Refuses a level whose prompts in flight need more than half of the memory that is available; the message
/// for the user.
pub(super) fn check(plan: &Plan, level: &LevelPlan) -> Result<(), Message> {
    match dyno_net::available_memory() {
        Some(available) if !plan.target.predicted => within(plan, level, available / 2),
        _ => Ok(()),
    }
}

fn within(plan: &Plan, level: &LevelPlan, most: u64) -> Result<(), Message> {
    let in_flight = match level.load {
        Load::Concurrency { concurrency } => Some(u64::from(concurrency)),
        Load::Burst { requests } => Some(requests),
        Load::Rate { .. } | Load::Ramp { .. } | Load::Trace { .. } => None,
    };
    let in_flight = in_flight.or(level.max_concurrency.map(u64::from)).unwrap_or(1);
    let own = in_flight.div_ceil(u64::from(plan.shard.of.max(1))).max(1);
    // The lengths of a file are not known here.
    let Ok(lengths) = level.input_tokens.0.parse::<Lengths>() else { return Ok(()) };
    let tokens = lengths.mean() * f64::from(level.inputs.unwrap_or(1));
    let needed = tokens * TOKEN * own as f64;
    if needed <= most as f64 {
        return Ok(());
    }
    Err(message!(
        "{own} prompts of {tokens:.0} tokens in flight need about {} of memory, and {} can be used; \
         lower the number in flight or --input-tokens, or use more machines",
        "{own} 个进行中的请求，每个提示词 {tokens:.0} 个 token，约需 {} 内存，可用 {}；请减少进行中的请求数\
         或 --input-tokens，或使用更多机器",
        bytes(needed),
        bytes(most as f64),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{LengthSpec, Target};

    /// M6: within the limits of each number, such a plan took the memory of an agent.
    #[test]
    fn prompts_that_do_not_fit_into_memory_are_refused() {
        let mut plan = Plan::new(Target::at("http://localhost:1"));
        let input_tokens = LengthSpec::fixed(10_000_000);
        let mut level = LevelPlan { input_tokens, ..LevelPlan::closed_loop(1000, 10) };
        let refused = within(&plan, &level, 16 << 30).unwrap_err().to_string();
        assert!(refused.contains("1000 prompts of 10000000 tokens"), "{refused}");
        level.input_tokens = LengthSpec("normal(128000,1000)".to_owned());
        assert_eq!(within(&plan, &level, 4 << 30), Ok(()));
        assert!(within(&plan, &level, 1 << 30).is_err());
        plan.shard.of = 4;
        assert_eq!(within(&plan, &level, 1 << 30), Ok(()));
        level.input_tokens = LengthSpec("data".to_owned());
        assert_eq!(within(&plan, &level, 1), Ok(()));
    }
}
