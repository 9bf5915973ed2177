//! The two macros behind `dyno_model::message`: `#[derive(Localized)]` gives an error type its texts, one row of
//! English and Chinese for each variant; `message!` makes a message where it is said once. A text without the other
//! language, or a value that only one of them shows, does not compile. What messages are is in `dyno-model`.

mod derive;
mod texts;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// `Localized`, `Display` (English) and `Error` for an enum or a struct. Each variant has
/// `#[message("English {field}", "中文 {field}")]`, or `#[message(transparent)]` where it says what its one field
/// says. Further values follow the texts: `#[message("{}", "{}", shown(field))]`, `#[message("{n}", "{n}", n = a + b)]`.
/// A field with `#[source]` is the cause; with `#[from]` it is also converted into this error.
#[proc_macro_derive(Localized, attributes(message, source, from))]
pub fn localized(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as syn::DeriveInput);
    derive::localized(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// A `Message`: `message!("no file {path}", "没有文件 {path}")`, with further values as in `format!`.
#[proc_macro]
pub fn message(input: TokenStream) -> TokenStream {
    let texts = parse_macro_input!(input as texts::Texts);
    texts.message().unwrap_or_else(|error| error.to_compile_error()).into()
}
