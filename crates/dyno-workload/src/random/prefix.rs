//! What a specification says about the prefixes of random prompts.

use crate::data::DataSpec;
use dyno_model::{Message, message};

/// `prefix=` and `groups=` of a specification: the tokens that a group shares, and the groups.
pub fn shared_prefix(spec: &DataSpec) -> Result<(u32, u32), Message> {
    let number = |key: &str, least: u32, allowed| {
        let Some(text) = spec.option(key) else { return Ok(least) };
        text.parse()
            .ok()
            .filter(|number| *number >= least)
            .ok_or_else(|| spec.bad_option(key, allowed))
    };
    Ok((
        number("prefix", 0, message!("512: a whole number of tokens", "512：整数个 token"))?,
        number("groups", 1, message!("4: a whole number of at least 1", "4：至少为 1 的整数"))?,
    ))
}
