//! Numbers that are given to a test in the environment, such as how many trials the table of a page has.

/// The number in an environment variable, or `usual` where there is none.
pub fn number(name: &str, usual: u64) -> u64 {
    optional(name).unwrap_or(usual)
}

/// The number in an environment variable, if there is one.
pub fn optional(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: give a whole number")))
}
