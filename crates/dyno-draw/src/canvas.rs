//! SVG elements. All text is escaped here.

use super::measure::width;
use dyno_words::escape::{escape, in_xml, quoted};
use std::fmt::Write;

/// The longest untrusted text.
const LONGEST: usize = 400;

/// Which part of a text is at the given position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    pub(super) class: &'a str,
    pub(super) x: f64,
    /// Of the base line.
    pub(super) y: f64,
    pub(super) anchor: Anchor,
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) text: &'a str,
}

impl Text<'_> {
    /// Its left and right end.
    pub(super) fn extent(&self) -> [f64; 2] {
        let wide = width(self.text, self.size, self.bold);
        let left = match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - wide / 2.0,
            Anchor::End => self.x - wide,
        };
        [left, left + wide]
    }
}

/// The elements drawn so far.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    out: String,
}

/// A coordinate, to a tenth of a pixel.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Untrusted text: control characters are shown as escapes, and characters that XML does not allow
/// are left out.
pub(super) fn clean(text: &str) -> String {
    escape(text, LONGEST).chars().filter(|c| in_xml(*c)).collect()
}

impl Canvas {
    fn element(&mut self, name: &str, class: &str, attributes: &[(&str, f64)], about: &str) {
        let _ = write!(self.out, "<{name} class=\"{}\"", quoted(class));
        for (key, value) in attributes {
            let _ = write!(self.out, " {key}=\"{}\"", coordinate(*value));
        }
        self.end(name, about);
    }

    fn end(&mut self, name: &str, about: &str) {
        let _ = match about {
            "" => writeln!(self.out, "/>"),
            _ => writeln!(self.out, "><title>{}</title></{name}>", quoted(about)),
        };
    }

    pub(super) fn rect(&mut self, class: &str, [x, y, w, h]: [f64; 4]) {
        self.part(class, [x, y, w, h], "");
    }

    /// A rectangle with its own colour, and its tooltip.
    pub(super) fn cell(&mut self, class: &str, [x, y, w, h]: [f64; 4], fill: &str, about: &str) {
        let _ = write!(self.out, "<rect class=\"{class}\" fill=\"{}\"", quoted(fill));
        for (key, value) in [("x", x), ("y", y), ("width", w), ("height", h)] {
            let _ = write!(self.out, " {key}=\"{}\"", coordinate(value));
        }
        self.end("rect", about);
    }

    /// A rectangle, and its tooltip.
    pub(super) fn part(&mut self, class: &str, [x, y, w, h]: [f64; 4], about: &str) {
        self.element("rect", class, &[("x", x), ("y", y), ("width", w), ("height", h)], about);
    }

    pub(super) fn line(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        self.element("line", class, &[("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)], "");
    }

    /// A path through corners, and its tooltip.
    pub(super) fn path(&mut self, class: &str, corners: &[[f64; 2]], closed: bool, about: &str) {
        let mut way = String::new();
        for (i, [x, y]) in corners.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            let _ = write!(way, "{command}{} {}", coordinate(*x), coordinate(*y));
        }
        if closed {
            way.push('Z');
        }
        let _ = write!(self.out, "<path class=\"{class}\" d=\"{way}\"");
        self.end("path", about);
    }

    pub(super) fn circle(&mut self, class: &str, [cx, cy]: [f64; 2], r: f64, about: &str) {
        self.element("circle", class, &[("cx", cx), ("cy", cy), ("r", r)], about);
    }

    pub(super) fn text(&mut self, text: &Text) {
        if text.text.is_empty() {
            return;
        }
        let anchor = match text.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if text.bold { " font-weight=\"600\"" } else { "" };
        let _ = writeln!(
            self.out,
            "<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" \
             font-size=\"{}\"{weight}>{}</text>",
            text.class,
            coordinate(text.x),
            coordinate(text.y),
            coordinate(text.size),
            quoted(text.text)
        );
    }

    pub(super) fn open(&mut self, class: &str) {
        let _ = writeln!(self.out, "<g class=\"{class}\">");
    }

    pub(super) fn close(&mut self) {
        self.out.push_str("</g>\n");
    }

    /// Draws another canvas over this one.
    pub(super) fn append(&mut self, other: Self) {
        self.out.push_str(&other.out);
    }

    /// The whole document, enlarged by `zoom`: `style` is CSS, `about` is for screen readers.
    pub(super) fn document(self, [w, h]: [f64; 2], zoom: f64, style: &str, about: &str) -> String {
        let [width, height] = [w, h].map(|length| coordinate(length * zoom));
        let (w, h) = (coordinate(w), coordinate(h));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{}\">\n<style>{style}</style>\n{}</svg>\n",
            quoted(about),
            self.out
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        let mut canvas = Canvas::default();
        let hostile = clean("</text>&\u{1b}\u{ffff}\"");
        canvas.text(&Text {
            class: "a",
            x: 1.0,
            y: -0.04,
            anchor: Anchor::End,
            size: 11.0,
            bold: false,
            text: &hostile,
        });
        assert_eq!(
            canvas.out,
            "<text class=\"a\" x=\"1\" y=\"0\" text-anchor=\"end\" font-size=\"11\">\
             &lt;/text&gt;&amp;\\u{1b}&quot;</text>\n"
        );
    }
}
