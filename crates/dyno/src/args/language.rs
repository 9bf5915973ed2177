//! The language of reports and messages.

use super::values;
use crate::config::typed;
use crate::resolve::ProcessEnv;
use clap::Args;
use dyno_model::Language;
use std::ffi::OsString;

/// Which language.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LanguageArgs {
    /// Language of reports and messages; JSON and CSV are always English [default: from LC_ALL,
    /// LC_MESSAGES, LANG]
    #[arg(long, value_name = "LANGUAGE", value_parser = values::one_of(LANGUAGES))]
    pub(crate) lang: Option<Language>,
}

impl LanguageArgs {
    /// The requested language, else that of the locale.
    pub(crate) fn or(self, locale: Language) -> Language {
        self.lang.unwrap_or(locale)
    }
}

/// The languages by name.
const LANGUAGES: &[(&str, Language)] = &[("en", Language::English), ("zh", Language::Chinese)];

/// The language of messages, known before the arguments are read: `--lang` where it is given, else
/// that of the environment.
pub(crate) fn spoken(argv: &[OsString]) -> Language {
    asked(argv).unwrap_or_else(|| ProcessEnv::of_process().language)
}

fn asked(argv: &[OsString]) -> Option<Language> {
    let value = typed(argv, "--lang")?;
    Some(LANGUAGES.iter().find(|(name, _)| value == *name)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_decides_before_anything_is_parsed() {
        let of = |args: &[&str]| asked(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["dyno", "bench", "--lang", "zh", "--rate", "x"]), Some(Language::Chinese));
        assert_eq!(of(&["dyno", "bench", "--lang=en"]), Some(Language::English));
        assert_eq!(of(&["dyno", "bench", "--lang"]), None);
        assert_eq!(of(&["dyno", "bench", "--lang", "xx"]), None);
    }
}
