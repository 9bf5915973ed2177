//! How often `dyno lint` is right: simulated results in the forms of other tools, as they are and with
//! one defect planted in each.

mod forms;
mod own;
mod planted;
mod random;
mod simulated;
mod stated;

use anyhow::{Context, Result, bail};
use forms::{FORMS, Form, Shape};
use planted::DEFECTS;
use random::Random;
use serde_json::Value;
use simulated::{Load, Setting, run as simulate};
use stated::Stated;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use xtask::lab::{build, scratch};

/// Files of each form where nothing else is said.
const FILES: u64 = 200;
/// Files with a defect, for each form and defect.
const PLANTED: usize = 30;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(at + 1).map(String::as_str).unwrap_or_default())
    };
    let number = |name: &str, default: u64| after(name).map_or(Ok(default), str::parse::<u64>);
    match arguments.first().map(String::as_str) {
        Some("own") => own::run(arguments.get(1).map_or(Ok(200), |n| n.parse())?),
        _ => simulated_files(number("--seed", 1)?, number("--files", FILES)?),
    }
}

fn simulated_files(seed: u64, files: u64) -> Result<()> {
    let dyno = build()?;
    let mut clean = BTreeMap::new();
    let mut rows: Vec<(&str, Row)> = DEFECTS.map(|(name, _)| (name, Row::default())).into();
    for form in FORMS {
        let made = Made::of(form, seed, files);
        let found = lint(&dyno, form, &made.clean)?;
        for ((_, row), planted) in rows.iter_mut().zip(&made.planted) {
            let texts: Vec<&str> = planted.iter().map(|(_, text)| text.as_str()).collect();
            if !texts.is_empty() {
                let before = planted.iter().map(|(place, _)| &found[*place]);
                row.add(form, before.zip(&lint(&dyno, form, &texts)?));
            }
        }
        clean.insert(form.name, found);
    }
    print_clean(&clean);
    print_planted(&rows);
    Ok(())
}

/// Files of one form.
struct Made {
    clean: Vec<String>,
    /// For each defect, some of them with it: which, and the file.
    planted: Vec<Vec<(usize, String)>>,
}

impl Made {
    fn of(form: Form, seed: u64, files: u64) -> Self {
        let mut all = Self { clean: Vec::new(), planted: vec![Vec::new(); DEFECTS.len()] };
        for i in 0..files {
            let levels = levels(form, seed, i);
            let text = (form.write)(&levels);
            for ((_, plant), planted) in DEFECTS.iter().zip(&mut all.planted) {
                let mut changed = levels.clone();
                let mut random = Random::new(seed ^ (i << 20));
                if planted.len() < PLANTED && plant(&mut changed, &mut random) {
                    // A form that does not state the value does not change.
                    let changed = (form.write)(&changed);
                    planted.extend((changed != text).then_some((i as usize, changed)));
                }
            }
            all.clean.push(text);
        }
        all
    }
}

/// What became of the files with one defect.
#[derive(Default)]
struct Row {
    files: usize,
    errors: usize,
    warnings: usize,
    by_check: BTreeMap<String, usize>,
    missed_in: BTreeMap<&'static str, usize>,
}

impl Row {
    fn add<'a>(
        &mut self,
        form: Form,
        pairs: impl Iterator<Item = (&'a BTreeSet<(String, bool)>, &'a BTreeSet<(String, bool)>)>,
    ) {
        for (before, after) in pairs {
            let new: Vec<&(String, bool)> = after.difference(before).collect();
            self.files += 1;
            match (new.iter().any(|(_, error)| *error), new.is_empty()) {
                (true, _) => self.errors += 1,
                (false, false) => self.warnings += 1,
                (false, true) => *self.missed_in.entry(form.name).or_default() += 1,
            }
            for (check, _) in new {
                *self.by_check.entry(check.clone()).or_default() += 1;
            }
        }
    }
}

/// The levels of the `i`-th file of a form.
fn levels(form: Form, seed: u64, i: u64) -> Vec<Stated> {
    let place = form
        .name
        .bytes()
        .fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut random = Random::new(seed.wrapping_mul(1_000_003) ^ place.wrapping_add(i << 32));
    let mut setting = Setting::draw(&mut random, form.states_failures);
    // Only vLLM offers and states bursty arrivals.
    if form.name == "vllm-json" {
        setting.burstiness = random.one_of(&[1.0, 1.0, 0.5]);
    }
    let idle = random.between(0.0, 0.03);
    let capacity = setting.capacity();
    let of = |setting: &Setting, load: Load, random: &mut Random| {
        let all = simulate(setting, load, random);
        let end = all.iter().map(|one| one.end).fold(0.0, f64::max);
        if !form.window {
            return Stated::of(setting, load, &all, idle);
        }
        // A test that is stopped by time, at times without a warm-up and a cool-down.
        let to = end * random.between(0.5, 1.0);
        let cut = random.one_of(&[0.0, 0.0, 0.1]);
        Stated::of_window(setting, load, &all, [to * cut, to * (1.0 - cut)])
    };
    let load = |random: &mut Random| match random.one_of(&[0, 0, 1, 1, 1, 2]) {
        0 => Load::Concurrency(random.scale(1.0, 256.0) as u32),
        1 => Load::Rate(capacity * random.scale(0.1, 1.5)),
        _ => Load::Burst,
    };
    match form.shape {
        Shape::One => vec![{
            let load = load(&mut random);
            of(&setting, load, &mut random)
        }],
        Shape::Several => {
            let count = random.one_of(&[1, 3, 5]);
            (0..count)
                .map(|_| {
                    let load = load(&mut random);
                    of(&setting, load, &mut random)
                })
                .collect()
        }
        Shape::Closed => {
            setting.requests = setting.requests.min(800);
            let most = random.between(3.0, 7.0) as u32;
            (0..most).map(|i| of(&setting, Load::Concurrency(4 << i), &mut random)).collect()
        }
        Shape::Sweep => {
            setting.fix_output();
            setting.requests = setting.requests.min(500);
            let alone = of(&setting, Load::Concurrency(1), &mut random);
            let all = of(&setting, Load::Burst, &mut random);
            let step = (all.per_s - alone.per_s) / 9.0;
            let rates = (1..=9).map(|i| Load::Rate(alone.per_s + step * f64::from(i)));
            let rates: Vec<Stated> = rates
                .filter(|load| matches!(load, Load::Rate(rate) if *rate > 0.05))
                .map(|load| of(&setting, load, &mut random))
                .collect();
            [vec![alone], rates, vec![all]].concat()
        }
    }
}

/// Lints files as a user would, and returns the findings of each.
fn lint(
    dyno: &Path,
    form: Form,
    texts: &[impl AsRef<str>],
) -> Result<Vec<BTreeSet<(String, bool)>>> {
    let dir = scratch();
    std::fs::create_dir_all(&dir)?;
    let name = |i: usize| format!("{}-{i:04}.{}", form.name, form.extension);
    for (i, text) in texts.iter().enumerate() {
        std::fs::write(dir.join(name(i)), text.as_ref())?;
    }
    let files = (0..texts.len()).map(|i| dir.join(name(i)));
    let ran = Command::new(dyno).args(["lint", "--format", "json"]).args(files).output()?;
    if !matches!(ran.status.code(), Some(0 | 5)) {
        bail!("{}: {}", form.name, String::from_utf8_lossy(&ran.stderr));
    }
    let all: Vec<Value> = serde_json::from_slice(&ran.stdout)
        .with_context(|| String::from_utf8_lossy(&ran.stderr).into_owned())?;
    let mut found = vec![BTreeSet::new(); texts.len()];
    let of = |finding: &Value| {
        let file = finding["file"].as_str()?;
        let place = (0..texts.len()).find(|i| Path::new(file) == dir.join(name(*i)))?;
        Some((place, finding["check"].as_str()?.to_owned(), finding["weight"] == "error"))
    };
    for finding in &all {
        let (place, check, error) = of(finding).context("a finding without a file")?;
        found[place].insert((check, error));
    }
    if std::env::var_os("KEEP").is_some() {
        eprintln!("{}: {}", form.name, dir.display());
        return Ok(found);
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(found)
}

/// Names with their counts, the most frequent first.
fn counted<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let mut all: Vec<(&str, usize)> = counts.into_iter().collect();
    all.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let texts: Vec<String> = all.iter().map(|(name, count)| format!("{name} {count}")).collect();
    texts.join(", ")
}

/// A table of the clean files, in Markdown.
fn print_clean(clean: &BTreeMap<&str, Vec<BTreeSet<(String, bool)>>>) {
    println!("| form | clean files | with an error | with a warning | by |");
    println!("| --- | ---: | ---: | ---: | --- |");
    let (mut errors, mut all) = (0, 0);
    for form in FORMS {
        let found = &clean[form.name];
        let with =
            |error: bool| found.iter().filter(|one| one.iter().any(|(_, is)| *is == error)).count();
        let mut by_check: BTreeMap<String, usize> = BTreeMap::new();
        for (check, error) in found.iter().flatten() {
            let error = if *error { " (error)" } else { "" };
            *by_check.entry(format!("`{check}`{error}")).or_default() += 1;
        }
        let by = counted(by_check.iter().map(|(name, count)| (name.as_str(), *count)));
        let (failed, warned) = (with(true), with(false));
        println!("| {} | {} | {failed} | {warned} | {by} |", form.name, found.len());
        errors += failed;
        all += found.len();
    }
    let share = 100.0 * errors as f64 / all as f64;
    println!("\n{errors} of {all} clean files with an error ({share:.2} %)\n");
}

/// A table of the defects, in Markdown: found is a finding that the same file lacks without the defect.
fn print_planted(rows: &[(&str, Row)]) {
    println!("| defect | files | found: error | found: warning | missed | by | missed in |");
    println!("| --- | ---: | ---: | ---: | ---: | --- | --- |");
    for (name, row) in rows {
        let missed: usize = row.missed_in.values().sum();
        let by: BTreeMap<String, usize> =
            row.by_check.iter().map(|(check, count)| (format!("`{check}`"), *count)).collect();
        let by = counted(by.iter().map(|(check, count)| (check.as_str(), *count)));
        let missed_in = counted(row.missed_in.iter().map(|(form, count)| (*form, *count)));
        println!(
            "| {name} | {} | {} | {} | {missed} | {by} | {missed_in} |",
            row.files, row.errors, row.warnings
        );
    }
}
