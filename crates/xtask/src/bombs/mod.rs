//! Thirteen servers, files and requests that ask for far more memory than they are worth: each is tried
//! with a limit of address space, and the peak of resident memory is printed. A process that aborts has
//! lost; one that says what is wrong, and goes on or ends with a status, has held.

mod files;
mod server;

use anyhow::{Context, Result};
use server::{Bomb, serve};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use xtask::lab::{Engine, build, scratch};

/// Address space of a process, in kB.
const LIMIT_KB: u64 = 3_000_000;
/// How long a process may take.
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a process did.
struct Fared {
    peak_mb: f64,
    ended: String,
    said: String,
}

pub(crate) fn run(only: Option<&str>) -> Result<()> {
    let dyno = build()?;
    let folder = scratch();
    std::fs::create_dir_all(&folder)?;
    println!("{:<46} {:>9}  {:<10}  said", "bomb", "peak MB", "ended");
    for (name, at) in (1..).zip(NAMES).map(|(number, name)| (format!("{number} {name}"), name)) {
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let fared = drop_one(&dyno, at, &folder).with_context(|| name.clone())?;
        println!("{name:<46} {:>9.0}  {:<10}  {}", fared.peak_mb, fared.ended, fared.said);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

const NAMES: [&str; 15] = [
    "/v1/models of 60 MB",
    "/tokenize of 60 MB",
    "52 stalled bodies of 60 MB",
    "190 unfinished events of 15 MB",
    "a response with endless events",
    "import of 21 MB of JSON",
    "import of 1.1 MB of YAML with aliases",
    "import of locust's CSV of 150,000 rows",
    "tokenizer.json with four replacements",
    "chat template that doubles a text",
    "chat template with indent(4e9)",
    "chat template with tojson(indent=4e9)",
    "engine: embeddings of 10^6 inputs",
    "agent: 1000 prompts of 10 M tokens",
    "--config /dev/zero",
];

fn drop_one(dyno: &Path, name: &str, folder: &Path) -> Result<Fared> {
    let out = folder.join("run");
    let _ = std::fs::remove_dir_all(&out);
    let bench = |bomb: Bomb, more: &[&str]| {
        let url = serve(bomb)?;
        let mut all = vec!["bench", &url, "--report", "none", "--metrics", "none", "--no-progress"];
        let place = out.display().to_string();
        all.extend(["--out", &place]);
        all.extend(more);
        watched(dyno, &all)
    };
    let import = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        std::fs::write(&path, bytes)?;
        watched(dyno, &["import", &path.display().to_string()])
    };
    let short = ["--requests", "1", "--input-tokens", "8", "--output-tokens", "8"];
    let with_tokenizer = |files: &[(&str, String)]| {
        let model = folder.join("model");
        let _ = std::fs::remove_dir_all(&model);
        std::fs::create_dir_all(&model)?;
        for (file, text) in files {
            std::fs::write(model.join(file), text)?;
        }
        let model = model.display().to_string();
        let own = ["--requests", "1", "--output-tokens", "8", "--data", "openqa", "--tokenizer"];
        bench(Bomb::None, &[&own[..], &[&model]].concat())
    };
    match name {
        "/v1/models of 60 MB" => bench(Bomb::Models, &short),
        "/tokenize of 60 MB" => bench(Bomb::Tokenize, &short),
        "52 stalled bodies of 60 MB" => bench(
            Bomb::Bodies,
            &["--no-stream", "--concurrency", "52", "--requests", "52", "--timeout-total", "60s"],
        ),
        "190 unfinished events of 15 MB" => bench(
            Bomb::Events,
            &["--concurrency", "190", "--requests", "190", "--timeout-total", "90s"],
        ),
        "a response with endless events" => bench(
            Bomb::Endless,
            &["--requests", "1", "--concurrency", "1", "--timeout-total", "120s"],
        ),
        "import of 21 MB of JSON" => import("bomb.json", &files::json()),
        "import of 1.1 MB of YAML with aliases" => import("bomb.yaml", &files::yaml()),
        "import of locust's CSV of 150,000 rows" => import("bomb_stats.csv", &files::locust()),
        "tokenizer.json with four replacements" => {
            with_tokenizer(&[("tokenizer.json", files::tokenizer(true))])
        }
        "chat template that doubles a text" => with_tokenizer(&files::template(
            "{% set ns = namespace(a='xxxxxxxx') %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}\
             {% endfor %}{{ ns.a }}",
        )),
        "chat template with indent(4e9)" => {
            with_tokenizer(&files::template("{{ 'a\\nb'|indent(4000000000) }}"))
        }
        "chat template with tojson(indent=4e9)" => {
            with_tokenizer(&files::template("{{ [1]|tojson(indent=4000000000) }}"))
        }
        "engine: embeddings of 10^6 inputs" => engine(dyno),
        "agent: 1000 prompts of 10 M tokens" => bench(
            Bomb::None,
            &[
                "--agents",
                "1",
                "--concurrency",
                "1000",
                "--requests",
                "1000",
                "--input-tokens",
                "10000000",
            ],
        ),
        _ => watched(dyno, &["bench", "--config", "/dev/zero"]),
    }
}

/// A command under the limit of memory.
fn limited(dyno: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -v {LIMIT_KB}; exec \"$@\""), "bash"]);
    command.arg(dyno).args(arguments);
    command
}

/// Runs a command to its end and watches its memory.
fn watched(dyno: &Path, arguments: &[&str]) -> Result<Fared> {
    let mut child = limited(dyno, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stderr = child.stderr.take().context("no stderr")?;
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let (begun, mut peak) = (Instant::now(), 0.0_f64);
    let ended = loop {
        peak = peak.max(tree(child.id()).into_iter().map(peak_mb).fold(0.0, f64::max));
        match child.try_wait()? {
            Some(status) => break status.to_string().replace("exit status: ", "status "),
            None if begun.elapsed() > PATIENCE => {
                child.kill()?;
                child.wait()?;
                break "too slow".to_owned();
            }
            None => std::thread::sleep(LOOK_EVERY),
        }
    };
    let said = reader.join().unwrap_or_default();
    let line = said.lines().find(|line| line.starts_with("error")).or(said.lines().last());
    let said: String = line.unwrap_or_default().chars().take(140).collect();
    Ok(Fared { peak_mb: peak, ended, said })
}

/// An engine that gets one request, and afterwards a proper one.
fn engine(dyno: &Path) -> Result<Fared> {
    let mut command = limited(dyno, &["engine", "--port", "0", "--until-stdin-closes"]);
    let engine = Engine::spawn_as(&mut command)?;
    let body = format!("{{\"input\":[{}\"a\"]}}", "\"a\",".repeat(1_000_000));
    let ask = |path: &str, body: &str| -> Result<String> {
        let mut stream = TcpStream::connect(&engine.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        Ok(answer.chars().filter(|c| !c.is_control()).take(400).collect())
    };
    let said = ask("/v1/embeddings", &body)?;
    let peak_mb = peak_mb(engine.id());
    let alive = ask("/v1/embeddings", "{\"input\":\"a\"}").is_ok_and(|said| said.contains(" 200 "));
    let ended = if alive { "serves on" } else { "dead" }.to_owned();
    let said = said.split("\"message\":").nth(1).unwrap_or(&said).chars().take(120).collect();
    Ok(Fared { peak_mb, ended, said })
}

/// A process and those that it started.
fn tree(id: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    let below = children.split_whitespace().filter_map(|child| child.parse().ok());
    std::iter::once(id).chain(below.flat_map(tree)).collect()
}

/// The peak of a process's resident memory.
fn peak_mb(id: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1024.0
}
