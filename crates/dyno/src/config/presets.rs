//! Presets: named settings that ship with Dyno. Each is a file in `presets/`, read like that of
//! `--config`, with a table `about`.

use super::{COMMANDS, Setting, file};
use crate::args::Cli;
use crate::usage::UsageError;
use clap::{Command, CommandFactory};
use dyno_form::entries::{self, SettingEntry};
use dyno_model::Language;
use serde_json::Value;

/// A preset.
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    text: &'static str,
}

macro_rules! presets {
    ($($name:literal),*) => {
        [$(Preset { name: $name, text: include_str!(concat!("presets/", $name, ".toml")) }),*]
    };
}

/// All of them.
pub(crate) const PRESETS: &[Preset] = &presets!["quick", "nightly"];

/// The one of that name.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl Preset {
    /// Its settings for a command; it may have some for others.
    pub(super) fn settings(&self, command: &Command) -> Result<Vec<Setting>, UsageError> {
        let settings = self.entries().into_iter().filter(|entry| entry.key != "about");
        file::of_entries(command, self.name, settings.collect()).map(|(settings, _)| settings)
    }

    fn entries(&self) -> Vec<SettingEntry> {
        entries::of_toml(self.text).unwrap_or_default()
    }

    fn about(&self, what: &str) -> Value {
        let about = self.entries().into_iter().find(|entry| entry.key == "about");
        about.map(|about| about.value[what].clone()).unwrap_or_default()
    }

    fn text(&self, what: &str, language: Language) -> String {
        let text = &self.about(what)[language.choose([0, 1])];
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Increases when its settings change.
    pub(crate) fn version(&self) -> u64 {
        self.about("version").as_u64().unwrap_or_default()
    }

    /// What it is for.
    pub(crate) fn summary(&self, language: Language) -> String {
        self.text("summary", language)
    }

    /// A file for `--config` with the same settings, and the flags that they stand for.
    pub(crate) fn page(&self, language: Language) -> String {
        let (name, version) = (self.name, self.version());
        let mut page = format!("# {name} {version}: {}\n", self.summary(language));
        page.push_str(&format!("# {}\n#\n", self.text("source", language)));
        let cli = Cli::command();
        for command in COMMANDS.iter().filter_map(|name| cli.find_subcommand(name)) {
            let settings = self.settings(command).unwrap_or_default();
            let flags: String = settings.iter().map(Setting::flags).collect();
            page.push_str(&format!("# dyno {}{flags}\n", command.get_name()));
        }
        page.push('\n');
        page + self.text.split("\n[about]").next().unwrap_or_default()
    }
}
