//! The width of text without a font: a table of advance widths. They are those of a wide sans-serif
//! font, rounded up, so that text does not overflow in other fonts; no character is narrower here
//! than in the font that is compiled in.

/// Advance widths of the printable ASCII characters, in hundredths of the font size.
const ASCII: [u8; 95] = [
    32, 41, 48, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 40, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 54, 66, 56, 87, 75,
    79, 64, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 40, 40, 84, 56, 61, 62, 64, 55, 64, 62, 36,
    64, 64, 28, 28, 58, 29, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
];
/// Letters with accents.
const ACCENTED: f64 = 0.85;
/// Chinese, Japanese and Korean characters, and others that may be as wide as they are high. They
/// are not wider in bold.
const FULL: f64 = 1.0;
const BOLD: f64 = 1.15;

fn advance(c: char) -> f64 {
    match u32::from(c) {
        code @ 0x20..=0x7e => f64::from(ASCII[code as usize - 0x20]) / 100.0,
        0x2013 => 0.54,
        0xb7 => 0.57,
        0xc6 | 0xd7 | 0xe6 | 0xf7 => FULL,
        0xc0..=0xff => ACCENTED,
        _ => FULL,
    }
}

/// How wide `text` is at this font size.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let one = |c: char| {
        let wide = advance(c);
        if bold && wide < FULL { wide * BOLD } else { wide }
    };
    text.chars().map(one).sum::<f64>() * size
}

/// Cuts `text` to `room`; it then ends with `…`, or is empty where not even that fits.
pub(super) fn cut(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut shown: String = text.to_owned();
    while shown.pop().is_some() {
        let short = format!("{}…", shown.trim_end());
        if width(&short, size, bold) <= room {
            return short;
        }
    }
    String::new()
}

/// Breaks `text` into at most so many lines within `room`, between words where there are any; the last
/// one is cut.
pub(super) fn wrap(text: &str, size: f64, bold: bool, room: f64, most: usize) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while lines.len() + 1 < most && width(rest, size, bold) > room {
        let mut wide = 0.0;
        let fits = rest.chars().take_while(|c| {
            wide += width(c.encode_utf8(&mut [0; 4]), size, bold);
            wide <= room
        });
        let fits: usize = fits.map(char::len_utf8).sum();
        let end = rest[..fits].rfind(' ').filter(|at| *at > 0).unwrap_or(fits);
        if end == 0 {
            break;
        }
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    lines.push(cut(rest, size, bold, room));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_an_em_and_narrow_ones_less() {
        assert_eq!(width("并行数", 10.0, false), 30.0);
        assert!((width("1 W", 10.0, false) - 19.5).abs() < 1e-9);
        assert!(width("W", 10.0, true) > width("W", 10.0, false));
    }

    #[test]
    fn what_is_wrapped_fits_and_is_whole_where_there_are_enough_lines() {
        let text = "ladder / sweep 对比对比对比对比 / a_name_that_is_longer_than_a_line / b";
        for room in [5.0, 60.0, 120.0, 2000.0] {
            let lines = wrap(text, 11.0, true, room, 40);
            assert!(lines.iter().all(|line| width(line, 11.0, true) <= room), "{lines:?}");
            let plain = |text: &str| text.replace(' ', "");
            assert!(room < 11.0 || plain(&lines.concat()) == plain(text), "{lines:?}");
        }
        assert_eq!(wrap("abc def ghi", 10.0, false, 20.0, 2), ["abc", "d…"]);
        assert_eq!(wrap("", 10.0, false, 20.0, 2), [""]);
    }

    #[test]
    fn what_is_cut_fits() {
        for room in [0.0, 5.0, 20.0, 55.0, 1000.0] {
            let shown = cut("latency 延迟 of it", 11.0, true, room);
            assert!(width(&shown, 11.0, true) <= room, "{shown} in {room}");
        }
        assert_eq!(cut("abc", 10.0, false, 100.0), "abc");
        assert_eq!(cut("abc def", 10.0, false, 30.0), "abc…");
    }
}
