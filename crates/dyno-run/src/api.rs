//! The APIs as everything above the wire sees them: by their facts, never by their names; and asking a
//! server which of them it has.

use crate::error::RunError;
use crate::identity::on_one_line;
use crate::order::Order;
use crate::target::{OpenTarget, open, unreachable_at};
use dyno_model::DiagnosticValue;
use dyno_model::nearest::nearest;
use dyno_model::plan::{Api, Plan};
use dyno_model::{Message, message};
use dyno_net::Clock;
use dyno_wire::dialect::{About, DIALECTS, Dialect, find, of_path};
use dyno_wire::preflight::{FoundServer, PreflightError, discover};
use dyno_words::Note;

/// The facts about every API, the default first.
pub fn apis() -> impl Iterator<Item = &'static About> {
    DIALECTS.iter().map(|dialect| dialect.about())
}

/// The facts about the API with this name; of the default, while the API is not known.
pub fn about(api: &Api) -> Option<&'static About> {
    dialect(api).map(|dialect| dialect.about())
}

fn dialect(api: &Api) -> Option<&'static dyn Dialect> {
    if *api == Api::AUTO { DIALECTS.first().copied() } else { find(api) }
}

/// The API of a target whose path is a full endpoint.
pub fn api_of_path(path: &str) -> Option<Api> {
    of_path(path).map(|dialect| Api::named(dialect.about().name))
}

/// Whether the requests of an API may go to a path that is usually that of another: some servers have one
/// API where others have the other.
pub fn may_have_path(typed: &Api, by_path: &Api) -> bool {
    let path = |api: &Api| about(api).map(|about| about.path);
    typed == by_path || path(typed) == path(by_path)
}

/// The path of an API that is nearly this one, where the last part is misspelt. What is the path of an API
/// in full, or ends like that of one with a prefix, is meant.
pub fn misspelt_path(path: &str) -> Option<String> {
    if of_path(path).is_some_and(|dialect| !dialect.about().prefix.is_empty()) {
        return None;
    }
    let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let near = apis().map(|about| about.whole_path()).filter(|whole| {
        let parts = whole.matches('/').count();
        let tail = path.rmatch_indices('/').nth(parts - 1).map(|(at, _)| &path[at..]);
        tail.is_some_and(|tail| {
            last(tail) != last(whole) && nearest(tail, &[whole.as_str()]).is_some()
        })
    });
    let longest = near.max_by_key(|whole| whole.matches('/').count())?;
    let exact = apis().any(|about| path == about.whole_path());
    (!exact).then_some(longest)
}

/// The dialect of a plan.
pub(crate) fn dialect_of(plan: &Plan) -> Result<&'static dyn Dialect, RunError> {
    dialect(&plan.target.api).ok_or_else(|| {
        let names: Vec<&str> = apis().map(|about| about.name).collect();
        let (api, known) = (&plan.target.api, names.join(", "));
        RunError::Usage(message!(
            "--api: this version does not know `{api}`; it knows {known}",
            "--api：此版本不认识 `{api}`；已知的有 {known}",
        ))
    })
}

/// Whether prompts are sent as messages, so that the server applies its chat template.
pub(crate) fn has_messages(plan: &Plan) -> bool {
    about(&plan.target.api).is_some_and(|about| about.talk.is_some())
}

/// Finds out which API the server has, if the order leaves that open.
pub(crate) fn settle(order: &mut Order, clock: Clock) -> Result<(), RunError> {
    if order.plan.target.api != Api::AUTO {
        return Ok(());
    }
    let mut found = None;
    if order.plan.target.embedded.is_none() {
        let mut target = open(order, false, clock)?;
        found = Some(ask(order, &mut target)?);
    }
    let about = found.as_ref().map_or(DIALECTS[0], |found| found.dialect).about();
    if !about.task.generates() {
        // What is sent, and what is measured, was planned for generated text.
        return Err(RunError::Usage(message!(
            "--api auto: the server generates no text ({}); measure it with --api {}",
            "--api auto：服务器不生成文本（{}）；请用 --api {} 测试",
            found
                .as_ref()
                .and_then(|found| found.why.clone())
                .unwrap_or_else(|| Message::quoted("")),
            found.as_ref().map_or(about.name.to_owned(), FoundServer::names)
        )));
    }
    order.plan.target.api = Api::named(about.name);
    if about.talk.is_none()
        && order.workload.as_ref().is_some_and(|workload| workload.needs_messages())
    {
        return Err(RunError::Usage(message!(
            "--data: conversations need an API with messages, and the server has {}; choose one with \
             --api",
            "--data：会话需要带消息的接口，而服务器提供的是 {}；请用 --api 指定",
            about.name,
        )));
    }
    if about.talk.is_none() {
        // Opened for prompts with messages.
        order.workload = None;
    }
    if let Some(found) = found {
        order.notes.push(match found.why {
            Some(why) => {
                Note::ApiFound.with([DiagnosticValue::from(about.name), DiagnosticValue::from(why)])
            }
            None => Note::ApiNotFound.with(vec![about.name.to_owned(), asked(&found)]),
        });
    }
    Ok(())
}

pub(crate) fn ask(order: &Order, target: &mut OpenTarget) -> Result<FoundServer, RunError> {
    discover(&mut target.client, &target.endpoint, &order.stop).map_err(|error| {
        let message = on_one_line(&error);
        match error {
            PreflightError::Unreachable { tls, .. } => {
                let endpoint = (&target.endpoint, DIALECTS[0]);
                unreachable_at(&order.plan, endpoint, tls.as_deref(), message)
            }
            PreflightError::Interrupted => RunError::Interrupted(message),
            _ => RunError::Own(message),
        }
    })
}

/// The paths that were asked, with the responses.
pub(crate) fn asked(found: &FoundServer) -> String {
    let one = |(path, status): &(String, Option<u16>)| match status {
        Some(status) => format!("{path} {status}"),
        None => format!("{path} –"),
    };
    found.asked.iter().map(one).collect::<Vec<_>>().join(", ")
}
