//! Pieces of HTML. Text goes in through [`Tag::text`] and [`Tag::attr`], which escape markup, hidden
//! characters and changes of direction; tags are balanced by construction.

use dyno_words::escape::{escape, quoted};
use std::fmt;

/// Complete elements, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Markup(String);

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<T: IntoIterator<Item = Markup>>(pieces: T) -> Self {
        Self(pieces.into_iter().map(|piece| piece.0).collect())
    }
}

/// Text on its own.
pub(super) fn text(text: &str) -> Markup {
    Markup(quoted(&escape(text, usize::MAX)))
}

/// An element under construction.
#[derive(Debug, Clone)]
pub(super) struct Tag {
    name: &'static str,
    attributes: String,
    inside: String,
}

/// An element with an end tag.
pub(super) fn tag(name: &'static str) -> Tag {
    Tag { name, attributes: String::new(), inside: String::new() }
}

/// The same with a class.
pub(super) fn class(name: &'static str, class: &str) -> Tag {
    tag(name).attr("class", class)
}

impl Tag {
    pub(super) fn attr(mut self, name: &'static str, value: &str) -> Self {
        let value = quoted(&escape(value, usize::MAX));
        self.attributes.push_str(&format!(" {name}=\"{value}\""));
        self
    }

    /// An attribute, where it has a value.
    pub(super) fn maybe(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Text; control characters and invisible characters are shown as escapes.
    pub(super) fn text(mut self, plain: &str) -> Self {
        self.inside.push_str(&text(plain).0);
        self
    }

    /// Text of several lines.
    pub(super) fn lines(mut self, plain: &str) -> Self {
        let lines: Vec<String> = plain.split('\n').map(|line| text(line).0).collect();
        self.inside.push_str(&lines.join("\n"));
        self
    }

    pub(super) fn add(mut self, piece: impl Into<Markup>) -> Self {
        self.inside.push_str(&piece.into().0);
        self
    }

    pub(super) fn adds(self, pieces: impl IntoIterator<Item = Markup>) -> Self {
        self.add(pieces.into_iter().collect::<Markup>())
    }

    /// Style, script or JSON. It must not contain its own end tag: [`crate::page::data`] escapes it,
    /// and a test checks the assets.
    pub(super) fn verbatim(mut self, raw: &str) -> Self {
        self.inside.push_str(raw);
        self
    }

    /// An element that has no end tag.
    pub(super) fn void(self) -> Markup {
        Markup(format!("<{}{}>", self.name, self.attributes))
    }
}

impl From<Tag> for Markup {
    fn from(tag: Tag) -> Self {
        let Tag { name, attributes, inside } = tag;
        // Line breaks make the source readable.
        let end = match name {
            "section" | "table" | "tr" | "thead" | "tbody" | "div" | "p" | "ul" | "head"
            | "body" => "\n",
            _ => "",
        };
        Self(format!("<{name}{attributes}>{inside}</{name}>{end}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_in_text_is_markup() {
        let piece: Markup = tag("p").attr("title", "\"><b>").text("</p><script>'\u{202e}\n").into();
        let expected = "<p title=\"&quot;&gt;&lt;b&gt;\">\
                        &lt;/p&gt;&lt;script&gt;&#39;\\u{202e}\\n</p>\n";
        assert_eq!(piece.to_string(), expected);
    }

    proptest! {
        #[test]
        fn any_text_stays_text(plain in any::<String>()) {
            let piece: Markup = tag("b").attr("title", &plain).text(&plain).into();
            let shown = piece.to_string();
            prop_assert_eq!(shown.matches('<').count(), 2);
            prop_assert_eq!(shown.matches('"').count(), 2);
            prop_assert!(shown.chars().all(|c| !c.is_control()));
        }
    }
}
