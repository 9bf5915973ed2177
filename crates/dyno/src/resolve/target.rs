//! What is measured: the API of a server, or the twin in its place.

use super::notes::Notes;
use super::{Aim, ProcessEnv};
use crate::args::target::TargetUrl;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_model::message;
use dyno_model::plan::Api;
use dyno_run::{Embedded, api_of_path, apis, may_have_path, misspelt_path};

/// The twin that is measured or predicted where there is no server.
pub(super) fn embedded(
    twin: Option<String>,
    target: Option<&TargetUrl>,
    aim: Aim,
    surroundings: &ProcessEnv,
    notes: &mut Notes,
) -> Result<Option<String>, UsageError> {
    if target.is_some() {
        if !surroundings.proxies.is_empty() {
            notes.push(message!(
                "{} ignored: a proxy would be measured along with the server",
                "已忽略 {}：否则代理会与服务器一起被测量",
                surroundings.proxies.join(", ")
            ));
        }
        return Ok(None);
    }
    let name = twin.unwrap_or_else(|| Twin::default_name().to_owned());
    Embedded::named(&name).map_err(|error| UsageError::new("--twin", error))?;
    notes.push(match aim {
        Aim::Measure => message!(
            "no target given: measuring the embedded engine ({name})",
            "未指定目标：将测试内置引擎（{name}）"
        ),
        Aim::Predict => message!("predicting with the twin {name}", "使用孪生模型 {name} 进行预测"),
    });
    Ok(Some(name))
}

/// A full endpoint path determines the dialect; a flag that contradicts it is an error.
pub(super) fn dialect(typed: Option<&str>, target: Option<&TargetUrl>) -> Result<Api, UsageError> {
    let named = |name: &str| apis().find(|about| about.name == name);
    let auto = typed == Some(Api::AUTO.name());
    let typed = typed.and_then(named).map(|about| Api::named(about.name));
    let path = target.map(|url| url.path().trim_end_matches('/')).unwrap_or_default();
    let by_path = api_of_path(path);
    if let (None, Some(meant)) = (&typed, misspelt_path(path)) {
        let wrong = UsageError::new(
            "TARGET",
            message!("`{path}` is the path of no API", "`{path}` 不是任何接口的路径"),
        );
        return Err(wrong.hint(message!("did you mean {meant}?", "是否想写 {meant}？")));
    }
    match (typed, by_path) {
        (Some(typed), Some(by_path)) if !may_have_path(&typed, &by_path) => Err(UsageError::new(
            "--api",
            message!(
                "`{typed}` contradicts TARGET, whose path `{path}` is {by_path}",
                "`{typed}` 与 TARGET 矛盾，其路径 `{path}` 是 {by_path}"
            ),
        )
        .hint(message!(
            "remove --api, or shorten TARGET to its base URL",
            "请去掉 --api，或将 TARGET 缩短为基础 URL"
        ))),
        (None, None) if auto => Ok(Api::AUTO),
        (typed, by_path) => Ok(typed.or(by_path).unwrap_or_default()),
    }
}
