//! What Dyno says, in English and Chinese. The catalogue holds the wording of every diagnostic by
//! name; [`template`] fills in values, [`escape`] makes text of others safe to print, and [`columns`]
//! fits numbers and text into a terminal. No rule that decides whether something is said belongs
//! here.

mod catalogue;
pub mod columns;
pub mod escape;
pub mod notes;
pub mod template;

#[doc(hidden)]
pub mod check;

pub use catalogue::{OverTimeTold, ServerTold, Told, noted};
pub use notes::Known;

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
