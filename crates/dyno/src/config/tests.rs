//! Files against the flags they stand for.

use super::*;
use crate::args::bench::BenchArgs;
use crate::args::levels::Concurrency;
use crate::args::values::List;

fn argv(text: &str) -> Vec<String> {
    let settings = settings("bench.toml", text).unwrap();
    let pieces = settings.into_iter().flat_map(|setting| setting.argv);
    pieces.map(|piece| piece.into_string().unwrap()).collect()
}

fn error_of(text: &str) -> String {
    settings("bench.toml", text).unwrap_err().to_string()
}

fn merged(text: &str, typed: &[&str]) -> BenchArgs {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bench.toml");
    std::fs::write(&path, text).unwrap();
    let mut line: Vec<OsString> = vec!["dyno".into(), "bench".into(), "--config".into()];
    line.push(path.into());
    line.extend(typed.iter().map(OsString::from));
    let cli = with_file(parse(line.clone()).unwrap(), &line).unwrap();
    match cli.command {
        Command::Bench(args) => *args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_become_the_flags_of_the_same_name_in_their_order() {
    let text = "target = 'http://h:1'\nrate = [1, 2.5]\nduration = '60s'\nsave-text = true\n\
                json = false\nstop = ['a', 'b']\nseed = 1_000\nextra-body = { top_k = 20 }\n";
    assert_eq!(
        argv(text),
        [
            "http://h:1",
            "--rate=1,2.5",
            "--duration=60s",
            "--save-text",
            "--stop=a",
            "--stop=b",
            "--seed=1000",
            "--extra-body={\"top_k\":20}"
        ]
    );
}

#[test]
fn what_is_typed_goes_before_the_file() {
    let args = merged("seed = 1\nstop = ['a', 'b']\nmodel = 'm'", &["--seed=2", "--stop=c"]);
    assert_eq!(args.load.seed, Some(2));
    assert_eq!(args.request.stop, ["c"]);
    assert_eq!(args.request.model.as_deref(), Some("m"));
    let args = merged("target = 'http://file'", &["http://typed"]);
    assert_eq!(args.target.unwrap().full(), "http://typed");
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
    assert!(args.output.live && !args.output.quiet && !args.output.no_progress);
    let args = merged("live = true", &["--quiet"]);
    assert!(args.output.quiet && !args.output.live);
    let args = merged("live = true", &["--no-progress"]);
    assert!(args.output.no_progress && !args.output.live);
}

#[test]
fn unknown_keys_are_named_with_file_line_and_nearest_key() {
    let text = error_of("seed = 1\n\ninput_tokens = 4");
    assert!(text.starts_with("bench.toml:3: input_tokens: "), "{text}");
    assert!(text.ends_with("did you mean input-tokens?"), "{text}");
    assert!(error_of("concurency = 4").ends_with("did you mean concurrency?"));
    assert!(error_of("save_text = true").ends_with("did you mean save-text?"));
    assert!(!error_of("zzz = 4").contains("did you mean"));
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
fn every_flag_of_bench_is_a_key() {
    for arg in bench_command().get_arguments().filter(|arg| !arg.is_positional()) {
        let name = arg.get_long().unwrap();
        if NOT_IN_FILES.contains(&name) || name == "api-key" {
            continue;
        }
        let text = error_of(&format!("{name} = {{ a = {{}} }}\nzzz = 1"));
        assert!(!text.contains(&format!("{name}: there is no such setting")), "{text}");
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
        let known = crate::resolve::Surroundings::default();
        crate::resolve::resolve(args, &known, crate::resolve::Aim::Measure).unwrap();
    }
}

/// M6: the limit was checked when all of it was in memory.
#[test]
fn m6_a_device_without_an_end_is_refused() {
    let refused = merge(Path::new("/dev/zero"), &[]).unwrap_err().to_string();
    assert!(refused.contains("over 1 MiB"), "{refused}");
}
