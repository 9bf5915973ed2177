//! The topics of `dyno help`, each defined once. Longer texts are in the `.txt` files beside this
//! one; what a table elsewhere defines (metrics, units, exit statuses) is filled in from there.

pub(crate) mod short;
pub(crate) mod start;

use crate::exit;
use dyno_model::metric::{Metric, MetricGroup};
use dyno_model::slo;
use dyno_model::units::{COUNT_UNITS, DURATION_UNITS};
use std::fmt::Write as _;

/// A topic.
pub(crate) struct Topic {
    /// What is typed.
    pub(crate) name: &'static str,
    /// What it explains, in a few words.
    pub(crate) about: &'static str,
    /// The page.
    pub(crate) page: fn() -> String,
}

/// Every topic, in the order in which they are listed.
pub(crate) const TOPICS: &[Topic] = &[
    topic("verdicts", "valid, suspect, invalid: whether to trust a level", verdicts),
    topic("metrics", "what is measured, and how it is computed", metrics),
    topic("slo", "the terms of --slo, --stop-on and --until-stable", slo_terms),
    topic("apis", "the APIs that --api chooses from", apis),
    topic("overload", "servers that refuse requests: what is counted, --on-shed", overload),
    topic("data", "what --data accepts", data),
    topic("units", "durations, counts, rates and shares", units),
    topic("environment", "the environment variables that Dyno reads", environment),
    topic("exit-codes", "what the exit status means", exit::help),
];

const fn topic(name: &'static str, about: &'static str, page: fn() -> String) -> Topic {
    Topic { name, about, page }
}

/// The topic of that name.
pub(crate) fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The topics as help pages list them.
pub(crate) fn listed() -> String {
    let lines = TOPICS.iter().map(|topic| format!("  {:<12}  {}\n", topic.name, topic.about));
    format!("Topics (dyno help TOPIC):\n{}", lines.collect::<String>())
}

fn verdicts() -> String {
    include_str!("verdicts.txt").to_owned()
}

fn overload() -> String {
    include_str!("overload.txt").to_owned()
}

fn data() -> String {
    include_str!("data.txt").to_owned()
}

fn apis() -> String {
    let mut apis = String::new();
    for about in dyno_run::apis() {
        let _ = writeln!(apis, "  {:<22}{:<24}{}", about.name, about.whole_path(), about.title);
    }
    include_str!("apis.txt").replace("{apis}", &apis)
}

fn slo_terms() -> String {
    let mut metrics = String::new();
    for metric in slo::metrics() {
        let info = metric.info();
        let label = info.label[0];
        let statistic = if metric.is_time() { ".STATISTIC" } else { "" };
        let unit = if metric.is_time() { "ms, s, …" } else { info.unit.name() };
        let name = format!("{}{statistic}", info.name);
        let _ = writeln!(metrics, "  {name:<28}{label} ({unit})");
    }
    let statistics: Vec<&str> = slo::Statistic::bounded().map(slo::Statistic::name).collect();
    let page = include_str!("slo.txt").replace("{metrics}", &metrics);
    page.replace("{statistics}", &statistics.join(", "))
}

fn units() -> String {
    let mut times = String::new();
    for unit in DURATION_UNITS {
        let _ = writeln!(times, "  {:<24}{}", unit.names.join(", "), unit.meaning);
    }
    let mut counts = String::new();
    for (name, meaning, power) in COUNT_UNITS {
        let _ = writeln!(counts, "  {name:<24}{meaning} (10^{power})");
    }
    include_str!("units.txt").replace("{times}", &times).replace("{counts}", &counts)
}

fn metrics() -> String {
    let mut page = String::from(
        "Metrics: what is measured of each level, and how it is computed. Each line starts with the name\n\
         for --columns; those that --slo takes have the same name there (dyno help slo). A time may name a\n\
         statistic: ttft.p95. `requests` in --columns is the number of completed and failed requests.\n",
    );
    let groups = [
        (MetricGroup::Times, "Times of requests (distributions: mean, percentiles, max)"),
        (MetricGroup::Work, "Throughput"),
        (MetricGroup::Requests, "Requests"),
        (MetricGroup::Server, "Server metrics (where the server exports them)"),
        (MetricGroup::Cost, "Cost (with --gpus and --gpu-cost)"),
    ];
    for (group, title) in groups {
        let _ = writeln!(page, "\n{title}:");
        for metric in Metric::all().filter(|metric| metric.info().group == group) {
            let info = metric.info();
            let name = dyno_report::column_name(metric);
            let unit = Some(info.unit.name()).filter(|unit| !unit.is_empty());
            let unit = unit.map(|unit| format!(" ({unit})")).unwrap_or_default();
            let formula = Some(info.formula).filter(|formula| !formula.is_empty());
            let formula = formula.map(|formula| format!(" = {formula}")).unwrap_or_default();
            let _ = writeln!(page, "  {name:<19}{}{unit}{formula}", info.label[0]);
            if !info.means[0].is_empty() {
                page.push_str(&dyno_words::columns::wrap("      ", info.means[0], 100));
            }
        }
    }
    page.push_str("\nAn absent value is printed as –, never as 0; throughput is 0 if requests ended and none completed.\n\nMore: docs/metrics.md\n");
    page
}

fn environment() -> String {
    include_str!("environment.txt").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::{Language, Verdict};
    use dyno_workload::data::DataKind;

    #[test]
    fn every_page_is_filled_in_and_fits_a_terminal() {
        for topic in TOPICS {
            let page = (topic.page)();
            assert!(!page.contains('{') && page.ends_with('\n'), "{}: {page}", topic.name);
            for line in page.lines() {
                assert!(line.chars().count() <= 110, "{}: {line}", topic.name);
            }
        }
    }

    #[test]
    fn every_column_has_its_name_on_the_page_of_metrics() {
        let page = metrics();
        for name in dyno_report::column_names() {
            let line = format!("\n  {name} ");
            assert!(page.contains(&line) || name == "requests", "{name}: {page}");
        }
    }

    #[test]
    fn nothing_is_missing_from_the_pages_with_fixed_text() {
        for verdict in [Verdict::Valid, Verdict::Unjudged, Verdict::Suspect, Verdict::Invalid] {
            let row = format!("\n  {} ", verdict.name(Language::English));
            assert!(verdicts().contains(&row), "{verdict}");
        }
        for kind in DataKind::ALL {
            assert!(data().contains(&format!("\n  {} ", kind.name())), "{}", kind.name());
        }
    }

    /// Every variable that the sources read, other than those for tests.
    #[test]
    fn every_environment_variable_is_listed() {
        let sources = [
            include_str!("../resolve/process_env.rs"),
            include_str!("../printer.rs"),
            include_str!("../commands/open.rs"),
        ];
        let page = environment();
        let names = page.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let listed: Vec<&str> = names.flat_map(|names| names.trim().split(", ")).collect();
        assert!(listed.len() > 5, "{listed:?}");
        for name in &listed {
            let quoted = format!("\"{name}\"");
            assert!(sources.iter().any(|source| source.contains(&quoted)), "{name} is not read");
        }
        for source in sources {
            for call in ["var_os(\"", "variable(\"", "var(\""] {
                for (_, rest) in
                    source.match_indices(call).map(|(at, _)| source.split_at(at + call.len()))
                {
                    let name = rest.split('"').next().unwrap_or_default();
                    assert!(listed.contains(&name), "{name} is not in `dyno help environment`");
                }
            }
        }
    }
}
