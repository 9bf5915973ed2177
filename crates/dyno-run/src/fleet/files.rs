//! The files that a plan names, on the way to agents that do not have them. An agent gets contents, never
//! paths: what arrives lies in a folder of its own, under the file's bare name.

use super::folder::Folder;
use crate::workload::Places;
use crate::workload::files::{DATA, TOKENIZER, digest, hex, in_folder, of_plan, plain};
use dyno_fleet::{AgentOrder, FileRef, FromAgent, PIECE, Post};
use dyno_model::environment::FileDigest;
use dyno_model::plan::Plan;
use dyno_model::{Message, message};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most that an agent accepts, all files of a run together.
const MOST_BYTES: u64 = 64 << 30;
const MOST_FILES: usize = 10_000;
/// What a folder of a plan is called where its files arrive.
const FOLDER: &str = "folder";
/// How deep the files of a folder may lie.
const DEEPEST: usize = 18;
/// How long the next piece may take.
const PIECE_WITHIN: Duration = Duration::from_secs(30);

/// The files of a plan.
#[derive(Debug, Default)]
pub(super) struct Files(Vec<(FileRef, PathBuf)>);

impl Files {
    /// Finds and hashes the files of a plan.
    pub(super) fn of(plan: &Plan) -> Result<Self, Message> {
        let mut files = Self::default();
        for (role, path) in of_plan(plan)? {
            if path.is_dir() {
                files.add_folder(role, &path)?;
            } else {
                files.add(role, &path)?;
            }
        }
        Ok(files)
    }

    fn add_folder(&mut self, role: &str, path: &Path) -> Result<(), Message> {
        for (name, file) in in_folder(path)? {
            let FileDigest { sha256: hash, bytes: size, .. } = digest(role, &file)?;
            self.0.push((FileRef { name: format!("{role}/{FOLDER}/{name}"), hash, size }, file));
        }
        Ok(())
    }

    fn add(&mut self, role: &str, path: &Path) -> Result<(), Message> {
        let FileDigest { name, sha256: hash, bytes: size } = digest(role, path)?;
        self.0.push((FileRef { name, hash, size }, path.to_owned()));
        Ok(())
    }

    pub(super) fn refs(&self) -> Vec<FileRef> {
        self.0.iter().map(|(file, _)| file.clone()).collect()
    }

    /// The piece of the file with this hash that begins at a position.
    pub(super) fn piece(&self, hash: &str, from: u64) -> Result<Vec<u8>, Message> {
        let found = self.0.iter().find(|(file, _)| file.hash == hash);
        let (_, path) = found.ok_or_else(|| {
            message!("it asks for a file that is not part of the run", "它请求的文件不属于此测试",)
        })?;
        piece(path, from).map_err(|error| message!("{}: {error}", "{}：{error}", path.display()))
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
    _folder: Folder,
    pub(super) places: Places,
}

impl Fetched {
    /// Fetches all files; the reason if one does not arrive whole.
    pub(super) fn all(files: &[FileRef], post: &Post) -> Result<Self, Message> {
        if files.len() > MOST_FILES {
            return Err(message!(
                "{} files; at most {MOST_FILES} are accepted",
                "{} 个文件；最多接受 {MOST_FILES} 个",
                files.len(),
            ));
        }
        let folder = Folder::of_files()
            .map_err(|error| message!("a folder for files: {error}", "存放文件的目录：{error}"))?;
        fits(files, dyno_net::free_space(folder.path()), folder.path())?;
        let mut places = Places::default();
        for file in files {
            let (role, below) = checked(&file.name)?;
            let within = folder.path().join(role);
            let path = below.iter().fold(within.clone(), |path, part| path.join(part));
            fs::create_dir_all(path.parent().unwrap_or(&within)).map_err(Message::of)?;
            fetch(file, &path, post)
                .map_err(|why| message!("{}: {why}", "{}：{why}", file.name))?;
            let place = if role == DATA { &mut places.data } else { &mut places.tokenizer };
            // The first file of a tokenizer is its main one, and a folder is read as a whole.
            place.get_or_insert(below.first().map_or(path, |first| within.join(first)));
        }
        Ok(Self { _folder: folder, places })
    }
}

/// The role and the bare name of a file, of one in a folder with the names on its way; nothing that could lead
/// elsewhere.
fn checked(name: &str) -> Result<(&str, Vec<&str>), Message> {
    let strange = || message!("a file with a strange name", "文件名异常");
    let (role, below) = name.split_once('/').ok_or_else(strange)?;
    let below: Vec<&str> = below.split('/').collect();
    let is_plain = below.iter().all(|part| !part.is_empty() && plain(part) == *part);
    let in_folder = below.first() == Some(&FOLDER) && role == DATA;
    let depth = if in_folder { 2..=DEEPEST } else { 1..=1 };
    match [DATA, TOKENIZER].contains(&role) && is_plain && depth.contains(&below.len()) {
        true => Ok((role, below)),
        false => Err(strange()),
    }
}

/// Whether there is room for all files: others need some of the disk, too.
fn fits(files: &[FileRef], free: Option<u64>, within: &Path) -> Result<(), Message> {
    let all = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
    if all > MOST_BYTES {
        return Err(message!(
            "files of {all} bytes; at most {MOST_BYTES} are accepted",
            "文件共 {all} 字节；最多接受 {MOST_BYTES} 字节",
        ));
    }
    match free {
        Some(free) if all > free / 2 => Err(message!(
            "files of {all} bytes, and {free} are free in {place}, of which an agent uses half at most; set \
             TMPDIR to a larger disk",
            "文件共 {all} 字节，而 {place} 中可用 {free} 字节，压测端最多使用其一半；\
             请将 TMPDIR 设为更大的磁盘",
            place = within.parent().unwrap_or(within).display(),
        )),
        _ => Ok(()),
    }
}

fn fetch(file: &FileRef, path: &Path, post: &Post) -> Result<(), Message> {
    let failed = |error: io::Error| Message::of(error);
    let mut out = File::create(path).map_err(failed)?;
    let (mut hash, mut from) = (Sha256::new(), 0);
    while from < file.size {
        post.say(&FromAgent::Wants { hash: file.hash.clone(), from }, &[])?;
        let bytes = loop {
            match post.next_within(PIECE_WITHIN) {
                Some(AgentOrder::File { hash, from: at, bytes })
                    if hash == file.hash && at == from =>
                {
                    break bytes;
                }
                Some(AgentOrder::Leave { why, .. }) => return Err(why),
                Some(_) => {}
                None => {
                    return Err(message!("the next piece did not arrive", "下一段没有送达"));
                }
            }
        };
        if bytes.is_empty() || from + bytes.len() as u64 > file.size {
            return Err(message!("it is not as long as announced", "其长度与声明的不符"));
        }
        hash.update(&bytes);
        out.write_all(&bytes).map_err(failed)?;
        from += bytes.len() as u64;
    }
    match hex(&hash.finalize()) == file.hash {
        true => Ok(()),
        false => Err(message!(
            "its contents are not those announced (SHA-256 differs)",
            "其内容与声明的不符（SHA-256 不同）",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_fleet::{AgentLine, Arrived, ToAgent, decode, encode};
    use dyno_net::Clock;
    use std::sync::mpsc;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let deep = format!("data/folder/{}x.json", "a/".repeat(16));
        for good in [
            "data/a.jsonl",
            "tokenizer/tokenizer.json",
            "data/a-b_c.9",
            "data/folder/a.json",
            "data/folder/one/subagents/b.jsonl",
            &deep,
        ] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for strange in [
            "",
            "data",
            "data/",
            "/data/a",
            "data//a",
            "data/../a",
            "data/..",
            "data/.",
            "data/.hidden",
            "data//etc/passwd",
            "data/a/b",
            "data/a\\b",
            "data/a b",
            "data/a\0b",
            "data/ä",
            "other/a",
            "../data/a",
            "DATA/a",
            "data/other/a",
            "tokenizer/folder/a",
            "data/folder/../a",
            "data/folder//a",
            "data/folder/a/",
        ] {
            assert!(checked(strange).is_err(), "{strange:?}");
        }
        assert!(checked(&format!("data/{}", "a".repeat(201))).is_err());
        assert!(checked(&format!("data/folder/{}x", "a/".repeat(17))).is_err());
    }

    #[test]
    fn a_bare_name_has_nothing_with_a_meaning_in_paths() {
        for (name, expected) in [
            ("open_qa.jsonl", "open_qa.jsonl"),
            ("../../x", "_.._x"),
            ("a/b\\c d", "a_b_c_d"),
            (".bashrc", "bashrc"),
            ("..", ""),
            ("数据.csv", "__.csv"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
        assert_eq!(plain(&"a".repeat(300)).len(), 200);
    }

    fn hash(bytes: &[u8]) -> String {
        hex(&Sha256::digest(bytes))
    }

    /// Fetches these files from a coordinator that answers what an agent wants with `piece`.
    fn fetched(
        files: &[FileRef],
        mut piece: impl FnMut(&str, u64) -> Vec<u8> + Send + 'static,
    ) -> Result<Fetched, Message> {
        let (orders, inbox) = mpsc::channel();
        let sender = Box::new(move |packet: Vec<u8>| {
            if let Ok((FromAgent::Wants { hash, from }, _)) = decode(&packet) {
                let bytes = piece(&hash, from);
                let packet = encode(&ToAgent::File { hash, from }, &bytes).unwrap();
                let _ = orders.send(Arrived { at: 0, packet: Ok(packet) });
            }
            Ok(())
        });
        let post = Post::take(AgentLine::new(sender, inbox), Clock::start()).unwrap();
        Fetched::all(files, &post)
    }

    fn file(name: &str, bytes: &[u8]) -> FileRef {
        FileRef { name: name.to_owned(), hash: hash(bytes), size: bytes.len() as u64 }
    }

    #[test]
    fn files_arrive_whole_in_a_folder_of_their_own() {
        let large: Vec<u8> = (0..PIECE * 2 + 7).map(|at| at as u8).collect();
        let files = [file("data/large.bin", &large), file("tokenizer/tokenizer.json", b"{}")];
        let served = large.clone();
        let fetched = fetched(&files, move |wanted, from| match wanted == hash(b"{}") {
            true => b"{}".to_vec(),
            false => served[from as usize..].iter().copied().take(PIECE).collect(),
        });
        let fetched = fetched.unwrap();
        let data = fetched.places.data.clone().unwrap();
        assert_eq!(fs::read(&data).unwrap(), large);
        assert_eq!(fs::read(fetched.places.tokenizer.clone().unwrap()).unwrap(), b"{}");
        drop(fetched);
        assert!(!data.exists(), "removed with it");
    }

    #[test]
    fn what_is_not_as_announced_is_refused() {
        let announced = file("data/a.txt", b"one two");
        for (sent, words) in [
            (&b"one twO"[..], "contents are not those announced"),
            (b"one two three", "not as long as announced"),
            (b"", "not as long as announced"),
        ] {
            let error = fetched(std::slice::from_ref(&announced), move |_, _| sent.to_vec());
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with("data/a.txt: ") && error.contains(words), "{error}");
        }
        // Shorter: the rest is asked for, and does not come.
        let short = fetched(std::slice::from_ref(&announced), |_, from| match from {
            0 => b"one".to_vec(),
            _ => Vec::new(),
        });
        assert!(short.unwrap_err().to_string().contains("not as long as announced"));
        let unasked = |_: &str, _: u64| -> Vec<u8> { panic!("nothing is asked for") };
        let large = FileRef { size: MOST_BYTES / 2 + 1, ..announced.clone() };
        assert!(
            fetched(&[large.clone(), large], unasked).unwrap_err().to_string().contains("at most")
        );
        let strange = FileRef { name: "data/../a".to_owned(), ..announced.clone() };
        assert!(fetched(&[strange], unasked).unwrap_err().to_string().contains("strange name"));
        let many = vec![announced; MOST_FILES + 1];
        assert!(fetched(&many, unasked).unwrap_err().to_string().contains("10001 files"));
    }

    #[test]
    fn files_for_which_there_is_no_room_are_refused() {
        let files = [file("data/a", b"0123"), file("data/b", b"4567")];
        let fits = |free| fits(&files, free, Path::new("/tmp/dyno-files-x"));
        assert_eq!(fits(None), Ok(()));
        assert_eq!(fits(Some(16)), Ok(()));
        let why = fits(Some(15)).unwrap_err().to_string();
        assert_eq!(
            why,
            "files of 8 bytes, and 15 are free in /tmp, of which an agent uses half at most; set TMPDIR to \
             a larger disk"
        );
    }

    #[test]
    fn the_files_of_a_plan_are_sent_by_content_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("open qa.jsonl");
        fs::write(&path, "{\"prompt\": \"one\"}\n").unwrap();
        let mut files = Files::default();
        files.add(DATA, &path).unwrap();
        let refs = files.refs();
        assert_eq!((refs[0].name.as_str(), refs[0].size), ("data/open_qa.jsonl", 18));
        assert!(checked(&refs[0].name).is_ok());
        assert_eq!(files.piece(&refs[0].hash, 2).unwrap(), b"prompt\": \"one\"}\n");
        let other = files.piece(&hash(b"secret"), 0).unwrap_err().to_string();
        assert!(other.contains("not part of the run"), "{other}");
        let missing = files.add(DATA, &folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("none: No such file"), "{missing}");
        fs::remove_file(&path).unwrap();
        assert!(files.piece(&refs[0].hash, 0).unwrap_err().to_string().contains("No such file"));
    }
}
