//! `dyno engine`: the embedded engine as a standalone server, until Ctrl-C.

use crate::args::engine::EngineArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_engine::{EngineError, Fault, Server, ServerOptions, StopHandle};
use dyno_model::{Language, Localized, message};
use dyno_run::Embedded;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Read};

/// Serves until it is stopped.
pub(crate) fn run(args: &EngineArgs, printer: &Printer) -> Exit {
    if args.list_faults {
        return printer.result(&fault_list(printer.language()));
    }
    if !args.host.is_loopback() {
        printer.warn(&message!(
            "--host: {} is reachable from other machines",
            "--host：其他机器可以访问 {}",
            args.host
        ));
    }
    dyno_net::raise_open_files();
    let options = match options(args) {
        Ok(options) => options,
        Err(error) => {
            printer.error(&error);
            return Exit::Usage;
        }
    };
    let model = options.model.clone();
    let server = match Server::bind(options) {
        Ok(server) => server,
        Err(error) => {
            printer.error(&UsageError::new(at_fault(&error), error));
            return Exit::Usage;
        }
    };
    if let Err(error) = stop_on_signals(&server.stop_handle()) {
        printer.error(&message!("cannot listen for Ctrl-C: {error}", "无法监听 Ctrl-C：{error}",));
        return Exit::Bug;
    }
    if args.until_stdin_closes {
        stop_with_stdin(server.stop_handle());
    }
    let address = format!("http://{}", server.addr());
    let listening = message!("listening on {address}", "正在监听 {address}");
    let printed = printer.result(&(listening.text(printer.language()) + "\n"));
    printer.remark(&message!(
        "try it:\n  curl -N {address}/v1/chat/completions -d '{{\"model\": \"{model}\", \"stream\"\
         : true, \"messages\": [{{\"role\": \"user\", \"content\": \"hello\"}}]}}'\n  \
         dyno bench {address}\nCtrl-C stops it",
        "试一试：\n  curl -N {address}/v1/chat/completions -d '{{\"model\": \"{model}\", \"stream\
         \": true, \"messages\": [{{\"role\": \"user\", \"content\": \"hello\"}}]}}'\n  \
         dyno bench {address}\n按 Ctrl-C 停止"
    ));
    match server.run() {
        Ok(()) => printed,
        Err(error) => {
            printer.error(&error);
            Exit::Bug
        }
    }
}

fn wrong(error: &impl Localized) -> UsageError {
    UsageError::new("--twin", error)
}

fn options(args: &EngineArgs) -> Result<ServerOptions, UsageError> {
    let chosen = match args.scripted {
        Some(script) => Embedded::Script(script),
        None => {
            let name = args.twin.as_deref().unwrap_or(Twin::default_name());
            Embedded::twin(name).map_err(|error| wrong(&error))?
        }
    };
    let chosen = match args.slow_down {
        Some(rate) => chosen.slowing_down(rate),
        None => chosen,
    };
    let options = chosen.options(args.seed).map_err(|error| wrong(&error))?;
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
            message!(
                "Failures: the client must record the request as failed, in this class",
                "故障：客户端必须将请求记为失败，类别如下"
            )
        } else {
            text.push('\n');
            message!(
                "Quirks: the request must complete, with correct metrics",
                "异常行为：请求必须完成，且指标正确"
            )
        };
        text.push_str(&(head.text(language) + "\n"));
        for info in Fault::all().iter().filter(|info| info.class.is_some() == failing) {
            let class = info.class.map(|class| format!(" [{class}]")).unwrap_or_default();
            let about = language.choose(info.about);
            text.push_str(&format!("  {:width$}  {about}{class}\n", info.name));
        }
    }
    text
}
