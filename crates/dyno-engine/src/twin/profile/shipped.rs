//! The twins that Dyno ships, and finding one by its name.

use super::Twin;
use crate::twin::files::TWINS;
use dyno_model::{Message, message};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

const DEFAULT: &str = "generic-7b-24gb";

/// How similar names must be to be suggested: the share of letter pairs in common.
const ALIKE: f64 = 0.5;

/// The largest file of a twin.
const LARGEST_FILE: u64 = 1 << 20;

fn read(path: &Path) -> Result<String, Message> {
    let failed = |error| {
        message!(
            "cannot read the twin file {}: {error}",
            "无法读取孪生模型文件 {}：{error}",
            path.display()
        )
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = String::new();
    file.take(LARGEST_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    match text.len() as u64 > LARGEST_FILE {
        true => Err(message!(
            "cannot read the twin file {path}: it is larger than 1 MiB",
            "无法读取孪生模型文件 {path}：文件超过 1 MiB",
            path = path.display()
        )),
        false => Ok(text),
    }
}

impl Twin {
    /// The shipped twin with that name, or the one in the file at that path.
    pub fn load(name_or_path: &str) -> Result<Self, Message> {
        if let Some((name, text)) = TWINS.iter().find(|(name, _)| *name == name_or_path) {
            return Self::parse(text, name);
        }
        let path = Path::new(name_or_path);
        let is_path = path.components().count() > 1 || path.extension().is_some();
        if !is_path && !path.is_file() {
            let near = near(name_or_path);
            return Err(message!(
                "there is no twin named `{name_or_path}`{meant}; `dyno twins` lists them, and your \
                 own file is given by its path, such as ./{name_or_path}.toml",
                "没有名为 `{name_or_path}` 的孪生模型{meant}；运行 `dyno twins` 查看全部孪生模型；\
                 自己的文件请写路径，例如 ./{name_or_path}.toml",
                meant = did_you_mean(&near),
            ));
        }
        Self::parse(&read(path)?, name_or_path)
    }

    /// Name and text of each shipped twin, in order of names.
    pub fn shipped() -> &'static [(&'static str, &'static str)] {
        TWINS
    }

    /// The name of the default twin.
    pub fn default_name() -> &'static str {
        DEFAULT
    }
}

fn did_you_mean(names: &[&str]) -> Message {
    match names {
        [] => Message::quoted(""),
        names => Message::new([
            format!(" (did you mean {}?)", names.join(" or ")),
            format!("（是否想写 {}？）", names.join(" 或 ")),
        ]),
    }
}

/// Up to three names of shipped twins that look most like `name`.
fn near(name: &str) -> Vec<&'static str> {
    let asked = pairs(name);
    let mut alike: Vec<(f64, &str)> = TWINS
        .iter()
        .map(|(known, _)| {
            let known_pairs = pairs(known);
            let common = asked.intersection(&known_pairs).count() as f64;
            (common / asked.len().min(known_pairs.len()).max(1) as f64, *known)
        })
        .filter(|(share, _)| *share >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.into_iter().take(3).map(|(_, name)| name).collect()
}

fn pairs(name: &str) -> BTreeSet<(char, char)> {
    let lower = name.to_lowercase();
    lower.chars().zip(lower.chars().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_twin_can_be_loaded_and_run() {
        for (name, _) in Twin::shipped() {
            let twin = Twin::load(name).unwrap();
            assert_eq!(twin.name, *name);
            twin.core(1).unwrap();
        }
        assert!(Twin::shipped().iter().any(|(name, _)| *name == Twin::default_name()));
        assert!(Twin::shipped().is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn a_slip_in_a_name_finds_the_name() {
        let slip = Twin::default_name().replacen('e', "", 1);
        let error = Twin::load(&slip).unwrap_err().to_string();
        assert!(error.contains(Twin::default_name()), "{error}");
        assert!(error.contains("`dyno twins`"), "{error}");
        let error = Twin::load("zzz").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn a_path_that_is_not_there_is_named() {
        let error = Twin::load("nowhere/twin.toml").unwrap_err().to_string();
        assert!(error.contains("nowhere/twin.toml"), "{error}");
        let error = Twin::load("twin.toml").unwrap_err().to_string();
        assert!(error.starts_with("cannot read the twin file twin.toml"), "{error}");
    }
}
