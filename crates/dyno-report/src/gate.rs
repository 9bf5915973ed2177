//! The checks of `dyno gate`: for a terminal, as Markdown and as JUnit XML.

use crate::compared;
use crate::layout::markdown_cell;
use dyno_analysis::compare::{Comparison, GateAnswer, GateCheck, Gated};
use dyno_model::metric::Better;
use dyno_model::{Language, Localized, Message, message};
use dyno_words::escape::{escape, xml};

/// How many of many inconclusive checks are listed.
const WORST: usize = 5;

fn headline(found: &Gated, language: Language) -> String {
    let count = |answer: GateAnswer| found.checks.iter().filter(|c| c.answer == answer).count();
    let [pass, fail, unsure] =
        [GateAnswer::Pass, GateAnswer::Fail, GateAnswer::Inconclusive].map(count);
    let [first, own] = found.sides.each_ref().map(|side| escape(side, 60));
    let most = found.max_regression * 100.0;
    let word = Message::each(|language| compared::answer(found.answer, language).to_owned());
    let said = message!(
        "{word}: {own} against {first}, at most {most} % worse: {pass} passed, {fail} failed, \
         {unsure} inconclusive",
        "{word}：{own} 对比 {first}，最多允许变差 {most} %：{pass} 项通过，{fail} 项未通过，\
         {unsure} 项无法判定"
    );
    said.text(language)
}

/// The checks that did not pass, worst first; then those that did.
fn sorted(found: &Gated) -> Vec<&GateCheck> {
    let mut checks: Vec<&GateCheck> = found.checks.iter().collect();
    checks.sort_by_key(|check| std::cmp::Reverse(check.answer));
    checks
}

/// The same for a terminal, where the end is read first: those that did not pass stand next to the
/// answer.
fn sorted_for_terminal(found: &Gated) -> Vec<&GateCheck> {
    let mut checks = sorted(found);
    checks.sort_by_key(|check| check.answer);
    checks
}

/// How many checks are listed. Where all are inconclusive, the worst ones are enough.
fn shown(checks: &[&GateCheck]) -> usize {
    let all = checks.iter().all(|check| check.answer == GateAnswer::Inconclusive);
    if all && checks.len() > 2 * WORST { WORST } else { checks.len() }
}

/// By how much a metric is worse than in the baseline, as a share.
fn worsening(check: &GateCheck) -> f64 {
    let change = check.change.unwrap_or(0.0);
    match check.metric.metric.info().better {
        Better::Higher => -change,
        Better::Lower | Better::Neither => change,
    }
}

/// For a terminal: the checks, what is missing and what to keep in mind; the answer stands below.
pub fn text(comparison: &Comparison, found: &Gated, language: Language) -> String {
    let mut out = String::new();
    let mut checks = sorted_for_terminal(found);
    let shown = shown(&checks);
    if shown < checks.len() {
        checks.sort_by(|a, b| worsening(b).total_cmp(&worsening(a)));
    }
    for check in &checks[..shown] {
        let word = compared::answer(check.answer, language);
        out.push_str(&format!(
            "  {word}{}{}\n",
            language.colon(),
            escape(&compared::check_line(check, language), 300)
        ));
    }
    let hidden = checks.len() - shown;
    if hidden > 0 {
        let more = message!(
            "and {hidden} more, inconclusive as well; --json lists all",
            "另有 {hidden} 项同样无法判定；--json 列出全部"
        );
        out.push_str(&format!("  {}\n", more.text(language)));
    }
    let missing = compared::missing_line(found, language);
    let caveats = compared::caveats(comparison, language);
    let rest = missing.into_iter().chain(caveats);
    out.extend(rest.map(|message| format!("  {}\n", escape(&message, 300))));
    out + &headline(found, language) + "\n"
}

/// Markdown for a GitHub job summary.
pub fn markdown(comparison: &Comparison, found: &Gated, language: Language) -> String {
    let mut out = format!("### {}\n\n", markdown_cell(&headline(found, language)));
    for check in sorted(found) {
        let mark = match check.answer {
            GateAnswer::Pass => "✅",
            GateAnswer::Fail => "❌",
            GateAnswer::Inconclusive => "❔",
        };
        out.push_str(&format!(
            "- {mark} {}\n",
            markdown_cell(&compared::check_line(check, language))
        ));
    }
    let missing = compared::missing_line(found, language);
    out.extend(missing.map(|message| format!("- ❔ {}\n", markdown_cell(&message))));
    let caveats = compared::caveats(comparison, language);
    out.extend(caveats.iter().map(|caveat| format!("- {}\n", markdown_cell(caveat))));
    out
}

/// JUnit XML for CI servers. Inconclusive checks are skipped, not passed.
pub fn junit(found: &Gated, language: Language) -> String {
    let count = |answer: GateAnswer| found.checks.iter().filter(|c| c.answer == answer).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dyno gate\" tests=\"{}\" \
         failures=\"{}\" skipped=\"{}\">\n",
        found.checks.len() + found.missing.len(),
        count(GateAnswer::Fail),
        count(GateAnswer::Inconclusive) + found.missing.len()
    );
    for check in &found.checks {
        let message = xml(&compared::check_line(check, language));
        let inner = match check.answer {
            GateAnswer::Pass => String::new(),
            GateAnswer::Fail => format!("<failure message=\"{message}\"/>"),
            GateAnswer::Inconclusive => format!("<skipped message=\"{message}\"/>"),
        };
        let (name, load) = (check.metric.name(), xml(&check.load));
        out.push_str(&format!(
            "  <testcase classname=\"{load}\" name=\"{name}\">{inner}</testcase>\n"
        ));
    }
    let lacks = language.choose(["the run lacks this load", "缺少该负载"]);
    for load in &found.missing {
        let load = xml(load);
        out.push_str(&format!(
            "  <testcase classname=\"{load}\" name=\"load\"><skipped message=\"{lacks}\"/>\
             </testcase>\n"
        ));
    }
    out + "</testsuite>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_analysis::compare::Compared;

    fn check(load: &str, answer: GateAnswer) -> GateCheck {
        GateCheck {
            load: load.to_owned(),
            metric: Compared::all().next().unwrap(),
            answer,
            values: [None; 2],
            change: None,
            interval: None,
            rounds: None,
            more_rounds: None,
            why: None,
        }
    }

    #[test]
    fn junit_skips_what_is_inconclusive_or_missing() {
        let found = Gated {
            answer: GateAnswer::Fail,
            max_regression: 0.05,
            sides: ["main".to_owned(), "<run>".to_owned()],
            missing: vec!["<8>".to_owned()],
            checks: vec![
                check("a & b", GateAnswer::Pass),
                check("c", GateAnswer::Fail),
                check("d", GateAnswer::Inconclusive),
            ],
            caveats: Vec::new(),
        };
        let xml = junit(&found, Language::English);
        assert!(xml.contains("tests=\"4\" failures=\"1\" skipped=\"2\""), "{xml}");
        assert!(xml.contains("classname=\"a &amp; b\""), "{xml}");
        assert!(xml.contains("classname=\"&lt;8&gt;\" name=\"load\"><skipped"), "{xml}");
        let head = headline(&found, Language::Chinese);
        assert!(head.contains("<run> 对比 main，最多允许变差 5 %：1 项通过"), "{head}");
    }
}
