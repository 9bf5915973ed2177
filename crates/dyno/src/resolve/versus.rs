//! The second target of `--versus`, with the same plan.

use super::notes::Notes;
use super::target::dialect;
use super::{Aim, ProcessEnv, Resolved, needs, secrets};
use crate::args::bench::{ConnectionArgs, OutputArgs};
use crate::args::target::TargetUrl;
use crate::args::versus::{RivalArg, VersusArgs};
use crate::commands::RUNS;
use crate::usage::UsageError;
use dyno_engine::twin::Twin;
use dyno_model::plan::{Api, Plan, Target};
use dyno_model::versus::Side;
use dyno_model::{Message, message};
use dyno_run::{
    ConnectionSettings, Embedded, MetricsFrom, Order, RunOutput, Secrets, Workload, api_of_path,
    suffix,
};
use std::path::{Path, PathBuf};

/// The second target.
pub(super) struct Rival {
    target: Option<TargetUrl>,
    embedded: Option<String>,
    model: Option<String>,
    secrets: Secrets,
}

impl Rival {
    /// The second target, checked as far as possible before anything is sent.
    pub(super) fn of(
        args: VersusArgs,
        connection: &ConnectionArgs,
        surroundings: &ProcessEnv,
        output: &OutputArgs,
        aim: Aim,
    ) -> Result<Option<Self>, UsageError> {
        let VersusArgs { versus: who, versus_model: model, versus_api_key_file } = args;
        let without = [
            ("--versus-model", model.is_some()),
            ("--versus-api-key-file", versus_api_key_file.is_some()),
        ];
        needs(&without, "--versus", who.is_some())?;
        let Some(who) = who else { return Ok(None) };
        for (flag, given, message) in [
            (
                "--live",
                output.live,
                message!(
                    "the full-screen view shows one run, and --versus has two",
                    "全屏视图只显示一个测试，而 --versus 有两个"
                ),
            ),
            (
                "--resume",
                output.resume.is_some(),
                message!(
                    "runs of --versus cannot be resumed, because they would no longer alternate; \
                     run both again",
                    "--versus 的测试无法继续，因为不能再交替进行；请重新运行两者"
                ),
            ),
        ] {
            if given {
                return Err(UsageError::new(flag, message));
            }
        }
        let (target, embedded) = match who {
            RivalArg::Url(url) => (Some(url), None),
            RivalArg::Twin(name) => (None, Some(name)),
        };
        if let Some(name) = &embedded {
            let known = match aim {
                Aim::Measure => Embedded::named(name).map(drop).map_err(Message::of),
                Aim::Predict => Twin::load(name).map(drop).map_err(Message::of),
            };
            known.map_err(wrong)?;
        }
        let (mut notes, mut warnings) = (Notes::default(), Vec::new());
        let own = versus_api_key_file.is_some();
        let connection = ConnectionArgs {
            api_key: connection.api_key.clone().filter(|_| !own),
            api_key_file: versus_api_key_file.or_else(|| connection.api_key_file.clone()),
            ..connection.clone()
        };
        let has_target = target.is_some();
        // Notes about keys were already printed for the first target.
        let secrets =
            secrets::gather(&connection, surroundings, has_target, &mut notes, &mut warnings);
        let secrets = secrets.map_err(|mut error| {
            if own {
                error.flag = "--versus-api-key-file".to_owned();
            }
            error
        })?;
        Ok(Some(Self { target, embedded, model, secrets }))
    }

    /// Adds it to the resolved plan of the first target.
    pub(super) fn join(self, one: &mut Resolved) -> Result<(), UsageError> {
        self.check(&one.order.plan)?;
        one.versus = Some(Box::new(self.beside(&one.order)));
        if let RunOutput::At(out) = &mut one.order.place {
            *out = named(out, Side::A);
        }
        Ok(())
    }

    /// Refuses plans that cannot alternate.
    fn check(&self, plan: &Plan) -> Result<(), UsageError> {
        if plan.course.search.is_some() {
            return Err(wrong(message!(
                "a search would choose different levels for the two servers; list them: \
                 --concurrency 1,8,32 or --rate 2,4,8",
                "搜索会为两台服务器选择不同的档位；请列出档位：--concurrency 1,8,32 或 --rate 2,4,8"
            )));
        }
        let api = self.dialect(&plan.target.api)?;
        if api != plan.target.api {
            return Err(wrong(message!(
                "its path is {api}, and TARGET uses {}, so the requests would differ",
                "其路径是 {api}，而 TARGET 使用 {}，请求将会不同",
                plan.target.api
            )));
        }
        Ok(())
    }

    fn dialect(&self, of_target: &Api) -> Result<Api, UsageError> {
        let says = |url: &&TargetUrl| api_of_path(url.path()).is_some();
        let target = self.target.as_ref().filter(says);
        target.map_or(Ok(of_target.clone()), |url| dialect(None, Some(url)))
    }

    /// The order that measures it like the first target.
    fn beside(self, one: &Order) -> Order {
        let mut plan = one.plan.clone();
        plan.target = Target {
            url: self.target.as_ref().map(TargetUrl::shown),
            embedded: self.embedded,
            header_names: self.secrets.headers.iter().map(|(name, _)| name.clone()).collect(),
            ..plan.target
        };
        if let Some(model) = self.model {
            plan.request.model = Some(model);
        }
        // A metrics URL belongs to one server; `none` applies to both.
        let metrics = match one.reach.metrics {
            MetricsFrom::Nowhere => MetricsFrom::Nowhere,
            _ => {
                plan.server.metrics = None;
                MetricsFrom::Target
            }
        };
        Order {
            crew: one.crew.clone(),
            command: one.command.clone(),
            notes: one.notes.clone(),
            plan,
            reach: ConnectionSettings {
                url: self.target,
                tls: one.reach.tls.clone(),
                secrets: self.secrets,
                metrics,
                sources: one.reach.sources.clone(),
                ..ConnectionSettings::default()
            },
            workload: one.workload.as_ref().map(Workload::for_other_run),
            place: match &one.place {
                RunOutput::At(out) => RunOutput::At(named(out, Side::B)),
                _ => RunOutput::Below(RUNS.into()),
            },
            stop: one.stop.clone(),
        }
    }
}

/// The directories that will be created for `out`.
pub(super) fn directories(out: &Path, two: bool) -> Vec<PathBuf> {
    match two {
        true => vec![named(out, Side::A), named(out, Side::B)],
        false => vec![out.to_owned()],
    }
}

/// The directory of one of two runs.
fn named(out: &Path, side: Side) -> PathBuf {
    let mut name = out.components().as_path().as_os_str().to_owned();
    name.push(suffix(side));
    name.into()
}

fn wrong(message: Message) -> UsageError {
    UsageError::new("--versus", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_named_beside_each_other() {
        assert_eq!(named(Path::new("runs/x"), Side::A), Path::new("runs/x-a"));
        assert_eq!(named(Path::new("runs/x/"), Side::B), Path::new("runs/x-b"));
    }
}
