//! The body of a streamed response in HTTP: chunked, or ended by closing the connection.

use std::io::Write;

const STRIDE: usize = 37;

/// How the end of a streamed body is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// Chunked encoding.
    Chunked,
    /// By closing the connection.
    Close,
}

impl Transfer {
    /// Writes bytes of the body, as one chunk or as `pieces` that have no relation to the frames.
    pub(super) fn put(self, bytes: &[u8], pieces: bool, out: &mut Vec<u8>) {
        if self == Self::Close {
            out.extend_from_slice(bytes);
        } else if pieces {
            for (i, piece) in bytes.chunks(STRIDE).enumerate() {
                let extension = if i % 2 == 0 { ";part=odd" } else { "" };
                let _ = write!(out, "{:04X}{extension}\r\n", piece.len());
                out.extend_from_slice(piece);
                out.extend_from_slice(b"\r\n");
            }
        } else {
            put_hex(out, bytes.len());
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(bytes);
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Writes the end of the body.
    pub(super) fn end(self, out: &mut Vec<u8>) {
        if self == Self::Chunked {
            out.extend_from_slice(b"0\r\n\r\n");
        }
    }
}

fn put_hex(out: &mut Vec<u8>, n: usize) {
    let digits = (usize::BITS - n.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(n >> (4 * place)) & 15]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_hexadecimal() {
        for n in [1, 15, 16, 255, 256, 22_020_096] {
            let mut out = Vec::new();
            put_hex(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{n:x}"));
        }
    }
}
