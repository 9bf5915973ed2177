//! `dyno engine`: the embedded engine as a standalone server, until Ctrl-C.

use crate::args::engine::EngineArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use dyno_engine::twin::Twin;
use dyno_engine::{EngineError, Fault, Server, ServerOptions, StopHandle};
use dyno_model::Language;
use dyno_run::Embedded;
use dyno_words::translated;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Read};

/// Serves until it is stopped.
pub(crate) fn run(args: &EngineArgs, printer: &Printer) -> Exit {
    if args.list_faults {
        return printer.result(&fault_list(printer.language()));
    }
    if !args.host.is_loopback() {
        printer.warn(format_args!("--host: {} is reachable from other machines", args.host));
    }
    dyno_net::raise_open_files();
    let options = match options(args) {
        Ok(options) => options,
        Err(message) => {
            printer.error(message);
            return Exit::Usage;
        }
    };
    let model = options.model.clone();
    let server = match Server::bind(options) {
        Ok(server) => server,
        Err(error) => {
            printer.error(format_args!("{}: {error}", at_fault(&error)));
            return Exit::Usage;
        }
    };
    if let Err(error) = stop_on_signals(&server.stop_handle()) {
        printer.error(format_args!("cannot listen for Ctrl-C: {error}"));
        return Exit::Bug;
    }
    if args.until_stdin_closes {
        stop_with_stdin(server.stop_handle());
    }
    let address = format!("http://{}", server.addr());
    let listening = format!("listening on {address}");
    let printed = printer.result(&format!("{}\n", translated(&listening, printer.language())));
    printer.remark(format_args!(
        "try it:\n  curl -N {address}/v1/chat/completions -d '{{\"model\": \"{}\", \"stream\": true, \
         \"messages\": [{{\"role\": \"user\", \"content\": \"hello\"}}]}}'\n  dyno bench {address}\n\
         Ctrl-C stops it",
        model
    ));
    match server.run() {
        Ok(()) => printed,
        Err(error) => {
            printer.error(error);
            Exit::Bug
        }
    }
}

fn options(args: &EngineArgs) -> Result<ServerOptions, String> {
    let chosen = match args.scripted {
        Some(script) => Embedded::Script(script),
        None => {
            let name = args.twin.as_deref().unwrap_or(Twin::default_name());
            Embedded::twin(name).map_err(|error| format!("--twin: {error}"))?
        }
    };
    let chosen = match args.slow_down {
        Some(rate) => chosen.slowing_down(rate),
        None => chosen,
    };
    let options = chosen.options(args.seed).map_err(|error| format!("--twin: {error}"))?;
    Ok(ServerOptions {
        faults: args.fault.clone(),
        host: args.host,
        port: args.port,
        model: args.model.clone().unwrap_or_else(|| options.model.clone()),
        cache_report: !args.no_cache_report,
        dimensions: args.dimensions,
        die_after: args.die_after,
        hang_after: args.hang_after,
        ledger: args.ledger.clone(),
        ..options
    })
}

fn at_fault(error: &EngineError) -> &'static str {
    match error {
        EngineError::PortInUse(_) => "--port",
        EngineError::Bind { .. } => "--host, --port",
        EngineError::Ledger { .. } => "--ledger",
        _ => "engine",
    }
}

fn stop_on_signals(stop: &StopHandle) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, stop.signal_end()?)?;
    }
    Ok(())
}

/// The parent process holds the other end of stdin: when it is gone, so is the only client.
fn stop_with_stdin(stop: StopHandle) {
    std::thread::spawn(move || {
        let mut buffer = [0; 256];
        while matches!(io::stdin().read(&mut buffer), Ok(1..)) {}
        stop.stop();
    });
}

fn fault_list(language: Language) -> String {
    let width = Fault::all().iter().map(|info| info.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for failing in [true, false] {
        let head = if failing {
            "Failures: the client must record the request as failed, in this class"
        } else {
            text.push('\n');
            "Quirks: the request must complete, with correct metrics"
        };
        text.push_str(&format!("{}\n", translated(head, language)));
        for info in Fault::all().iter().filter(|info| info.class.is_some() == failing) {
            let class = info.class.map(|class| format!(" [{class}]")).unwrap_or_default();
            let about = language.choose(info.about);
            text.push_str(&format!("  {:width$}  {about}{class}\n", info.name));
        }
    }
    text
}
