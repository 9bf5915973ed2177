//! What Dyno tells people, in every language at once. Errors derive [`Localized`]; a sentence that is said in
//! one place is a [`message!`](macro@message). Diagnostics about results, which are saved by name, are in `diagnostic`.

mod system;

pub use system::json_reason;

use crate::language::Language;
pub use dyno_message::{Localized, message};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Something that can be said in every language. Its `Display` is English.
pub trait Localized: fmt::Display {
    /// Writes it in a language.
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result;

    /// Its text in a language.
    fn text(&self, language: Language) -> String {
        In(self, language).to_string()
    }

    /// It as a message.
    fn message(&self) -> Message {
        Message::each(|language| self.text(language))
    }
}

/// Something in a language.
#[derive(Clone, Copy)]
pub struct In<'a, T: ?Sized>(pub &'a T, pub Language);

impl<T: Localized + ?Sized> fmt::Display for In<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_in(f, self.1)
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for In<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A finished message, with what may help. As large as a pointer: errors hold several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message(Box<Texts>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Texts {
    #[serde(rename = "en")]
    english: String,
    #[serde(rename = "zh")]
    chinese: String,
    /// What may help, on a line of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<Message>,
}

impl Message {
    /// One with both texts; [`message!`](macro@message) makes them alike.
    pub fn new([english, chinese]: [String; 2]) -> Self {
        Self(Box::new(Texts { english, chinese, hint: None }))
    }

    /// What somebody else said: a server, a file, the system. It is the same in every language.
    pub fn quoted(text: impl fmt::Display) -> Self {
        let text = text.to_string();
        Self::new([text.clone(), text])
    }

    /// What an error says.
    pub fn of(said: impl Localized) -> Self {
        said.message()
    }

    /// What a function says in each language.
    pub fn each(said: impl Fn(Language) -> String) -> Self {
        Self::new([Language::English, Language::Chinese].map(said))
    }

    /// The same, with what may help.
    #[must_use]
    pub fn with_hint(mut self, hint: Self) -> Self {
        self.0.hint = Some(hint);
        self
    }

    /// English and Chinese, without the hint.
    pub fn texts(&self) -> [&str; 2] {
        [&self.0.english, &self.0.chinese]
    }

    /// The same with each of its texts changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(&str) -> String + Copy) -> Self {
        let [english, chinese] = self.texts().map(change);
        let hint = self.hint().map(|hint| hint.map(change));
        Self(Box::new(Texts { english, chinese, hint }))
    }

    /// What may help.
    pub fn hint(&self) -> Option<&Self> {
        self.0.hint.as_ref()
    }

    /// The message without its hint, and the hint.
    pub fn split_hint(mut self) -> (Self, Option<Self>) {
        let hint = self.0.hint.take();
        (self, hint)
    }
}

impl Localized for Message {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        f.write_str(language.choose([&self.0.english, &self.0.chinese]))?;
        match self.hint() {
            Some(hint) => {
                let head = language.choose(["\n  hint: ", "\n  提示："]);
                write!(f, "{head}{}", In(hint, language))
            }
            None => Ok(()),
        }
    }

    /// With its hint.
    fn message(&self) -> Self {
        self.clone()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}

impl Error for Message {}

macro_rules! through {
    ($($through:ty),*) => {$(
        impl<T: Localized + ?Sized> Localized for $through {
            fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
                (**self).fmt_in(f, language)
            }

            fn message(&self) -> Message {
                (**self).message()
            }
        }
    )*};
}

through!(Box<T>, Arc<T>, &T);

impl<T: Localized + Clone> Localized for Cow<'_, T> {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        (**self).fmt_in(f, language)
    }
}

/// Texts behind each other, with something between them.
#[derive(Debug, Clone)]
pub struct Joined<T> {
    items: Vec<T>,
    between: [&'static str; 2],
}

/// Texts, with something between them in each language.
pub fn joined<T: Localized>(
    items: impl IntoIterator<Item = T>,
    between: [&'static str; 2],
) -> Joined<T> {
    Joined { items: items.into_iter().collect(), between }
}

/// `a, b, c`.
pub fn list<T: Localized>(items: impl IntoIterator<Item = T>) -> Joined<T> {
    joined(items, [", ", "，"])
}

/// `a; b; c`.
pub fn clauses<T: Localized>(items: impl IntoIterator<Item = T>) -> Joined<T> {
    joined(items, ["; ", "；"])
}

impl<T: Localized> Localized for Joined<T> {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                f.write_str(language.choose(self.between))?;
            }
            item.fmt_in(f, language)?;
        }
        Ok(())
    }
}

impl<T: Localized> fmt::Display for Joined<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}

/// A value in a text. The macros ask it how it is said: in the language if it can be, else as it is displayed; a
/// method of the value is found before one of a reference to it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

#[doc(hidden)]
pub trait ByLanguage {
    fn how(&self) -> InTheLanguage {
        InTheLanguage
    }
}

impl<T: Localized + ?Sized> ByLanguage for Shown<'_, T> {}

#[doc(hidden)]
pub trait ByDisplay {
    fn how(&self) -> AsDisplayed {
        AsDisplayed
    }
}

impl<T: ?Sized> ByDisplay for &Shown<'_, T> {}

#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct InTheLanguage;

impl InTheLanguage {
    #[doc(hidden)]
    pub fn said<T: Localized + ?Sized>(self, value: &T, language: Language) -> In<'_, T> {
        In(value, language)
    }
}

#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct AsDisplayed;

impl AsDisplayed {
    #[doc(hidden)]
    pub fn said<T: ?Sized>(self, value: &T, _: Language) -> &T {
        value
    }
}

/// The word behind a number, by whether it is one.
#[doc(hidden)]
pub fn form(number: &impl fmt::Display, [one, many]: [&'static str; 2]) -> &'static str {
    if number.to_string() == "1" { one } else { many }
}

/// The cause of an error, in a box or not.
#[doc(hidden)]
pub trait AsError {
    fn as_error(&self) -> &(dyn Error + 'static);
}

impl<T: Error + 'static> AsError for T {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, Localized)]
    enum Inner {
        #[message("no room", "没有空间")]
        Full,
        #[message("{0:?} is {:.1} too long", "{0:?} 长了 {:.1}", f64::from(*_1))]
        Long(String, u8),
    }

    #[derive(Debug, Localized)]
    enum Outer {
        #[message("{path}: {cause}", "{path}：{cause}")]
        At {
            path: &'static str,
            #[source]
            cause: Inner,
        },
        #[message(transparent)]
        System(#[from] io::Error),
        #[message(transparent)]
        Told(Box<Message>),
    }

    impl From<Inner> for Message {
        fn from(inner: Inner) -> Self {
            Self::of(&inner)
        }
    }

    #[test]
    fn values_are_said_in_the_language_of_their_message() {
        let error = Outer::At { path: "a.txt", cause: Inner::Full };
        assert_eq!(error.to_string(), "a.txt: no room");
        assert_eq!(error.text(Language::Chinese), "a.txt：没有空间");
        assert_eq!(error.source().unwrap().to_string(), "no room");
        let long = Inner::Long("x\"".to_owned(), 2);
        assert_eq!(long.text(Language::Chinese), r#""x\"" 长了 2.0"#);
        let told = message!("{path}; then {long}", "{path}；然后 {long}", path = error);
        assert_eq!(told.text(Language::Chinese), "a.txt：没有空间；然后 \"x\\\"\" 长了 2.0");
        let told = Outer::Told(Box::new(told.with_hint(message!("wait {}", "请等 {}", 3))));
        assert_eq!(told.text(Language::Chinese).lines().last(), Some("  提示：请等 3"));
        assert_eq!(Outer::from(io::Error::other("x")).text(Language::Chinese), "x");
    }

    #[test]
    fn words_follow_their_number() {
        let said = |n: u32, of: &str| {
            let many =
                message!("{n} of {0} {0|level|levels} {n|is|are} late", "{0} 级中 {n} 级迟到", of);
            many.to_string()
        };
        assert_eq!(said(1, "3"), "1 of 3 levels is late");
        assert_eq!(said(2, "2"), "2 of 2 levels are late");
        assert_eq!(said(1, "1"), "1 of 1 level is late");
    }

    #[test]
    fn lists_are_joined_in_the_language() {
        let items = [message!("one", "一"), message!("two", "二")];
        let joined = message!("both: {}", "都是：{}", list(&items));
        assert_eq!(joined.to_string(), "both: one, two");
        assert_eq!(joined.text(Language::Chinese), "都是：一，二");
        assert_eq!(clauses(&items).text(Language::Chinese), "一；二");
    }
}
