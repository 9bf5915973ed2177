//! `dyno doctor`: how much this machine can measure, by measuring an engine with a known schedule, and
//! what to change.

mod ladder;
mod limits;

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::printer::{Manners, Printer};
use crate::signals;
use dyno_run::{Stop, StopSignal};
use ladder::{Step, Trial};
use limits::Limits;
use serde::Serialize;

/// The results.
#[derive(Debug, Serialize)]
struct Findings {
    schema: &'static str,
    limits: Limits,
    /// The kernel reports receive times.
    kernel_stamps: Option<bool>,
    /// One step per stream count, each stream a token every 20 ms.
    ladder: Vec<Step>,
    /// The same without the kernel's receive times.
    without_stamps: Vec<Step>,
    /// Tokens per second that the client receives when the engine sends as fast as possible, 16
    /// events per packet: its throughput, not what it can time accurately.
    flat_out_tokens_per_s: Option<f64>,
    /// Most streams with accurate metrics.
    streams: Option<u32>,
    /// Highest token rate with accurate metrics.
    tokens_per_s: Option<f64>,
    /// Most streams with accurate metrics without the kernel's receive times.
    streams_without_stamps: Option<u32>,
    advice: Vec<String>,
}

/// Measures what this machine can handle.
pub(crate) fn run(args: &DoctorArgs, printer: &Printer) -> Exit {
    let printer = printer.with(Manners { json: args.json, ..Manners::default() });
    dyno_net::raise_open_files();
    let stop = StopSignal::new();
    let listening = signals::listen(stop.clone(), |_| {});
    if let Err(error) = &listening {
        printer.warn(format_args!("Ctrl-C will not be handled: {error}"));
    }
    let limits = Limits::of_this_machine();
    let kernel_stamps = dyno_net::stamps_work();
    let Measured { ladder, without_stamps, flat_out_tokens_per_s } =
        match measure(args.quick, &limits, &stop, &printer) {
            Ok(measured) => measured,
            Err(message) => {
                printer.error(message);
                return Exit::Bug;
            }
        };
    let good = || ladder.iter().filter(|step| step.client_valid);
    let without = without_stamps.iter().filter(|step| step.client_valid);
    let findings = Findings {
        schema: "dyno.doctor/1",
        streams: good().map(|step| step.streams).max(),
        tokens_per_s: good().filter_map(|step| step.tokens_per_s).reduce(f64::max),
        streams_without_stamps: without.map(|step| step.streams).max(),
        advice: limits.advice(&ladder, kernel_stamps),
        kernel_stamps,
        without_stamps,
        limits,
        ladder,
        flat_out_tokens_per_s,
    };
    let said = match args.json {
        true => match serde_json::to_string_pretty(&findings) {
            Ok(json) => printer.result(&format!("{json}\n")),
            Err(error) => {
                printer.error(error);
                Exit::Bug
            }
        },
        false => printer.result(&text(&findings)),
    };
    if stop.get() > Stop::No { Exit::Interrupted } else { said }
}

#[derive(Default)]
struct Measured {
    ladder: Vec<Step>,
    without_stamps: Vec<Step>,
    flat_out_tokens_per_s: Option<f64>,
}

fn measure(
    quick: bool,
    limits: &Limits,
    stop: &StopSignal,
    printer: &Printer,
) -> Result<Measured, String> {
    let counts: &[u32] = if quick { &[16, 256] } else { &[16, 64, 128, 256, 512, 1024, 2048] };
    let without: &[u32] = if quick { &[16] } else { &[16, 256, 1024] };
    let seconds = if quick { 2 } else { 3 };
    let mut measured = Measured::default();
    for (stamps, counts) in [(true, counts), (false, without)] {
        let steps = match stamps {
            true => &mut measured.ladder,
            false => &mut measured.without_stamps,
        };
        for streams in counts.iter().copied().filter(|n| limits.allow(*n)) {
            if stop.get() > Stop::No {
                return Ok(measured);
            }
            let how = if stamps { "" } else { ", without the kernel's receive times" };
            printer
                .remark(format_args!("{streams} streams at 20 ms per token{how}, {seconds} s …"));
            let pace = ladder::Pace::Steady;
            let step = ladder::climb(Trial { pace, streams, seconds, stamps }, stop)?;
            let fell = !step.client_valid;
            steps.push(step);
            // After two failed steps, the following ones would fail, too.
            if fell && steps.iter().rev().nth(1).is_some_and(|before| !before.client_valid) {
                break;
            }
        }
    }
    printer.remark(format_args!("maximum throughput, {seconds} s …"));
    let (pace, stamps) = (ladder::Pace::FlatOut, true);
    let flat_out = ladder::climb(Trial { pace, streams: 16, seconds, stamps }, stop)?;
    measured.flat_out_tokens_per_s = flat_out.tokens_per_s;
    Ok(measured)
}

/// Up to where metrics are accurate, as far as it was tried.
fn accurate(streams: Option<u32>, tokens_per_s: Option<f64>, ladder: &[Step]) -> String {
    let tried = || ladder.iter().map(|step| (step.streams, step.client_valid));
    let Some(most) = streams else {
        let least = tried().map(|(streams, _)| streams).min().unwrap_or(0);
        return format!("Metrics are not accurate on this machine, even with {least} streams.\n");
    };
    let tokens = tokens_per_s.map_or("–".to_owned(), |rate| format!("{rate:.0}"));
    let fails = tried().filter(|(streams, valid)| *streams > most && !valid);
    match fails.map(|(streams, _)| streams).min() {
        Some(fails) => format!(
            "Metrics are accurate up to {most} streams and {tokens} tokens/s on this machine, but not \
             with {fails} streams; nothing between was tried.\n"
        ),
        None => format!(
            "Metrics are accurate up to at least {most} streams and {tokens} tokens/s on this machine; \
             more was not tried.\n"
        ),
    }
}

fn text(findings: &Findings) -> String {
    let mut text = String::from(
        "                  TTFT ms       ITL ms     send     read CPU\n\
         streams tokens/s  bias/jitter     bias/p99 delay ms delay ms   %  metrics\n",
    );
    for step in &findings.ladder {
        text.push_str(&step.row());
        text.push('\n');
    }
    if !findings.without_stamps.is_empty() {
        text.push_str("without the kernel's receive times:\n");
        for step in &findings.without_stamps {
            text.push_str(&step.row());
            text.push('\n');
        }
    }
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.0}"));
    text.push_str(
        "\nThe client is judged: whether its own timing is exact enough. Bias and jitter also contain \
         delays of the engine.\n",
    );
    text.push_str(&accurate(findings.streams, findings.tokens_per_s, &findings.ladder));
    text.push_str(&format!(
        "At maximum throughput, with 16 events per packet, the client receives {} tokens/s.\n",
        shown(findings.flat_out_tokens_per_s)
    ));
    let stamps = match findings.kernel_stamps {
        Some(true) => "The kernel provides receive times.",
        Some(false) => "The kernel provides no receive times: times are taken in this program.",
        None => "Whether the kernel provides receive times could not be determined.",
    };
    text.push_str(&format!("{stamps}\n"));
    text.push_str(&findings.limits.text());
    if findings.advice.is_empty() {
        text.push_str("Nothing to change.\n");
    }
    for advice in &findings.advice {
        text.push_str(&format!("→ {advice}\n"));
    }
    text
}
