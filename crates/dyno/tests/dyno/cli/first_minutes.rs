//! What somebody types in the first minutes: nothing, `completions --install`, `init`, a server that is not there.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::Place;
use crate::bench::web::{self, Seen, Web};
use crate::cli::common::{dyno, run};
use std::path::Path;
use std::process::{Command, Output};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn init(here: &Path, args: &[&str]) -> Output {
    run(here, &[&["init"], args].concat())
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn settings_for_a_server_can_be_run_at_once() {
    let (engine, place) = (Engine::start(QUICK, &[]), Place::new());
    let here = place.path();
    let output = init(here, &[&engine.url()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("Next: dyno bench --config dyno.toml"), "{}", said(&output));
    let written = read(here.join("dyno.toml"));
    for line in [
        format!("target = \"{}\"\n", engine.url()),
        "api = \"openai-chat\"\n".to_owned(),
        "model = \"dyno-scripted\"\n".to_owned(),
        "# This is Dyno's own engine: results are simulated.\n".to_owned(),
        "counted by the server itself (/tokenize)".to_owned(),
        "the server takes ignore_eos".to_owned(),
    ] {
        assert!(written.contains(&line), "{line}: {written}");
    }
    let planned = run(here, &["bench", "--config", "dyno.toml", "--dry-run"]);
    let plan = String::from_utf8_lossy(&planned.stdout);
    assert_eq!(planned.status.code(), Some(0), "{}", said(&planned));
    assert!(plan.contains("concurrency 16") && plan.contains("256 in, 64 out"), "{plan}");

    // What is commented out can be run, too, where it names files that are there.
    let key = place.file("key", "secret\n");
    let on = |line: &str| {
        let setting = line.strip_prefix("# ").filter(|line| line.contains(" = \""));
        setting.unwrap_or(line).replace("/path/to/key", &key) + "\n"
    };
    let all: String = written
        .lines()
        .filter(|line| !line.starts_with("# tokenizer") && !line.starts_with("# data"))
        .map(on)
        .collect();
    place.file("all.toml", &all);
    let planned = run(here, &["bench", "--config", "all.toml", "--dry-run"]);
    assert_eq!(planned.status.code(), Some(0), "{}\n{all}", said(&planned));
    assert!(
        all.contains("\nslo = ")
            && all.contains("\nwarmup = ")
            && all.contains("\napi-key-file = ")
    );
}

#[test]
fn a_file_is_not_replaced_and_no_secret_is_written() {
    let (engine, place) = (Engine::start(QUICK, &[]), Place::new());
    let here = place.path();
    place.file("dyno.toml", "mine");
    let output = init(here, &[&engine.url()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("`dyno.toml` exists") && read(here.join("dyno.toml")) == "mine");
    let url = format!("{}?token=hush", engine.url());
    let output = init(here, &[&url, "--force", "--header", "X-Secret:hush", "--api-key", "hush"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let written = read(here.join("dyno.toml"));
    assert!(!written.contains("hush") && !said(&output).contains("hush"), "{written}");
    assert!(written.contains("give them on the command line"), "{written}");
    assert!(
        written.contains(&format!("target = \"{}", engine.url())) && !written.contains("?token"),
        "{written}"
    );
}

#[test]
fn the_limits_of_a_small_server_are_kept() {
    let small = |request: &Seen| match request.is("GET /v1/models") {
        true => web::json("200 OK", r#"{"data":[{"id":"tiny\"\n\u0007","max_model_len":100}]}"#),
        false if request.is("POST /v1/chat") => web::openai(request),
        false => web::json("404 Not Found", "{}"),
    };
    let (server, place) = (Web::start(small), Place::new());
    let output = init(place.path(), &[&server.url(), "--out", "-", "--api", "openai-chat"]);
    let written = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for line in [
        "takes 100 tokens",
        "input-tokens = 50\n",
        "output-tokens = 25\n",
        "publishes no metrics",
        "does not count tokens",
    ] {
        assert!(written.contains(line), "{line}: {written}");
    }
    assert!(written.contains(r#"model = "tiny\"\n\u0007""#), "{written}");
    assert!(!place.path().join("dyno.toml").exists());
}

#[test]
fn a_server_that_is_not_there_leads_to_the_engine() {
    let place = Place::new();
    for args in [&["init", "http://127.0.0.1:1"][..], &["bench", "http://127.0.0.1:1"]] {
        let output = run(place.path(), args);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(
            said.contains("cannot be reached") && said.contains("dyno engine --port"),
            "{said}"
        );
    }
    assert!(!place.path().join("dyno.toml").exists());
}

#[test]
fn completions_are_installed_for_the_shell_of_the_user() {
    let home = tempfile::tempdir().unwrap();
    let shells = [
        ("bash", ".local/share/bash-completion/completions/dyno", "--timeout-first-token"),
        ("zsh", ".zfunc/_dyno", "#compdef dyno"),
        ("fish", ".config/fish/completions/dyno.fish", "-l timeout-first-token"),
    ];
    for (shell, file, holds) in shells {
        let mut command = dyno(home.path(), &["completions", "--install"]);
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "BASH_COMPLETION_USER_DIR"] {
            command.env_remove(name);
        }
        command.env("HOME", home.path()).env("SHELL", format!("/bin/{shell}"));
        let output = command.output().unwrap();
        let (written, said) = (home.path().join(file), said(&output));
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains(&format!("wrote {}", written.display())), "{said}");
        assert!(said.contains(&format!("rm {}", written.display())), "{said}");
        assert!(read(&written).contains(holds), "{shell}");
    }
    let script = home.path().join(shells[0].1);
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(". \"$0\" && complete -p dyno").arg(script);
    let output = bash.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("_dyno"), "{}", said(&output));
}
