//! What requests are for, and which flags that rules out.

use super::Aim;
use super::data::Nature;
use crate::args::bench::{DataArgs, LoadArgs, RequestArgs};
use crate::usage::UsageError;
use dyno_model::plan::{Api, Task};
use dyno_model::slo::Slo;
use dyno_run::about;

/// What requests to an API are for.
pub(super) fn of(api: &Api) -> Task {
    about(api).map(|about| about.task).unwrap_or_default()
}

/// Refuses flags that have no meaning for an API.
pub(super) fn check(
    api: &Api,
    (data, nature): (&DataArgs, Nature),
    request: &RequestArgs,
    load: &LoadArgs,
    aim: Aim,
) -> Result<(), UsageError> {
    let task = of(api);
    if task.generates() {
        return match data.inputs {
            Some(_) => Err(UsageError::new(
                "--inputs",
                format!("sets how many texts a request embeds or ranks, and {api} generates text; remove it"),
            )
            .hint("--api openai-embeddings or --api rerank")),
            None => Ok(()),
        };
    }
    if aim == Aim::Predict {
        let why = format!("a twin predicts generated text, and {api} generates none");
        return Err(UsageError::new("--api", why).hint("measure a server with dyno bench"));
    }
    if task == Task::Rank && matches!(nature, Nature::Trace { .. }) {
        let why =
            format!("a trace has no queries and documents, which {api} needs; use other data");
        return Err(UsageError::new("--data", why));
    }
    let given = [
        ("--output-tokens", data.output_tokens.is_some()),
        ("--cache-hit", data.cache_hit.is_some()),
        ("--temperature", request.temperature.is_some()),
        ("--stop", !request.stop.is_empty()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(UsageError::new(flag, format!("{api} generates no text; remove it")));
    }
    match load.until_stable.filter(|figure| !figure.metric.fits(task)) {
        Some(figure) => Err(not_measured("--until-stable", &figure.to_string(), api)),
        None => Ok(()),
    }
}

/// Refuses bounds on metrics that requests to an API do not have.
pub(super) fn check_slo(slo: &Slo, api: &Api) -> Result<(), UsageError> {
    let unfit = slo.terms().iter().find(|term| !term.metric.fits(of(api)));
    unfit.map_or(Ok(()), |term| Err(not_measured("--slo", &term.figure().to_string(), api)))
}

fn not_measured(flag: &str, figure: &str, api: &Api) -> UsageError {
    let hint = match of(api).generates() {
        true => "ttft, tpot, itl, latency, throughput, tokens and errors are",
        false => "latency, headers, throughput, inputs, input_tokens and errors are",
    };
    UsageError::new(flag, format!("{figure} is not measured with {api}")).hint(hint)
}
