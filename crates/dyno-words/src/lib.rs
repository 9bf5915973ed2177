//! Dyno's messages, in English and Chinese. The [catalogue](Wording) holds the wording of every diagnostic
//! by name; [`template`] fills in values, [`number`] formats numbers, [`escape`] makes untrusted text safe
//! to print, [`columns`] fits text into a terminal, and [`names`] shortens the names of runs. Rules that decide whether a message appears do not
//! belong here.

mod catalogue;
pub mod columns;
pub mod escape;
mod levels;
pub mod names;
pub mod number;
pub mod template;
mod wording;

#[doc(hidden)]
pub mod check;

pub use catalogue::{
    CacheFinding, Defect, Finding, FleetFinding, LoadNote, Measuring, Note, OutputFinding,
    OverTime, Overloaded, Problem, ServerFinding, ServerTimesFinding, TreeFinding, Undecided,
};
#[doc(hidden)]
pub use dyno_model::DiagnosticValue;
/// For `values!`.
#[doc(hidden)]
pub mod how {
    pub use dyno_model::diagnostic::IsValue;
    pub use dyno_model::message::{ByDisplay, ByLanguage, Shown};
}
pub use levels::{TOO_SHORT, level_name, level_value};
pub use wording::{InLanguage, Wording, named, named_as, on_line, said, severity};

/// A table of the catalogue: an enum with one variant per wording.
macro_rules! wordings {
    ($(#[$about:meta])* pub enum $table:ident;
     $($name:ident: $severity:ident $code:literal, $what:expr $(, $advice:expr)?;)*) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $table { $($name,)* }

        impl $table {
            /// The rows, in the order of the names.
            pub const ROWS: &'static [$crate::Wording] = &[$($crate::Wording {
                key: concat!(stringify!($table), "::", stringify!($name)),
                code: $code,
                severity: ::dyno_model::Severity::$severity,
                what: $what,
                advice: wordings!(@advice $($advice)?),
            },)*];

            /// The diagnostic, with its places filled in.
            pub fn with<V: Into<::dyno_model::DiagnosticValue>>(
                self,
                values: impl IntoIterator<Item = V>,
            ) -> ::dyno_model::Diagnostic {
                let values = values.into_iter().map(Into::into).collect();
                Self::ROWS[self as usize].with(values)
            }
        }

        impl From<$table> for ::dyno_model::Diagnostic {
            fn from(said: $table) -> Self {
                said.with(::std::iter::empty::<::dyno_model::DiagnosticValue>())
            }
        }
    };
    (@advice) => { None };
    (@advice $advice:expr) => { Some($advice) };
}
use wordings;

/// A table of messages: an enum with a text in each language for each of its names.
#[macro_export]
macro_rules! messages {
    ($(#[$about:meta])* $visible:vis enum $table:ident;
     $($name:ident: $english:literal, $chinese:literal;)*) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        $visible enum $table { $($name,)* }

        impl $table {
            /// In both languages.
            fn both(self) -> [&'static str; 2] {
                match self { $(Self::$name => [$english, $chinese],)* }
            }

            /// In one language, its places still open.
            $visible fn text(self, language: ::dyno_model::Language) -> &'static str {
                language.choose(self.both())
            }

            /// With its places filled in.
            #[allow(dead_code)]
            $visible fn with(
                self,
                language: ::dyno_model::Language,
                values: &[impl AsRef<str>],
            ) -> String {
                $crate::template::fill(self.text(language), values)
            }
        }

        impl $table {
            /// In every language, with its places filled in.
            #[allow(dead_code)]
            $visible fn said(self, values: &[impl AsRef<str>]) -> ::dyno_model::Message {
                let fill = |text| $crate::template::fill(text, values);
                ::dyno_model::Message::new(self.both().map(fill))
            }
        }

        impl From<$table> for ::dyno_model::Message {
            fn from(said: $table) -> Self {
                said.said(&[""; 0])
            }
        }

        #[cfg(test)]
        impl $table {
            #[allow(dead_code, missing_docs)]
            $visible const ALL: &'static [Self] = &[$(Self::$name,)*];
        }

        #[cfg(test)]
        #[test]
        fn no_language_lacks_a_message() {
            for message in $table::ALL {
                $crate::check::both(&format!("{message:?}"), message.both());
            }
        }
    };
}
