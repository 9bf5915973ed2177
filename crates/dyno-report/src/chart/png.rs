//! A page of charts as PNG: the SVG of this crate, drawn with the font that is compiled in. Fonts of
//! the machine are not used, so the same page gives the same bytes everywhere.

use super::theme;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Group, Node, Options, Tree, fontdb};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A part of Noto Sans CJK SC, made by `scripts/subset-font`.
const FONT: &[u8] = include_bytes!("../../assets/fonts/DynoSans-Regular.otf");
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

/// Why a page could not be drawn as PNG.
#[derive(Debug)]
pub enum PngError {
    /// The page is higher than a PNG may be.
    TooHigh(u32),
    /// The SVG could not be rendered.
    Drawing(String),
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooHigh(height) => write!(
                f,
                "the charts of this run are {height} pixels high; a PNG can have at most {HIGHEST}. \
                 Use --format svg"
            ),
            Self::Drawing(what) => write!(f, "cannot draw the charts as pixels: {what}"),
        }
    }
}

impl std::error::Error for PngError {}

/// Draws a page.
pub(super) fn png(drawing: &str) -> Result<Picture, PngError> {
    let failed = |error: &dyn fmt::Display| PngError::Drawing(error.to_string());
    let tree = Tree::from_str(drawing, &options()).map_err(|error| failed(&error))?;
    let size = tree.size().to_int_size();
    if size.height() > HIGHEST {
        return Err(PngError::TooHigh(size.height()));
    }
    let pixels = Pixmap::new(size.width(), size.height());
    let mut pixels = pixels.ok_or_else(|| PngError::TooHigh(size.height()))?;
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

#[cfg(test)]
mod tests {
    use super::super::measure;
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    const SIZE: f64 = 100.0;

    fn page(text: &str) -> String {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"200\">\
             <text x=\"10\" y=\"120\" font-size=\"{SIZE}\" font-family=\"sans-serif\" \
             xml:space=\"preserve\">{text}</text></svg>"
        )
    }

    fn missing(text: &str) -> Vec<char> {
        png(&page(text)).unwrap().missing
    }

    /// How far the text goes with the font that is compiled in.
    fn drawn_width(text: &str) -> f64 {
        let tree = Tree::from_str(&page(text), &options()).unwrap();
        let Some(Node::Text(text)) = tree.root().children().first() else {
            panic!("{text} gives no text")
        };
        f64::from(text.bounding_box().width())
    }

    /// What stands in the sources below a folder or in a file.
    fn written(path: &Path) -> String {
        match std::fs::read_dir(path) {
            Ok(files) => files.map(|file| written(&file.unwrap().path())).collect(),
            Err(_) => std::fs::read_to_string(path).unwrap(),
        }
    }

    #[test]
    fn every_word_of_ours_is_in_the_font() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let tables = ["messages", "chart/words.rs", "../../dyno-words/src/catalogue"];
        let tables = tables.map(|path| written(&sources.join(path)));
        let characters: BTreeSet<char> = tables.concat().chars().filter(|c| *c > '~').collect();
        assert!(characters.len() > 300 && characters.contains(&'延'));
        let text: String = characters.into_iter().collect();
        assert_eq!(missing(&text), [], "run scripts/subset-font");
        assert_eq!(missing("–…→·（），：=+/%[]≤≥±×µ²°"), []);
    }

    #[test]
    fn common_chinese_is_in_the_font_and_what_is_not_is_a_box_and_told() {
        assert_eq!(missing("通义千问深度求索智谱清言模型测试压力服务器生产环境"), []);
        assert_eq!(missing("a🦀b龘"), ['龘', '🦀']);
        let ink = |text: &str| png(&page(text)).unwrap().bytes;
        assert_eq!(ink("🦀"), ink("龘"), "both are the same box");
        assert_ne!(ink("🦀"), ink(" "), "and it can be seen");
        assert_ne!(ink("并"), ink("行"));
        assert_ne!(ink("并"), ink("🦀"));
    }

    #[test]
    fn hardly_a_character_is_wider_than_measured() {
        let ranges = [0x20..=0x7e, 0xa0..=0x45f, 0x2010..=0x22ff, 0x3000..=0x303f, 0xff01..=0xffe5];
        for c in ranges.into_iter().flatten().filter_map(char::from_u32) {
            let text = format!("n{c}n");
            let alone = drawn_width(&text) - drawn_width("nn");
            let measured = measure::width(&c.to_string(), SIZE, false);
            assert!(alone <= measured * 1.02, "{c:?}: {alone} is wider than {measured}");
        }
    }

    #[test]
    fn chinese_is_as_wide_as_measured() {
        for text in ["随请求到达率的变化", "（请求，秒）：", "阴影：置信区间"]
        {
            let (drawn, measured) = (drawn_width(text), measure::width(text, SIZE, false));
            assert!((drawn / measured - 1.0).abs() < 0.01, "{text}: {drawn} and {measured}");
            assert_eq!(measure::width(text, SIZE, true), measured, "bold is no wider");
        }
    }

    #[test]
    fn what_is_too_high_is_refused_with_advice() {
        let high = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"40000\"></svg>";
        let error = png(high).unwrap_err().to_string();
        assert!(error.contains("40000") && error.contains("svg"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_can_be_drawn(
            text in prop_oneof![
                any::<String>(),
                "[a-zא-ת0-9 ]{0,40}",
                "[ا-ي\u{64b}-\u{652}a-z ]{0,40}",
                "[\u{300}-\u{36f}a-z\u{1f468}\u{1f3fd}\u{fe0f}क-ह\u{93c}-\u{94d}]{0,40}",
            ],
        ) {
            let text = super::super::canvas::clean(&text);
            prop_assert!(png(&page(&text)).is_ok());
        }
    }
}
