//! Checks the records of a data set before a run, at a bounded cost: a file of ordinary size from
//! beginning to end; of a larger one its beginning, lines spread over the rest, and its last line.
//! What was not checked here is checked when it is read.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_model::{Message, message};

use super::at::At;
use super::dataset::{DataPlace, DataSet, size};
use super::error::DataError;
use super::layout::DataLayout;
use super::lines::not_utf8;
use super::record::{Record, json};
use super::source::open_file;

/// How much of a data set is checked.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// Bytes, decompressed, that are read from the beginning.
    first: u64,
    /// Lines looked at in the rest.
    spread: u64,
}

/// About a second. A file that is larger than this takes minutes to send.
const EFFORT: Effort = Effort { first: 128 * 1024 * 1024, spread: 256 };

/// A sampled line that is longer is left for the run itself.
const LONGEST_SAMPLE: u64 = 1024 * 1024;

/// What was checked of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedData {
    /// Records from the beginning, usable or not.
    pub records: u64,
    /// Those of them that cannot be used and will be skipped, as `skip_bad=true` asks.
    pub skipped: u64,
    /// Further records, spread over the rest.
    pub spread: u64,
    /// What the rest is.
    pub rest: RestOfFile,
}

/// Records that were not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestOfFile {
    /// There are none.
    Nothing,
    /// They are beyond the limit on how many are taken.
    Beyond,
    /// They are checked when they are read.
    Later,
}

impl DataSet {
    /// Checks the records, or as many from the beginning as will be taken. Nothing for built-in
    /// data.
    pub fn check(&self, taken: Option<u64>) -> Result<Option<CheckedData>, DataError> {
        self.check_with(EFFORT, taken)
    }

    fn check_with(
        &self,
        effort: Effort,
        taken: Option<u64>,
    ) -> Result<Option<CheckedData>, DataError> {
        let (place, layout) = self.place();
        if matches!(place, DataPlace::Builtin(..)) {
            return Ok(None);
        }
        let consumed = Arc::new(AtomicU64::new(0));
        let mut walk = self.walk_counting(&consumed)?;
        // Parquet is not read as a stream, so what its rows hold is counted instead.
        let held = Cell::new(0_u64);
        let rest = loop {
            if taken.is_some_and(|taken| walk.good >= taken) {
                break RestOfFile::Beyond;
            }
            let spent = match layout {
                DataLayout::Parquet => held.get(),
                _ => consumed.load(Ordering::Relaxed),
            };
            if spent >= effort.first {
                break RestOfFile::Later;
            }
            let item = walk.next(|pick, record| {
                held.set(held.get() + size(&record.value) as u64);
                pick.item(record)
            });
            match item {
                Some(item) => drop(item?),
                None => break RestOfFile::Nothing,
            }
        };
        let records = walk.good + walk.skipped;
        let mut checked = CheckedData { records, skipped: walk.skipped, spread: 0, rest };
        if rest == RestOfFile::Later
            && self.recognised().compression.is_none()
            && let DataPlace::File(path) = place
        {
            let from = consumed.load(Ordering::Relaxed);
            match layout {
                DataLayout::JsonLines { .. } | DataLayout::TextLines => {
                    self.check_spread(path, from, effort, &mut checked)?;
                }
                DataLayout::JsonArray => check_array_end(path)?,
                // In other layouts a line may be anything: only reading from the start tells.
                _ => {}
            }
        }
        Ok(Some(checked))
    }

    /// Checks lines at equal distances behind `from`, and the last one: a download that was cut off
    /// is broken there.
    fn check_spread(
        &self,
        path: &Path,
        from: u64,
        effort: Effort,
        checked: &mut CheckedData,
    ) -> Result<(), DataError> {
        let unreadable = |source| unreadable(path, source);
        let file = open_file(path)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let rest = u128::from(length.saturating_sub(from));
        let mut reader = BufReader::with_capacity(16 * 1024, file);
        let mut line = Vec::new();
        let mut last_start = None;
        for step in 1..=effort.spread {
            let place = rest * u128::from(step) / u128::from(effort.spread + 1);
            let place = from + u64::try_from(place).unwrap_or_default();
            let start = line_after(&mut reader, place, &mut line).map_err(unreadable)?;
            // Long lines may hold several of the places.
            let Some(start) = start.filter(|start| Some(*start) != last_start) else { continue };
            last_start = Some(start);
            self.check_line(path, start, &line, checked)?;
        }
        let start = last_line(&mut reader, length, &mut line).map_err(unreadable)?;
        if let Some(start) = start.filter(|start| Some(*start) != last_start && *start >= from) {
            self.check_line(path, start, &line, checked)?;
        }
        Ok(())
    }

    fn check_line(
        &self,
        path: &Path,
        start: u64,
        line: &[u8],
        checked: &mut CheckedData,
    ) -> Result<(), DataError> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        match self.usable(line, || At::line(&named(path), 0)) {
            Ok(()) => checked.spread += 1,
            Err(_) if self.skips_bad() => {
                checked.spread += 1;
                checked.skipped += 1;
            }
            // Only now is it worth counting the lines before it.
            Err(_) => {
                let number = lines_before(path, start)? + 1;
                let name = named(path);
                return self.usable(line, || At::line(&name, number));
            }
        }
        Ok(())
    }

    fn usable(&self, line: &[u8], at: impl Fn() -> At) -> Result<(), DataError> {
        let text = str::from_utf8(line).map_err(|error| not_utf8(at(), error.valid_up_to()))?;
        let record = match self.place().1 {
            DataLayout::JsonLines { .. } => json(at(), text)?,
            _ => Record { at: at(), value: text.into() },
        };
        self.pick().item(record).map(drop)
    }
}

fn named(path: &Path) -> Arc<Message> {
    Arc::new(Message::quoted(path.display()))
}

fn unreadable(path: &Path, source: io::Error) -> DataError {
    DataError::Read { path: Message::quoted(path.display()), source }
}

/// A file that was cut off lacks the end of its array.
fn check_array_end(path: &Path) -> Result<(), DataError> {
    let unreadable = |source| unreadable(path, source);
    let file = open_file(path)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut reader = BufReader::with_capacity(16 * 1024, file);
    let mut line = Vec::new();
    let start = last_line(&mut reader, length, &mut line).map_err(unreadable)?;
    match line.last() {
        None | Some(b']') => Ok(()),
        Some(_) => Err(DataError::Broken {
            at: At::line(&named(path), lines_before(path, start.unwrap_or(length))? + 1),
            what: message!("the file ends inside the array", "文件在数组中途结束"),
            fix: message!(
                "it seems to be cut off: fetch it again, or close the array with ]",
                "文件似乎不完整：请重新下载，或用 ] 结束数组"
            ),
        }),
    }
}

/// Reads the first whole line behind a place in the file and returns where it starts; nothing
/// where there is none, or where it is too long for a sample.
fn line_after(
    reader: &mut BufReader<File>,
    place: u64,
    line: &mut Vec<u8>,
) -> io::Result<Option<u64>> {
    reader.seek(SeekFrom::Start(place))?;
    line.clear();
    let before = reader.by_ref().take(LONGEST_SAMPLE).read_until(b'\n', line)?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    line.clear();
    let length = reader.by_ref().take(LONGEST_SAMPLE).read_until(b'\n', line)?;
    let whole = line.last() == Some(&b'\n') || (length as u64) < LONGEST_SAMPLE;
    trim_end(line);
    Ok((length > 0 && whole).then_some(place + before as u64))
}

/// Reads the last line that is not blank and returns where it starts.
fn last_line(
    reader: &mut BufReader<File>,
    length: u64,
    line: &mut Vec<u8>,
) -> io::Result<Option<u64>> {
    let from = length.saturating_sub(LONGEST_SAMPLE);
    reader.seek(SeekFrom::Start(from))?;
    line.clear();
    reader.by_ref().take(LONGEST_SAMPLE).read_to_end(line)?;
    line.truncate(line.trim_ascii_end().len());
    let Some(end) = memchr::memrchr(b'\n', line) else { return Ok(None) };
    line.drain(..=end);
    Ok(Some(from + end as u64 + 1))
}

fn trim_end(line: &mut Vec<u8>) {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let length = text.strip_suffix(b"\r").unwrap_or(text).len();
    line.truncate(length);
}

/// How many lines end before a place in the file.
fn lines_before(path: &Path, place: u64) -> Result<u64, DataError> {
    let mut reader = BufReader::with_capacity(256 * 1024, open_file(path)?.take(place));
    let mut lines = 0;
    loop {
        let chunk = reader.fill_buf().map_err(|source| unreadable(path, source))?;
        if chunk.is_empty() {
            return Ok(lines);
        }
        lines += memchr::memchr_iter(b'\n', chunk).count() as u64;
        let used = chunk.len();
        reader.consume(used);
    }
}

/// Counts what is read through it.
pub(super) struct Counting {
    pub(super) reader: Box<dyn BufRead + Send>,
    pub(super) consumed: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl BufRead for Counting {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        self.reader.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DataSpec;

    /// Little enough for small files.
    const LITTLE: Effort = Effort { first: 2_000, spread: 8 };

    /// A file with 1,000 lines of equal length, some of them replaced.
    fn file(name: &str, broken: &[(usize, &str)]) -> tempfile::TempPath {
        let mut file = tempfile::Builder::new().suffix(name).tempfile().expect("a file");
        for number in 1..=1_000 {
            let line = broken.iter().find(|(at, _)| *at == number);
            let good = format!("{{\"prompt\": \"question {number:04}\"}}");
            let line = line.map_or(good, |(_, line)| (*line).to_owned());
            io::Write::write_all(&mut file, format!("{line}\n").as_bytes()).expect("written");
        }
        file.into_temp_path()
    }

    fn check(path: &Path, options: &str, taken: Option<u64>) -> Result<CheckedData, DataError> {
        let spec: DataSpec = format!("{}{options}", path.display()).parse().expect("a spec");
        DataSet::new(&spec)?.check_with(LITTLE, taken).map(|checked| checked.expect("a file"))
    }

    #[test]
    fn of_a_large_file_the_beginning_is_checked_and_lines_spread_over_the_rest() {
        let checked = check(&file(".jsonl", &[]), "", None).expect("good");
        assert_eq!(checked.rest, RestOfFile::Later);
        // Lines of 28 bytes, up to the first that ends past 2,000.
        assert_eq!(checked.records, 72);
        assert_eq!(checked.spread, 9, "eight places and the last line");
    }

    #[test]
    fn a_broken_last_line_is_found_and_named() {
        let path = file(".jsonl", &[(1_000, "{\"prompt\": \"cut o")]);
        let error = check(&path, "", None).expect_err("cut off").to_string();
        assert!(error.starts_with(&format!("{}:1000: not valid JSON", path.display())), "{error}");
        let checked = check(&path, ",skip_bad=true", None).expect("skipped");
        assert_eq!((checked.spread, checked.skipped), (9, 1));
        let first = file(".jsonl", &[(3, "{}")]);
        let checked = check(&first, ",skip_bad=true", Some(5)).expect("skipped");
        assert_eq!((checked.records, checked.skipped), (6, 1), "five of six are good");
    }

    #[test]
    fn a_sampled_line_is_named_by_its_number() {
        // Broken from line 100 on, so that the first sample meets one.
        let broken: Vec<(usize, &str)> = (100..1_000).map(|line| (line, "{}")).collect();
        let path = file(".jsonl", &broken);
        let error = check(&path, "", None).expect_err("no prompt").to_string();
        let place = error.strip_prefix(&format!("{}:", path.display())).expect("the file");
        let number: usize = place.split(':').next().and_then(|n| n.parse().ok()).expect("a line");
        assert!((100..1_000).contains(&number), "{error}");
        let text = std::fs::read_to_string(&path).expect("read");
        assert_eq!(text.lines().nth(number - 1), Some("{}"), "{error}");
    }

    #[test]
    fn what_is_not_taken_is_not_checked() {
        let path = file(".jsonl", &[(61, "{\"prompt\": ")]);
        let checked = check(&path, "", Some(60)).expect("60 good ones");
        assert_eq!(
            checked,
            CheckedData { records: 60, skipped: 0, spread: 0, rest: RestOfFile::Beyond }
        );
        let error = check(&path, "", Some(61)).expect_err("line 61").to_string();
        assert!(error.contains(":61: not valid JSON"), "{error}");
    }

    #[test]
    fn a_large_array_that_is_cut_off_is_found() {
        let element = "{\"prompt\": \"why?\"},\n";
        let array = |end: &str| {
            let mut file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
            let text = format!("[{}{end}\n", element.repeat(500));
            io::Write::write_all(&mut file, text.as_bytes()).expect("written");
            check(file.path(), "", None)
        };
        let checked = array("{\"prompt\": \"last\"}]").expect("whole");
        assert_eq!((checked.spread, checked.rest), (0, RestOfFile::Later));
        let error = array("{\"prompt\": \"la").expect_err("cut off").to_string();
        assert!(error.contains(":501: the file ends inside the array"), "{error}");
    }

    #[test]
    fn a_file_without_line_ends_has_no_samples_and_no_error() {
        let long = format!("{{\"prompt\": \"{}\"}}\n", "x".repeat(5_000));
        let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile().expect("a file");
        io::Write::write_all(&mut file, long.repeat(2).as_bytes()).expect("written");
        let checked = check(file.path(), "", None).expect("good");
        assert_eq!((checked.records, checked.spread, checked.rest), (1, 1, RestOfFile::Later));
    }
}
