//! Opens a file, decompresses it and skips its byte order mark. What is not text is refused with a
//! message that says what it is.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use dyno_model::{Message, message};
use flate2::bufread::MultiGzDecoder;

use super::at::At;
use super::error::DataError;
use super::spec::DataKind;
use super::zstd::Frames;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// What a stream of bytes came from.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// Its name in messages.
    pub(super) name: Arc<Message>,
    /// How it was compressed.
    pub(super) compression: Option<Compression>,
}

impl Origin {
    pub(super) fn name(&self) -> Message {
        (*self.name).clone()
    }

    /// The error for a read that failed after `line` whole lines.
    pub(super) fn failed(&self, source: io::Error, line: u64) -> DataError {
        match self.compression {
            Some(compression) => {
                let own = source.get_ref().and_then(|error| error.downcast_ref::<Message>());
                let what = own.cloned().unwrap_or_else(|| Message::quoted(&source));
                DataError::Damaged { path: self.name(), compression, line, what }
            }
            None => DataError::Read { path: self.name(), source },
        }
    }
}

/// A stream of text, decompressed, without its byte order mark.
pub(super) struct Source {
    pub(super) reader: Box<dyn BufRead + Send>,
    pub(super) origin: Origin,
    pub(super) parquet: bool,
}

const BUFFER: usize = 256 * 1024;

impl Source {
    /// Text that is part of the program.
    pub(super) fn builtin(name: &Message, text: &'static str) -> Self {
        let origin = Origin { name: Arc::new(name.clone()), compression: None };
        Self { reader: Box::new(text.as_bytes()), origin, parquet: false }
    }

    /// A file that was read into memory.
    pub(super) fn memory(name: &Message, bytes: &Arc<[u8]>) -> Result<Self, DataError> {
        Self::through(Box::new(io::Cursor::new(bytes.clone())), name.clone())
    }

    /// A file.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let file = open_file(path)?;
        let name = Message::quoted(path.display());
        Self::through(Box::new(BufReader::with_capacity(BUFFER, file)), name)
    }

    fn through(mut raw: Box<dyn BufRead + Send>, name: Message) -> Result<Self, DataError> {
        let mut origin = Origin { name: Arc::new(name), compression: None };
        let magic = peek(&mut raw, &origin)?;
        let is_zstd = magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
            || (magic.len() > 3 && magic[0] >> 4 == 5 && magic[1..4] == [0x2a, 0x4d, 0x18]);
        let mut reader: Box<dyn BufRead + Send> = if magic.starts_with(&[0x1f, 0x8b]) {
            origin.compression = Some(Compression::Gzip);
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw)))
        } else if is_zstd {
            origin.compression = Some(Compression::Zstd);
            Box::new(BufReader::with_capacity(BUFFER, Frames::new(raw)))
        } else {
            raw
        };
        let head = peek(&mut reader, &origin)?;
        if head.is_empty() {
            return Err(DataError::Empty(origin.name()));
        }
        refuse_archives(&head, &origin)?;
        if head.starts_with(&[0xef, 0xbb, 0xbf]) {
            reader.consume(3);
            if peek(&mut reader, &origin)?.is_empty() {
                return Err(DataError::Empty(origin.name()));
            }
        }
        let parquet = head.starts_with(b"PAR1");
        if !parquet {
            refuse_wide_characters(&head, &origin)?;
        }
        Ok(Self { reader, origin, parquet })
    }

    /// The first bytes, up to `limit`, and whether they are the whole stream. Consumes the stream.
    pub(super) fn head(mut self, limit: usize) -> Result<(Vec<u8>, bool), DataError> {
        let mut head = Vec::new();
        let wanted = limit as u64 + 1;
        let read = (&mut self.reader).take(wanted).read_to_end(&mut head);
        if let Err(error) = read {
            let lines = memchr::memchr_iter(b'\n', &head).count() as u64;
            // What could be read is enough to recognise the layout; the damage is reported later.
            if lines == 0 {
                return Err(self.origin.failed(error, 0));
            }
        }
        let whole = head.len() <= limit;
        head.truncate(limit);
        Ok((head, whole))
    }
}

/// A regular file with something in it.
pub(super) fn open_file(path: &Path) -> Result<File, DataError> {
    let name = || path.display().to_string();
    let said = || Message::quoted(path.display());
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = match DataKind::near(&name()) {
                Some(kind) => message!(
                    "for the kind {kind}, write {kind} or {kind}:PATH",
                    "如果指类型 {kind}，请写 {kind} 或 {kind}:PATH"
                ),
                None => message!(
                    "check the path, and from which directory it is read",
                    "请检查路径以及当前所在目录"
                ),
            };
            return Err(DataError::NotFound { path: name(), hint });
        }
        found => found.map_err(|source| DataError::LookAt { path: said(), source })?,
    };
    if about.is_dir() {
        return Err(DataError::Directory { path: name(), example: file_in(path) });
    }
    if !about.is_file() {
        return Err(DataError::NotAFile(name()));
    }
    if about.len() == 0 {
        return Err(DataError::Empty(said()));
    }
    File::open(path).map_err(|source| DataError::Open { path: said(), source })
}

fn file_in(directory: &Path) -> Option<String> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && may_be_data(path))
        .collect();
    files.sort();
    files.first().map(|path| path.display().to_string())
}

/// What files of data are called. A .txt may be data as well, and is more often something else.
const EXTENSIONS: [&str; 4] = ["jsonl", "json", "csv", "parquet"];

/// Whether a file is called like data, perhaps compressed.
fn may_be_data(path: &Path) -> bool {
    let extension = |path: &Path| path.extension().and_then(|one| one.to_str().map(str::to_owned));
    let packed = extension(path).filter(|one| ["gz", "zst"].contains(&one.as_str()));
    let own = match packed {
        Some(_) => path.file_stem().and_then(|stem| extension(Path::new(stem))),
        None => extension(path),
    };
    own.is_some_and(|own| EXTENSIONS.contains(&own.to_lowercase().as_str()))
}

fn peek(reader: &mut dyn BufRead, origin: &Origin) -> Result<Vec<u8>, DataError> {
    loop {
        match reader.fill_buf() {
            Ok(bytes) => return Ok(bytes[..bytes.len().min(512)].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(origin.failed(error, 0)),
        }
    }
}

fn refuse_archives(head: &[u8], origin: &Origin) -> Result<(), DataError> {
    let is_tar = head.get(257..263) == Some(b"ustar\0") || head.get(257..265) == Some(b"ustar  \0");
    let (what, tool) = match head {
        // Including the zero byte, which text does not have.
        _ if is_tar => (message!("a tar archive", "tar 归档"), "tar -x"),
        [b'P', b'K', 3, 4, ..] => (message!("a zip archive", "zip 压缩包"), "unzip"),
        [b'B', b'Z', b'h', ..] => (message!("compressed with bzip2", "bzip2 压缩文件"), "bunzip2"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            (message!("compressed with xz", "xz 压缩文件"), "unxz")
        }
        [b'7', b'z', 0xbc, 0xaf, 0x27, ..] => (message!("a 7z archive", "7z 压缩包"), "7z x"),
        [4, 0x22, 0x4d, 0x18, ..] => (message!("compressed with lz4", "lz4 压缩文件"), "unlz4"),
        _ => return Ok(()),
    };
    let fix = message!(
        "unpack it with {tool} first (gzip and zstd are read as they are)",
        "请先用 {tool} 解压（gzip 和 zstd 可直接读取）"
    );
    Err(DataError::Archive { path: origin.name(), what, fix })
}

fn refuse_wide_characters(head: &[u8], origin: &Origin) -> Result<(), DataError> {
    let marked = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    let what = if marked {
        message!("the text is UTF-16", "文本是 UTF-16")
    } else if memchr::memchr(0, head).is_some() {
        message!(
            "there are zero bytes, so this is UTF-16 or not text",
            "含有零字节，因此是 UTF-16 或不是文本"
        )
    } else {
        return Ok(());
    };
    Err(DataError::Encoding { at: At::line(&origin.name, 1), what, from: "UTF-16" })
}
