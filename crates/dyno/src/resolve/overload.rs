//! How often a refused request is sent again.

use crate::args::overload::{OnShed, OverloadArgs};
use crate::usage::UsageError;
use dyno_model::message;

const RETRIES: u32 = 8;

/// How often; nothing where refusals are recorded as they are.
pub(super) fn retries(args: &OverloadArgs) -> Result<Option<u32>, UsageError> {
    match (args.on_shed, args.max_retries) {
        (OnShed::Record, None) => Ok(None),
        (OnShed::Record, Some(_)) => Err(UsageError::new(
            "--max-retries",
            message!(
                "refused requests are not sent again unless --on-shed retry is given",
                "只有指定 --on-shed retry 时才会重新发送被拒绝的请求"
            ),
        )),
        (OnShed::Retry, most) => Ok(Some(most.unwrap_or(RETRIES))),
    }
}
