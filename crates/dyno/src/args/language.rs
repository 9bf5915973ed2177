//! The language of reports.

use clap::{Args, ValueEnum};
use dyno_model::Language;

/// Which language.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LanguageArgs {
    /// Language of reports; JSON and CSV are always English [default: from LC_ALL, LC_MESSAGES, LANG]
    #[arg(long, value_name = "LANGUAGE", value_enum)]
    pub(crate) lang: Option<Lang>,
}

impl LanguageArgs {
    /// The requested language, else that of the locale.
    pub(crate) fn or(self, locale: Language) -> Language {
        self.lang.map_or(locale, Language::from)
    }
}

/// The languages by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    En,
    Zh,
}

impl From<Lang> for Language {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::English,
            Lang::Zh => Self::Chinese,
        }
    }
}
