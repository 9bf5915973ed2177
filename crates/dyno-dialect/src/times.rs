//! The servers' own times, as several APIs carry them: llama.cpp's `timings`, vLLM's `metrics`.

use crate::scan::{Scan, Scanner, count_of};
use crate::{Delta, nanos};
use dyno_model::Nanos;
use dyno_model::record::ServerTimes;

/// llama.cpp's `timings`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Timings {
    pub(crate) times: ServerTimes,
    /// Prompt tokens from the cache.
    pub(crate) cached: Option<u64>,
    /// Output tokens so far.
    pub(crate) predicted: Option<u64>,
}

impl Timings {
    /// Reads them. What is malformed is absent, and does not fail the response.
    pub(crate) fn read(scan: &mut Scanner<'_>) -> Scan<Self> {
        let mut read = Self::default();
        of_object(scan, &mut |scan, key| {
            match key {
                b"cache_n" => read.cached = count(scan)?,
                b"predicted_n" => read.predicted = count(scan)?,
                b"prompt_ms" => read.times.prefill = millis(scan)?,
                b"predicted_ms" => read.times.decode = millis(scan)?,
                _ => scan.value().map(drop)?,
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// vLLM's `metrics`. Its time to the first token starts when the request is scheduled.
pub(crate) fn metrics(scan: &mut Scanner<'_>, delta: &mut Delta) -> Scan<()> {
    let mut times = ServerTimes::default();
    of_object(scan, &mut |scan, key| {
        match key {
            b"queue_time_ms" => times.queue = millis(scan)?,
            b"time_to_first_token_ms" => times.prefill = millis(scan)?,
            b"generation_time_ms" => times.decode = millis(scan)?,
            _ => scan.value().map(drop)?,
        }
        Ok(())
    })?;
    note(times, delta);
    Ok(())
}

/// Adds times to what is known.
pub(crate) fn note(times: ServerTimes, delta: &mut Delta) {
    if times != ServerTimes::default() {
        delta.times = Some(times.or(delta.times.unwrap_or_default()));
    }
}

/// The fields of an object; anything else is skipped.
fn of_object<'a>(
    scan: &mut Scanner<'a>,
    field: &mut dyn FnMut(&mut Scanner<'a>, &'a [u8]) -> Scan<()>,
) -> Scan<()> {
    match scan.peek() {
        b'{' => scan.object(field),
        _ => scan.value().map(drop),
    }
}

fn count(scan: &mut Scanner<'_>) -> Scan<Option<u64>> {
    Ok(count_of(scan.value()?))
}

fn millis(scan: &mut Scanner<'_>) -> Scan<Option<Nanos>> {
    Ok(scan.float()?.and_then(|ms| nanos(ms, 1e6)))
}
