//! The files that a plan names, on the way to agents that do not have them. An agent gets contents, never
//! paths: what arrives lies in a folder of its own, under the file's bare name.

use crate::workload::Places;
use dyno_fleet::{FileRef, FromAgent, Order, PIECE, Post};
use dyno_model::plan::Plan;
use dyno_workload::data::DataSpec;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const DATA: &str = "data";
const TOKENIZER: &str = "tokenizer";
/// What a tokenizer consists of, beside its main file.
const BESIDE: [&str; 6] = [
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "chat_template.json",
    "config.json",
];
/// The largest file that an agent accepts.
const MOST_BYTES: u64 = 64 << 30;
const MOST_FILES: usize = 32;
/// How long the next piece may take.
const PIECE_WITHIN: Duration = Duration::from_secs(30);

/// The files of a plan.
#[derive(Debug, Default)]
pub(super) struct Files(Vec<(FileRef, PathBuf)>);

impl Files {
    /// Finds and hashes the files of a plan.
    pub(super) fn of(plan: &Plan) -> Result<Self, String> {
        let mut files = Self::default();
        let spec = plan.data.spec.as_deref().map(str::parse::<DataSpec>).transpose();
        if let Some(path) = spec.map_err(|error| error.to_string())?.and_then(|spec| spec.path) {
            files.add(DATA, &path)?;
        }
        if let Some(given) = plan.data.tokenizer.as_deref().map(Path::new) {
            let folder = if given.is_dir() { Some(given) } else { given.parent() };
            if !given.is_dir() {
                files.add(TOKENIZER, given)?;
            }
            let beside = folder.into_iter().flat_map(|folder| BESIDE.map(|name| folder.join(name)));
            for path in beside.filter(|path| path != given && path.is_file()) {
                files.add(TOKENIZER, &path)?;
            }
        }
        Ok(files)
    }

    fn add(&mut self, role: &str, path: &Path) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let bare: String =
            path.file_name().map_or_else(String::new, |name| plain(&name.to_string_lossy()));
        let mut file = File::open(path).map_err(failed)?;
        let (mut hash, mut buffer, mut size) = (Sha256::new(), vec![0; 1 << 20], 0);
        loop {
            let count = file.read(&mut buffer).map_err(failed)?;
            if count == 0 {
                break;
            }
            hash.update(&buffer[..count]);
            size += count as u64;
        }
        let file = FileRef { name: format!("{role}/{bare}"), hash: hex(&hash.finalize()), size };
        self.0.push((file, path.to_owned()));
        Ok(())
    }

    pub(super) fn refs(&self) -> Vec<FileRef> {
        self.0.iter().map(|(file, _)| file.clone()).collect()
    }

    /// The piece of the file with this hash that begins at a position.
    pub(super) fn piece(&self, hash: &str, from: u64) -> Result<Vec<u8>, String> {
        let found = self.0.iter().find(|(file, _)| file.hash == hash);
        let (_, path) = found.ok_or("it asks for a file that is not part of the run")?;
        piece(path, from).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// A piece of a file.
pub(super) fn piece(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(PIECE as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Files that have arrived; removed when this is dropped.
#[derive(Debug)]
pub(super) struct Fetched {
    _folder: TempDir,
    pub(super) places: Places,
}

impl Fetched {
    /// Fetches all files; the reason if one does not arrive whole.
    pub(super) fn all(files: &[FileRef], post: &Post) -> Result<Self, String> {
        if files.len() > MOST_FILES {
            return Err(format!("{} files; at most {MOST_FILES} are accepted", files.len()));
        }
        let folder = tempfile::Builder::new().prefix("dyno-files-").tempdir();
        let folder = folder.map_err(|error| format!("a folder for files: {error}"))?;
        let mut places = Places::default();
        for file in files {
            let (role, bare) = checked(&file.name)?;
            let within = folder.path().join(role);
            fs::create_dir_all(&within).map_err(|error| error.to_string())?;
            let path = within.join(bare);
            fetch(file, &path, post).map_err(|why| format!("{}: {why}", file.name))?;
            let place = if role == DATA { &mut places.data } else { &mut places.tokenizer };
            // The first file of a tokenizer is its main one.
            place.get_or_insert(path);
        }
        Ok(Self { _folder: folder, places })
    }
}

/// The role and the bare name of a file; nothing that could lead elsewhere.
fn checked(name: &str) -> Result<(&str, &str), String> {
    let parts = name.split_once('/');
    let parts = parts.filter(|(role, bare)| {
        [DATA, TOKENIZER].contains(role) && !bare.is_empty() && plain(bare) == *bare
    });
    parts.ok_or_else(|| "a file with a strange name".to_owned())
}

/// A file name without anything that has a meaning in paths.
fn plain(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let kept: String = name.chars().map(|c| if safe(c) { c } else { '_' }).take(200).collect();
    kept.trim_start_matches('.').to_owned()
}

fn fetch(file: &FileRef, path: &Path, post: &Post) -> Result<(), String> {
    if file.size > MOST_BYTES {
        return Err(format!("{} bytes; at most {MOST_BYTES} are accepted", file.size));
    }
    let failed = |error: io::Error| error.to_string();
    let mut out = File::create(path).map_err(failed)?;
    let (mut hash, mut from) = (Sha256::new(), 0);
    while from < file.size {
        post.say(&FromAgent::Wants { hash: file.hash.clone(), from }, &[])?;
        let bytes = loop {
            match post.next_within(PIECE_WITHIN) {
                Some(Order::File { hash, from: at, bytes }) if hash == file.hash && at == from => {
                    break bytes;
                }
                Some(Order::Leave { why, .. }) => return Err(why),
                Some(_) => {}
                None => return Err("the next piece did not arrive".to_owned()),
            }
        };
        if bytes.is_empty() || from + bytes.len() as u64 > file.size {
            return Err("it is not as long as announced".to_owned());
        }
        hash.update(&bytes);
        out.write_all(&bytes).map_err(failed)?;
        from += bytes.len() as u64;
    }
    match hex(&hash.finalize()) == file.hash {
        true => Ok(()),
        false => Err("its contents are not those announced (SHA-256 differs)".to_owned()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
