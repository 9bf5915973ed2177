//! The files that prompts are made from, and whether they are still what they were when the run began: levels
//! with different prompts cannot be compared. How they reach agents belongs to the fleet.

use super::{Workload, lock};
use crate::error::RunError;
use dyno_model::environment::FileDigest;
use dyno_model::plan::Plan;
use dyno_model::{Message, message};
use dyno_workload::agentic::files_at;
use dyno_workload::data::DataSpec;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) const DATA: &str = "data";
pub(crate) const TOKENIZER: &str = "tokenizer";
/// What a tokenizer consists of, beside its main file.
const BESIDE: [&str; 6] = [
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "chat_template.json",
    "config.json",
];

/// The files of a plan: the name that they have in it, and where they are.
pub(crate) fn of_plan(plan: &Plan) -> Result<Vec<(&'static str, PathBuf)>, Message> {
    let mut files = Vec::new();
    let spec = plan.data.spec.as_deref().map(str::parse::<DataSpec>).transpose();
    // Standard input is no file: it is kept in memory.
    let spec = spec.map_err(Message::of)?.filter(|spec| !spec.is_stdin());
    if let Some(path) = spec.and_then(|spec| spec.path) {
        files.push((DATA, path));
    }
    if let Some(given) = plan.data.tokenizer.as_deref().map(Path::new) {
        let folder = if given.is_dir() { Some(given) } else { given.parent() };
        if !given.is_dir() {
            files.push((TOKENIZER, given.to_owned()));
        }
        let beside = folder.into_iter().flat_map(|folder| BESIDE.map(|name| folder.join(name)));
        let beside = beside.filter(|path| path != given && path.is_file());
        files.extend(beside.map(|path| (TOKENIZER, path)));
    }
    Ok(files)
}

/// A file, or all files of a folder, by contents; the reason if it cannot be read.
pub(crate) fn digest(role: &str, path: &Path) -> Result<FileDigest, Message> {
    let bare = path.file_name().map_or_else(String::new, |name| plain(&name.to_string_lossy()));
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    if path.is_dir() {
        for (name, file) in in_folder(path)? {
            hash.update(name.as_bytes());
            hash.update([0]);
            bytes += add_contents(&mut hash, &file)?;
        }
    } else {
        bytes = add_contents(&mut hash, path)?;
    }
    Ok(FileDigest { name: format!("{role}/{bare}"), sha256: hex(&hash.finalize()), bytes })
}

fn add_contents(hash: &mut Sha256, path: &Path) -> Result<u64, Message> {
    let failed = |error: io::Error| message!("{}: {error}", "{}：{error}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(bytes),
            count => {
                hash.update(&buffer[..count]);
                bytes += count as u64;
            }
        }
    }
}

/// The files of a folder, each with its name in it: plain names, one for each folder on the way.
pub(crate) fn in_folder(folder: &Path) -> Result<Vec<(String, PathBuf)>, Message> {
    let files = files_at(folder).map_err(Message::of)?;
    let name = |file: &PathBuf| {
        let below = file.strip_prefix(folder).unwrap_or(file);
        let parts = below.iter().map(|part| distinct(&part.to_string_lossy()));
        parts.collect::<Vec<_>>().join("/")
    };
    Ok(files.into_iter().map(|file| (name(&file), file)).collect())
}

/// A plain name that no other name has: what was left out of it is in a hash.
fn distinct(name: &str) -> String {
    match plain(name) {
        same if same == name => same,
        plain => format!("{plain}-{}", &hex(&Sha256::digest(name.as_bytes()))[..8]),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file name without anything that has a meaning in paths.
pub(crate) fn plain(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let kept: String = name.chars().map(|c| if safe(c) { c } else { '_' }).take(200).collect();
    kept.trim_start_matches('.').to_owned()
}

/// A data file that each level reads, as it was when the run began.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    path: PathBuf,
    /// While these are the same, so are its contents.
    seen: Option<Seen>,
    digest: FileDigest,
}

/// What changes with a file's contents, or when another file takes its place.
type Seen = (u64, u64, SystemTime);

/// Of a folder, nothing tells but its contents.
fn seen(path: &Path) -> Option<Seen> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((found.ino(), found.len(), found.modified().ok()?))
}

impl Watched {
    fn check(&self) -> Result<(), Message> {
        let now = seen(&self.path);
        if now.is_some() && now == self.seen {
            return Ok(());
        }
        match digest(DATA, &self.path)? {
            same if same == self.digest => Ok(()),
            _ => Err(message!(
                "`{}` changed while the run was going on, so its levels would have different prompts; what \
                 was measured before is kept, and a new run takes the file as it is now",
                "`{}` 在测试进行中发生了变化，各档位的提示词将不同；此前的测量结果已保留，\
                 重新测试将使用现在的文件",
                self.path.display(),
            )),
        }
    }
}

impl Workload {
    /// Takes the digests of the files of a plan, and of the one to watch. A run that is resumed must have
    /// those with which it began.
    pub(crate) fn settle_files(
        &mut self,
        plan: &Plan,
        begun_with: Option<&[FileDigest]>,
    ) -> Result<Vec<FileDigest>, RunError> {
        let wrong = |why: Message| RunError::setting("--data", why);
        let mut digests = Vec::new();
        for (role, path) in of_plan(plan).map_err(wrong)? {
            // A pipe can be read only once.
            if !path.is_file() && !path.is_dir() {
                continue;
            }
            let seen = seen(&path);
            let digest = digest(role, &path).map_err(wrong)?;
            let before = begun_with.and_then(|files| files.iter().find(|f| f.name == digest.name));
            if before.is_some_and(|before| *before != digest) {
                return Err(RunError::setting(
                    "--resume",
                    message!(
                        "`{}` is not the file with which this run began (its SHA-256 differs); put that one \
                         back, or start a new run",
                        "`{}` 不是本次测试开始时的文件（SHA-256 不同）；请恢复原文件，或重新测试",
                        path.display(),
                    ),
                ));
            }
            // Traces are read whole when they are opened, and agents on a bus have copies.
            let on_bus = plan.fleet.as_ref().is_some_and(|fleet| fleet.bus);
            if role == DATA
                && (self.source.selection().is_some() || self.source.trees().is_some())
                && !on_bus
            {
                self.watched = Some(Watched { path, seen, digest: digest.clone() });
            }
            digests.push(digest);
        }
        Ok(digests)
    }

    /// Whether the data file is still what it was when the run began; otherwise the data end here.
    pub(crate) fn is_unchanged(&self) -> bool {
        match self.watched.as_ref().map(Watched::check) {
            None | Some(Ok(())) => true,
            Some(Err(why)) => {
                self.fail(why);
                false
            }
        }
    }

    /// The data end here, for this reason.
    pub(crate) fn fail(&self, why: Message) {
        lock(&self.account).error.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Target;

    fn of_file(path: &Path) -> (Plan, Workload) {
        let mut plan = Plan::new(Target::engine("plain"));
        plan.data.spec = Some(format!("lines:{}", path.display()));
        let workload = Workload::open(&plan).unwrap();
        (plan, workload)
    }

    #[test]
    fn a_data_file_that_changes_is_noticed_and_one_that_is_touched_is_not_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dc.txt");
        fs::write(&path, "one\ntwo\n").unwrap();
        let (plan, mut workload) = of_file(&path);
        let began = workload.settle_files(&plan, None).unwrap();
        assert_eq!((began[0].name.as_str(), began[0].bytes), ("data/dc.txt", 8));
        assert!(workload.is_unchanged());
        // The same contents in another file, with another time.
        fs::write(folder.path().join("other"), "one\ntwo\n").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert!(workload.is_unchanged());
        // The same length.
        fs::write(&path, "one\nTWO\n").unwrap();
        assert!(!workload.is_unchanged());
        let why = workload.error().unwrap().to_string();
        assert!(why.contains("dc.txt` changed while the run was going on"), "{why}");
        let (plan, mut resumed) = of_file(&path);
        let error = resumed.settle_files(&plan, Some(&began)).unwrap_err().to_string();
        assert!(error.starts_with("--resume: ") && error.contains("SHA-256 differs"), "{error}");
        // Runs of older versions have no digests.
        assert!(resumed.settle_files(&plan, Some(&[])).is_ok());
    }
}
