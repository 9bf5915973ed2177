//! How a secret is spelled in a text: plain, with the escapes of JSON, URLs and HTML, or as base64. What is secret
//! does not belong here.

/// A shorter prefix of a secret reveals little, and could be any other word.
pub(super) const SHORTEST_BEGINNING: usize = 8;

/// Where the secret ends that begins at a place of the text, in any spelling. A beginning of it at the end of a
/// text that was cut off counts, too: half a secret is a secret.
pub(super) fn ends_at(secret: &str, text: &str, at: usize) -> Option<usize> {
    let begins = |text: &[u8], at: usize| text.get(at).copied();
    let (first, own) = (begins(text.as_bytes(), at), begins(secret.as_bytes(), 0));
    if first != own && !matches!(first, Some(b'\\' | b'%' | b'&' | b'+')) {
        return None;
    }
    let is_cut = |at: &usize| {
        let rest = text[*at..].trim_end_matches('…');
        rest.is_empty() || rest.len() < LONGEST_SPELLING && rest.starts_with(['\\', '%', '&'])
    };
    let mut ends = vec![at];
    let mut matched = 0;
    for c in secret.chars() {
        if matched >= SHORTEST_BEGINNING && ends.iter().any(is_cut) {
            return Some(text.len());
        }
        let mut next: Vec<usize> = ends.iter().flat_map(|end| spelled(c, text, *end)).collect();
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return None;
        }
        (ends, matched) = (next, matched + c.len_utf8());
    }
    ends.into_iter().max()
}

/// The longest spelling of a character: `\\u{10ffff}`.
const LONGEST_SPELLING: usize = 11;

/// Where a character ends that is spelled at a place of the text: as itself or escaped, perhaps more than once.
fn spelled(c: char, text: &str, at: usize) -> Vec<usize> {
    let rest = &text[at..];
    let mut ends = Vec::new();
    match rest.chars().next() {
        Some(first) if first == c => ends.push(at + c.len_utf8()),
        Some('\\' | '%' | '&' | '+') => {}
        _ => return ends,
    }
    let slashes = rest.len() - rest.trim_start_matches('\\').len();
    if c == '\\' {
        ends.extend([2, 4, 8].into_iter().filter(|count| *count <= slashes).map(|n| at + n));
    }
    if slashes > 0 {
        let (from, behind) = (at + slashes, &rest[slashes..]);
        if c != '\\' && c.is_ascii_punctuation() && behind.starts_with(c) {
            ends.push(from + c.len_utf8());
        }
        ends.extend(by_number(c, behind).map(|length| from + length));
    }
    ends.extend(in_url(c, rest).map(|length| at + length));
    if c == '%' && rest.starts_with("%2525") {
        ends.push(at + 5);
    }
    ends.extend(in_html(c, rest).map(|length| at + length));
    if c == ' ' && rest.starts_with('+') {
        ends.push(at + 1);
    }
    ends
}

/// The length of `u002f`, `u{2f}` or `x2f` behind a backslash, where that is the character.
fn by_number(c: char, text: &str) -> Option<usize> {
    let is = |digits: &str| u32::from_str_radix(digits, 16).is_ok_and(|code| code == u32::from(c));
    let braced = || {
        let digits = text.strip_prefix("u{")?.split_once('}')?.0;
        (digits.len() <= 6 && is(digits)).then_some(digits.len() + 3)
    };
    let fixed = |mark: &str, length: usize| {
        let digits = text.strip_prefix(mark)?.get(..length)?;
        is(digits).then_some(mark.len() + length)
    };
    braced().or_else(|| fixed("u", 4)).or_else(|| fixed("x", 2))
}

/// The length of `%2F`, where that is the character; `%252F` where the percent sign is escaped itself.
fn in_url(c: char, text: &str) -> Option<usize> {
    let mut bytes = [0; 4];
    let mut length = 0;
    for byte in c.encode_utf8(&mut bytes).bytes() {
        let mut rest = text[length..].strip_prefix('%')?;
        while byte != b'%' && rest.starts_with("25") {
            rest = &rest[2..];
        }
        let digits = rest.get(..2)?;
        if u8::from_str_radix(digits, 16) != Ok(byte) {
            return None;
        }
        length = text.len() - rest.len() + 2;
    }
    Some(length)
}

/// The length of `&amp;`, `&#38;` or `&#x26;`, where that is the character.
fn in_html(c: char, text: &str) -> Option<usize> {
    let name = text.strip_prefix('&')?.split_once(';')?.0;
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        },
        None => {
            let named = ["amp", "lt", "gt", "quot", "apos"].iter().position(|known| *known == name);
            named.map(|number| u32::from(['&', '<', '>', '"', '\''][number]))
        }
    };
    (code == Some(u32::from(c))).then_some(name.len() + 2)
}

/// What of a secret is the same wherever it is in a text that is written as base64: for each of the three places
/// that its first byte can have, and for both alphabets.
pub(super) fn in_base64(secret: &str) -> Vec<String> {
    let mut all = Vec::new();
    for offset in 0..3 {
        let bytes: Vec<u8> = std::iter::repeat_n(0, offset).chain(secret.bytes()).collect();
        // Without the characters that also depend on what is before and behind.
        let (from, to) = ((offset * 8).div_ceil(6), bytes.len() * 8 / 6);
        if to < from + SHORTEST_BEGINNING {
            continue;
        }
        for alphabet in ["+/", "-_"] {
            all.push((from..to).map(|at| sextet(&bytes, at, alphabet)).collect());
        }
    }
    all
}

/// The character of base64 at a place.
pub(super) fn sextet(bytes: &[u8], at: usize, last: &str) -> char {
    let bit = at * 6;
    let byte = |number: usize| u16::from(bytes.get(number).copied().unwrap_or(0));
    let pair = byte(bit / 8) << 8 | byte(bit / 8 + 1);
    let value = (pair >> (10 - bit % 8) & 0x3f) as u8;
    match value {
        0..26 => char::from(b'A' + value),
        26..52 => char::from(b'a' + value - 26),
        52..62 => char::from(b'0' + value - 52),
        _ => last.chars().nth(usize::from(value - 62)).unwrap_or('+'),
    }
}
