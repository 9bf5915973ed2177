//! One run: takes a plan, a target and an [`Observer`]; produces a run directory and a summary.
//!
//! An [`Order`] states what to do. [`run`] opens the target, sends the preflight requests, runs the
//! levels one after the other, writes every record, and summarises the records; [`in_turns`] does the
//! same with two orders that alternate level by level. Nothing here prints: progress goes to the
//! observer, and the outcome is in [`FinishedRun`] or [`RunError`].
//!
//! In a test of another project, against an engine that is started for it (or, with
//! [`Order::server`], against a running server):
//!
//! ```no_run
//! use dyno_model::Verdict;
//! use dyno_model::plan::LevelPlan;
//! use dyno_run::{Order, run};
//!
//! # fn main() -> Result<(), dyno_run::RunError> {
//! let order = Order::engine("ttft=20ms,itl=2ms,tokens=16").level(LevelPlan::closed_loop(4, 20));
//! let summary = run(order, &())?.summary?;
//! let level = &summary.levels[0];
//! assert_eq!(level.requests.completed, Some(20));
//! assert_ne!(level.verdict, Verdict::Invalid, "{:?}", level.reasons);
//! # Ok(())
//! # }
//! ```
//!
//! With [`Order::twin`] the same runs in virtual time. [`Order::place`] says where a run is written; the
//! default is a temporary directory that is removed when [`FinishedRun`] is dropped.
//!
//! | file or folder | what |
//! | --- | --- |
//! | `order`, `prepared`, `target`, `tokenize`, `api` | from an order to a target that is ready |
//! | `inspect` | what a server says about itself, without a run |
//! | `workload/` | the prompts of a level: where they come from, how they are made, notes about them |
//! | `session`, `turns`, `course`, `levels` | a run level by level, two that alternate, which level comes next, and one level |
//! | `recording`, `book`, `observer` | what is recorded and written, and what an observer receives |
//! | `pulse`, `watch`, `metrics`, `enough`, `estimate` | during a level: a silent target, server metrics, `--until-stable`, the time left |
//! | `past` | the recorded state of a run that is resumed |
//! | `predicted`, `prediction/`, `fleet/` | a twin, or several load generators, instead of one client and a server |

mod alternating;
mod api;
mod convergence;
mod embedded;
mod error;
mod estimate;
mod finished;
pub mod fleet;
mod host;
mod identity;
mod inspect;
mod instead;
mod level_queue;
mod levels;
mod metrics;
mod observer;
mod order;
mod past;
mod predicted;
mod prediction;
mod prepared;
mod pulse;
mod recording;
mod run_writer;
mod session;
mod shared;
mod target;
mod tokenize;
mod watch;
pub mod workload;

pub use api::{about, api_of_path, apis, may_have_path, misspelt_path};
pub use convergence::can_watch;
pub use dyno_drive::Observer;
pub use dyno_drive::{Stop, StopSignal};
pub use dyno_wire::client::{Resolver, SlowSink, Sources};
pub use dyno_wire::dialect::About;
pub use dyno_wire::tls::TlsSettings;
pub use dyno_wire::url::TargetUrl;
pub use embedded::Embedded;
pub use error::{ErrorSource, RunError};
pub use finished::{FinishedRun, Lost, LostAgent};
pub use identity::{one_line, suffix};
pub use inspect::{Inspected, inspect};
pub use observer::{LevelBegins, RunObserver, ServerSink};
pub use order::{ConnectionSettings, Counter, MetricsFrom, Order, RunOutput, Secrets};
pub use past::Past;
pub use recording::LastSuccess;
pub use workload::Workload;

use dyno_model::message;
use dyno_model::versus::Side;
use prepared::PreparedRun;
use session::Session;

/// Carries out an order. Whatever was recorded is kept and summarised, however the run ended; an error
/// means that nothing was measured.
pub fn run(mut order: Order, observer: &dyn RunObserver) -> Result<FinishedRun, RunError> {
    let clock = order.clock();
    enough_files(&order)?;
    api::settle(&mut order, clock)?;
    let prepared = PreparedRun::of(&order, None, clock, observer)?;
    let mut session = Session::open(&order, prepared, clock, observer)?;
    session.begin();
    session.all();
    Ok(session.end())
}

/// Raises the limit of open files as far as it goes, and refuses a load that cannot be sent within it: the
/// rest of its requests would be dropped, minutes later.
fn enough_files(order: &Order) -> Result<(), RunError> {
    let open_files = dyno_net::raise_open_files();
    let Some(few) = fleet::need::too_few_files(&order.plan, open_files) else { return Ok(()) };
    let fleet::need::TooFewFiles { streams, allowed, files, agents } = few;
    let limit = open_files.unwrap_or_default();
    let few = message!(
        "the load needs {streams} connections at once, but this process can open {allowed}: its limit is \
         {limit} open files",
        "该负载需要同时打开 {streams} 个连接，但本进程只能打开 {allowed} 个：文件描述符上限为 {limit}",
    );
    Err(RunError::Usage(few.with_hint(message!(
        "raise the limit with `ulimit -n {files}` (LimitNOFILE of a service, --ulimit of a container), \
         send at most {allowed} at once, or share them with --agents {agents}",
        "请用 `ulimit -n {files}` 提高上限（服务用 LimitNOFILE，容器用 --ulimit），或将并发降到 {allowed} \
         以内，或用 --agents {agents} 分担",
    ))))
}

/// Carries out two orders as separate runs that alternate level by level: A B, then B A, and so on.
/// Both have the same levels and send prompts of the same lengths.
pub fn in_turns(
    mut orders: [Order; 2],
    observers: [&dyn RunObserver; 2],
) -> Result<[FinishedRun; 2], RunError> {
    let clock = orders[0].clock();
    enough_files(&orders[0])?;
    identity::link(&mut orders, &clock);
    for (order, side) in orders.iter_mut().zip([Side::A, Side::B]) {
        api::settle(order, clock).map_err(|error| RunError::of_side(side, error))?;
    }
    let [a, b] = &orders;
    let apis = [a, b].map(|order| &order.plan.target.api);
    if apis[0] != apis[1] {
        return Err(RunError::Usage(message!(
            "--api: the servers have different APIs ({}, {}), so the requests would differ; choose one \
             that both have",
            "--api：两个服务器的接口不同（{}、{}），请求会不一致；请选择两者都有的接口",
            apis[0],
            apis[1],
        )));
    }
    let predicted = a.plan.target.predicted;
    // With twins, the data or a twin's name is wrong, and those messages name the side already.
    let of =
        |side: Side| move |error| if predicted { error } else { RunError::of_side(side, error) };
    let ready_a = PreparedRun::of(a, None, clock, observers[0]).map_err(of(Side::A))?;
    // Counted by the same tokenizer, so that the prompts are the same; also those of B's agents.
    let workload = Some(ready_a.workload.for_other_run());
    orders[1].reach.counting = ready_a.workload.counting().and_then(|counting| {
        let ConnectionSettings { url, secrets, .. } = orders[0].reach.clone();
        let url = url.or_else(|| TargetUrl::parse(&counting.at).ok())?;
        Some(Counter { url, secrets })
    });
    let [a, b] = &orders;
    let ready_b = PreparedRun::of(b, workload, clock, observers[1]).map_err(of(Side::B))?;
    let mut one = Session::open(a, ready_a, clock, observers[0])?;
    let mut other = Session::open(b, ready_b, clock, observers[1])?;
    one.begin();
    other.begin();
    alternating::alternate(&a.plan.levels, &mut one, &mut other);
    let other = other.end();
    Ok([one.end(), other])
}
