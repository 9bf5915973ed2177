//! A page of charts as PNG: the SVG of this crate, drawn with the font that is compiled in. Fonts of
//! the machine are not used, so the same page gives the same bytes everywhere.

use super::theme;
use dyno_model::{Message, message};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Group, Node, Options, Tree, fontdb};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A part of Noto Sans CJK SC, made by `scripts/subset-font`.
const FONT: &[u8] = include_bytes!("../assets/fonts/DynoSans-Regular.otf");
/// Its family name.
const FAMILY: &str = "Dyno Sans";
/// Viewers refuse higher images, and drawing one of this height takes 150 MB.
const HIGHEST: u32 = 32_000;

/// A page as PNG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The PNG file.
    pub bytes: Vec<u8>,
    /// Characters that the font does not have: each is drawn as a crossed box.
    pub missing: Vec<char>,
}

/// Draws a page.
pub(super) fn png(drawing: &str) -> Result<Picture, Message> {
    let failed = |error: &dyn fmt::Display| {
        message!("cannot draw the charts as pixels: {error}", "无法将图表绘制为位图：{error}")
    };
    let tree = Tree::from_str(drawing, &options()).map_err(|error| failed(&error))?;
    let size = tree.size().to_int_size();
    if size.height() > HIGHEST {
        return Err(too_high(size.height()));
    }
    let pixels = Pixmap::new(size.width(), size.height());
    let mut pixels = pixels.ok_or_else(|| too_high(size.height()))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    let bytes = pixels.encode_png().map_err(|error| failed(&error))?;
    let mut missing = BTreeSet::new();
    find_missing(tree.root(), &mut missing);
    Ok(Picture { bytes, missing: missing.into_iter().collect() })
}

fn options() -> Options<'static> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(FONT)));
    fonts.set_sans_serif_family(FAMILY);
    Options {
        fontdb: Arc::new(fonts),
        font_family: FAMILY.to_owned(),
        style_sheet: Some(theme::bold_by_stroke()),
        ..Options::default()
    }
}

fn find_missing(group: &Group, missing: &mut BTreeSet<char>) {
    for node in group.children() {
        match node {
            Node::Group(group) => find_missing(group, missing),
            Node::Text(text) => {
                let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                let unknown = glyphs.filter(|glyph| glyph.id == usvg::GlyphId(0));
                missing.extend(unknown.flat_map(|glyph| glyph.text.chars()));
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
}

fn too_high(pixels: u32) -> Message {
    message!(
        "the charts of this run are {pixels} pixels high; a PNG can have at most {HIGHEST}. Use \
         --format svg",
        "该测试的图表高 {pixels} 像素，而 PNG 最高 {HIGHEST} 像素。请使用 --format svg",
    )
}

#[cfg(test)]
mod tests;
