//! What is sent: which lengths make levels, and which prompts are taken.

use crate::args::bench::{ChoiceArgs, DataArgs, OrderArg};
use crate::usage::UsageError;
use dyno_core::plan::{DataPlan, LengthSpec};
use dyno_workload::data::{DataSpec, Kind, SpecError};
use dyno_workload::lengths::Lengths;

const DEFAULT_INPUT: u32 = 256;

/// The pairs of input and output lengths that each load is run with, in order.
pub(super) fn lengths(args: &DataArgs) -> Result<Vec<(LengthSpec, LengthSpec)>, UsageError> {
    let spec = |lengths: &Lengths| LengthSpec(lengths.to_string());
    let inputs = match &args.input_tokens {
        Some(list) => list.0.iter().map(spec).collect(),
        // The prompts of a file have the lengths they have.
        None if from_file(args)? => vec![LengthSpec("data".to_owned())],
        None => vec![LengthSpec::fixed(DEFAULT_INPUT)],
    };
    let mut pairs = Vec::new();
    for input in &inputs {
        pairs.extend(args.output_tokens.0.iter().map(|output| (input.clone(), spec(output))));
    }
    Ok(pairs)
}

fn from_file(args: &DataArgs) -> Result<bool, UsageError> {
    let Some(text) = &args.data else { return Ok(false) };
    let spec: DataSpec =
        text.parse().map_err(|error: SpecError| UsageError::new("--data", error.to_string()))?;
    Ok(spec.kind != Some(Kind::Random))
}

/// Where prompts come from.
pub(super) fn plan(args: DataArgs) -> Result<DataPlan, UsageError> {
    let from_file = from_file(&args)?;
    let only_for_files = [
        ("--order", args.choice.order == OrderArg::Shuffle),
        ("--limit", args.choice.limit.is_some()),
        ("--min-input-tokens", args.choice.min_input_tokens.is_some()),
        ("--max-input-tokens", args.choice.max_input_tokens.is_some()),
    ];
    if let Some((flag, _)) = only_for_files.iter().find(|(_, given)| *given && !from_file) {
        return Err(UsageError::new(
            *flag,
            "it chooses among the prompts of a file; give --data FILE with it, or leave it out",
        ));
    }
    if from_file && args.input_tokens.is_some() {
        return Err(UsageError::new(
            "--input-tokens",
            "it is the length of random prompts; leave it out with --data FILE",
        )
        .hint("--min-input-tokens and --max-input-tokens choose among the prompts of a file"));
    }
    if args.choice.truncate && args.choice.max_input_tokens.is_none() {
        return Err(UsageError::new(
            "--truncate",
            "it cuts prompts to --max-input-tokens; give that with it",
        ));
    }
    if let (Some(least), Some(most)) = (args.choice.min_input_tokens, args.choice.max_input_tokens)
        && least > most
    {
        return Err(UsageError::new(
            "--min-input-tokens",
            format!("{least} is more than --max-input-tokens {most}; no prompt can be both"),
        ));
    }
    Ok(DataPlan { spec: args.data, unique_prefix: args.unique_prefix, ..choice_plan(&args.choice) })
}

/// Which prompts of a file are taken, as a plan.
pub(crate) fn choice_plan(choice: &ChoiceArgs) -> DataPlan {
    DataPlan {
        shuffle: choice.order == OrderArg::Shuffle,
        limit: choice.limit,
        min_input_tokens: choice.min_input_tokens,
        max_input_tokens: choice.max_input_tokens,
        truncate: choice.truncate,
        tokenizer: choice.tokenizer.as_ref().map(|path| path.display().to_string()),
        ..DataPlan::default()
    }
}
