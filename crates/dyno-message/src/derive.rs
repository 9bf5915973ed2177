//! The code of `#[derive(Localized)]`.

use crate::texts::Texts;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Index, Member, Result, Type};

/// One variant, or the whole struct.
struct Shape<'a> {
    path: TokenStream,
    fields: &'a Fields,
    attributes: &'a [Attribute],
    name: &'a Ident,
}

pub(crate) fn localized(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let shapes: Vec<Shape<'_>> = match &input.data {
        Data::Enum(data) => data
            .variants
            .iter()
            .map(|variant| {
                let name = &variant.ident;
                let attributes = variant.attrs.as_slice();
                Shape { path: quote!(Self::#name), fields: &variant.fields, attributes, name }
            })
            .collect(),
        Data::Struct(data) => {
            vec![Shape { path: quote!(Self), fields: &data.fields, attributes: &input.attrs, name }]
        }
        Data::Union(_) => return Err(Error::new_spanned(name, "a union has no message")),
    };
    let (mut said, mut sources, mut from) = (Vec::new(), Vec::new(), TokenStream::new());
    for shape in &shapes {
        said.push(shape.said()?);
        sources.extend(shape.source());
        from.extend(shape.from(input));
    }
    let (generics, types, bounds) = input.generics.split_for_impl();
    let cause = if sources.is_empty() {
        TokenStream::new()
    } else {
        quote! {
            fn source(&self) -> ::std::option::Option<&(dyn ::std::error::Error + 'static)> {
                #[allow(unreachable_patterns)]
                match self { #(#sources)* _ => ::std::option::Option::None }
            }
        }
    };
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl #generics ::dyno_model::message::Localized for #name #types #bounds {
            fn fmt_in(
                &self,
                f: &mut ::std::fmt::Formatter<'_>,
                language: ::dyno_model::Language,
            ) -> ::std::fmt::Result {
                #[allow(unused_imports)]
                use ::dyno_model::message::{ByDisplay as _, ByLanguage as _};
                match self { #(#said)* }
            }
        }
        #[automatically_derived]
        impl #generics ::std::fmt::Display for #name #types #bounds {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::dyno_model::message::Localized::fmt_in(self, f, ::dyno_model::Language::English)
            }
        }
        #[automatically_derived]
        impl #generics ::std::error::Error for #name #types #bounds { #cause }
        #from
    })
}

impl Shape<'_> {
    /// Its arm of the match that writes it.
    fn said(&self) -> Result<TokenStream> {
        let row = self.attributes.iter().find(|attribute| attribute.path().is_ident("message"));
        let row = row.ok_or_else(|| {
            Error::new_spanned(self.name, "#[message(\"English\", \"中文\")] is missing")
        })?;
        let (path, pattern) = (&self.path, self.pattern());
        let transparent = row.parse_args::<Ident>().is_ok_and(|word| word == "transparent");
        if transparent {
            let [field] = &self.bound()[..] else {
                return Err(Error::new_spanned(self.name, "transparent takes one field"));
            };

            return Ok(quote!(#path #pattern => ::std::fmt::Display::fmt(
                &(&::dyno_model::message::Shown(#field)).how().said(#field, language), f),));
        }
        let body = row.parse_args::<Texts>()?.arm()?;
        Ok(quote!(#path #pattern => #body))
    }

    /// Names for its fields; those of a tuple have none of their own.
    fn bound(&self) -> Vec<Ident> {
        let field = |(at, field): (usize, &syn::Field)| {
            field.ident.clone().unwrap_or_else(|| format_ident!("_{at}"))
        };
        self.fields.iter().enumerate().map(field).collect()
    }

    fn pattern(&self) -> TokenStream {
        let bound = self.bound();
        match self.fields {
            Fields::Named(_) => quote!({ #(#bound),* }),
            Fields::Unnamed(_) => quote!(( #(#bound),* )),
            Fields::Unit => TokenStream::new(),
        }
    }

    /// The field with one of the attributes.
    fn marked(&self, names: &[&str]) -> Option<(Member, &Type)> {
        let is = |attribute: &Attribute| names.iter().any(|name| attribute.path().is_ident(name));
        let (at, field) =
            self.fields.iter().enumerate().find(|(_, field)| field.attrs.iter().any(is))?;
        let member =
            field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(at)), Member::Named);
        Some((member, &field.ty))
    }

    fn source(&self) -> Option<TokenStream> {
        let (member, _) = self.marked(&["source", "from"])?;
        let path = &self.path;
        Some(quote!(#path { #member: cause, .. } =>
            ::std::option::Option::Some(::dyno_model::message::AsError::as_error(cause)),))
    }

    fn from(&self, input: &DeriveInput) -> Option<TokenStream> {
        let (member, from) = self.marked(&["from"])?;
        let (name, path) = (&input.ident, &self.path);
        let (generics, types, bounds) = input.generics.split_for_impl();
        Some(quote! {
            #[automatically_derived]
            impl #generics ::std::convert::From<#from> for #name #types #bounds {
                fn from(cause: #from) -> Self { #path { #member: cause } }
            }
        })
    }
}
