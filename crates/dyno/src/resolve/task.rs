//! What requests are for, and which flags that rules out.

use super::Aim;
use super::data::Nature;
use crate::args::bench::{DataArgs, LoadArgs, RequestArgs};
use crate::usage::UsageError;
use dyno_model::message;
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
                message!(
                    "sets how many texts a request embeds or ranks, and {api} generates text; \
                     remove it",
                    "用于设置每个请求向量化或排序的文本数，而 {api} 用于生成文本；请去掉此参数"
                ),
            )
            .hint(message!(
                "--api openai-embeddings or --api rerank",
                "--api openai-embeddings 或 --api rerank"
            ))),
            None => Ok(()),
        };
    }
    if aim == Aim::Predict {
        let why = message!(
            "a twin predicts generated text, and {api} generates none",
            "孪生模型只预测文本生成，而 {api} 不生成文本"
        );
        return Err(UsageError::new("--api", why)
            .hint(message!("measure a server with dyno bench", "请用 dyno bench 测试服务器")));
    }
    if task == Task::Rank && matches!(nature, Nature::Trace { .. }) {
        let why = message!(
            "a trace has no queries and documents, which {api} needs; use other data",
            "流量记录中没有 {api} 所需的查询和文档；请使用其他数据"
        );
        return Err(UsageError::new("--data", why));
    }
    let given = [
        ("--output-tokens", data.output_tokens.is_some()),
        ("--cache-hit", data.cache_hit.is_some()),
        ("--temperature", request.temperature.is_some()),
        ("--stop", !request.stop.is_empty()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(UsageError::new(
            flag,
            message!("{api} generates no text; remove it", "{api} 不生成文本；请去掉此参数"),
        ));
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
        true => message!(
            "ttft, tpot, itl, latency, throughput, tokens and errors are",
            "可用的有 ttft、tpot、itl、latency、throughput、tokens 和 errors"
        ),
        false => message!(
            "latency, headers, throughput, inputs, input_tokens and errors are",
            "可用的有 latency、headers、throughput、inputs、input_tokens 和 errors"
        ),
    };
    UsageError::new(
        flag,
        message!("{figure} is not measured with {api}", "使用 {api} 时没有指标 {figure}"),
    )
    .hint(hint)
}
