//! When requests came and tokens were written, on the engine's own clock: the ground truth to compare a
//! client's measurements with. Kept only on request.

use super::connection::Connection;
use dyno_model::Nanos;
use dyno_net::Clock;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The file, one line of JSON for each response: when its request came, and for each write of tokens the
/// clock before it and after it and how many there were. Times are nanoseconds since 1970.
#[derive(Debug)]
pub(super) struct Ledger {
    file: BufWriter<File>,
    anchor: Nanos,
}

/// A response under way.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// When the last bytes of its request came, by the kernel's stamp where there is one.
    came: Nanos,
    writes: Vec<[Nanos; 3]>,
}

impl Ledger {
    pub(super) fn create(path: &Path, clock: &Clock) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create(path)?), anchor: clock.anchor_unix_ns() })
    }

    /// A request whose last bytes came at `came`, since 1970, is being answered.
    pub(super) fn begin(connection: &mut Connection, came: Nanos) {
        connection.entry = Some(Box::new(Entry { came, writes: Vec::new() }));
    }

    /// Tokens were written between these times.
    pub(super) fn wrote(
        &self,
        connection: &mut Connection,
        [before, after]: [Nanos; 2],
        tokens: u32,
    ) {
        if let Some(entry) = connection.entry.as_mut().filter(|_| tokens > 0) {
            entry.writes.push([before + self.anchor, after + self.anchor, tokens.into()]);
        }
    }

    /// The response is over.
    pub(super) fn end(&mut self, connection: &mut Connection) {
        let Some(entry) = connection.entry.take().filter(|entry| !entry.writes.is_empty()) else {
            return;
        };
        let writes: Vec<String> =
            entry.writes.iter().map(|[b, a, n]| format!("[{b},{a},{n}]")).collect();
        // A full disk must not fail the responses.
        let _ =
            writeln!(self.file, "{{\"came\":{},\"writes\":[{}]}}", entry.came, writes.join(","));
        let _ = self.file.flush();
    }
}
