//! What can be measured over each API, as found by runs against an engine. The result is the table in
//! `docs/guides/apis.md`; `APIS=write cargo test -p dyno-run apis` writes it.
#![allow(clippy::unwrap_used)]

use dyno_engine::{Running, Server, ServerOptions};
use dyno_model::environment::Environment;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Api, LengthSpec, LevelPlan};
use dyno_model::record::{RequestRecord, TokenSource};
use dyno_run::{About, Embedded, Observer, Order, RunObserver, apis, run};
use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;

/// A twin with a prefix cache, which knows its own times.
const TWIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/with-cache.toml");
const TOKENS: u32 = 24;
const COLUMNS: [&str; 11] = [
    "API",
    "streamed",
    "whole",
    "conversation",
    "fixed length",
    "usage",
    "cached",
    "reasoning",
    "server times",
    "error inside",
    "overload",
];

#[derive(Default)]
struct Records(RefCell<Vec<RequestRecord>>);

impl Observer for Records {
    fn ended(&self, record: &RequestRecord) {
        self.0.borrow_mut().push(record.clone());
    }
}

impl RunObserver for Records {}

struct Seen {
    records: Vec<RequestRecord>,
    environment: Environment,
}

impl Seen {
    /// All requests completed, and this is true of each.
    fn all(&self, is: impl Fn(&RequestRecord) -> bool) -> bool {
        !self.records.is_empty() && self.records.iter().all(|r| r.is_completed() && is(r))
    }

    fn ended(&self, outcome: &Outcome) -> bool {
        !self.records.is_empty() && self.records.iter().all(|record| record.outcome == *outcome)
    }
}

fn engine(faults: &str) -> Running {
    let options = Embedded::named(TWIN).unwrap().options(7).unwrap();
    let faults = faults.split_whitespace().map(|fault| fault.parse().unwrap()).collect();
    Server::bind(ServerOptions { faults, ..options }).and_then(Server::spawn).unwrap()
}

/// Runs an API against an engine with these faults.
fn seen(about: &About, faults: &str, change: impl FnOnce(&mut Order)) -> Seen {
    let server = engine(faults);
    let mut order = Order::server(&format!("http://{}", server.addr())).unwrap();
    order.plan.target.api = Api::named(about.name);
    order.plan.request.task = about.task;
    let mut level = LevelPlan::closed_loop(2, 4);
    level.input_tokens = LengthSpec::fixed(32);
    level.output_tokens = LengthSpec::fixed(TOKENS);
    order.plan.levels.push(level);
    change(&mut order);
    let records = Records::default();
    let finished = run(order, &records).unwrap_or_else(|error| panic!("{}: {error}", about.name));
    let path = finished.dir.path().join("environment.json");
    let environment = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    Seen { records: records.0.into_inner(), environment }
}

/// A row of the table: what was seen of an API.
fn row(about: &About) -> [bool; 10] {
    let plain = seen(about, "", |_| {});
    let generates = about.task.generates();
    let preflight = plain.environment.preflight.clone().unwrap_or_default();
    let whole = seen(about, "", |order| order.plan.request.stream = false);
    let talks = about.talk.is_some()
        && seen(about, "", |order| order.plan.data.spec = Some("session,turns=2".to_owned()))
            .all(|record| record.turn.is_some());
    let reasons = seen(about, "reasoning", |_| {});
    let error = seen(about, "error-event", |_| {});
    let shed = seen(about, "http-429", |order| order.plan.request.stream = false);
    let usage = |record: &RequestRecord| {
        let count = if generates { record.output } else { record.input };
        count.is_some_and(|count| count.source == TokenSource::Usage)
    };
    let exact =
        |record: &RequestRecord| record.output.is_some_and(|c| c.tokens == u64::from(TOKENS));
    [
        plain.all(|record| record.streamed),
        whole.all(|record| !record.streamed && (!generates || record.output.is_some())),
        talks,
        generates && preflight.length_field.is_some() && plain.all(exact),
        plain.all(usage),
        plain.all(|record| record.cached.is_some()),
        reasons.all(|record| record.reasoning.is_some_and(|tokens| tokens > 0)),
        plain.all(|record| record.server.is_some()),
        error.ended(&Outcome::Failed(FailureClass::StreamError)),
        shed.ended(&Outcome::Shed(FailureClass::Http(429))),
    ]
}

#[test]
fn the_guide_says_what_runs_against_the_engine_show() {
    let mut table = format!("| {} |\n|{}\n", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len()));
    // Most of the time is waiting for tokens.
    let rows = std::thread::scope(|scope| {
        let rows: Vec<_> = apis().map(|about| (about, scope.spawn(move || row(about)))).collect();
        rows.into_iter().map(|(about, row)| (about, row.join().unwrap())).collect::<Vec<_>>()
    });
    for (about, row) in rows {
        let marks = row.map(|seen| if seen { "✓" } else { "–" });
        writeln!(table, "| `{}` | {} |", about.name, marks.join(" | ")).unwrap();
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/apis.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("<!-- table -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- end of table -->").unwrap();
    if std::env::var("APIS").is_ok_and(|value| value == "write") {
        let text = format!("{before}<!-- table -->\n{table}<!-- end of table -->{after}");
        std::fs::write(page, text).unwrap();
    } else {
        assert_eq!(shown, table, "APIS=write cargo test -p dyno-run apis renews the table");
    }
}
