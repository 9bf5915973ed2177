//! A row of texts, English and Chinese, with the values that both show.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, LitStr, Result, Token};

/// `"English", "中文"`, and values: `expression` for each `{}` in order, `name = expression` for `{name}`.
pub(crate) struct Texts {
    both: [LitStr; 2],
    values: Vec<(Option<Ident>, Expr)>,
}

impl Parse for Texts {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let english = input.parse()?;
        input.parse::<Token![,]>().map_err(|_| input.error("the Chinese text is missing"))?;
        let both = [english, input.parse()?];
        let mut values = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let named = input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]);
            let name = if named {
                let name = input.parse()?;
                input.parse::<Token![=]>()?;
                Some(name)
            } else {
                None
            };
            values.push((name, input.parse()?));
        }
        Ok(Self { both, values })
    }
}

/// A text with its places named: `{}` and `{0}` as `{_0}`.
struct Named {
    text: LitStr,
    names: BTreeSet<String>,
    /// Words that follow a number, by the name of their place: `{0|one|many}`.
    forms: Vec<(String, String, [String; 2])>,
}

/// `tuple`: places with numbers are fields of a tuple, not values behind the texts.
fn named(text: &LitStr, tuple: bool) -> Result<Named> {
    let (source, mut out, mut names) = (text.value(), String::new(), BTreeSet::new());
    let mut forms = Vec::new();
    let (mut rest, mut next) = (source.as_str(), 0);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            out.push_str(&rest[..2]);
            rest = &rest[2..];
            continue;
        }
        let end = rest.find('}').filter(|_| rest.starts_with('{'));
        let end = end.ok_or_else(|| Error::new(text.span(), "a place is not closed"))?;
        let place = &rest[1..end];
        let (name, spec) = place.split_at(place.find([':', '|']).unwrap_or(place.len()));
        let name = match name.trim() {
            "" => {
                next += 1;
                format!("__value{}", next - 1)
            }
            number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{}{number}", if tuple { "_" } else { "__value" })
            }
            name => name.to_owned(),
        };
        rest = &rest[end + 1..];
        match spec.strip_prefix('|').map(|words| words.split_once('|')) {
            None => {
                out.push_str(&format!("{{{name}{spec}}}"));
                names.insert(name);
            }
            Some(Some((one, many))) => {
                let form = format!("__form{}", forms.len());
                out.push_str(&format!("{{{form}}}"));
                forms.push((form, name, [one, many].map(str::to_owned)));
            }
            Some(None) => return Err(Error::new(text.span(), "write {place|one|many}")),
        }
    }
    out.push_str(rest);
    if let Some((_, name, _)) = forms.iter().find(|(_, name, _)| !names.contains(name)) {
        let why = format!("words follow {name}, which is not shown");
        return Err(Error::new(text.span(), why));
    }
    Ok(Named { text: LitStr::new(&out, text.span()), names, forms })
}

/// The values of a row, by the names that they have around both texts.
#[derive(Default)]
struct Bound {
    places: Vec<Ident>,
    values: Vec<TokenStream>,
}

impl Bound {
    /// What is written with them. Of a `match`, so that what a value borrows from lives as long, as in `format!`.
    fn around(&self, written: &TokenStream) -> TokenStream {
        let Self { places, values } = self;
        match places.is_empty() {
            true => written.clone(),
            false => quote!(match (#(#values,)*) { (#(#places,)*) => #written }),
        }
    }
}

impl Texts {
    /// Both texts, each as `write!(to, …)` or `format!(…)`, behind the values that they share.
    fn written(
        &self,
        tuple: bool,
        wrap: impl Fn(&LitStr, &[TokenStream]) -> TokenStream,
    ) -> Result<(Bound, [TokenStream; 2])> {
        let [english, chinese] = [named(&self.both[0], tuple)?, named(&self.both[1], tuple)?];
        if english.names != chinese.names {
            let only: Vec<&str> = english
                .names
                .symmetric_difference(&chinese.names)
                .map(|name| name.trim_start_matches("__value").trim_start_matches('_'))
                .collect();
            let why = format!("shown in one language only: {}", only.join(", "));
            return Err(Error::new(self.both[1].span(), why));
        }
        let (mut bound, mut known) = (Bound::default(), BTreeSet::new());
        let mut number = 0;
        for (name, value) in &self.values {
            let name = name.clone().map_or_else(
                || {
                    number += 1;
                    format!("__value{}", number - 1)
                },
                |name| name.to_string(),
            );
            if !english.names.contains(&name) {
                return Err(Error::new_spanned(value, "no text shows this value"));
            }
            let place = format_ident!("__{}", name, span = Span::mixed_site());
            bound.places.push(place);
            bound.values.push(quote!(&(#value)));
            known.insert(name);
        }
        for name in english.names.iter().filter(|name| !known.contains(*name)) {
            if name.starts_with("__value") {
                return Err(Error::new(self.both[0].span(), "a value is missing"));
            }
            let value = Ident::new(name, self.both[0].span());
            let place = format_ident!("__{}", name, span = Span::mixed_site());
            bound.places.push(place);
            bound.values.push(quote!(&#value));
        }
        let both = [(english, quote!(English)), (chinese, quote!(Chinese))].map(|(said, language)| {
            let place = |name: &String| format_ident!("__{}", name, span = Span::mixed_site());
            let key = |name: &String| Ident::new(name, Span::mixed_site());
            let values = said.names.iter().map(|name| {
                let (key, place) = (key(name), place(name));
                quote!(#key = (&::dyno_model::message::Shown(#place)).how().said(#place, ::dyno_model::Language::#language))
            });
            let forms = said.forms.iter().map(|(form, name, [one, many])| {
                let (key, place) = (key(form), place(name));
                quote!(#key = ::dyno_model::message::form(#place, [#one, #many]))
            });
            let values: Vec<TokenStream> = values.chain(forms).collect();
            wrap(&said.text, &values)
        });
        Ok((bound, both))
    }

    /// The expression of a message.
    pub(crate) fn message(&self) -> Result<TokenStream> {
        let (bound, [english, chinese]) =
            self.written(false, |text, values| quote!(::std::format!(#text, #(#values),*)))?;
        let message =
            bound.around(&quote!(::dyno_model::message::Message::new([#english, #chinese])));
        Ok(quote!({
            #[allow(unused_imports)]
            use ::dyno_model::message::{ByDisplay as _, ByLanguage as _};
            #message
        }))
    }

    /// The body of an arm that writes itself to `f` in `language`, its fields bound.
    pub(crate) fn arm(&self) -> Result<TokenStream> {
        let (bound, [english, chinese]) =
            self.written(true, |text, values| quote!(::std::write!(f, #text, #(#values),*)))?;
        let written = bound.around(&quote!(match language {
            ::dyno_model::Language::English => #english,
            ::dyno_model::Language::Chinese => #chinese,
        }));
        Ok(quote!({ #written }))
    }
}
