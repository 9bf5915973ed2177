//! Tagged fields: a tag (field number and kind), then a number or a length and bytes.
//!
//! Absent fields read as zero or as absent; unknown ones are skipped, so that an older reader
//! understands what it can of a newer file. Nothing read here is trusted.

use dyno_model::chunks::{put_varint, take_varint};
use dyno_model::{Message, message};

const NUMBER: u64 = 0;
const BYTES: u64 = 1;

/// Why a payload could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bad(pub(crate) Message);

pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

/// Writes a number.
pub(crate) fn put_number(out: &mut Vec<u8>, field: u64, value: u64) {
    put_varint(out, field << 1 | NUMBER);
    put_varint(out, value);
}

/// Writes a number that reads as zero when absent.
pub(crate) fn put_plain(out: &mut Vec<u8>, field: u64, value: u64) {
    if value != 0 {
        put_number(out, field, value);
    }
}

/// Writes an optional number; `Some(0)` is written.
pub(crate) fn put_some(out: &mut Vec<u8>, field: u64, value: Option<impl Into<u64>>) {
    if let Some(value) = value {
        put_number(out, field, value.into());
    }
}

/// Writes bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 1 | BYTES);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes a text only if there is one.
pub(crate) fn put_text(out: &mut Vec<u8>, field: u64, text: Option<&str>) {
    if let Some(text) = text {
        put_bytes(out, field, text.as_bytes());
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(crate) fn number(self) -> Result<u64, Bad> {
        match self {
            Self::Number(value) => Ok(value),
            Self::Bytes(_) => {
                Err(Bad(message!("bytes where a number should be", "应为数字处是字节")))
            }
        }
    }

    /// The number, which must fit a smaller type.
    pub(crate) fn narrow<T: TryFrom<u64>>(self) -> Result<T, Bad> {
        let value = self.number()?;
        T::try_from(value)
            .map_err(|_| Bad(message!("number {value} is out of range", "数字 {value} 超出范围")))
    }

    pub(crate) fn bytes(self) -> Result<&'a [u8], Bad> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => {
                Err(Bad(message!("a number where bytes should be", "应为字节处是数字")))
            }
        }
    }

    pub(crate) fn text(self) -> Result<String, Bad> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| Bad(message!("text that is not UTF-8", "文本不是 UTF-8")))
    }
}

/// The fields of a payload, in the order in which they were written.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    fn read_one(&mut self) -> Result<(u64, Value<'a>), Bad> {
        let tag = take_number(&mut self.0)?;
        let number = take_number(&mut self.0)?;
        if tag & 1 == NUMBER {
            return Ok((tag >> 1, Value::Number(number)));
        }
        let bytes =
            usize::try_from(number).ok().and_then(|len| self.0.split_at_checked(len)).ok_or_else(
                || Bad(message!("a field that is longer than its frame", "字段超出其所在的帧")),
            )?;
        self.0 = bytes.1;
        Ok((tag >> 1, Value::Bytes(bytes.0)))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Bad>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.read_one())
    }
}

/// Reads a number from the front.
pub(crate) fn take_number(input: &mut &[u8]) -> Result<u64, Bad> {
    take_varint(input)
        .ok_or_else(|| Bad(message!("a number that is cut off or too long", "数字被截断或过长")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_order_and_absent_is_absent() {
        let mut out = Vec::new();
        put_number(&mut out, 1, u64::MAX);
        put_plain(&mut out, 2, 0);
        put_some(&mut out, 3, Some(0_u32));
        put_some(&mut out, 4, None::<u64>);
        put_text(&mut out, 500, Some("héllo"));
        let got: Vec<_> = Fields(&out).map(Result::unwrap).collect();
        let want = [
            (1, Value::Number(u64::MAX)),
            (3, Value::Number(0)),
            (500, Value::Bytes("héllo".as_bytes())),
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn a_length_beyond_the_payload_is_refused() {
        let mut out = Vec::new();
        put_varint(&mut out, 1 << 1 | BYTES);
        put_varint(&mut out, u64::MAX);
        assert!(Fields(&out).read_one().is_err());
        assert!(Fields(&[0x80]).read_one().is_err());
    }

    #[test]
    fn zigzag_takes_every_number() {
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
