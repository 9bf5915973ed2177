//! Opening the target: a server, or an embedded engine when none was given.

use super::embedded::Embedded;
use super::levels::Backend;
use super::metrics::Metrics;
use super::order::{ConnectionSettings, Order, Secrets};
use super::pulse::Pulse;
use super::workload::Items;
use crate::api::dialect_of;
use crate::error::RunError;
use dyno_drive::{
    LevelOutcome, LevelSetup, Lookahead, Stop, StopSignal, Transport, TransportError, run_level,
};
use dyno_engine::{Running, Server};
use dyno_model::budget::Budget;
use dyno_model::environment::Address;
use dyno_model::frame::EngineSlip;
use dyno_model::message::clauses;
use dyno_model::plan::Plan;
use dyno_model::{MS, Message, Nanos, SEC, message};
use dyno_net::Clock;
use dyno_wire::client::{Addresses, Client, ClientError, ClientOptions, NoAddress, is_name};
use dyno_wire::dialect::{Dialect, Keep};
use dyno_wire::encode::{Encoder, SecretHeaders};
use dyno_wire::endpoint::Endpoint;
use dyno_wire::exchange::Rules;
use dyno_wire::redact::{Redactor, of_header};
use dyno_wire::tls::{TlsError, TlsFault};
use dyno_wire::url::TargetUrl;
use std::time::Duration;

/// A client for the target, and the engine if it is embedded.
pub(crate) struct OpenTarget {
    pub(crate) client: Client,
    pub(crate) endpoint: Endpoint,
    pub(crate) headers: SecretHeaders,
    /// The target is Dyno's own engine, which reports how late it was.
    pub(crate) tells_slip: bool,
    /// Its metrics, once they were found.
    pub(crate) metrics: Option<Metrics>,
    /// The addresses of a target that is given by name, for the run directory.
    pub(crate) addresses: Vec<Address>,
    /// Serves until it is dropped.
    pub(crate) _engine: Option<Running>,
}

/// A target that is ready, and how requests to it are written.
pub(crate) struct ServerBackend {
    pub(crate) target: OpenTarget,
    pub(crate) encoder: Encoder,
}

impl Backend for ServerBackend {
    fn now(&self) -> Nanos {
        self.target.client.now()
    }

    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        items: Items,
        ahead: usize,
    ) -> Result<LevelOutcome, TransportError> {
        let mut requests = Lookahead::prepare(ahead, items, self.encoder.clone())?;
        run_level(setup, &mut self.target.client, &mut requests)
    }

    fn slip(&mut self) -> Option<EngineSlip> {
        if !self.target.tells_slip {
            return None;
        }
        let path = self.target.endpoint.beside("/dyno/slip?reset=1");
        // Asked even when the run is being stopped, so it must not take long.
        let fetched = self.target.client.fetch(&path, 2 * SEC, &StopSignal::new()).ok()?;
        serde_json::from_slice(fetched.ok()?).ok()
    }

    fn rest(&mut self, time: Nanos, stop: &StopSignal) {
        let until = self.now().saturating_add(time);
        while self.now() < until && stop.get() == Stop::No {
            let left = until.saturating_sub(self.now()).min(50 * MS);
            std::thread::sleep(Duration::from_nanos(left));
        }
    }

    fn check_health(&mut self, stop: &StopSignal) -> Result<(), Message> {
        let mut why = Message::quoted("");
        let paths = self.target.client.rules().dialect.about().health;
        let first = paths.first().copied().unwrap_or("/");
        let again = [(SEC, first), (5 * SEC, first)];
        for (pause, path) in paths.iter().map(|path| (0, *path)).chain(again) {
            self.rest(pause, stop);
            let path = self.target.endpoint.beside(path);
            let fetched =
                self.target.client.fetch(&path, HEALTH_WITHIN, stop).map_err(Message::of)?;
            match fetched.record.status {
                // Any response will do, except one that says it is out of service.
                Some(status) if !OUT_OF_SERVICE.contains(&status) => return Ok(()),
                _ => {
                    why = fetched.words(&self.target.client.rules().redactor);
                }
            }
        }
        Err(message!("it no longer responds: {why}", "不再响应：{why}"))
    }

    fn reset_cache(&mut self, stop: &StopSignal) -> Result<(), Message> {
        let mut said = Vec::new();
        let about = self.target.client.rules().dialect.about();
        if about.resets.is_empty() {
            return Err(message!(
                "the API {} has no way to reset the prefix cache",
                "接口 {} 无法清空前缀缓存",
                about.name,
            ));
        }
        for path in about.resets {
            let fetched = self
                .target
                .client
                .post(&self.target.endpoint.beside(path), b"", HEALTH_WITHIN, stop)
                .map_err(Message::of)?;
            if fetched.ok().is_some() {
                return Ok(());
            }
            let why = fetched.words(&self.target.client.rules().redactor);
            said.push(message!("{path}: {why}", "{path}：{why}"));
        }
        Err(message!(
            "the server cannot reset its prefix cache ({})",
            "服务器无法重置前缀缓存（{}）",
            clauses(said),
        ))
    }

    fn pulse(&self, stop: &StopSignal) -> Option<Pulse> {
        let options = self.target.client.options();
        Some(Pulse::new(
            options.clone(),
            self.target.client.clock(),
            options.timeouts.idle_ns,
            stop,
        ))
    }

    fn metrics(&mut self) -> Option<Metrics> {
        self.target.metrics.take()
    }
}

/// Status codes of a gateway whose server is gone, and of a server whose engine is.
pub(super) const OUT_OF_SERVICE: [u16; 3] = [502, 503, 504];

/// A health check that takes longer has failed.
const HEALTH_WITHIN: Nanos = 10 * SEC;

/// Why the client could not be created.
fn no_client(error: ClientError) -> RunError {
    match &error {
        ClientError::Tls(TlsError::File { .. } | TlsError::NoRoots(_))
        | ClientError::ServerName(_) => RunError::Usage(Message::of(error)),
        _ => RunError::Own(Message::of(error)),
    }
}

/// Every secret that a server's message could repeat.
pub(super) fn redactor(secrets: &Secrets, url: Option<&TargetUrl>) -> Redactor {
    let query = url.and_then(TargetUrl::query).unwrap_or_default();
    let values = query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, v)| v.into());
    let headers = secrets.headers.iter().flat_map(|(name, value)| of_header(name, value));
    Redactor::new(secrets.api_key.clone().into_iter().chain(headers).chain(values))
}

/// Opens the target of an order. Sends no request yet. With `sessions`, the text of a response is kept
/// until the next turn is sent.
pub(crate) fn open(order: &Order, sessions: bool, clock: Clock) -> Result<OpenTarget, RunError> {
    let Order { plan, reach, .. } = order;
    let ConnectionSettings { url, tls, secrets, without_stamps, .. } = reach;
    let url = url.as_ref();
    let engine = match &plan.target.embedded {
        Some(named) if url.is_none() => Some(start_engine(named, plan.seed)?),
        _ => None,
    };
    let dialect = dialect_of(plan)?;
    let endpoint = match (url, &engine) {
        (Some(url), _) => Endpoint::new(url, dialect),
        (None, engine) => {
            let own = engine.as_ref().map(|engine| format!("http://{}", engine.addr()));
            Endpoint::parse(&own.unwrap_or_default(), dialect)
                .map_err(|error| RunError::Usage(Message::of(error)))?
        }
    };
    let (host, key) = (endpoint.host.as_str(), secrets.api_key.as_deref());
    let headers = SecretHeaders::new(dialect, host, key, &secrets.headers);
    let (addresses, listed) = find_addresses(order, &endpoint, dialect)?;
    let sources = reach.sources.leading_to(&addresses).map_err(NoAddress::from);
    let options = ClientOptions {
        sources: sources.map_err(|error| RunError::Usage(Message::of(error)))?,
        addresses,
        endpoint: endpoint.clone(),
        tls: tls.clone(),
        timeouts: plan.timeouts,
        stamps: !without_stamps,
        rules: Rules {
            dialect,
            stream: plan.request.stream,
            keep: Keep { text: plan.save_text, content: sessions },
            redactor: redactor(secrets, url),
            budget: Budget::foreign(),
        },
        headers: headers.clone(),
    };
    let mut client = Client::new(options, clock).map_err(no_client)?;
    client.tell_slow(reach.slow.clone());
    Ok(OpenTarget {
        client,
        endpoint,
        headers,
        tells_slip: false,
        metrics: None,
        addresses: listed,
        _engine: engine,
    })
}

/// The addresses of the target, and their list for the run directory.
fn find_addresses(
    order: &Order,
    endpoint: &Endpoint,
    dialect: &dyn Dialect,
) -> Result<(Addresses, Vec<Address>), RunError> {
    let Order { plan, reach, stop, .. } = order;
    let within = plan.timeouts.connect_ns;
    let found = Addresses::find(endpoint, &reach.resolver, &reach.sources, within, stop);
    let mut addresses = found.map_err(|error| match error {
        NoAddress::Unknown(..) => RunError::Target(Message::of(error)),
        NoAddress::Refused(_) => {
            let message =
                message!("the target cannot be reached: {error}", "无法连接目标：{error}");
            unreachable_at(plan, (endpoint, dialect), None, message)
        }
        NoAddress::Source(_) => RunError::Usage(Message::of(error)),
        NoAddress::Interrupted => RunError::Interrupted(Message::of(error)),
    })?;
    let listed = order.past().map(|past| past.addresses.clone());
    let mut listed = listed.unwrap_or_else(|| reach.numbered.clone());
    if is_name(endpoint) {
        addresses.number(&mut listed);
    }
    Ok((addresses, listed))
}

/// No connection could be made, and what the user can check.
pub(crate) fn unreachable_at(
    plan: &Plan,
    (endpoint, dialect): (&Endpoint, &dyn Dialect),
    tls: Option<&TlsFault>,
    message: Message,
) -> RunError {
    let at = at(plan);
    let scheme = if endpoint.tls { "https" } else { "http" };
    let models = dialect.about().models.first().map_or("/", |list| list.path);
    let models = endpoint.beside(models);
    let host = endpoint.host_header();
    let hint = match tls {
        Some(TlsFault::NotTls) => message!(
            "the server does not speak TLS here; try http://{host}",
            "服务器在此端口上不使用 TLS；请尝试 http://{host}",
        ),
        Some(fault) if fault.is_certificate() => message!(
            "is this the right server? --ca-cert FILE trusts its certificate or the authority that \
             signed it, --insecure any certificate",
            "是否为正确的服务器？--ca-cert FILE 信任其证书或签发它的机构，--insecure 信任任何证书",
        ),
        _ => message!(
            "is the server running, and is this its port? Try `curl {scheme}://{host}{models}`. To start one: \
             `vllm serve MODEL`, `ollama serve`, or `dyno engine --port 8000`, which needs no GPU. `dyno \
             bench` without a URL measures that engine",
            "服务器是否正在运行，端口是否正确？可试 `curl {scheme}://{host}{models}`。启动服务器：`vllm serve \
             MODEL`、`ollama serve`，或无需 GPU 的 `dyno engine --port 8000`。不带 URL 的 `dyno bench` \
             会测试该引擎",
        ),
    };
    RunError::Target(message!("{at}: {message}", "{at}：{message}").with_hint(hint))
}

/// The target of a plan in a message.
pub(crate) fn at(plan: &Plan) -> Message {
    match &plan.target.url {
        Some(url) => Message::quoted(url),
        None => message!("the embedded engine", "内置引擎"),
    }
}

fn start_engine(named: &str, seed: u64) -> Result<Running, RunError> {
    let own = |error: Message| {
        RunError::Own(message!("the embedded engine: {error}", "内置引擎：{error}"))
    };
    let embedded = Embedded::named(named).map_err(RunError::Usage)?;
    let options = embedded.options(seed).map_err(|error| own(Message::of(error)))?;
    let running = Server::bind(options).and_then(Server::spawn);
    running.map_err(|error| own(Message::of(error)))
}
