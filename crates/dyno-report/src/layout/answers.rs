//! The results of a run in Markdown: what a search found, the spread between rounds, and which levels
//! meet the SLO.

use super::cells::{markdown as safe, row};
use crate::marks::Marks;
use crate::messages::{Label, Say};
use crate::text::{ABSENT, answer, number, outcome_word, remarks};
use crate::trees::{TreeTable, groups, lines, whole};
use dyno_model::Language;
use dyno_model::metric::{Metric, Time};
use dyno_model::summary::{Spread, Summary};

/// The result of a search; nothing where the levels were fixed.
pub(super) fn search(summary: &Summary, language: Language) -> String {
    let found = answer(summary, language);
    found.map(|text| format!("**{}**\n\n", safe(&text))).unwrap_or_default()
}

/// The rounds of repeated levels; nothing where there are none.
pub(super) fn repeats(summary: &Summary, language: Language) -> String {
    if summary.repeats.is_empty() {
        return String::new();
    }
    let inputs = summary.repeats.iter().any(|level| level.inputs_per_s.is_some());
    let text = |message: Label| message.text(language).to_owned();
    let mut head = [Label::Level, Label::Rounds, Label::RequestRate].map(text).to_vec();
    head.extend(match inputs {
        true => [Metric::InputRate, Metric::Time(Time::Latency)]
            .map(|metric| language.choose(metric.info().title).to_owned())
            .to_vec(),
        false => vec![
            text(Label::OutputRate),
            Label::Ttft.with(language, &["p50"]),
            Label::Itl.with(language, &["p50"]),
        ],
    });
    let say = |say: Say| say.text(language);
    let mut out = format!("\n{}{}\n\n", say(Say::Repeats), say(Say::RepeatsAbout));
    out.push_str(&table(&head, 1));
    for level in &summary.repeats {
        let spreads = match inputs {
            true => vec![level.inputs_per_s, level.latency_p50_ms],
            false => vec![level.output_tokens_per_s, level.ttft_p50_ms, level.itl_p50_ms],
        };
        let mut cells = vec![safe(&level.label), level.rounds.to_string()];
        cells.push(spread(level.requests_per_s));
        cells.extend(spreads.into_iter().map(spread));
        out.push_str(&row(&cells));
    }
    out
}

fn spread(spread: Option<Spread>) -> String {
    spread.map_or_else(
        || ABSENT.to_owned(),
        |spread| format!("{} ± {:.1} %", number(spread.mean), spread.deviation_percent),
    )
}

/// Which levels meet the SLO; nothing where there is none.
pub(super) fn slo(summary: &Summary, language: Language) -> String {
    let Some(slo) = &summary.run.slo else { return String::new() };
    let head = [Label::Level, Label::Passed, Label::Remarks].map(|m| m.text(language).into());
    let mut out = format!("\nSLO{}{}\n\n{}", language.colon(), safe(slo), table(&head, 3));
    for level in &summary.levels {
        if let Some(slo) = &level.slo {
            let outcome = outcome_word(slo.verdict.outcome, language).to_owned();
            out.push_str(&row(&[safe(&level.label), outcome, safe(&remarks(slo, language))]));
        }
    }
    out
}

/// The trees of each level: what became of them, how long they took, and their requests in groups.
pub(super) fn trees(summary: &Summary, language: Language) -> String {
    let (mut out, marks) = (String::new(), &mut Marks::default());
    for level in summary.levels.iter().filter(|level| level.trees.is_some()) {
        out.push_str(&format!("\n#### {}\n\n", safe(&level.label)));
        for (name, text) in lines(level, language) {
            out.push_str(&format!("- {name}{}{text}\n", language.colon()));
        }
        for TreeTable { title, heads, rows } in
            [whole(level, marks, language), groups(level, marks, language)].into_iter().flatten()
        {
            let heads = heads.into_iter().map(|(group, head, _)| format!("{group} {head}"));
            let heads = heads.map(|head| head.trim().to_owned());
            let heads: Vec<String> = std::iter::once(String::new()).chain(heads).collect();
            out.push_str(&format!("\n{title}\n\n{}", table(&heads, 1)));
            for (name, cells) in rows {
                out.push_str(&row(&[vec![name], cells].concat()));
            }
        }
    }
    out
}

/// The head of a table whose first columns are text and the others numbers.
fn table(head: &[String], texts: usize) -> String {
    let rules = (0..head.len()).map(|i| if i < texts { ":---" } else { "---:" }.to_owned());
    row(head) + &row(&rules.collect::<Vec<_>>())
}
