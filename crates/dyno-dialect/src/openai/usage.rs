//! Reads how servers count the tokens of a response.

use crate::Delta;
use crate::scan::{Scan, Scanner, count_of};

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

/// A count, if it is one. A malformed count does not fail the response.
fn count(scan: &mut Scanner<'_>, into: &mut Option<u64>) -> Scan<()> {
    *into = count_of(scan.value()?).or(*into);
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
