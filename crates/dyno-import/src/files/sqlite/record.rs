//! The cells of one row.

/// What stands in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::files) enum Cell<'a> {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text; not always UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Blob,
}

impl<'a> Cell<'a> {
    /// The text, if it is one.
    pub(in crate::files) fn text(&self) -> Option<&'a str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    pub(in crate::files) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, whole or not. A column of reals keeps whole ones as integers.
    pub(in crate::files) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Real(value) => Some(*value).filter(|value| value.is_finite()),
            _ => None,
        }
    }
}

/// Takes a number of SQLite's off the front: seven bits a byte, the first bytes first, and eight bits
/// in the ninth.
pub(super) fn take_varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for i in 0..9 {
        let byte = *input.get(i)?;
        if i == 8 {
            value = (value << 8) | u64::from(byte);
        } else {
            value = (value << 7) | u64::from(byte & 0x7f);
        }
        if i == 8 || byte & 0x80 == 0 {
            *input = input.get(i + 1..)?;
            return Some(value);
        }
    }
    None
}

/// The cells of a row; nothing if it is damaged.
pub(super) fn cells(payload: &[u8]) -> Option<Vec<Cell<'_>>> {
    let mut head = payload;
    let length = usize::try_from(take_varint(&mut head)?).ok()?;
    let read = payload.len() - head.len();
    let mut types = head.get(..length.checked_sub(read)?)?;
    let mut body = payload.get(length..)?;
    let mut cells = Vec::new();
    while !types.is_empty() {
        cells.push(cell(take_varint(&mut types)?, &mut body)?);
    }
    Some(cells)
}

fn cell<'a>(kind: u64, body: &mut &'a [u8]) -> Option<Cell<'a>> {
    let size = match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        _ => usize::try_from((kind - 12) / 2).ok()?,
    };
    let bytes = body.get(..size)?;
    *body = body.get(size..)?;
    Some(match kind {
        0 => Cell::Null,
        1..=6 => Cell::Integer(integer(bytes)),
        7 => Cell::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        8 => Cell::Integer(0),
        9 => Cell::Integer(1),
        _ if kind.is_multiple_of(2) => Cell::Blob,
        _ => Cell::Text(bytes),
    })
}

/// A number of one to eight bytes with its sign.
fn integer(bytes: &[u8]) -> i64 {
    let start = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(start, |value, byte| (value << 8) | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length() {
        assert_eq!(integer(&[0xff]), -1);
        assert_eq!(integer(&[0x01, 0x00]), 256);
        assert_eq!(integer(&[0x80, 0, 0, 0, 0, 0, 0, 0]), i64::MIN);
        let mut input: &[u8] = &[0x81, 0x00, 7];
        assert_eq!(take_varint(&mut input), Some(128));
        assert_eq!(input, [7]);
        assert_eq!(take_varint(&mut [0xff; 9].as_slice()), Some(u64::MAX));
        assert_eq!(take_varint(&mut [0x80; 3].as_slice()), None);
    }

    #[test]
    fn a_row_of_every_kind() {
        // Header of 6 bytes: NULL, one byte, the number 1, a text of 2, a blob of 1.
        let payload = [6, 0, 1, 9, 17, 14, 5, b'h', b'i', 0xee];
        let found = cells(&payload).unwrap();
        let want = [Cell::Null, Cell::Integer(5), Cell::Integer(1), Cell::Text(b"hi"), Cell::Blob];
        assert_eq!(found, want);
        assert_eq!(cells(&payload[..8]), None);
        assert_eq!(cells(&[2, 10]), None);
        assert_eq!(cells(&[200]), None);
    }
}
