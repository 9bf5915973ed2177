//! The commands in README and docs are run, and their samples of output compared with what the program
//! prints. Each shell and text block has a mark behind its language, which readers do not see:
//!
//! | mark | |
//! | --- | --- |
//! | `sh run`, `console run` | run; `status=5` behind it is the exit status of the last command; `measured` where real time is |
//! | `sh engine`, `console engine` | the same, with an engine at `http://localhost:8000` (a free port in fact) |
//! | `sh serve` | a `dyno engine … --port 8000` that serves the blocks below it |
//! | `sh plan` | `bench`, `predict` and `capacity`, with `--dry-run` added: nothing is sent |
//! | `text output` | a sample of what the block above it printed |
//! | `sh shown: REASON`, `text shown: REASON` | not run |
//!
//! A page's blocks run in order in one directory, which has the files of `examples/`
//! in it. `<!-- before: COMMAND -->` is a hidden command. Samples are compared by `shape.rs`.
//!
//! `EXPECTED_BY=BINARY` writes samples of what that binary prints instead of comparing.
//! `DOCS_PAGE=sweeps` runs only pages whose path contains this.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod links;
mod needs_minutes;
mod page;
mod run;
mod shape;

use std::path::{Path, PathBuf};

/// Written by the program, and compared with it by the tests in `cli`.
const GENERATED: [&str; 2] = ["docs/reference/cli.md", "docs/reference/exit-codes.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages_in(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Every page, by its path from the root of the repository.
fn pages() -> Vec<String> {
    let mut found = vec![root().join("README.md"), root().join("README.zh-CN.md")];
    pages_in(&root().join("docs"), &mut found);
    found.sort();
    let name = |path: PathBuf| path.strip_prefix(root()).unwrap().display().to_string();
    found.into_iter().map(name).filter(|page| !GENERATED.contains(&page.as_str())).collect()
}

#[test]
fn every_shell_and_text_block_is_marked() {
    let mut wrong = Vec::new();
    for page in pages() {
        if let Err(mistakes) = page::blocks(&std::fs::read_to_string(root().join(&page)).unwrap()) {
            wrong.extend(mistakes.iter().map(|mistake| format!("{page}: {mistake}")));
        }
    }
    assert!(wrong.is_empty(), "tests/dyno/docs/mod.rs explains the marks\n{}", wrong.join("\n"));
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut pages = pages();
    pages.extend(["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(str::to_owned));
    let broken = links::broken(&root(), &pages);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

mod marks {
    use super::page::{Mark, blocks};

    #[test]
    fn a_block_without_a_mark_or_a_reason_is_a_mistake() {
        for info in [
            "sh",
            "sh run slowly",
            "console",
            "text",
            "sh shown",
            "sh shown:",
            "text run",
            "sh output",
            "sh run status=x",
        ] {
            let mistakes = blocks(&format!("prose\n\n```{info}\n$ dyno\n```\n")).unwrap_err();
            assert!(mistakes[0].starts_with("line 3: "), "{mistakes:?}");
        }
        assert_eq!(blocks("```toml\nx = 1\n```\n").unwrap(), []);
    }

    #[test]
    fn a_console_block_has_commands_with_their_samples() {
        let found = blocks(
            "1.\n   ```console run status=5\n   $ a \\\n     b\n   one\n   two\n   $ c\n   ```\n",
        )
        .unwrap();
        assert_eq!((found[0].mark.clone(), found[0].line, found[0].status), (Mark::Run, 2, 5));
        let commands = &found[0].commands;
        assert_eq!(commands[0].script, "a \\\n     b");
        assert_eq!(commands[0].sample, Some(4..6));
        assert_eq!((commands[1].script.as_str(), &commands[1].sample), ("c", &None));
    }

    #[test]
    fn set_up_commands_are_hidden_in_comments() {
        let found =
            blocks("<!-- before: dyno predict --out a -->\n\n```sh run\ndyno report a\n```\n")
                .unwrap();
        assert_eq!(found[0].commands[0].script, "dyno predict --out a");
        assert_eq!(found[1].mark, Mark::Run);
    }
}

mod shapes {
    use super::shape::{difference, matches, renewed, without_luck};

    const OUTPUT: [&str; 6] = [
        "note: seed 12",
        "level ok/failed TTFT ms verdict",
        "                p50/p99",
        "rate 1.5  12/0  40.1/–  valid",
        "rate 2    24/0  55.0/72.1? valid",
        "done in 4 s",
    ];

    #[test]
    fn numbers_and_line_breaks_do_not_matter() {
        assert!(matches(
            &["level ok/failed", "TTFT ms verdict p50/p99", "rate 7 99/1 1/2 valid"],
            &OUTPUT
        ));
        assert!(matches(&["note: seed 9", "…", "done in 3.5 s"], &OUTPUT));
    }

    #[test]
    fn other_words_an_other_order_or_another_percentile_do() {
        for sample in [
            &["level ok/failed TTFT ms verdict", "p50/p90"][..],
            &["note: the seed 12"],
            &["done in 4 s", "…", "note: seed 12"],
            &["note: seed 12", "done in 4 s"],
            &["rate 2 24/0 55.0/72.1 suspect"],
        ] {
            assert!(!matches(sample, &OUTPUT), "{sample:?}");
        }
    }

    #[test]
    fn a_busy_machine_does_not_make_a_sample_outdated() {
        let calm = without_luck("rate 1 16.3/17.4 valid\nrate 1: valid\n? few samples");
        let busy = without_luck(
            "rate 1 16.3/~17.4 suspect\nrate 1: invalid\n~ accurate to 10 %\n? few samples",
        );
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        assert!(matches(&lines(calm.leak()), &lines(busy.leak())));
    }

    #[test]
    fn a_sample_is_renewed_from_its_first_to_its_last_line() {
        let sample = ["level ok/failed TTFT verdict", "rate 2 1/0 1/1 good", "…", "over in 9 s"];
        let is = renewed(&sample, &OUTPUT).unwrap();
        let wanted: Vec<&str> = OUTPUT[1..5].iter().copied().chain(["…", OUTPUT[5]]).collect();
        assert_eq!(is, wanted);
        assert_eq!(renewed(&["nothing is like this"], &OUTPUT), None);
        let text = difference(&sample, &wanted);
        assert!(text.contains("- over in 9 s") && text.contains("+ done in 4 s"), "{text}");
    }
}
