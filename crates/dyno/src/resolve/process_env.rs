//! The environment variables that matter and the command line, read once so that everything else depends on
//! its inputs only.

use crate::args::shown::without_secrets;
use crate::args::values::Secret;
use dyno_model::Language;
use std::ffi::OsString;

/// The environment variables that matter, and the command line.
#[derive(Debug, Default)]
pub(crate) struct ProcessEnv {
    /// `DYNO_API_KEY`, unless empty; `Err` if it is not text.
    pub(crate) api_key: Option<Result<Secret, ()>>,
    /// Names of the proxy variables that are set.
    pub(crate) proxies: Vec<String>,
    /// The language of `DYNO_LANG`, else of the locale.
    pub(crate) language: Language,
    /// The command line of this process, without secrets.
    pub(crate) command: Vec<String>,
}

impl ProcessEnv {
    /// Reads the variables of this process.
    pub(crate) fn of_process() -> Self {
        let given = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        Self { command: without_secrets(given), ..Self::from_vars(std::env::vars_os()) }
    }

    fn from_vars(vars: impl Iterator<Item = (OsString, OsString)>) -> Self {
        const PROXIES: &[&str] = &["http_proxy", "https_proxy", "all_proxy"];
        const LOCALE: [&str; 4] = ["DYNO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
        let mut found = Self::default();
        let mut locale: [Option<OsString>; 4] = Default::default();
        for (name, value) in vars.filter(|(_, value)| !value.is_empty()) {
            let Some(name) = name.to_str() else { continue };
            if name == "DYNO_API_KEY" {
                found.api_key = Some(value.into_string().map(Secret).map_err(|_| ()));
            } else if PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy)) {
                found.proxies.push(name.to_owned());
            } else if let Some(at) = LOCALE.iter().position(|known| *known == name) {
                locale[at] = Some(value);
            }
        }
        found.proxies.sort();
        let locale = locale.each_ref().map(|value| value.as_ref().and_then(|value| value.to_str()));
        found.language = Language::of_locale(locale);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_found_in_any_case_and_empty_ones_are_not() {
        let vars =
            [("HTTPS_PROXY", "x"), ("all_proxy", "y"), ("http_proxy", ""), ("no_proxy", "z")];
        let found = ProcessEnv::from_vars(vars.map(|(k, v)| (k.into(), v.into())).into_iter());
        assert_eq!(found.proxies, ["HTTPS_PROXY", "all_proxy"]);
        assert!(found.api_key.is_none());
        assert_eq!(found.language, Language::English);
    }

    #[test]
    fn the_locale_has_a_language() {
        let of = |vars: &[(&str, &str)]| {
            let vars = vars.iter().map(|(name, value)| (name.into(), value.into()));
            ProcessEnv::from_vars(vars).language
        };
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "")]), Language::Chinese);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")]), Language::English);
        assert_eq!(of(&[("DYNO_LANG", "zh"), ("LC_ALL", "C")]), Language::Chinese);
    }
}
