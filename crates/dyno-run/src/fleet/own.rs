//! What an agent adds of its own: secret queries, each for its own server, and questions to the server that
//! counts tokens for all agents alike.

use super::agent::Agent;
use crate::error::RunError;
use crate::identity::one_line;
use crate::order::{Order, Reach};
use crate::prepared::count_by_server;
use crate::target::{OpenTarget, open};
use crate::tokenize::CountedBy;
use crate::workload::Workload;
use dyno_drive::StopSignal;
use dyno_model::plan::Plan;
use dyno_net::Clock;
use dyno_wire::url::TargetUrl;

impl Agent {
    /// A URL of the coordinator's, with the query that this agent has for it, if any. Where it knows other
    /// paths of the server alone, theirs is used.
    pub(super) fn with_query(&self, url: &str) -> Result<TargetUrl, RunError> {
        let wrong = |error: dyno_wire::url::UrlError| RunError::Usage(error.to_string());
        let bare = url.split('?').next().unwrap_or_default();
        let asked = TargetUrl::parse(bare).map_err(wrong)?;
        let path = |url: &TargetUrl| url.path().trim_end_matches('/').to_owned();
        let mut of_server = self.targets.iter().filter(|known| known.same_server(&asked));
        let of_path = of_server.clone().find(|known| path(known) == path(&asked));
        let query = match of_path {
            Some(known) => known.query(),
            None => of_server.find_map(TargetUrl::query),
        };
        match query {
            Some(query) => TargetUrl::parse(&format!("{bare}?{query}")).map_err(wrong),
            None => Ok(asked),
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
            None => Err(RunError::Usage(format!(
                "{at} counts tokens in another way for this agent than for the coordinator ({path}), so its \
                 prompts would have other lengths; give --tokenizer PATH"
            ))),
            Some(why) => Err(RunError::Usage(format!(
                "{at} counts tokens for the coordinator ({path}), but not for this agent, whose prompts would \
                 have other lengths; give --tokenizer PATH, or let the agent ask there: {}",
                one_line(&why)
            ))),
        }
    }

    /// Another server than the target, to ask it.
    fn open_elsewhere(&self, at: &str, plan: &Plan, clock: Clock) -> Result<OpenTarget, RunError> {
        (self.may_measure)(at).map_err(RunError::Usage)?;
        let secrets = self.counting.as_ref().unwrap_or(&self.reach.secrets).clone();
        let url = Some(self.with_query(at)?);
        let reach = Reach { url, secrets, ..self.reach.clone() };
        open(&Order { reach, ..Order::new(plan.clone()) }, false, clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_goes_to_its_own_server_alone() {
        let known = [
            "https://one/v1?key=1",
            "https://one/v2?key=2",
            "https://one/open",
            "http://two:80?key=3",
            "http://three",
        ];
        let agent = Agent {
            name: "a".to_owned(),
            reach: Reach::default(),
            targets: known.iter().map(|url| TargetUrl::parse(url).unwrap()).collect(),
            counting: None,
            shares_files: false,
            may_measure: Box::new(|_| Ok(())),
        };
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
