//! The languages of reports and messages.

/// A language of reports and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// The language of a locale, by the values of `LC_ALL`, `LC_MESSAGES` and `LANG`, after what goes
    /// before them: the first that is set decides.
    pub fn of_locale<const N: usize>(values: [Option<&str>; N]) -> Self {
        let decides = values.into_iter().flatten().find(|value| !value.is_empty());
        let chinese = decides.is_some_and(|value| value.to_ascii_lowercase().starts_with("zh"));
        if chinese { Self::Chinese } else { Self::English }
    }

    /// One of two texts.
    pub fn choose<T>(self, [english, chinese]: [T; 2]) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// A remark behind a title.
    pub fn brackets(self, text: &str) -> String {
        let [open, close] = self.choose([[" (", ")"], ["（", "）"]]);
        format!("{open}{text}{close}")
    }

    /// Separates the items of a list.
    pub fn comma(self) -> &'static str {
        self.choose([", ", "，"])
    }

    /// Separates clauses.
    pub fn semicolon(self) -> &'static str {
        self.choose(["; ", "；"])
    }

    /// Separates a name from its description.
    pub fn colon(self) -> &'static str {
        self.choose([": ", "："])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let of = Language::of_locale;
        assert_eq!(of([None, None, Some("zh_CN.UTF-8")]), Language::Chinese);
        assert_eq!(of([Some("C"), None, Some("zh_CN.UTF-8")]), Language::English);
        assert_eq!(of([Some(""), Some("zh_TW"), Some("en_US.UTF-8")]), Language::Chinese);
        assert_eq!(of([None, None, None]), Language::English);
    }
}
