//! A small JSON reader that validates documents without building values. Events are read thousands of
//! times a second; at full load this costs about a third less per token than a general-purpose
//! parser (`cargo xtask cost`).

/// Where a document stopped being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bad(pub(super) usize);

pub(super) type Scan<T> = Result<T, Bad>;

/// Deeper nesting is refused, because it would exhaust the stack. No real response has it.
const MAX_DEPTH: u32 = 128;

/// The bytes of lists of numbers.
const OF_NUMBERS: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"0123456789+-.eE, \t\r\n";
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

/// A position in a document.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Scanner<'a> {
    /// The start of a document, which has to be UTF-8.
    pub(super) fn new(bytes: &'a [u8]) -> Scan<Self> {
        std::str::from_utf8(bytes).map_err(|error| Bad(error.valid_up_to()))?;
        Ok(Self { bytes, at: 0, depth: 0 })
    }

    /// Skips white space; the byte that follows, or 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return *byte,
            }
        }
        0
    }

    /// An error at this position.
    pub(super) fn here(&self) -> Bad {
        Bad(self.at)
    }

    fn bad<T>(&self) -> Scan<T> {
        Err(self.here())
    }

    fn expect(&mut self, byte: u8) -> Scan<()> {
        if self.peek() != byte {
            return self.bad();
        }
        self.at += 1;
        Ok(())
    }

    /// Nothing but white space follows.
    pub(super) fn end(&mut self) -> Scan<()> {
        if self.peek() == 0 && self.at == self.bytes.len() { Ok(()) } else { self.bad() }
    }

    /// Reads an object; `field` has to read the value of each key.
    pub(super) fn object(
        &mut self,
        field: &mut dyn FnMut(&mut Self, &'a [u8]) -> Scan<()>,
    ) -> Scan<()> {
        self.expect(b'{')?;
        self.enter()?;
        if self.peek() == b'}' {
            return self.leave();
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            field(self, key)?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => return self.leave(),
                _ => return self.bad(),
            }
        }
    }

    /// Reads an array; `item` has to read each value.
    pub(super) fn array(&mut self, item: &mut dyn FnMut(&mut Self) -> Scan<()>) -> Scan<()> {
        self.expect(b'[')?;
        self.enter()?;
        if self.peek() == b']' {
            return self.leave();
        }
        loop {
            item(self)?;
            match self.peek() {
                b',' => self.at += 1,
                b']' => return self.leave(),
                _ => return self.bad(),
            }
        }
    }

    /// Reads an array of plain numbers; how many. Millions of them are counted by their commas, without
    /// reading each; what no number can contain is refused.
    pub(super) fn numbers(&mut self) -> Scan<usize> {
        self.expect(b'[')?;
        if self.peek() == b']' {
            self.at += 1;
            return Ok(0);
        }
        let rest = &self.bytes[self.at..];
        let Some(end) = memchr::memchr(b']', rest) else { return Err(Bad(self.bytes.len())) };
        let within = &rest[..end];
        if let Some(foreign) = within.iter().position(|byte| !OF_NUMBERS[usize::from(*byte)]) {
            return Err(Bad(self.at + foreign));
        }
        let list = within.trim_ascii();
        if list.starts_with(b",") || list.ends_with(b",") {
            return self.bad();
        }
        let commas = list.iter().filter(|byte| **byte == b',').count();
        self.at += end + 1;
        Ok(commas + 1)
    }

    fn enter(&mut self) -> Scan<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.bad() } else { Ok(()) }
    }

    fn leave(&mut self) -> Scan<()> {
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    /// Reads a string; returns what is between its quotes, with escapes unresolved.
    pub(super) fn string(&mut self) -> Scan<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            self.skip_plain();
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.bytes[start..self.at - 1]);
                }
                Some(b'\\') => self.escape()?,
                _ => return self.bad(),
            }
        }
    }

    /// Moves to the next quote, backslash or control character.
    fn skip_plain(&mut self) {
        let rest = &self.bytes[self.at..];
        let near = rest.len().min(64);
        for (offset, byte) in rest[..near].iter().enumerate() {
            if *byte == b'"' || *byte == b'\\' || *byte < 0x20 {
                self.at += offset;
                return;
            }
        }
        // In a long string the end is found faster by a search than byte by byte.
        let far = &rest[near..];
        let end = memchr::memchr2(b'"', b'\\', far).unwrap_or(far.len());
        let control = far[..end].iter().position(|byte| *byte < 0x20).unwrap_or(end);
        self.at += near + control;
    }

    fn escape(&mut self) -> Scan<()> {
        let length = match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => {
                let digits = self.bytes.get(self.at + 2..self.at + 6);
                match digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    true => 6,
                    false => return self.bad(),
                }
            }
            _ => return self.bad(),
        };
        self.at += length;
        Ok(())
    }

    /// Reads a number, as it is written.
    pub(super) fn number(&mut self) -> Scan<&'a [u8]> {
        self.peek();
        let start = self.at;
        self.at += usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let whole = self.at;
        self.digits()?;
        if self.bytes[whole] == b'0' && self.at > whole + 1 {
            return Err(Bad(whole));
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(&self.bytes[start..self.at])
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { self.bad() }
    }

    fn word(&mut self, word: &[u8]) -> Scan<()> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.bad();
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads `null` if it comes next; whether it did.
    pub(super) fn null(&mut self) -> Scan<bool> {
        if self.peek() != b'n' {
            return Ok(false);
        }
        self.word(b"null").map(|()| true)
    }

    /// Reads any value; its bytes.
    pub(super) fn value(&mut self) -> Scan<&'a [u8]> {
        let next = self.peek();
        let start = self.at;
        match next {
            b'"' => self.string().map(drop)?,
            b'{' => self.object(&mut |scan, _| scan.value().map(drop))?,
            b'[' => self.array(&mut |scan| scan.value().map(drop))?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => self.number().map(drop)?,
        }
        Ok(&self.bytes[start..self.at])
    }

    /// Reads a number, or anything else, for which the result is absent.
    pub(super) fn float(&mut self) -> Scan<Option<f64>> {
        let text = std::str::from_utf8(self.value()?).unwrap_or("");
        Ok(text.parse::<f64>().ok().filter(|value| value.is_finite()))
    }

    /// Reads a count: a whole number that is not negative, or `null`. One that is too large is absent.
    pub(super) fn count(&mut self) -> Scan<Option<u64>> {
        if self.null()? {
            return Ok(None);
        }
        let start = self.at;
        let digits = self.number()?;
        let text = std::str::from_utf8(digits).unwrap_or("");
        let whole = text.parse::<u64>().ok();
        // Some servers count in floating point. A number beyond that is converted to the largest.
        let value = whole.or_else(|| {
            let value = text.parse::<f64>().ok()?;
            (value >= 0.0 && value.fract() == 0.0).then_some(value as u64)
        });
        value.map(believable).ok_or(Bad(start))
    }
}

/// No response has more tokens than this, and those of a run must not overflow when they are added up.
pub const MOST_TOKENS: u64 = 1 << 40;

/// The count, unless nobody can have counted so many.
pub(super) fn believable(count: u64) -> Option<u64> {
    (count <= MOST_TOKENS).then_some(count)
}

/// A count as it is written; absent if it is malformed or too large.
pub(super) fn count_of(raw: &[u8]) -> Option<u64> {
    std::str::from_utf8(raw).ok()?.trim().parse().ok().and_then(believable)
}

/// The text of a JSON string, given without its quotes.
pub(super) fn unescape(raw: &[u8]) -> String {
    let plain = || String::from_utf8_lossy(raw).into_owned();
    if !raw.contains(&b'\\') {
        return plain();
    }
    serde_json::from_slice(&[b"\"", raw, b"\""].concat()).unwrap_or_else(|_| plain())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn accepts(bytes: &[u8]) -> bool {
        let scan = |bytes| -> Scan<()> {
            let mut scanner = Scanner::new(bytes)?;
            scanner.value()?;
            scanner.end()
        };
        scan(bytes).is_ok()
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,100}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".{0,8}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_accepts_what_is_json(value in any_json(), pretty in any::<bool>()) {
            let text = match pretty {
                true => serde_json::to_string_pretty(&value).unwrap(),
                false => value.to_string(),
            };
            prop_assert!(accepts(text.as_bytes()), "{}", text);
        }

        #[test]
        fn it_refuses_what_is_not(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            // A damaged document: both readers must agree whether it still is one.
            let mut bytes = value.to_string().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let oracle = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok()
                && std::str::from_utf8(&bytes).is_ok();
            prop_assert_eq!(accepts(&bytes), oracle, "{}", String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn a_document_that_is_cut_off_is_refused(value in any_json(), at in any::<prop::sample::Index>()) {
            let text = format!("[{value}]");
            prop_assert!(!accepts(&text.as_bytes()[..at.index(text.len())]));
        }
    }

    #[test]
    fn numbers_are_counted_and_nothing_else_is_taken_for_one() {
        let count = |text: &str| Scanner::new(text.as_bytes()).unwrap().numbers();
        assert_eq!(count("[]"), Ok(0));
        assert_eq!(count(" [ 1.5e-3 , -2,\n3 ] "), Ok(3));
        for bad in ["[1,[2]]", "[null]", "[\"1\"]", "[1,2", "1]", "{}"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_count_that_nobody_can_have_counted_is_absent() {
        let count = |text: &str| Scanner::new(text.as_bytes()).unwrap().count();
        for (text, expected) in [("0", 0), ("7", 7), ("7.0", 7), ("1e3", 1000)] {
            assert_eq!(
                (count(text), count_of(text.as_bytes()).unwrap_or(expected)),
                (Ok(Some(expected)), expected)
            );
        }
        let most = MOST_TOKENS.to_string();
        assert_eq!(count(&most), Ok(Some(MOST_TOKENS)));
        for text in ["1099511627777", "18446744073709551615", "18446744073709551616", "1e300"] {
            assert_eq!(count(text), Ok(None), "{text}");
            assert_eq!(count_of(text.as_bytes()), None, "{text}");
        }
        assert_eq!(count("null"), Ok(None));
        for bad in ["-1", "0.5", "true", "\"7\""] {
            assert!(count(bad).is_err(), "{bad}");
            assert_eq!(count_of(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn the_edges_of_the_grammar() {
        for good in ["0", "-0", "1.5e-3", "[]", "{}", " [ 1 , 2 ] ", r#""\u00e9\n\"""#] {
            assert!(accepts(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "nul",
            "truex",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"open",
            "[1 2]",
            "{\"a\" 1}",
            "1 2",
            "\u{0}",
        ] {
            assert!(!accepts(bad.as_bytes()), "{bad}");
        }
        assert!(!accepts(&[b'['; 1000]));
        assert!(!accepts(b"\"\xff\""));
        let long = format!("\"{}\"", "x".repeat(100_000));
        assert!(accepts(long.as_bytes()));
        assert!(!accepts(long.replacen("xxx", "x\nx", 1).as_bytes()));
        let late = format!("\"{}\n{}\"", "x".repeat(1000), "x".repeat(1000));
        assert!(!accepts(late.as_bytes()));
    }

    #[test]
    fn numbers_are_counted_however_they_are_written() {
        let count = |text: &str| -> Scan<usize> {
            let mut scan = Scanner::new(text.as_bytes())?;
            let count = scan.numbers()?;
            scan.end().map(|()| count)
        };
        for (text, expected) in
            [("[]", 0), ("[ ]", 0), ("[7]", 1), (" [1,22, 333] ", 3), ("[-1,2.5,1e3]", 3)]
        {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for bad in ["[1,", "[,1]", "[1,]", "[\"]\"]", "[[1]]", "7", "null"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
