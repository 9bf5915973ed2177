//! `dyno agent`: a load generator that takes orders.

use super::RUNS;
use crate::args::fleet::AgentArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::{ProcessEnv, fleet, reach_of_agent};
use crate::signals;
use crate::usage::UsageError;
use dyno_model::{Localized, Message, message};
use dyno_run::fleet::nats::Notice;
use dyno_run::fleet::{AgentWork, Ended, KeepRecords, Permission, serve_bus, serve_child};
use dyno_run::{ConnectionSettings, RunError, Secrets, StopSignal, TargetUrl};
use dyno_words::escape::escape;

/// How much is printed of a text that may come from others.
const LONGEST: usize = 600;

pub(crate) fn run(args: AgentArgs, printer: &Printer) -> Exit {
    if let Some(name) = &args.child {
        let agent = AgentWork::child(name.clone(), ConnectionSettings::default());
        return concluded(serve_child(&agent), printer);
    }
    match on_bus(args, printer) {
        Ok(exit) => exit,
        Err(error) => {
            printer.error(&error);
            Exit::Usage
        }
    }
}

fn on_bus(args: AgentArgs, printer: &Printer) -> Result<Exit, UsageError> {
    if args.bus.bus.is_none() {
        return Err(UsageError::new(
            "--bus",
            message!(
                "an agent waits on a bus; give its URL, such as nats://HOST:4222 (`dyno bench \
                 URL --agents N` needs none: it starts agents on this machine by itself)",
                "压测端在总线上等待；请给出其 URL，例如 nats://HOST:4222（`dyno bench URL \
                 --agents N` 不需要总线：它会自行在本机启动压测端）"
            ),
        ));
    }
    if args.target.is_empty() && !args.any_target {
        return Err(UsageError::new(
            "--target",
            message!(
                "say which servers this agent may measure: --target URL, or --any-target",
                "请说明该压测端可以测量哪些服务器：--target URL，或 --any-target"
            ),
        ));
    }
    let language = args.language.or(ProcessEnv::of_process().language);
    let printer = printer.speaking(language);
    let options = fleet::bus(&args.bus)?;
    let (reach, warnings) = reach_of_agent(args.connection, &ProcessEnv::of_process())?;
    if args.any_target && (reach.secrets != Secrets::default() || reach.tls.client_cert.is_some()) {
        return Err(UsageError::new(
            "--any-target",
            message!(
                "the key, headers or client certificate of this agent would go to any server \
                 that a message on the bus names; name the servers with --target URL, or remove \
                 them (and DYNO_API_KEY)",
                "该压测端的密钥、请求头或客户端证书会发往总线消息指定的任何服务器；请用 --target \
                 URL 指定服务器，或去掉它们（以及 DYNO_API_KEY）"
            ),
        ));
    }
    let visible = fleet::visible(&options);
    warnings.iter().chain(&visible).for_each(|warning| printer.warn(warning));
    let name = args.name.unwrap_or_else(own_name);
    let targets = args.target.clone();
    let may_measure = permission(args.target, args.any_target);
    // The working directory of a container may be read-only.
    let keep = KeepRecords::Below(vec![RUNS.into(), std::env::temp_dir().join(RUNS)]);
    let agent =
        AgentWork { name, reach, targets, counting: None, shares_files: false, may_measure, keep };
    let stop = StopSignal::new();
    let listening = signals::listen(stop.clone(), |_| ());
    let listening = listening.map_err(|error| UsageError::new("signals", &error))?;
    let bus = options.shown();
    let teller = printer.clone();
    let tell = move |notice| teller.note(&said(notice, &bus));
    let ended = |run: &str, Ended { how, kept }: Ended| {
        match how {
            Ok(()) => printer.note(&message!("run {run} is over", "运行 {run} 已结束")),
            Err(error) => {
                let why = escaped(error);
                printer.warn(&message!(
                    "run {run} ended for this agent: {why}",
                    "运行 {run} 对本压测端已终止：{why}"
                ));
            }
        }
        match kept {
            None => {}
            Some(Ok(path)) => printer.warn(&message!(
                "its coordinator did not fetch the records; they are kept: dyno report {}",
                "协调端没有取走记录；记录已保留：dyno report {}",
                path.to_string_lossy()
            )),
            Some(Err(why)) => printer.error(&message!(
                "its coordinator did not fetch the records, and they could not be kept: {why}",
                "协调端没有取走记录，且无法保留：{why}"
            )),
        }
    };
    let served = serve_bus(&agent, &options, args.once, &stop, tell, ended);
    drop(listening);
    Ok(concluded(served, &printer))
}

fn escaped(why: impl Localized) -> Message {
    Message::of(why).map(|text| escape(text, LONGEST))
}

fn said(notice: Notice, bus: &str) -> Message {
    match notice {
        Notice::NotThere { why } => message!(
            "the bus is not there yet, trying again: {}",
            "总线尚不可用，正在重试：{}",
            escaped(why)
        ),
        Notice::Free => message!("waiting for a run on {bus}", "正在 {bus} 上等待运行"),
        Notice::Engaged { run } => {
            message!("taking part in run {}", "参与运行 {}", escape(&run, LONGEST))
        }
        Notice::Refused { why } => message!("refused: {}", "已拒绝：{}", escaped(why)),
        Notice::Interrupted => {
            message!("the connection to the bus was interrupted", "与总线的连接中断")
        }
        Notice::Back => message!("the bus is back", "总线已恢复"),
    }
}

/// Its place in a job, or the process id, after the host's name.
fn own_name() -> String {
    let place = ["JOB_COMPLETION_INDEX", "SLURM_PROCID"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|place| place.parse::<u32>().is_ok()));
    let place = place.unwrap_or_else(|| std::process::id().to_string());
    format!("{}-{place}", dyno_run::fleet::host_name())
}

/// Servers that may be measured: scheme, host and port must be those of a URL that was given.
fn permission(targets: Vec<TargetUrl>, any: bool) -> Permission {
    Box::new(move |url| {
        let asked = TargetUrl::parse(url).map_err(Message::of)?;
        match any || targets.iter().any(|target| target.same_server(&asked)) {
            true => Ok(()),
            false => Err(message!(
                "it may not measure {}; see its --target",
                "它不允许测量 {}；请查看其 --target",
                asked.shown(),
            )),
        }
    })
}

fn concluded(served: Result<(), RunError>, printer: &Printer) -> Exit {
    match served {
        Ok(()) => Exit::Fine,
        Err(error) => {
            let exit = if matches!(error, RunError::Usage(_)) { Exit::Usage } else { Exit::Bug };
            printer.error(&error);
            exit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::Message;

    #[test]
    fn nothing_from_a_bus_acts_on_the_terminal() {
        let text = || "a\u{1b}[2Jb\r\u{202e}".to_owned();
        for notice in [
            Notice::Refused { why: Message::quoted(text()) },
            Notice::NotThere { why: Message::quoted(text()) },
            Notice::Engaged { run: text() },
        ] {
            let said = said(notice, "nats://bus:4222").to_string();
            assert!(said.contains("a\\u{1b}[2Jb\\r\\u{202e}"), "{said}");
        }
    }

    #[test]
    fn a_server_may_be_measured_however_it_is_written_and_no_other() {
        let targets = ["http://gpu:8000/v1?key=1", "https://llm.example", "http://[::1]:9000"];
        let targets = targets.map(|url| TargetUrl::parse(url).unwrap()).to_vec();
        let may = permission(targets.clone(), false);
        for same in [
            "http://gpu:8000",
            "http://gpu:8000/",
            "HTTP://GPU:8000/v2/chat",
            "https://llm.example:443/",
            "https://LLM.example/v1",
            "http://[::1]:9000/v1",
        ] {
            assert_eq!(may(same), Ok(()), "{same}");
        }
        for other in [
            "https://gpu:8000",
            "http://gpu",
            "http://gpu:80000",
            "http://gpu:8001",
            "http://gpu:8000.evil",
            "http://gpu.evil:8000",
            "http://gpu:8000@evil/",
            "http://gpu@evil:8000/",
            "http://evil/?http://gpu:8000",
            "http://evil/#@gpu:8000",
            "http://evil\\@gpu:8000",
            "http://evil:8000/gpu:8000",
            "http://llm.example",
            "https://llm.example.",
            "https://llm.example:8443",
            "http://::1:9000",
            "file:///etc/passwd",
            "gpu:8000",
            "",
        ] {
            assert!(may(other).is_err(), "{other}");
        }
        let any = permission(targets, true);
        assert_eq!(any("http://evil"), Ok(()));
        assert!(any("http://gpu@evil").is_err(), "not even then");
        let refused = may("http://evil:1/?key=secret").unwrap_err().to_string();
        assert_eq!(refused, "it may not measure http://evil:1/?key=…; see its --target");
    }
}
