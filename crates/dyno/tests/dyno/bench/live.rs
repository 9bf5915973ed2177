//! Progress and `--live` in a separate terminal, which `script` provides: what is shown, keys,
//! signals, restoring the terminal, and a run that is not affected by any of it.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{NOT_OURS, Place, accounted};
use crate::bench::process::{Heard, run};
use crate::bench::verdict::{amiss, levels_under};
use dyno_model::record::RequestRecord;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// The alternate screen is entered, and left.
const TAKEN: &str = "\x1b[?1049h";
const GIVEN_BACK: &str = "\x1b[?1049l";
const CTRL_C: &[u8] = b"\x03";
const CTRL_L: &[u8] = b"\x0c";
const WATCHDOG: Duration = Duration::from_secs(60);
const SLOWER: &str = "ttft=20ms,itl=1ms,tokens=16";

/// `dyno` in a terminal.
struct Terminal<'a> {
    place: &'a Place,
    script: Child,
    keys: ChildStdin,
    heard: Heard,
}

impl<'a> Terminal<'a> {
    /// The terminal's settings before and after are kept in `before` and `after`, the process id
    /// in `pid`.
    fn start(place: &'a Place, args: &str) -> Self {
        Self::with_columns(place, 80, args)
    }

    fn with_columns(place: &'a Place, columns: u16, args: &str) -> Self {
        let shell = format!(
            "trap : INT; stty rows 24 cols {columns}; stty -a > before; \
             sh -c 'echo $$ > pid; exec \"$0\" \"$@\"' '{}' {args} > stdout; status=$?; \
             stty -a > after; exit $status",
            env!("CARGO_BIN_EXE_dyno")
        );
        let mut command = Command::new("script");
        command.args(["-q", "-f", "-e", "-c", &shell, "/dev/null"]).current_dir(place.path());
        NOT_OURS.iter().chain(&["NO_COLOR"]).for_each(|name| {
            command.env_remove(name);
        });
        let command = command.env("TERM", "xterm").stdin(Stdio::piped());
        let mut script = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (heard, _) = Heard::listen(script.stdout.take().unwrap());
        let keys = script.stdin.take().unwrap();
        Self { place, script, keys, heard }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    #[track_caller]
    fn wait_until(&self, what: &str, mut happened: impl FnMut(&str) -> bool) {
        let begun = Instant::now();
        while !happened(&self.heard.text()) {
            assert!(begun.elapsed() < WATCHDOG, "not {what}: {:?}", self.heard.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Until the view is drawn and so many responses have begun.
    fn wait_for_view(&self, engine: &Engine, answers: u64) {
        self.wait_until("drawn", |heard| heard.contains(TAKEN) && heard.contains("q: back"));
        self.wait_until("under way", |_| engine.begun() >= answers);
    }

    /// Until the view shows a word. Only changes are drawn, so it is redrawn as a whole.
    #[track_caller]
    fn wait_to_show(&mut self, word: &str) {
        let begun = Instant::now();
        while !self.heard.text().contains(word) {
            assert!(begun.elapsed() < WATCHDOG, "no {word}: {:?}", self.heard.text());
            self.press(CTRL_L);
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = std::fs::read_to_string(self.place.path().join("pid")).unwrap();
        kill_process(Pid::from_raw(pid.trim().parse().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the end; returns the exit status and what was printed after the view was closed.
    /// The terminal's settings must be restored.
    /// Until a complete progress line satisfies a condition. The line is redrawn as a whole.
    #[track_caller]
    fn wait_for_line(&self, what: &str, happened: impl Fn(&str) -> bool) {
        self.wait_until(what, |heard| {
            let lines = heard.split('\r').filter_map(|line| line.split_once("\x1b[K"));
            lines.map(|(line, _)| line).any(&happened)
        });
    }

    /// Ends it at once, and waits until it has ended.
    fn stop_at_once(mut self) {
        self.signal(Signal::TERM);
        self.signal(Signal::TERM);
        self.script.wait().unwrap();
    }

    #[track_caller]
    fn end(mut self) -> (Option<i32>, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.script.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < WATCHDOG, "still running: {:?}", self.heard.text());
            std::thread::sleep(Duration::from_millis(5));
        };
        let settings = |name| std::fs::read_to_string(self.place.path().join(name)).unwrap();
        assert_eq!(settings("before"), settings("after"));
        let heard = self.heard.text();
        assert_eq!(heard.matches(TAKEN).count(), 1, "{heard:?}");
        let (_, after) = heard.split_once(GIVEN_BACK).expect("the screen is given back");
        assert!(!after.contains(GIVEN_BACK), "{heard:?}");
        (status.code(), after.to_owned())
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// What must be the same with and without a view.
fn requests(place: &Place) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let mut records = place.requests();
    records.sort_by_key(|record| (record.level, record.index));
    let same = |r: RequestRecord| {
        let lengths = (r.requested_input, r.requested_output, r.input, r.output);
        (r.level, r.index, r.phase.is_measured(), r.outcome, lengths, r.chunks.len())
    };
    records.into_iter().map(same).collect()
}

#[test]
fn a_view_that_is_closed_leaves_the_run_as_it_is() {
    let plan = "--concurrency 4,8 --requests 150 --warmup 5 --input-tokens 20-60 --seed 7 \
                --output-tokens 16";
    let engine = Engine::start(SLOWER, &[]);
    let without = Place::new();
    run(without.bench(&engine.url(), plan)).expect_measured();

    let place = Place::new();
    let engine = Engine::start(SLOWER, &[]);
    let bench = format!("bench {} --out run --live {plan}", engine.url());
    let mut terminal = Terminal::start(&place, &bench);
    terminal.wait_for_view(&engine, 20);
    terminal.press(b"xyz\x1b[Aq");
    terminal.wait_until("closed", |heard| heard.contains(GIVEN_BACK));
    let (status, after) = terminal.end();
    let wrong = amiss(&levels_under(place.path()), status, 0);
    assert!(wrong.is_none(), "{wrong:?} {after:?}");
    // The progress line continues, and each finished level leaves a line.
    assert!(after.contains("\r1/2 ") || after.contains("\r2/2 "), "{after:?}");
    for words in ["1/2 concurrency 4  150 requests", "2/2 concurrency 8  150 requests"] {
        assert!(after.contains(words), "no {words:?}: {after:?}");
    }
    assert_eq!(requests(&place), requests(&without));
}

#[test]
fn a_view_that_stays_open_gives_the_terminal_back_at_the_end() {
    let engine = Engine::start(QUICK, &["http-500:every=3"]);
    let place = Place::new();
    let bench = format!(
        "bench {} --out run --live --concurrency 4 --requests 200 --output-tokens 16",
        engine.url()
    );
    let (status, after) = Terminal::start(&place, &bench).end();
    assert!(matches!(status, Some(4 | 5)), "{status:?} {after:?}");
    assert!(after.contains("1/1 concurrency 4  200 requests  "), "{after:?}");
    assert_eq!(place.requests().len(), 200);
}

#[test]
fn ctrl_c_in_a_view_is_ctrl_c() {
    let engine = Engine::start(SLOWER, &[]);
    let place = Place::new();
    let bench = format!(
        "bench {} --out run --live --concurrency 4,8 --requests 100000 --output-tokens 16",
        engine.url()
    );
    let mut terminal = Terminal::start(&place, &bench);
    terminal.wait_for_view(&engine, 20);
    terminal.press(CTRL_C);
    let (status, after) = terminal.end();
    assert_eq!(status, Some(130), "{after:?}");
    // Messages printed while it was open follow it.
    assert!(after.contains("stopping: waiting for running requests"), "{after:?}");
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["ending"], "interrupted");
    assert_eq!(level["requests"]["censored"], 0);
    assert_eq!(accounted(level), place.level_ends()[0].issued);
}

#[test]
fn twice_ctrl_c_and_sigterm_give_the_terminal_back_too() {
    for by_key in [true, false] {
        let engine = Engine::start(QUICK, &["stall-first:every=5"]);
        let place = Place::new();
        let bench = format!(
            "bench {} --out run --live --concurrency 4 --requests 100000 --drain 1h",
            engine.url()
        );
        let mut terminal = Terminal::start(&place, &bench);
        terminal.wait_for_view(&engine, 5);
        let stop = |terminal: &mut Terminal<'_>| match by_key {
            true => terminal.press(CTRL_C),
            false => terminal.signal(Signal::TERM),
        };
        stop(&mut terminal);
        terminal.wait_to_show("stopping:");
        stop(&mut terminal);
        let (status, after) = terminal.end();
        assert_eq!(status, Some(130), "{after:?}");
        assert!(after.contains("stopping immediately"), "{after:?}");
    }
}

#[test]
fn a_terminal_that_goes_away_does_not_end_the_run() {
    let engine = Engine::start(SLOWER, &[]);
    let place = Place::new();
    let bench = format!(
        "bench {} --out run --live --concurrency 4 --requests 300 --output-tokens 16",
        engine.url()
    );
    let mut terminal = Terminal::start(&place, &bench);
    terminal.wait_for_view(&engine, 20);
    terminal.script.kill().unwrap();
    terminal.script.wait().unwrap();
    let summary = place.run_dir().join("summary.json");
    terminal.wait_until("summed up", |_| summary.exists());
    terminal.wait_until("whole", |_| place.requests().len() == 300);
    let completed = &place.json("summary.json")["levels"][0]["requests"]["completed"];
    assert_eq!(completed, 300);
}

#[test]
fn without_a_terminal_there_is_a_note_and_plain_progress() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let bench = format!(
        "bench {} --out run --live --concurrency 2,4 --requests 20 --output-tokens 16",
        engine.url()
    );
    let ended = run(place.dyno(&bench)).expect_measured().expect_words(&[
        "note: --live: stderr is not a terminal",
        "1/2 concurrency 2  20 requests  0 failed  ",
        "2/2 concurrency 4  20 requests  0 failed  ",
        "  complete\n",
    ]);
    assert!(!ended.stderr.contains('\x1b'), "{}", ended.said());
}

/// The number before `unit` in a progress line.
fn value(line: &str, unit: &str) -> Option<f64> {
    let (before, _) = line.split_once(unit)?;
    before.rsplit("  ").next()?.trim().parse().ok()
}

#[test]
fn tokens_count_while_no_request_has_ended_yet() {
    // Eight streams of 8 s each, at 50 tokens a second.
    let engine = Engine::start("ttft=20ms,itl=20ms,tokens=400", &[]);
    let place = Place::new();
    let bench = format!(
        "bench {} --out run --concurrency 8 --requests 8 --output-tokens 400 \
         --slo 'ttft.p99<10s'",
        engine.url()
    );
    let terminal = Terminal::with_columns(&place, 160, &bench);
    terminal.wait_for_line("counting tokens", |line| {
        line.contains("0/8 requests")
            && line.contains("  SLO undecided  ")
            && line.contains("  8 in flight")
            && value(line, " tok/s").is_some_and(|rate| (100.0..600.0).contains(&rate))
    });
    terminal.stop_at_once();
}

#[test]
fn server_metrics_and_the_slo_are_shown_while_the_run_goes_on() {
    let place = Place::new();
    // The embedded engine reports its queue and its KV cache.
    let bench = "bench --out run --concurrency 4 --requests 10000 --output-tokens 8 \
                 --slo 'ttft.p99<100s'";
    let terminal = Terminal::with_columns(&place, 200, bench);
    terminal.wait_for_line("showing server metrics", |line| {
        line.contains(" waiting  KV ") && line.contains("  SLO met  ")
    });
    terminal.stop_at_once();
}

#[test]
fn progress_is_chinese_where_chinese_is_asked_for() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let bench = format!(
        "bench {} --out run --live --lang zh --concurrency 2 --requests 20 --output-tokens 16",
        engine.url()
    );
    run(place.dyno(&bench)).expect_measured().expect_words(&[
        "--live：stderr 不是可绘制的终端",
        "1/1 并发 2  20 个请求  0 个失败  ",
        "  已完成\n",
    ]);
}
