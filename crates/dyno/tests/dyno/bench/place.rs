//! A directory of a test's own: where the binary runs, and where its run directory is read back.

use dyno_model::frame::{Frame, LevelEnd};
use dyno_model::record::RequestRecord;
use dyno_record::RunDir;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Variables of the tester's that would change what the binary does.
pub(crate) const NOT_OURS: &[&str] = &[
    "DYNO_API_KEY",
    "COLUMNS",
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
];

/// A directory of a test's own.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file; its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `dyno`, with arguments as one text.
    pub(crate) fn dyno(&self, args: &str) -> Command {
        self.away(Command::new(env!("CARGO_BIN_EXE_dyno")), args)
    }

    /// `dyno bench URL …` into [`Place::run_dir`], with the summary as JSON on stdout, and the same
    /// arrivals and lengths each time.
    pub(crate) fn bench(&self, url: &str, args: &str) -> Command {
        self.dyno(&bench(url, args))
    }

    /// The same within limits that a shell sets first.
    pub(crate) fn bench_within(&self, limits: &str, url: &str, args: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\""));
        command.arg(env!("CARGO_BIN_EXE_dyno"));
        self.away(command, &bench(url, args))
    }

    fn away(&self, mut command: Command, args: &str) -> Command {
        command.args(args.split_whitespace()).current_dir(self.path());
        for name in NOT_OURS {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.path().join("run")
    }

    /// One of the run's JSON files.
    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Value {
        let path = self.run_dir().join(name);
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Every frame of the run's records; none before they begin.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let records = std::fs::metadata(self.run_dir().join("records.dyno"));
        if records.is_ok_and(|file| file.len() == 0) {
            return Vec::new();
        }
        RunDir::open(self.run_dir()).unwrap().records().unwrap().collect()
    }

    /// Every request of the run's records, in the order in which they ended.
    pub(crate) fn requests(&self) -> Vec<RequestRecord> {
        let requests = self.frames().into_iter().filter_map(|frame| match frame {
            Frame::Request(record) => Some(*record),
            _ => None,
        });
        requests.collect()
    }

    /// The ends of the run's levels.
    pub(crate) fn level_ends(&self) -> Vec<LevelEnd> {
        let ends = self.frames().into_iter().filter_map(|frame| match frame {
            Frame::LevelEnd(end) => Some(*end),
            _ => None,
        });
        ends.collect()
    }

    /// Every file of the run, by name.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(self.run_dir()).unwrap().map(|entry| entry.unwrap());
        let read = |path: PathBuf| std::fs::read(path).unwrap();
        entries.map(|e| (e.file_name().into_string().unwrap(), read(e.path()))).collect()
    }
}

/// The arguments of `dyno bench`, with a seed where there is none.
fn bench(url: &str, args: &str) -> String {
    let has_seed = ["--seed", "--config"].iter().any(|flag| args.contains(flag));
    let seed = if has_seed { "" } else { "--seed 0" };
    format!("bench {url} --out run --json --quiet {seed} {args}")
}

/// Finds `needle` in bytes.
pub(crate) fn holds(bytes: &[u8], needle: &str) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

/// The codes of a list of notes or reasons.
pub(crate) fn codes(list: &Value) -> Vec<String> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item["code"].as_str().unwrap().to_owned()).collect()
}

/// What became of a level's arrivals, added up.
pub(crate) fn accounted(level: &Value) -> u64 {
    let count = |name: &str| level["requests"][name].as_u64().unwrap();
    count("completed") + count("failed") + count("shed") + count("dropped") + count("censored")
}
