//! Reads what servers report of a response: token counts, and their own times.

use crate::dialect::Delta;
use crate::dialect::scan::{Scan, Scanner};
use dyno_model::Nanos;
use dyno_model::record::ServerTimes;

/// The `usage` of a response, or of a choice.
pub(super) fn usage(scan: &mut Scanner<'_>, delta: &mut Delta) -> Scan<()> {
    if scan.null()? {
        return Ok(());
    }
    scan.object(&mut |scan, key| {
        match key {
            b"prompt_tokens" => delta.input_tokens = scan.count()?,
            b"completion_tokens" => delta.output_tokens = scan.count()?,
            b"prompt_tokens_details" => {
                count_in(scan, b"cached_tokens", &mut delta.cached_tokens)?;
            }
            // DeepSeek and its like.
            b"prompt_cache_hit_tokens" => count(scan, &mut delta.cached_tokens)?,
            b"completion_tokens_details" => {
                count_in(scan, b"reasoning_tokens", &mut delta.reasoning_tokens)?;
            }
            // SGLang.
            b"reasoning_tokens" => count(scan, &mut delta.reasoning_tokens)?,
            _ => scan.value().map(drop)?,
        }
        Ok(())
    })
}

/// llama.cpp's `timings`.
pub(super) fn timings(scan: &mut Scanner<'_>, delta: &mut Delta) -> Scan<()> {
    if scan.peek() != b'{' {
        return scan.value().map(drop);
    }
    let mut times = ServerTimes::default();
    scan.object(&mut |scan, key| {
        match key {
            b"cache_n" => count(scan, &mut delta.cached_tokens)?,
            b"predicted_n" => count(scan, &mut delta.listed_tokens)?,
            b"prompt_ms" => times.prefill = millis(scan)?,
            b"predicted_ms" => times.decode = millis(scan)?,
            _ => scan.value().map(drop)?,
        }
        Ok(())
    })?;
    note(times, delta);
    Ok(())
}

/// vLLM's `metrics`. Its time to the first token starts when the request is scheduled.
pub(in crate::dialect) fn metrics(scan: &mut Scanner<'_>, delta: &mut Delta) -> Scan<()> {
    if scan.peek() != b'{' {
        return scan.value().map(drop);
    }
    let mut times = ServerTimes::default();
    scan.object(&mut |scan, key| {
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

fn note(times: ServerTimes, delta: &mut Delta) {
    if times != ServerTimes::default() {
        delta.times = Some(times.or(delta.times.unwrap_or_default()));
    }
}

/// A count, if it is one. A malformed count does not fail the response.
fn count(scan: &mut Scanner<'_>, into: &mut Option<u64>) -> Scan<()> {
    let text = std::str::from_utf8(scan.value()?).unwrap_or_default();
    *into = text.parse().ok().or(*into);
    Ok(())
}

/// The same, for the field with this name of an object.
fn count_in(scan: &mut Scanner<'_>, name: &[u8], into: &mut Option<u64>) -> Scan<()> {
    if scan.peek() != b'{' {
        return scan.value().map(drop);
    }
    scan.object(&mut |scan, key| match key == name {
        true => count(scan, into),
        false => scan.value().map(drop),
    })
}

/// A duration in milliseconds, if it is one.
fn millis(scan: &mut Scanner<'_>) -> Scan<Option<Nanos>> {
    let text = std::str::from_utf8(scan.value()?).unwrap_or_default();
    let ms = text.parse::<f64>().ok().filter(|ms| (0.0..1e12).contains(ms));
    Ok(ms.map(|ms| (ms * 1e6).round() as Nanos))
}
