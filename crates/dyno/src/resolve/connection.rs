//! How a server is reached: keys, certificates, source addresses, timeouts, and its metrics.

use super::notes::Notes;
use super::{ProcessEnv, cannot_read, secrets};
use crate::args::bench::{ConnectionArgs, TimeoutArgs};
use crate::args::metrics::MetricsArg;
use crate::args::target::TargetUrl;
use crate::usage::UsageError;
use dyno_model::plan::Timeouts;
use dyno_model::{Message, message};
use dyno_run::{ConnectionSettings, MetricsFrom, Sources, TlsSettings};

/// The way to a target, with what the plan may not hold.
pub(super) fn reach(
    args: ConnectionArgs,
    target: Option<TargetUrl>,
    metrics: Option<&MetricsArg>,
    surroundings: &ProcessEnv,
    notes: &mut Notes,
    warnings: &mut Vec<Message>,
) -> Result<ConnectionSettings, UsageError> {
    let secrets = secrets::gather(&args, surroundings, target.is_some(), notes, warnings)?;
    let sources = sources(&args)?;
    let tls = tls(args, target.as_ref(), notes)?;
    let metrics = metrics_from(metrics);
    Ok(ConnectionSettings {
        url: target,
        tls,
        secrets,
        sources,
        metrics,
        ..ConnectionSettings::default()
    })
}

/// The names of the headers that are sent, which the plan may hold.
pub(super) fn header_names(reach: &ConnectionSettings) -> Vec<String> {
    reach.secrets.headers.iter().map(|(name, _)| name.clone()).collect()
}

/// The timeouts that are given, and the usual ones.
pub(super) fn timeouts(args: &TimeoutArgs, usual: Timeouts) -> Timeouts {
    let total_ns = args.timeout_total.unwrap_or(usual.total_ns);
    Timeouts {
        connect_ns: args.timeout_connect.unwrap_or(usual.connect_ns),
        total_ns,
        first_token_ns: args.timeout_first_token.unwrap_or(total_ns),
        idle_ns: args.timeout_idle.unwrap_or(usual.idle_ns),
    }
}

/// How an agent reaches the servers that it may measure, and what its user should know.
pub(crate) fn reach_of_agent(
    connection: ConnectionArgs,
    surroundings: &ProcessEnv,
) -> Result<(ConnectionSettings, Vec<Message>), UsageError> {
    let (mut notes, mut warnings) = (Notes::default(), Vec::new());
    let secrets = secrets::gather(&connection, surroundings, true, &mut notes, &mut warnings)?;
    let sources = sources(&connection)?;
    let tls = tls(connection, None, &mut notes)?;
    Ok((ConnectionSettings { tls, secrets, sources, ..ConnectionSettings::default() }, warnings))
}

/// Where the server metrics are scraped.
fn metrics_from(asked: Option<&MetricsArg>) -> MetricsFrom {
    match asked {
        None => MetricsFrom::Target,
        Some(MetricsArg::Off) => MetricsFrom::Nowhere,
        Some(MetricsArg::At(url)) => MetricsFrom::Url(url.clone()),
    }
}

/// The source addresses, all of this machine.
fn sources(args: &ConnectionArgs) -> Result<Sources, UsageError> {
    let sources: Sources = args.source_address.iter().cloned().collect();
    let local = sources.are_local();
    local.map(|()| sources).map_err(|error| UsageError::new("--source-address", error))
}

/// What the plan says of them.
pub(super) fn count_of(sources: &Sources) -> Option<u32> {
    u32::try_from(sources.count()).ok().filter(|count| *count > 0)
}

fn tls(
    args: ConnectionArgs,
    target: Option<&TargetUrl>,
    notes: &mut Notes,
) -> Result<TlsSettings, UsageError> {
    for (flag, file) in [("--ca-cert", &args.ca_cert), ("--client-cert", &args.client_cert)] {
        if let Some(path) = file {
            std::fs::File::open(path)
                .map_err(|error| UsageError::new(flag, cannot_read(path, &error)))?;
        }
    }
    if !target.is_some_and(TargetUrl::is_https) {
        for (flag, given) in [
            ("--insecure", args.insecure),
            ("--ca-cert", args.ca_cert.is_some()),
            ("--client-cert", args.client_cert.is_some()),
        ] {
            if given {
                notes.push(message!(
                    "{flag} has no effect: the target is not https",
                    "{flag} 无效：目标不是 https"
                ));
            }
        }
    }
    Ok(TlsSettings {
        ca_cert: args.ca_cert,
        client_cert: args.client_cert,
        insecure: args.insecure,
    })
}
