//! A folder of traces of coding agents in WEKA's form, with the statistics of the published ones: to see what reading,
//! describing and replaying hundreds of them takes, where the published ones are not at hand. The trees are those that
//! Dyno generates; what only recordings have is added in `rough`.

mod rough;
mod written;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use dyno_model::SEC;
use dyno_workload::agentic::{AgenticOptions, GeneratedTrees, Tree};
use dyno_workload::random::key::Key;
use dyno_workload::random::lengths::Lengths;
use dyno_workload::session::Think;
use rough::Roughness;
use written::trace;

const HELP: &str = "\
cargo study weka FOLDER [--files N] [--seed N] [--scale X]
                    writes N traces (739) into a folder that is empty or new; X times as long prompts and
                    responses (1)";

/// Files of the published folder, and how many of them repeat another.
const FILES: u64 = 739;
const COPIES: f64 = 18.0 / 739.0;
/// How many sessions are repeated, and how long they are at least.
const COPIED: usize = 5;
const COPIED_TURNS: usize = 100;
/// The share of files with sub-agents.
const WITH_SUBAGENTS: f64 = 17.0 / 710.0;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut folder, mut files, mut seed, mut scale) = (None, FILES, 1, 1.0);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("{argument} needs a value\n{HELP}"));
        match argument.as_str() {
            "--files" => files = value()?.parse().context("--files is a number of files")?,
            "--seed" => seed = value()?.parse().context("--seed is a whole number")?,
            "--scale" => scale = value()?.parse().context("--scale is a number such as 0.1")?,
            other if !other.starts_with('-') && folder.is_none() => folder = Some(other.to_owned()),
            other => bail!("{other}: not known\n{HELP}"),
        }
    }
    let folder = folder.with_context(|| format!("which folder?\n{HELP}"))?;
    ensure!((0.001..=4.0).contains(&scale), "--scale {scale} is not within 0.001 to 4");
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    ensure!(fs::read_dir(folder)?.next().is_none(), "{} is not empty", folder.display());
    let mut made = Made::new(seed, scale)?;
    for number in 0..files {
        let name = format!("trace_{:04}", number + 1);
        let path = folder.join(format!("{name}.json"));
        let mut out = BufWriter::new(File::create(&path)?);
        serde_json::to_writer(&mut out, &made.next(&name, number, files))?;
        out.flush().with_context(|| path.display().to_string())?;
    }
    println!("{files} traces in {}", folder.display());
    Ok(())
}

/// What the files are made of.
struct Made {
    plain: GeneratedTrees,
    branching: GeneratedTrees,
    seed: u64,
    /// Places of the sessions that are repeated.
    long: Vec<u64>,
}

impl Made {
    fn new(seed: u64, scale: f64) -> Result<Self> {
        let lengths = |median: f64, sigma: f64| -> Result<Lengths> {
            Ok(format!("lognormal({},{sigma})", (median * scale).max(1.0)).parse()?)
        };
        let tokens = |count: f64| (count * scale).round().max(1.0);
        let plain = AgenticOptions {
            turns: "lognormal(30,1.3)".parse()?,
            system: format!("{}-{}", tokens(8_000.0), tokens(15_000.0)).parse()?,
            first: lengths(6_000.0, 1.8)?,
            growth: lengths(600.0, 1.9)?,
            output: lengths(220.0, 1.2)?,
            gap: Think::LogNormal(10 * SEC, 2.04),
            subagents: 0.0,
            trim: 0.107,
            cut: 0.008,
            context: tokens(260_000.0) as u32,
            ..AgenticOptions::default()
        };
        let branching =
            AgenticOptions { turns: "40-200".parse()?, subagents: 0.02, ..plain.clone() };
        let key = Key::new(seed, 0);
        Ok(Self {
            plain: GeneratedTrees::new(plain, key),
            branching: GeneratedTrees::new(branching, key),
            seed,
            long: Vec::new(),
        })
    }

    /// The trace of a file. The last ones repeat earlier ones.
    fn next(&mut self, name: &str, number: u64, files: u64) -> serde_json::Value {
        let copies = (files as f64 * COPIES).round() as u64;
        if number + copies >= files && !self.long.is_empty() {
            let copied = self.long[(number % self.long.len() as u64) as usize];
            return trace(name, &self.tree(copied), &mut Roughness::new(self.seed, copied));
        }
        let tree = self.tree(number);
        if tree.turns() >= COPIED_TURNS && self.long.len() < COPIED {
            self.long.push(number);
        }
        trace(name, &tree, &mut Roughness::new(self.seed, number))
    }

    fn tree(&self, number: u64) -> Tree {
        let branches = Roughness::new(self.seed ^ 1, number).happens(WITH_SUBAGENTS);
        if branches { &self.branching } else { &self.plain }.tree(number)
    }
}
