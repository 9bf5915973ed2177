//! Bytes for one connection, in the writes they are sent in.

/// Bytes for one connection, with marks between separate writes. Reused from write to write.
#[derive(Debug, Default)]
pub struct Burst {
    pub(super) bytes: Vec<u8>,
    pub(super) json: Vec<u8>,
    pub(super) framed: Vec<u8>,
    marks: Vec<usize>,
}

impl Burst {
    /// Empties it, and frees the memory of an unusually large frame.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
        for vec in [&mut self.bytes, &mut self.json, &mut self.framed] {
            if vec.capacity() > 1 << 20 {
                *vec = Vec::new();
            }
        }
    }

    /// What follows goes in a separate write.
    pub fn flush(&mut self) {
        self.marks.push(self.bytes.len());
    }

    /// The writes, in order.
    pub fn writes(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.marks.iter().copied().chain([self.bytes.len()]);
        let starts = [0].into_iter().chain(self.marks.iter().copied());
        starts.zip(ends).map(|(start, end)| &self.bytes[start..end]).filter(|w| !w.is_empty())
    }

    /// Puts one frame, which begins at `start`, in three writes: the first ends early, the second
    /// inside the first character of several bytes.
    pub(super) fn split(&mut self, start: usize) {
        let frame = &self.bytes[start..];
        let inside = frame.iter().position(|b| !b.is_ascii()).map(|at| at + 1);
        let second = inside.unwrap_or(frame.len() * 2 / 3);
        if start > 0 {
            self.marks.push(start);
        }
        self.marks.extend([start + second / 2, start + second]);
    }
}
