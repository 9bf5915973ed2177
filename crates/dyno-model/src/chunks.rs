//! The times of a stream's output events, in about two bytes each.
//!
//! Times are whole microseconds from the start of the run. An event that arrived with the same
//! socket read as the one before is written as a zero byte; any other as the zigzag difference
//! between its gap and the last non-zero gap, plus one. A steady stream with millisecond jitter
//! takes two bytes per token, a coalesced one takes one. The uncertainty of a time is kept only where
//! it is not zero.

use crate::Nanos;
use crate::message::Localized;

/// One output event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The latest time at which it may have arrived, in microseconds from the start of the run.
    pub at_us: u64,
    /// How much earlier it may have arrived, in microseconds.
    pub loose_us: u64,
    /// It arrived with the same read as the output event before it.
    pub coalesced: bool,
    /// Tokens it carried; 1 unless the dialect said otherwise.
    pub tokens: u32,
}

/// Consecutive events whose times have the same uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loose {
    /// Index of the first of them.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// How much earlier than their time they may have arrived, in microseconds.
    pub us: u64,
}

impl Loose {
    fn end(self) -> Option<u32> {
        self.first.checked_add(self.count)
    }
}

/// The output events of one request, appended as they arrive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkTrack {
    bytes: Vec<u8>,
    count: u32,
    /// Tokens per chunk, only where not 1.
    odd: Vec<(u32, u32)>,
    /// Times that are not exact.
    loose: Vec<Loose>,
    last_us: u64,
    last_gap: i64,
}

/// The stored form is damaged.
#[derive(Debug, Localized, PartialEq, Eq)]
#[message("chunk times are damaged at byte {0}", "数据块时间在第 {0} 字节处损坏")]
pub struct DamagedChunks(pub usize);

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

/// Appends a LEB128 number.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a LEB128 number off the front of `input`; nothing if it is cut off or too long.
pub fn take_varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for (i, byte) in input.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        if i == 9 && bits > 1 {
            return None;
        }
        value |= bits << (7 * i);
        if byte & 0x80 == 0 {
            *input = &input[i + 1..];
            return Some(value);
        }
    }
    None
}

impl ChunkTrack {
    /// Appends an output event that was read at `at`; `coalesced` if the same read brought the
    /// event before it.
    pub fn push(&mut self, at: Nanos, coalesced: bool, tokens: u32) {
        let at_us = at / 1_000;
        if coalesced && self.count > 0 {
            self.bytes.push(0);
        } else {
            let gap = at_us.wrapping_sub(self.last_us) as i64;
            put_varint(&mut self.bytes, zigzag(gap.wrapping_sub(self.last_gap)).wrapping_add(1));
            self.last_gap = if self.count == 0 { 0 } else { gap };
            self.last_us = at_us;
        }
        if tokens != 1 {
            self.odd.push((self.count, tokens));
        }
        self.count += 1;
    }

    /// Moves all times by this many microseconds.
    pub fn shift(&mut self, us: i64) {
        let mut rest = self.bytes.as_slice();
        let Some(first) = take_varint(&mut rest).filter(|first| *first > 0) else { return };
        let moved = unzigzag(first - 1).saturating_add(us).max(0);
        let mut bytes = Vec::with_capacity(self.bytes.len() + 2);
        put_varint(&mut bytes, zigzag(moved).wrapping_add(1));
        bytes.extend_from_slice(rest);
        self.bytes = bytes;
        self.last_us = self.last_us.saturating_add_signed(us);
    }

    /// Says that the last events, `count` of them but for the last `but`, may have come `us` earlier.
    pub fn loosen(&mut self, count: usize, but: usize, us: u64) {
        let [count, but] = [count, but].map(|n| n as u32);
        if us > 0 && count > but && count <= self.count {
            self.loose.push(Loose { first: self.count - count, count: count - but, us });
        }
    }

    /// Times that are not exact, in order.
    pub fn loose(&self) -> &[Loose] {
        &self.loose
    }

    /// Number of output events.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// No output event yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of memory that it holds.
    pub fn holds(&self) -> usize {
        self.bytes.capacity()
            + self.odd.capacity() * size_of::<(u32, u32)>()
            + self.loose.capacity() * size_of::<Loose>()
    }

    /// The stored times.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Tokens per chunk where not 1, as (index, tokens).
    pub fn odd(&self) -> &[(u32, u32)] {
        &self.odd
    }

    /// Puts a stored track together again, checking every byte of it.
    pub fn from_stored(
        bytes: Vec<u8>,
        count: u32,
        odd: Vec<(u32, u32)>,
        loose: Vec<Loose>,
    ) -> Result<Self, DamagedChunks> {
        let mut track = Self { bytes, count, odd, loose, ..Self::default() };
        let mut rest = track.bytes.as_slice();
        let mut seen = 0_u32;
        let mut state = Decode::default();
        while !rest.is_empty() {
            let at = track.bytes.len() - rest.len();
            state.step(&mut rest).ok_or(DamagedChunks(at))?;
            seen = seen.checked_add(1).ok_or(DamagedChunks(at))?;
        }
        let ordered = track.odd.windows(2).all(|w| w[0].0 < w[1].0);
        let inside = track.odd.last().is_none_or(|(i, _)| *i < count);
        let apart = track.loose.windows(2).all(|w| w[0].end().is_some_and(|end| end <= w[1].first));
        let within = track.loose.last().is_none_or(|l| l.end().is_some_and(|end| end <= count));
        if seen != count || !ordered || !inside || !apart || !within {
            return Err(DamagedChunks(track.bytes.len()));
        }
        track.last_us = state.at_us;
        track.last_gap = state.gap;
        Ok(track)
    }

    /// The events in order.
    pub fn iter(&self) -> impl Iterator<Item = Chunk> + '_ {
        let mut rest = self.bytes.as_slice();
        let mut state = Decode::default();
        let mut odd = self.odd.iter().peekable();
        let mut loose = self.loose.as_slice();
        (0..self.count).map_while(move |i| {
            let coalesced = state.step(&mut rest)?;
            let tokens = match odd.peek() {
                Some((index, tokens)) if *index == i => {
                    odd.next();
                    *tokens
                }
                _ => 1,
            };
            while let [first, rest @ ..] = loose
                && first.first + first.count <= i
            {
                loose = rest;
            }
            let loose_us = loose.first().filter(|l| l.first <= i).map_or(0, |l| l.us);
            Some(Chunk { at_us: state.at_us, loose_us, coalesced, tokens })
        })
    }

    /// Tokens over all chunks.
    pub fn tokens(&self) -> u64 {
        let odd: u64 = self.odd.iter().map(|(_, n)| u64::from(*n)).sum();
        u64::from(self.count) - self.odd.len() as u64 + odd
    }
}

#[derive(Default)]
struct Decode {
    at_us: u64,
    gap: i64,
    started: bool,
}

impl Decode {
    /// Reads one event; whether it was coalesced, or nothing if the bytes are damaged.
    fn step(&mut self, rest: &mut &[u8]) -> Option<bool> {
        let code = take_varint(rest)?;
        if code == 0 {
            return self.started.then_some(true);
        }
        let gap = unzigzag(code - 1).wrapping_add(self.gap);
        self.at_us = self.at_us.wrapping_add(gap as u64);
        self.gap = if self.started { gap } else { 0 };
        self.started = true;
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jittery_stream_takes_two_bytes_a_token() {
        let mut track = ChunkTrack::default();
        for i in 0..1000_u64 {
            track.push(5_000_000_000 + i * 20_000_000 + (i * 7919 % 1_000_000), false, 1);
        }
        assert!(track.bytes().len() <= 2 * 1000 + 8, "{}", track.bytes().len());
    }

    #[test]
    fn times_coalescing_and_tokens_come_back() {
        let mut track = ChunkTrack::default();
        track.push(1_000_500, false, 1);
        track.push(1_000_500, true, 3);
        track.push(21_000_000, false, 1);
        track.push(21_000_000, true, 0);
        track.loosen(2, 1, 700);
        track.loosen(2, 0, 0);
        track.loosen(5, 0, 1);
        let got: Vec<_> = track.iter().map(|c| (c.at_us, c.coalesced, c.tokens)).collect();
        let want =
            [(1000, false, 1), (1000, true, 3), (21_000, false, 1), (21_000, true, 0)].to_vec();
        assert_eq!(got, want);
        assert_eq!(track.tokens(), 5);
        let loose: Vec<_> = track.iter().map(|chunk| chunk.loose_us).collect();
        assert_eq!(loose, [0, 0, 700, 0]);
        let odd = track.odd().to_vec();
        let loose = track.loose().to_vec();
        let back = ChunkTrack::from_stored(track.bytes().to_vec(), 4, odd, loose).unwrap();
        assert_eq!(back, track);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        assert!(ChunkTrack::from_stored(vec![0], 1, vec![], vec![]).is_err());
        assert!(ChunkTrack::from_stored(vec![0x80], 1, vec![], vec![]).is_err());
        assert!(ChunkTrack::from_stored(vec![3, 3], 1, vec![], vec![]).is_err());
        assert!(ChunkTrack::from_stored(vec![3], 1, vec![(1, 2)], vec![]).is_err());
        assert!(ChunkTrack::from_stored(vec![0xff; 12], 1, vec![], vec![]).is_err());
        let loose = |first, count| vec![Loose { first, count, us: 1 }];
        assert!(ChunkTrack::from_stored(vec![3], 1, vec![], loose(0, 1)).is_ok());
        assert!(ChunkTrack::from_stored(vec![3], 1, vec![], loose(0, 2)).is_err());
        assert!(ChunkTrack::from_stored(vec![3], 1, vec![], loose(1, u32::MAX)).is_err());
    }
}
