//! What runs say of the server beside their times: its caches and its context length.

use crate::measured::MeasuredRun;
use dyno_fit::TrialCaches;
use dyno_model::plan::DataPlan;
use dyno_stats::upper_median;

/// Fewer samples may all be taken at an odd moment.
const SAMPLES: usize = 3;

/// What all levels together say.
#[derive(Debug, Default)]
pub(crate) struct ServerFacts {
    prefix: Vec<bool>,
    kv_tokens: Vec<f64>,
    stated_tokens: Option<u64>,
    block: Option<u32>,
}

impl ServerFacts {
    /// Takes over what one level says.
    pub(crate) fn add(&mut self, caches: TrialCaches) {
        self.prefix.extend(caches.prefix);
        self.kv_tokens.extend(caches.kv_tokens);
        self.stated_tokens = self.stated_tokens.or(caches.stated_tokens);
        self.block = self.block.or(caches.block);
    }

    /// Whether there is a prefix cache. One that was used once is there, however often nothing was found.
    pub(crate) fn prefix_cache(&self) -> Option<bool> {
        (!self.prefix.is_empty()).then(|| self.prefix.contains(&true))
    }

    /// How many tokens the KV cache holds.
    pub(crate) fn kv_tokens(&self) -> Option<u64> {
        if self.stated_tokens.is_some() {
            return self.stated_tokens;
        }
        let median = upper_median(&mut self.kv_tokens.clone());
        median.filter(|_| self.kv_tokens.len() >= SAMPLES).map(|tokens| tokens.round() as u64)
    }

    /// How many tokens a block of it has.
    pub(crate) fn block(&self) -> Option<u32> {
        self.block
    }
}

/// Whether prompts of a plan begin alike on purpose.
pub(crate) fn prompts_begin_alike(data: &DataPlan) -> bool {
    let prefix = data.spec.as_ref().is_some_and(|spec| spec.contains("prefix="));
    prefix || data.same_prompts || data.cache_hit.is_some_and(|share| share > 0.0)
}

/// The most tokens of a prompt with its response, of the server of these runs; the smallest of several.
pub(crate) fn context(runs: &[MeasuredRun]) -> Option<u32> {
    let dirs = runs.iter().filter_map(|run| Some(&run.records.as_ref()?.0));
    let said = dirs.filter_map(|dir| dir.read_environment().ok().flatten());
    said.filter_map(|environment| environment.context()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::environment::{Environment, Host, Preflight, Server};
    use serde_json::json;

    #[test]
    fn a_pool_needs_several_samples_and_a_cache_one_hit() {
        let of = |prefix, kv_tokens: &[f64]| TrialCaches {
            prefix,
            kv_tokens: kv_tokens.to_vec(),
            ..TrialCaches::default()
        };
        let mut facts = ServerFacts::default();
        assert_eq!((facts.prefix_cache(), facts.kv_tokens()), (None, None));
        facts.add(of(Some(false), &[1_900_000.0, 2_000_000.2]));
        assert_eq!((facts.prefix_cache(), facts.kv_tokens()), (Some(false), None));
        facts.add(of(Some(true), &[9e9]));
        facts.add(of(None, &[]));
        assert_eq!((facts.prefix_cache(), facts.kv_tokens()), (Some(true), Some(2_000_000)));
        facts.add(TrialCaches {
            stated_tokens: Some(70_000),
            block: Some(32),
            ..TrialCaches::default()
        });
        assert_eq!((facts.kv_tokens(), facts.block()), (Some(70_000), Some(32)));
    }

    #[test]
    fn prompts_begin_alike_where_that_was_asked_for() {
        let with = |spec: &str| DataPlan { spec: Some(spec.to_owned()), ..DataPlan::default() };
        assert!(prompts_begin_alike(&with("random,prefix=512,groups=4")));
        assert!(prompts_begin_alike(&DataPlan { cache_hit: Some(0.5), ..DataPlan::default() }));
        assert!(prompts_begin_alike(&DataPlan { same_prompts: true, ..DataPlan::default() }));
        assert!(!prompts_begin_alike(&DataPlan::default()));
        assert!(!prompts_begin_alike(&with("session,turns=3")));
    }

    #[test]
    fn the_context_is_that_of_the_model_that_was_used() {
        let of = |models: serde_json::Value, used: &str| {
            let preflight = Preflight { model: used.to_owned(), ..Preflight::default() };
            let environment = Environment {
                schema: String::new(),
                dyno: String::new(),
                host: Host::default(),
                server: Server { models: Some(models), ..Server::default() },
                preflight: Some(preflight),
                notes: Vec::new(),
                attempts: None,
                made: Default::default(),
            };
            environment.context()
        };
        let two = json!({"data": [
            {"id": "a", "max_model_len": 4096},
            {"id": "b", "max_model_len": 16384},
        ]});
        assert_eq!(of(two.clone(), "b"), Some(16_384));
        assert_eq!(of(two, "c"), None);
        assert_eq!(of(json!({"data": [{"id": "a", "max_model_len": 4096}]}), "c"), Some(4096));
        assert_eq!(of(json!({"data": [{"id": "a"}]}), "a"), None);
    }
}
