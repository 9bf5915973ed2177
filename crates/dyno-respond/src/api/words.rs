//! The words that the engine generates: they need no escaping in JSON and are chosen by a seed.

const PLAIN: [&str; 32] = [
    " torque",
    " shaft",
    " drum",
    " brake",
    " load",
    " speed",
    " power",
    " curve",
    " gear",
    " belt",
    " roller",
    " engine",
    " throttle",
    " piston",
    " crank",
    " valve",
    " intake",
    " exhaust",
    " fuel",
    " spark",
    " stroke",
    " bench",
    " gauge",
    " meter",
    " reading",
    " steady",
    " idle",
    " peak",
    " rated",
    " measured",
    " the",
    " a",
];

const ACCENTED: [&str; 8] =
    [" é", " naïve", " Übersetzung", " 扭矩", " 功率", " façade", " мощность", " 🚗"];

/// The word for token `k`.
pub(super) fn word(salt: u64, k: u32) -> &'static str {
    PLAIN[mix(salt, k) as usize % PLAIN.len()]
}

/// The word for token `k` where it must hold a character of several bytes.
pub(super) fn accented(salt: u64, k: u32) -> &'static str {
    ACCENTED[mix(salt, k) as usize % ACCENTED.len()]
}

/// The words of a response of `n` tokens, as a client that sends them back would write them.
pub fn response_words(salt: u64, n: u32) -> impl Iterator<Item = &'static str> {
    (0..n).map(move |k| word(salt, k).trim_start())
}

/// The text of tokens `0..n` in one piece.
pub(super) fn text(salt: u64, n: u32) -> String {
    (0..n).map(|k| word(salt, k)).collect()
}

/// Mixes the bits, so that neighbours differ (SplitMix64's finaliser).
pub(super) fn mix(salt: u64, k: u32) -> u64 {
    let mut z = salt.wrapping_add((u64::from(k) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
