//! The server's own times in a level, where its responses carry them.

use super::server::joined;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::summary::{Distribution, LevelSummary};
use dyno_words::columns::{ABSENT, millis};

/// One paragraph; nothing where no response carries times.
pub(super) fn server_times(level: &LevelSummary, language: Language) -> Option<String> {
    let times = level.server_times.as_ref()?;
    let part =
        |say: Say, time: &Option<Distribution>| Some(say.with(language, &[spread(time.as_ref()?)]));
    let outside = match times.queue {
        Some(_) => Say::OutsideServer,
        None => Say::OutsideAndQueue,
    };
    let parts = joined(
        [
            part(Say::ServerQueue, &times.queue),
            part(Say::ServerLoad, &times.load),
            part(Say::ServerPrefill, &times.prefill),
            part(outside, &times.outside),
            part(Say::ServerDecode, &times.decode),
            part(Say::ServerTotal, &times.total),
        ],
        language,
    )?;
    let completed = level.requests.completed.unwrap_or(times.reported);
    let of = [times.reported.to_string(), completed.to_string(), parts];
    Some(Say::ServerTimesOf.with(language, &of))
}

/// Mean, p50 and p99.
pub(crate) fn spread(time: &Distribution) -> String {
    let shown = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), millis);
    [time.mean, time.p50, time.p99].map(shown).join(" / ")
}
