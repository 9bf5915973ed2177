//! Everything that reports say, in English and Chinese: one table a room, all made by one macro, so
//! that no language lacks anything. How places in a text are filled: [`dyno_model::template`].

mod findings;
mod layouts;
mod notes;
mod over_time;
mod server;
mod text;

pub(crate) use findings::Told;
pub(crate) use layouts::Message;
pub(crate) use notes::noted;
pub(crate) use over_time::OverTimeTold;
pub(crate) use server::ServerTold;
pub(crate) use text::Say;

/// A language of the reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// The language of a locale, by the values of `LC_ALL`, `LC_MESSAGES` and `LANG`: the first of
    /// them that is set decides.
    pub fn of_locale(values: [Option<&str>; 3]) -> Self {
        let decides = values.into_iter().flatten().find(|value| !value.is_empty());
        let chinese = decides.is_some_and(|value| value.to_ascii_lowercase().starts_with("zh"));
        if chinese { Self::Chinese } else { Self::English }
    }

    /// One of two texts.
    pub(crate) fn choose<T>(self, [english, chinese]: [T; 2]) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// What stands between the parts of a list.
    pub(crate) fn comma(self) -> &'static str {
        self.choose([", ", "，"])
    }

    /// What stands between sentences.
    pub(crate) fn semicolon(self) -> &'static str {
        self.choose(["; ", "；"])
    }

    /// What stands between a name and what is said of it.
    pub(crate) fn colon(self) -> &'static str {
        self.choose([": ", "："])
    }
}

/// A table of messages: an enum with a text in each language for each of its names.
macro_rules! messages {
    ($(#[$about:meta])* $visible:vis enum $table:ident;
     $($name:ident: $english:literal, $chinese:literal;)*) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visible enum $table { $($name,)* }

        impl $table {
            /// In both languages.
            fn both(self) -> [&'static str; 2] {
                match self { $(Self::$name => [$english, $chinese],)* }
            }

            /// In one language, its places still open.
            $visible fn text(self, language: $crate::messages::Language) -> &'static str {
                language.choose(self.both())
            }

            /// With its places filled in.
            #[allow(dead_code)]
            $visible fn with(
                self,
                language: $crate::messages::Language,
                values: &[impl AsRef<str>],
            ) -> String {
                dyno_model::template::fill(self.text(language), values)
            }
        }

        #[cfg(test)]
        impl $table {
            #[allow(dead_code)]
            $visible const ALL: &'static [Self] = &[$(Self::$name,)*];
        }

        #[cfg(test)]
        #[test]
        fn no_language_lacks_a_message() {
            for message in $table::ALL {
                $crate::messages::check::both(&format!("{message:?}"), message.both());
            }
        }
    };
}
pub(crate) use messages;

#[cfg(test)]
pub(crate) mod check;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_in_order() {
        let filled = Message::LevelInvalid.with(Language::English, &["c={}", "too late"]);
        assert_eq!(filled, "c={} is invalid: too late");
        assert_eq!(Message::Ttft.with(Language::Chinese, &["p50"]), "首 token 延迟 p50 (ms)");
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = Language::of_locale;
        assert_eq!(of([None, None, Some("zh_CN.UTF-8")]), Language::Chinese);
        assert_eq!(of([Some("C"), None, Some("zh_CN.UTF-8")]), Language::English);
        assert_eq!(of([Some(""), Some("zh_TW"), Some("en_US.UTF-8")]), Language::Chinese);
        assert_eq!(of([None, None, None]), Language::English);
    }
}
