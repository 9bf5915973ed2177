//! A page with one line of text, as the tests of the font and of its widths draw it.

/// The size of the text.
pub const SIZE: f64 = 100.0;

/// The page.
pub fn page(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"200\">\
         <text x=\"10\" y=\"120\" font-size=\"{SIZE}\" font-family=\"sans-serif\" \
         xml:space=\"preserve\">{text}</text></svg>"
    )
}
