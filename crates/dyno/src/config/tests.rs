//! Files against the flags they stand for.

use super::*;
use crate::args::levels::Concurrency;
use crate::args::values::List;
use crate::resolve::{Inputs, ProcessEnv, resolve};

/// What is read from a line, a file named `name` and variables.
fn given(
    name: &str,
    text: &str,
    line: &[&str],
    variables: &[(&str, &str)],
) -> Result<(Inputs, Given), UsageError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut argv: Vec<OsString> = vec!["dyno".into(), line[0].into()];
    if !text.is_empty() {
        argv.extend(["--config".into(), path.into()]);
    }
    argv.extend(line[1..].iter().map(OsString::from));
    let variables: Vec<_> = variables.iter().map(|(k, v)| (k.into(), v.into())).collect();
    match read(&argv, &variables) {
        Ok((cli, given)) => Ok(match cli.command {
            crate::args::Command::Bench(args) => ((*args).into(), given),
            crate::args::Command::Predict(args) => ((*args).into(), given),
            crate::args::Command::Capacity(args) => ((*args).into(), given),
            other => panic!("{other:?}"),
        }),
        Err(Unread::Setting(error)) => Err(error),
        Err(Unread::Arguments(error)) => panic!("{error}"),
    }
}

fn merged(text: &str, typed: &[&str]) -> Inputs {
    given("bench.toml", text, &[&["bench"], typed].concat(), &[]).unwrap().0
}

/// The error of a file, without the folder that it is in.
fn error_in(name: &str, text: &str) -> String {
    let error = given(name, text, &["bench"], &[]).unwrap_err().to_string();
    error.find(name).map_or(error.clone(), |at| error[at..].to_owned())
}

fn error_of(text: &str) -> String {
    error_in("bench.toml", text)
}

#[test]
fn keys_become_the_flags_of_the_same_name() {
    let text = "target = 'http://h:1'\nrate = [1, 2.5]\nduration = '60s'\nsave-text = true\n\
                json = false\nstop = ['a', 'b']\nseed = 1_000\nextra-body = { top_k = 20 }\n\
                input-tokens = [8, '16-32']\nrequests = 1e3\n";
    let line = [
        "http://h:1",
        "--rate=1,2.5",
        "--duration=60s",
        "--save-text",
        "--stop=a",
        "--stop=b",
        "--seed=1000",
        "--extra-body={\"top_k\":20}",
        "--input-tokens=8,16-32",
        "--requests=1000",
    ];
    let mut from_file = merged(text, &[]);
    from_file.plan.settings.config = None;
    assert_eq!(format!("{from_file:?}"), format!("{:?}", merged("", &line)));
}

#[test]
fn what_is_typed_goes_before_the_file() {
    let args = merged("seed = 1\nstop = ['a', 'b']\nmodel = 'm'", &["--seed=2", "--stop=c"]);
    assert_eq!(args.plan.each.seed, Some(2));
    assert_eq!(args.server.request.stop, ["c"]);
    assert_eq!(args.server.request.model.as_deref(), Some("m"));
    let args = merged("target = 'http://file'", &["http://typed"]);
    assert_eq!(args.server.target.unwrap().full(), "http://typed");
}

#[test]
fn a_typed_load_replaces_the_files_load_and_keeps_its_stop() {
    let args = merged("rate = 5\nrequests = 7", &["--concurrency=3"]);
    assert_eq!(args.load.rate, None);
    assert_eq!(args.load.concurrency, Some(Concurrency::List(List(vec![3]))));
    assert_eq!(args.load.requests, Some(crate::args::levels::Requests::Number(7)));
}

#[test]
fn a_typed_way_to_show_progress_replaces_the_files() {
    let args = merged("quiet = true\nno-progress = true", &["--live"]);
    assert!(args.plan.output.live && !args.plan.output.quiet && !args.plan.output.no_progress);
    let args = merged("live = true", &["--quiet"]);
    assert!(args.plan.output.quiet && !args.plan.output.live);
    let args = merged("live = true", &["--no-progress"]);
    assert!(args.plan.output.no_progress && !args.plan.output.live);
}

#[test]
fn unknown_keys_are_named_with_file_line_and_nearest_key() {
    let text = error_of("seed = 1\n\ninput_tokens = 4");
    assert!(text.starts_with("bench.toml:3: input_tokens: "), "{text}");
    assert!(text.ends_with("did you mean input-tokens?"), "{text}");
    assert!(error_of("concurency = 4").ends_with("did you mean concurrency?"));
    assert!(error_of("save_text = true").ends_with("did you mean save-text?"));
    assert!(!error_of("zzzzzz = 4").contains("did you mean"));
    assert!(error_of("config = 'x'").contains("no such setting"));
    assert!(error_of("[bench]\nseed = 1").contains("no such setting"));
}

#[test]
fn bad_values_are_named_with_what_is_right() {
    for (text, wanted) in [
        ("rate = 'x'", "bench.toml:1: rate: `x` is not a rate; write requests per second"),
        ("\nrate = [1, 0]", "bench.toml:2: rate: `0` is not a rate"),
        ("duration = 60", "bench.toml:1: duration: `60` has no unit; write 60s"),
        ("json = 'yes'", "bench.toml:1: json: this is a switch; write true or false"),
        ("model = ['a']", "bench.toml:1: model: takes one value, not a list"),
        ("seed = true", "bench.toml:1: seed: this is not a switch; write a value"),
        ("target = '-x'", "bench.toml:1: target: this is not a URL"),
        ("target = 'localhost:80'", "bench.toml:1: target: `localhost:80` has no scheme"),
        (
            "api = 'x'",
            "bench.toml:1: api: `x` is not a valid value; write one of auto, openai-chat",
        ),
        ("seed = 1\nseed = 2", "bench.toml:2: this is not TOML: "),
        ("a = ", "bench.toml:1: this is not TOML: "),
    ] {
        let text = error_of(text);
        assert!(text.starts_with(wanted), "{text}\n{wanted}");
    }
}

#[test]
fn keys_are_not_taken_from_files() {
    let text = error_of("api-key = 'hush'");
    assert!(text.contains("api-key-file") && !text.contains("hush"), "{text}");
}

#[test]
fn every_flag_is_a_key_and_a_variable() {
    let cli = Cli::command();
    for name in COMMANDS {
        let command = cli.find_subcommand(name).unwrap();
        for arg in command.get_arguments() {
            let wrong = |found: Result<_, UsageError>| found.map(drop).unwrap_err().to_string();
            let key = key(arg);
            if !file::NOT_IN_FILES.contains(&&*key) && key != "api-key" {
                let text = format!("{key} = {{ a = {{}} }}\nzzz = 1");
                let error = wrong(given("x.toml", &text, &[name], &[]));
                assert!(!error.contains(&format!("{key}: there is no such")), "{error}");
            }
            let variable = environment::variable(arg);
            let Err(error) = given("none", "", &[name], &[(&variable, "\u{1}")]) else { continue };
            assert!(error.flag == variable || key == "config", "{error}");
        }
    }
}

#[test]
fn variables_that_are_nearly_settings_are_named() {
    let variables =
        [("DYNO_CONCURENCY", "4"), ("DYNO_PORT", "tcp://10.0.0.1:80"), ("DYNO_UNRELATED", "1")];
    let (_, told) = given("none", "", &["bench"], &variables).unwrap();
    let expected = ("DYNO_CONCURENCY".to_owned(), "DYNO_CONCURRENCY".to_owned());
    assert_eq!((told.misspelt, told.variables), (vec![expected], Vec::new()));
    // The names of other commands' settings, and those that are read elsewhere, are not misspelt.
    let (_, told) =
        given("none", "", &["bench"], &[("DYNO_LANG", "zh"), ("DYNO_BUS_USER", "me")]).unwrap();
    assert!(told.misspelt.is_empty(), "{:?}", told.misspelt);
}

/// Conditional defaults ask whether a flag has a value, which one with a default always has.
#[test]
fn flags_that_exclude_others_have_no_default() {
    let cli = Cli::command();
    for command in COMMANDS.map(|name| cli.find_subcommand(name).unwrap()) {
        for arg in command.get_arguments().filter(|arg| !arg.get_default_values().is_empty()) {
            let id = arg.get_id().as_str();
            let other = command.get_arguments().find(|o| exclude(command, id, o.get_id().as_str()));
            assert!(other.is_none(), "{id}: {other:?}");
        }
    }
}

#[test]
fn variables_go_before_the_file_and_flags_before_both() {
    let text = "rate = 5\nmodel = 'm'\nquiet = true\nseed = 1\n";
    let variables = [("DYNO_CONCURRENCY", "4,8"), ("DYNO_SEED", "2"), ("DYNO_MODEL", "")];
    let (args, told) = given("a.toml", text, &["bench", "--seed=3"], &variables).unwrap();
    assert_eq!(args.load.concurrency, Some(Concurrency::List(List(vec![4, 8]))));
    assert_eq!((args.load.rate, args.plan.each.seed), (None, Some(3)));
    assert_eq!(args.server.request.model.as_deref(), Some("m"));
    assert_eq!(told.variables, ["DYNO_CONCURRENCY"]);
    let mut keys = told.keys;
    keys.sort();
    assert_eq!(keys, ["config", "model", "quiet", "seed"]);
    let (args, _) = given("a.toml", text, &["bench"], &[("DYNO_QUIET", "0")]).unwrap();
    assert!(!args.plan.output.quiet);
    let (args, told) = given("a.toml", text, &["bench", "--live"], &[("DYNO_QUIET", "1")]).unwrap();
    assert!(args.plan.output.live && !args.plan.output.quiet && told.variables.is_empty());
}

#[test]
fn a_variable_is_named_where_it_is_wrong_and_keys_stay_where_they_are_read() {
    for (variable, text, wanted) in [
        ("DYNO_RATE", "fast", "DYNO_RATE: `fast` is not a rate; write requests per second"),
        ("DYNO_TARGET", "h:1", "DYNO_TARGET: `h:1` has no scheme"),
        ("DYNO_JSON", "yes", "DYNO_JSON: this is a switch; write true or false"),
    ] {
        let error = given("none", "", &["bench"], &[(variable, text)]).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
    let secrets = [("DYNO_API_KEY", "hush"), ("DYNO_BUS_TOKEN", "hush"), ("DYNO_BUS", "nats://b")];
    let (args, told) = given("none", "", &["bench"], &secrets).unwrap();
    assert_eq!(told.variables, ["DYNO_BUS"]);
    assert!(args.server.connection.api_key.is_none() && args.server.fleet.bus.bus_token.is_none());
    let several = [("DYNO_STOP", "a\nb c"), ("DYNO_REPORT", "none")];
    let (args, _) = given("none", "", &["bench"], &several).unwrap();
    assert_eq!(args.server.request.stop, ["a", "b c"]);
}

#[test]
fn a_file_serves_every_command_that_makes_a_plan() {
    let text = "rate: 5\nmodel: m\nslo: latency.p90<8s\nbetween: 2..20\nseed: 7\n";
    for (command, ignored) in
        [("bench", &["between"][..]), ("predict", &["model", "between"]), ("capacity", &["rate"])]
    {
        let (args, told) = given("all.yaml", text, &[command], &[]).unwrap();
        assert_eq!(args.plan.each.seed, Some(7));
        assert!(args.plan.output.slo.is_some());
        assert_eq!(told.ignored, ignored, "{command}");
    }
}

#[test]
fn yaml_is_what_toml_is() {
    let toml = "rate = [1, 2.5]\nstop = ['a']\njson = true\nextra-body = { top_k = 20 }\n";
    let yaml = "# a comment\nrate: [1, 2.5]\nstop:\n- a\njson: true\nextra-body:\n  top_k: 20\n";
    let of = |name: &str, text: &str| {
        let (mut args, _) = given(name, text, &["bench"], &[]).unwrap();
        args.plan.settings.config = None;
        format!("{args:?}")
    };
    assert_eq!(of("a.toml", toml), of("a.yml", yaml));
    for (text, wanted) in [
        ("seed: 1\n\nrate: fast\n", "a.yaml:3: rate: `fast` is not a rate"),
        (
            "seed: 1\nseeed: 2\n",
            "a.yaml:2: seeed: there is no such setting\n  hint: did you mean seed?",
        ),
        ("seed: 1\n'seed': 2\n", "a.yaml:2: seed: given more than once"),
        ("api-key: hush", "a.yaml:1: api-key: keys do not belong in settings files"),
        ("seed: [1\n", "a.yaml:2: malformed YAML"),
        ("- seed\n", "a.yaml:1: this is not a list of settings; write key: value"),
        ("seed: 1\n---\nseed: 2\n", "a.yaml:2: a settings file is one document"),
        ("live: true\nquiet: true\n", "a.yaml:2: quiet: cannot be combined with live"),
        ("rate: 1\nburst: 2\n", "a.yaml:2: burst: cannot be combined with rate"),
        ("model:\n", "a.yaml:1: model: a value is missing"),
    ] {
        let error = error_in("a.yaml", text);
        assert!(error.starts_with(wanted) && !error.contains("hush"), "{error}");
    }
    assert!(given("a.yaml", "live: true\nquiet: false\n", &["bench"], &[]).is_ok());
}

#[test]
fn help_does_not_depend_on_settings_and_wrong_ones_do_not_prevent_it() {
    let argv = ["dyno", "bench", "--help"].map(OsString::from);
    let page = |variables: &[(OsString, OsString)]| match read(&argv, variables) {
        Err(Unread::Arguments(error)) => error.render().to_string(),
        _ => panic!(),
    };
    for text in ["hush:1", "hush"] {
        assert_eq!(page(&[("DYNO_HEADER".into(), text.into())]), page(&[]));
    }
}

#[test]
fn the_example_in_the_documentation_works() {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/config.md"
    ))
    .unwrap();
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let example = block.split("```").next().unwrap();
        let args = merged(example, &[]);
        resolve(args, &Given::default(), &ProcessEnv::default()).unwrap();
    }
}

/// M6: the limit was checked when all of it was in memory.
#[test]
fn a_device_without_an_end_is_refused() {
    let bench = Cli::command().find_subcommand("bench").unwrap().clone();
    let refused = file::settings(&bench, Path::new("/dev/zero")).unwrap_err().to_string();
    assert!(refused.contains("over 1 MiB"), "{refused}");
}

/// A file may come from somebody else. An option that runs a program must be refused in files and
/// variables: this test is where to think of it.
#[test]
fn no_setting_runs_a_program() {
    let cli = Cli::command();
    for command in COMMANDS.map(|name| cli.find_subcommand(name).unwrap()) {
        for arg in command.get_arguments() {
            let names = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
            for word in names.chain([key(arg)]) {
                let word = word.to_lowercase();
                let runs = ["command", "program", "exec", "hook", "shell", "script"];
                assert!(!runs.iter().any(|runs| word.contains(runs)), "{word}");
            }
        }
    }
}

#[test]
fn every_preset_is_sound_for_every_command() {
    let cli = Cli::command();
    for preset in presets::PRESETS {
        let mut used = Vec::new();
        for command in COMMANDS.map(|name| cli.find_subcommand(name).unwrap()) {
            let settings = preset.settings(command).unwrap();
            used.extend(settings.iter().map(|setting| setting.id.clone()));
            let mut above = Settings::default();
            above.add(command, settings).unwrap();
            let line = [command.get_name(), "--preset", preset.name, "--slo=latency.p90<8s"];
            let (args, told) = given("none", "", &line, &[]).unwrap();
            let resolved = resolve(args, &told, &ProcessEnv::default()).unwrap();
            assert_eq!(resolved.order.notes.len(), 1);
        }
        assert!(used.len() > 3 && preset.version() > 0, "{}", preset.name);
        for language in [dyno_model::Language::English, dyno_model::Language::Chinese] {
            let page = preset.page(language);
            assert!(!preset.summary(language).is_empty() && page.lines().count() > 8, "{page}");
            // What is shown can be a file of --config.
            given("shown.toml", &page, &["bench"], &[]).unwrap();
        }
    }
}

#[test]
fn a_preset_goes_before_defaults_only() {
    let read = |text: &str, line: &[&str], variables: &[(&str, &str)]| {
        given("a.toml", text, line, variables).unwrap()
    };
    let (args, told) = read("duration = '9s'", &["bench", "--preset=nightly", "--rate=2"], &[]);
    assert_eq!(args.load.duration, Some(9_000_000_000));
    assert!(args.load.concurrency.is_none() && args.plan.each.warmup.is_some());
    assert!(!told.keys.contains(&"warmup".to_owned()), "{:?}", told.keys);
    for (text, line, variables) in [
        ("preset = 'nightly'", &["predict"][..], &[][..]),
        ("preset = 'quick'", &["predict"], &[("DYNO_PRESET", "nightly")]),
        ("preset = 'quick'", &["predict", "--preset=nightly"], &[]),
    ] {
        assert_eq!(read(text, line, variables).0.course.repeat, Some(5), "{text} {line:?}");
    }
    let error = error_of("preset = 'slow'");
    assert!(error.contains("`slow` is not a valid value; write one of quick, nightly"), "{error}");
}
