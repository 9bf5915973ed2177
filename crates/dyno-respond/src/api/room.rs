//! Numbers that are filled in later: a body is rendered when its request is read, and some of its
//! numbers are known only when it is sent.

use std::fmt::Display;
use std::io::Write;

/// Digits of the largest number.
const WIDTH: usize = 20;

/// Writes `"name":` and room for a number; 0 until it is filled in.
pub(super) fn reserve(out: &mut Vec<u8>, name: &str) {
    let _ = write!(out, "\"{name}\":{:>WIDTH$}", 0);
}

/// Writes a header with room for a number.
pub(super) fn reserve_header(headers: &mut String, name: &str) {
    headers.push_str(&format!("{name}:{:>WIDTH$}\r\n", 0));
}

/// Writes a number into the room reserved under this name.
pub(super) fn fill(body: &mut [u8], name: &str, number: impl Display) {
    fill_after(body, &format!("\"{name}\":"), number);
}

/// Writes a number into the room reserved in this header.
pub(super) fn fill_header(head: &mut [u8], name: &str, number: impl Display) {
    fill_after(head, &format!("{name}:"), number);
}

fn fill_after(body: &mut [u8], key: &str, number: impl Display) {
    let Some(at) = body.windows(key.len()).rposition(|bytes| bytes == key.as_bytes()) else {
        return;
    };
    let from = at + key.len();
    // Two steps, because some numbers do not know how to be wide.
    let number = format!("{:>WIDTH$}", number.to_string());
    if let Some(room) = body.get_mut(from..from + WIDTH).filter(|room| room.len() == number.len()) {
        room.copy_from_slice(number.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_filled_in_stands_under_its_name() {
        let mut body = b"{".to_vec();
        reserve(&mut body, "a");
        body.push(b',');
        reserve(&mut body, "b");
        body.push(b'}');
        fill(&mut body, "a", u64::MAX);
        fill(&mut body, "b", serde_json::json!(1.5));
        // What is longer than its room would overwrite what follows.
        fill(&mut body, "b", format!("1.{}", "0".repeat(WIDTH)));
        fill(&mut body, "c", 7);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((body["a"].as_u64(), body["b"].as_f64()), (Some(u64::MAX), Some(1.5)));
    }

    #[test]
    fn a_body_that_was_cut_off_stays_as_it_is() {
        let mut body = b"{\"a\":  ".to_vec();
        fill(&mut body, "a", 7);
        assert_eq!(body, b"{\"a\":  ");
    }
}
