//! What an agent adds of its own: secret queries, each for its own server, and questions to the server that
//! counts tokens for all agents alike.

use super::agent::AgentWork;
use crate::error::RunError;
use crate::identity::on_one_line;
use crate::order::{ConnectionSettings, Order, Secrets};
use crate::prepared::count_by_server;
use crate::target::{OpenTarget, open};
use crate::tokenize::CountedBy;
use crate::workload::Workload;
use dyno_drive::StopSignal;
use dyno_fleet::Setup;
use dyno_model::message;
use dyno_model::plan::Plan;
use dyno_net::Clock;
use dyno_wire::url::TargetUrl;

impl AgentWork {
    /// A URL of the coordinator's, with the query that this agent has for it, if any. Where it knows other
    /// paths of the server alone, theirs is used.
    pub(super) fn with_query(&self, url: &str) -> Result<TargetUrl, RunError> {
        let bare = url.split('?').next().unwrap_or_default();
        let asked = TargetUrl::parse(bare).map_err(RunError::Usage)?;
        let path = |url: &TargetUrl| url.path().trim_end_matches('/').to_owned();
        let mut of_server = self.targets.iter().filter(|known| known.same_server(&asked));
        let of_path = of_server.clone().find(|known| path(known) == path(&asked));
        let query = match of_path {
            Some(known) => known.query(),
            None => of_server.find_map(TargetUrl::query),
        };
        match query {
            Some(query) => TargetUrl::parse(&format!("{bare}?{query}")).map_err(RunError::Usage),
            None => Ok(asked),
        }
    }

    /// Whether it has what the plan names and does not hold: headers, and the parameters of the target's
    /// query. Without them it would send other requests than the plan says, to another tenant or route.
    pub(super) fn has_all_of(&self, plan: &Plan, url: &TargetUrl) -> Result<(), RunError> {
        let Secrets { api_key, headers } = &self.reach.secrets;
        let has = |wanted: &String| {
            headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(wanted))
                || api_key.is_some() && wanted.eq_ignore_ascii_case("authorization")
        };
        let missing = plan.target.header_names.iter().filter(|wanted| !has(wanted));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if let Some(first) = missing.first() {
            return Err(RunError::Usage(message!(
                "the run has headers that this agent does not have and would not send: {}; start it with \
                 --header '{first}: VALUE'",
                "本次测试使用了该压测端没有、因而不会发送的请求头：{}；请用 --header '{first}: VALUE' 启动它",
                missing.join(", "),
            )));
        }
        let names = |query: &str| -> Vec<String> {
            let name = |pair: &str| pair.split_once('=').map_or("", |(name, _)| name).to_owned();
            query.split('&').map(name).collect()
        };
        let wanted = plan.target.url.as_deref().and_then(|url| url.split_once('?'));
        let own = url.query().map(names).unwrap_or_default();
        let wanted = wanted.map(|(_, query)| names(query)).unwrap_or_default();
        let missing: Vec<String> = wanted.into_iter().filter(|name| !own.contains(name)).collect();
        match missing.first() {
            None => Ok(()),
            Some(first) => Err(RunError::Usage(message!(
                "the target's query has parameters that this agent does not have and would not send: {}; \
                 start it with --target '{}?{first}=VALUE'",
                "目标的查询串含有该压测端没有、因而不会发送的参数：{}；请用 --target '{}?{first}=VALUE' 启动它",
                missing.join(", "),
                url.shown().split('?').next().unwrap_or_default(),
            ))),
        }
    }

    /// The CPU and the source addresses that a coordinator gives to its children. What else could come from a
    /// bus would be somebody else's decision about this machine.
    pub(super) fn own_of<'a>(&self, setup: &'a Setup) -> (Option<u32>, &'a [String]) {
        match self.shares_files {
            true => (setup.cpu, &setup.sources),
            false => (None, &[]),
        }
    }

    /// Counts tokens with the server that the coordinator asks, in the same way. Prompts of other lengths
    /// than the other agents' are worse than none.
    pub(super) fn count_like(
        &self,
        counting: &CountedBy,
        plan: &Plan,
        workload: &mut Workload,
        (url, target): (&str, &OpenTarget),
        stop: &StopSignal,
        clock: Clock,
    ) -> Result<(), RunError> {
        let elsewhere = match counting.at == url {
            true => None,
            false => Some(self.open_elsewhere(&counting.at, plan, clock)?),
        };
        let server = elsewhere.as_ref().unwrap_or(target);
        let (at, model) = (counting.at.as_str(), counting.model.as_str());
        let (_, why) = count_by_server(plan, workload, server, (at, model), stop)?;
        let path = &counting.path;
        match why {
            None if workload.counting() == Some(counting) => Ok(()),
            None => Err(RunError::Usage(message!(
                "{at} counts tokens in another way for this agent than for the coordinator ({path}), so its \
                 prompts would have other lengths; give --tokenizer PATH",
                "{at} 为本压测端计数 token 的方式与为协调端计数的方式（{path}）不同，因此其提示词长度会不同；\
                 请使用 --tokenizer PATH",
            ))),
            Some(why) => Err(RunError::Usage(message!(
                "{at} counts tokens for the coordinator ({path}), but not for this agent, whose prompts would \
                 have other lengths; give --tokenizer PATH, or let the agent ask there: {}",
                "{at} 为协调端计数 token（{path}），但不为本压测端计数，其提示词长度会不同；\
                 请使用 --tokenizer PATH，或让该压测端能够访问它：{}",
                on_one_line(&why),
            ))),
        }
    }

    /// Another server than the target, to ask it.
    fn open_elsewhere(&self, at: &str, plan: &Plan, clock: Clock) -> Result<OpenTarget, RunError> {
        (self.may_measure)(at).map_err(RunError::Usage)?;
        let secrets = self.counting.as_ref().unwrap_or(&self.reach.secrets).clone();
        let url = Some(self.with_query(at)?);
        let reach = ConnectionSettings { url, secrets, ..self.reach.clone() };
        open(&Order { reach, ..Order::new(plan.clone()) }, false, clock)
    }
}

#[cfg(test)]
mod tests {
    use super::super::kept::KeepRecords;
    use super::*;
    use dyno_model::plan::{Shard, Target};

    fn agent(targets: &[&str]) -> AgentWork {
        AgentWork {
            name: "a".to_owned(),
            reach: ConnectionSettings::default(),
            targets: targets.iter().map(|url| TargetUrl::parse(url).unwrap()).collect(),
            counting: None,
            shares_files: false,
            may_measure: Box::new(|_| Ok(())),
            keep: KeepRecords::Below(Vec::new()),
        }
    }

    #[test]
    fn an_agent_without_the_headers_or_the_query_of_the_plan_refuses() {
        let mut agent = agent(&["http://gpu:8000/v1?version=7&flag"]);
        let mut plan = Plan::new(Target::at("http://gpu:8000/v1?version=…&…"));
        let mut check = |agent: &AgentWork, change: &dyn Fn(&mut Plan)| {
            change(&mut plan);
            let url = agent.with_query("http://gpu:8000/v1").unwrap();
            agent.has_all_of(&plan, &url).map_err(|error| error.to_string())
        };
        assert_eq!(check(&agent, &|_| ()), Ok(()));
        let names = |plan: &mut Plan| {
            plan.target.header_names = vec!["X-Tenant".to_owned(), "Authorization".to_owned()];
        };
        let why = check(&agent, &names).unwrap_err();
        assert!(why.contains("would not send: X-Tenant, Authorization; start it with"), "{why}");
        assert!(why.contains("--header 'X-Tenant: VALUE'"), "{why}");
        agent.reach.secrets.headers = vec![("x-tenant".to_owned(), "load".to_owned())];
        assert!(check(&agent, &|_| ()).unwrap_err().contains("would not send: Authorization;"));
        agent.reach.secrets.api_key = Some("key".to_owned());
        assert_eq!(check(&agent, &|_| ()), Ok(()), "a key is an Authorization");
        agent.targets = vec![TargetUrl::parse("http://gpu:8000/v1?flag").unwrap()];
        let why = check(&agent, &|_| ()).unwrap_err();
        assert!(
            why.ends_with("start it with --target 'http://gpu:8000/v1?version=VALUE'"),
            "{why}"
        );
    }

    #[test]
    fn a_message_on_a_bus_does_not_choose_cpus_or_addresses() {
        let setup = Setup {
            run: "run".to_owned(),
            plan: Plan::new(Target::at("http://gpu")),
            shard: Shard::WHOLE,
            url: "http://gpu".to_owned(),
            settled: serde_json::Value::Null,
            files: Vec::new(),
            cpu: Some(0),
            sources: vec!["127.0.0.2".to_owned()],
        };
        let mut agent = agent(&[]);
        assert_eq!(agent.own_of(&setup), (None, &[][..]));
        agent.shares_files = true;
        assert_eq!(agent.own_of(&setup), (Some(0), &["127.0.0.2".to_owned()][..]));
    }

    #[test]
    fn a_query_goes_to_its_own_server_alone() {
        let known = [
            "https://one/v1?key=1",
            "https://one/v2?key=2",
            "https://one/open",
            "http://two:80?key=3",
            "http://three",
        ];
        let agent = agent(&known);
        let query = |url: &str| agent.with_query(url).unwrap().query().map(str::to_owned);
        for (url, expected) in [
            ("https://one/v1/", Some("key=1")),
            ("https://ONE:443/v2", Some("key=2")),
            ("https://one/v3", Some("key=1")),
            ("https://one/open", None),
            ("http://two/x", Some("key=3")),
            ("http://two/x?key=7", Some("key=3")),
            ("http://three", None),
            ("https://two", None),
            ("http://one/v1", None),
            ("https://one:8443/v1", None),
            ("https://one.evil/v1", None),
        ] {
            assert_eq!(query(url).as_deref(), expected, "{url}");
        }
        assert!(agent.with_query("http://two@evil/").is_err());
    }
}
