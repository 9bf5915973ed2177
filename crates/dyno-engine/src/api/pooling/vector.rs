//! Vectors of length 1, as numbers and in base64.

use dyno_stats::rng::SplitMix;

/// Numbers are written to the millionth.
const SCALE: f64 = 1e6;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The vector of a key, in millionths.
pub(super) fn vector(key: u64, size: u32) -> Vec<i32> {
    let mut random = SplitMix::new(key);
    let draw = |_| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    let raw: Vec<f64> = (0..size).map(draw).collect();
    let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    raw.iter().map(|x| (x / length * SCALE).round() as i32).collect()
}

/// As a list of numbers.
pub(super) fn put_numbers(out: &mut Vec<u8>, vector: &[i32]) {
    out.push(b'[');
    for (i, millionths) in vector.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        put_number(out, *millionths);
    }
    out.push(b']');
}

/// A number in millionths, with six places.
pub(super) fn put_number(out: &mut Vec<u8>, millionths: i32) {
    if millionths < 0 {
        out.push(b'-');
    }
    let absolute = millionths.unsigned_abs();
    out.push(b'0' + (absolute / 1_000_000 % 10) as u8);
    out.push(b'.');
    let mut place = 100_000;
    while place > 0 {
        out.push(b'0' + (absolute / place % 10) as u8);
        place /= 10;
    }
}

/// As a text: the base64 of 32-bit floats, least byte first.
pub(super) fn put_base64(out: &mut Vec<u8>, vector: &[i32]) {
    let bytes: Vec<u8> =
        vector.iter().flat_map(|n| ((f64::from(*n) / SCALE) as f32).to_le_bytes()).collect();
    out.push(b'"');
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for place in 0..4 {
            out.push(match place <= group.len() {
                true => BASE64[(word >> (18 - 6 * place)) as usize & 63],
                false => b'=',
            });
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(put: fn(&mut Vec<u8>, &[i32]), vector: &[i32]) -> String {
        let mut out = Vec::new();
        put(&mut out, vector);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn vectors_have_length_1_and_depend_on_their_key() {
        for size in [1, 2, 1_024] {
            let vector = vector(7, size);
            let length: f64 = vector.iter().map(|n| (f64::from(*n) / SCALE).powi(2)).sum();
            assert!((length - 1.0).abs() < 1e-3, "{length}");
        }
        assert_eq!(vector(7, 64), vector(7, 64));
        assert_ne!(vector(7, 64), vector(8, 64));
        assert!(vector(7, 0).is_empty());
    }

    #[test]
    fn numbers_are_json() {
        assert_eq!(shown(put_numbers, &[-12, 1_000_000, 345_678]), "[-0.000012,1.000000,0.345678]");
    }

    #[test]
    fn base64_is_of_floats_with_the_least_byte_first() {
        // 1.0 is 00 00 80 3f, 0.5 is 00 00 00 3f.
        assert_eq!(shown(put_base64, &[1_000_000]), "\"AACAPw==\"");
        assert_eq!(shown(put_base64, &[1_000_000, 500_000]), "\"AACAPwAAAD8=\"");
        assert_eq!(shown(put_base64, &[0; 3]), "\"AAAAAAAAAAAAAAAA\"");
    }
}
