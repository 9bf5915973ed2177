//! What to suggest where a server does not have the API of a run. Whatever is suggested has been tried
//! against the server, so that one suggestion does not lead to the next.

use crate::api::{apis, asked};
use crate::error::RunError;
use crate::identity::on_one_line;
use crate::target::{OpenTarget, at};
use dyno_drive::StopSignal;
use dyno_model::plan::{Api, Plan};
use dyno_model::{Message, Nanos, SEC, message};
use dyno_wire::client::{Client, ClientOptions};
use dyno_wire::dialect::{DIALECTS, Dialect};
use dyno_wire::endpoint::Endpoint;
use dyno_wire::exchange::Rules;
use dyno_wire::preflight::{FoundServer, PreflightError, PreflightSetup, discover, preflight};

/// The longest wait for a description of the server.
const WITHIN: Nanos = 5 * SEC;
/// Where Triton describes itself, and its models.
const TRITON: &str = "/v2";

/// What became of a request of another API.
enum Tried {
    Taken,
    Refused(Message),
    /// Nothing says which model to ask for.
    Untried,
}

/// A target that refused a run, and what the run was to be.
pub(crate) struct Refused<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) target: &'a mut OpenTarget,
    pub(crate) stop: &'a StopSignal,
}

impl Refused<'_> {
    /// Nothing is at the path of the API's requests: says so, and what the server has instead.
    pub(crate) fn missing(mut self, message: Message) -> RunError {
        let hint = match self.is_triton() {
            true => triton(),
            false => self.what_it_has(),
        };
        let (at, api, path) = (at(self.plan), &self.plan.target.api, &self.target.endpoint.path);
        let missing = message!(
            "{at}: {path}, the path of {api}: {message}",
            "{at}：{path}（{api} 的路径）：{message}",
        );
        RunError::Target(missing.with_hint(hint))
    }

    /// The server refuses requests, and another API has the same path.
    pub(crate) fn other(mut self, message: Message, other: &str) -> RunError {
        let path = self.target.endpoint.path.clone();
        let other = DIALECTS.iter().copied().find(|dialect| dialect.about().name == other);
        let tried = other.map(|other| (other.about().name, self.try_at(other, &path)));
        let hint = match tried {
            _ if self.is_triton() => triton(),
            Some((name, Tried::Taken)) => self.named(name, &path),
            Some((name, Tried::Untried)) => {
                let root = self.root();
                message!(
                    "try --api {name} with {root}{path} as the target, and name a --model",
                    "可尝试 --api {name}，以 {root}{path} 为目标，并用 --model 指定模型",
                )
            }
            Some((name, Tried::Refused(why))) => message!(
                "a request of --api {name}, which has such a path, is refused, too: {why}",
                "路径相同的接口 --api {name} 的请求同样被拒绝：{why}",
            ),
            None => check_address(),
        };
        RunError::Target(message!("{}: {message}", "{}：{message}", at(self.plan)).with_hint(hint))
    }

    fn what_it_has(&mut self) -> Message {
        let Ok(found) = discover(&mut self.target.client, &self.target.endpoint, self.stop) else {
            return check_address();
        };
        let own = self.plan.target.api.name();
        if found.why.is_some() && found.dialect.about().name != own {
            return self.of_those(&found);
        }
        let base = &self.target.endpoint.base;
        if !base.is_empty() {
            let root = self.root();
            return message!(
                "`{base}` is the path of no API that Dyno knows; try {root}, or choose with --api",
                "`{base}` 不是 Dyno 已知的任何接口的路径；可尝试 {root}，或用 --api 指定",
            );
        }
        let names: Vec<&str> = apis().map(|about| about.name).collect();
        let (asked, known) = (asked(&found), names.join(", "));
        message!(
            "nothing tells which API it has (asked: {asked}); --api takes {known}",
            "无法确定它的接口（已询问：{asked}）；--api 可取 {known}",
        )
    }

    /// Which of the APIs that were found takes a request, at its own path or as another API that has the
    /// same one.
    fn of_those(&mut self, found: &FoundServer) -> Message {
        let why = found.why.clone().unwrap_or_else(|| Message::quoted(""));
        let all: Vec<_> = std::iter::once(found.dialect).chain(found.also.clone()).collect();
        let (mut taken, mut untried, mut refused) = (Vec::new(), Vec::new(), None);
        for dialect in &all {
            let path = self.target.endpoint.beside(&dialect.about().whole_path());
            match self.try_at(*dialect, &path) {
                Tried::Taken => taken.push(dialect.about().name),
                Tried::Untried => untried.push(dialect.about().name),
                Tried::Refused(why) => _ = refused.get_or_insert((dialect.about().name, why)),
            }
        }
        let name = if taken.is_empty() { untried.join(" | ") } else { taken.join(" | ") };
        match (name.is_empty(), found.sure || !taken.is_empty()) {
            (false, true) => {
                return message!("use --api {name} ({why})", "请使用 --api {name}（{why}）");
            }
            (false, false) => {
                return message!("try --api {name} ({why})", "可尝试 --api {name}（{why}）");
            }
            (true, _) => {}
        }
        for dialect in &all {
            let about = dialect.about();
            let path = self.target.endpoint.beside(&about.whole_path());
            let same = DIALECTS.iter().copied().filter(|other| {
                other.about().path == about.path && other.about().name != about.name
            });
            for other in same {
                if let Tried::Taken = self.try_at(other, &path) {
                    return self.named(other.about().name, &path);
                }
            }
        }
        let (name, said) = refused.unwrap_or_else(|| ("", Message::quoted("")));
        message!(
            "it seems to have {name} ({why}), but refuses a request of that API, too: {said}",
            "它似乎提供 {name}（{why}），但同样拒绝了该接口的请求：{said}",
        )
    }

    /// How to name an API and its path on the command line.
    fn named(&self, name: &str, path: &str) -> Message {
        let root = self.root();
        message!(
            "use --api {name} with {root}{path} as the target",
            "请使用 --api {name}，并以 {root}{path} 为目标",
        )
    }

    /// The target without its path.
    fn root(&self) -> &str {
        let url = self.plan.target.url.as_deref().unwrap_or_default();
        let host = url.find("//").map_or(0, |at| at + 2);
        let end = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
        &url[..end]
    }

    /// Whether the server takes requests of an API at a path.
    fn try_at(&self, dialect: &'static dyn Dialect, path: &str) -> Tried {
        let (about, client) = (dialect.about(), &self.target.client);
        let endpoint = Endpoint { path: path.to_owned(), ..self.target.endpoint.clone() };
        let mut plan = self.plan.clone();
        (plan.target.api, plan.request.task) = (Api::named(about.name), about.task);
        plan.request.stream = about.streams();
        let rules = Rules { dialect, stream: about.streams(), ..client.rules().clone() };
        let options =
            ClientOptions { endpoint: endpoint.clone(), rules, ..client.options().clone() };
        let Ok(mut client) = Client::new(options, client.clock()) else { return Tried::Untried };
        if about.names_model && plan.request.model.is_none() {
            let lists = about.models.iter().map(|list| endpoint.beside(list.path));
            let mut listed = lists.map(|path| client.fetch(&path, WITHIN, self.stop));
            if !listed.any(|fetched| fetched.is_ok_and(|fetched| fetched.ok().is_some())) {
                return Tried::Untried;
            }
        }
        let (headers, stop) = (&self.target.headers, self.stop);
        let setup = PreflightSetup { plan: &plan, endpoint: &endpoint, headers, stop };
        match preflight(&mut client, &setup) {
            // Which of its models to use is for the user to say.
            Ok(_) | Err(PreflightError::Model(_)) => Tried::Taken,
            Err(error) => Tried::Refused(on_one_line(&Message::of(error))),
        }
    }

    /// Whether the server is Triton, which has another protocol at paths that look like those of others.
    fn is_triton(&mut self) -> bool {
        let path = self.target.endpoint.path.split('?').next().unwrap_or_default().to_owned();
        let before = path.find("/v2/").map_or(self.target.endpoint.base.as_str(), |at| &path[..at]);
        let path = format!("{before}{TRITON}");
        let fetched = self.target.client.fetch_up_to(&path, 1 << 16, WITHIN, self.stop);
        let Ok(fetched) = fetched else { return false };
        let about = fetched.ok().and_then(|body| serde_json::from_slice(body).ok());
        about.is_some_and(|about: serde_json::Value| about["name"] == "triton")
    }
}

fn check_address() -> Message {
    message!("check the address and --api", "请检查地址和 --api")
}

fn triton() -> Message {
    message!(
        "this is Triton Inference Server, whose own API Dyno does not have; start its OpenAI-compatible \
         frontend, and use that as the target",
        "这是 Triton Inference Server，Dyno 不支持其自有接口；请启动它的 OpenAI 兼容前端，并以之为目标",
    )
}
