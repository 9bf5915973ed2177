//! Unit tests of `layout/csv.rs`.

use super::*;
use proptest::prelude::*;

fn text(text: &str) -> String {
    line(&[Some(Cell::Text(text.to_owned()))])
}

#[test]
fn fields_are_quoted_where_they_must_be() {
    assert_eq!(text("plain"), "plain\r\n");
    assert_eq!(text("a,b \"c\""), "\"a,b \"\"c\"\"\"\r\n");
    assert_eq!(text("two\nlines"), "two\\nlines\r\n");
    let fields = [Some(Cell::Number(-1.5)), None, Some(Cell::Whole(0)), Some(Cell::Truth(true))];
    assert_eq!(line(&fields), "-1.5,,0,true\r\n");
}

#[test]
fn no_text_begins_a_formula() {
    for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u{3000}=1"] {
        let written = text(formula);
        assert!(written.trim_start_matches('"').starts_with('\''), "{written}");
    }
}

/// A reader of RFC 4180 that shares nothing with the writer.
fn read(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

proptest! {
    #[test]
    fn any_text_comes_back_in_its_field(texts in prop::collection::vec(any::<String>(), 1..5)) {
        let fields: Vec<Option<Cell>> =
            texts.iter().cloned().map(|text| Some(Cell::Text(text))).collect();
        let written = line(&fields);
        let whole = written.strip_suffix("\r\n").unwrap();
        prop_assert!(!whole.contains(['\r', '\n']));
        let back = read(whole);
        prop_assert_eq!(back.len(), texts.len());
        for (back, text) in back.iter().zip(&texts) {
            prop_assert!(!back.starts_with(['=', '+', '-', '@']));
            let shown = escape(text, usize::MAX);
            let unmarked = back.strip_prefix('\'').unwrap_or(back);
            prop_assert!(*back == shown || unmarked == shown);
        }
    }
}
