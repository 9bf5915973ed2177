//! Text from others, such as a bus carries: what may be printed of it.

/// Names and the like are cut here.
const LONGEST: usize = 100;

/// The text, cut and without anything that a terminal would act on.
pub(crate) fn clean(text: &str) -> String {
    let harmless = |c: char| if c.is_control() || is_direction(c) { '?' } else { c };
    text.chars().take(LONGEST).map(harmless).collect()
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_is_left() {
        assert_eq!(clean("a\u{1b}[2Jb\n\u{202e}c 模型"), "a?[2Jb??c 模型");
        assert_eq!(clean(&"x".repeat(500)).len(), LONGEST);
    }
}
