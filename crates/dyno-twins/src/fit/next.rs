//! The next run to measure: the command that would show what is still unknown.

use super::unknown;
use super::words::Say;
use crate::measured::MeasuredRun;
use dyno_fit::NextRun;
use dyno_model::Language;
use dyno_model::plan::{Api, Plan};
use std::fmt::Write as _;

/// The commands, with what each would show; nothing if no run would help.
pub(super) fn runs(next: &[NextRun], measured: &[MeasuredRun], language: Language) -> String {
    if next.is_empty() {
        return String::new();
    }
    let plan = measured.iter().find_map(|run| Some(&run.records.as_ref()?.1));
    let command = plan.map_or("dyno bench URL".to_owned(), command);
    let mut text = format!("\n{}\n", Say::NextRun.text(language));
    for run in next {
        let shows: Vec<String> = run.shows.iter().map(|one| unknown::name(one, language)).collect();
        let shows = shows.join(language.choose([", ", "、"]));
        let _ = writeln!(text, "  {}", Say::WouldShow.with(language, &[shows]));
        let _ = writeln!(text, "    {command} {}", run.flags);
    }
    let _ = writeln!(text, "{}", Say::FitTogether.text(language));
    text
}

/// The command of a run up to its load: where to, and what has to be said for it to answer.
fn command(plan: &Plan) -> String {
    let target = &plan.target;
    let mut command = match (&target.url, &target.embedded) {
        (Some(url), _) => format!("dyno bench {}", quoted(url)),
        (None, Some(twin)) if target.predicted => format!("dyno predict --twin {}", quoted(twin)),
        (None, Some(twin)) => format!("dyno bench --twin {}", quoted(twin)),
        (None, None) => "dyno bench".to_owned(),
    };
    if let Some(model) = plan.request.model.as_ref().filter(|_| target.url.is_some()) {
        let _ = write!(command, " --model {}", quoted(model));
    }
    if target.api != Api::default() {
        let _ = write!(command, " --api {}", quoted(target.api.name()));
    }
    if target.insecure {
        command.push_str(" --insecure");
    }
    for name in &target.header_names {
        // Their values are never kept.
        let _ = write!(command, " --header {}", quoted(&format!("{name}:VALUE")));
    }
    if let Some(tokenizer) = &plan.data.tokenizer {
        let _ = write!(command, " --tokenizer {}", quoted(tokenizer));
    }
    if let Some(Ok(body)) = plan.request.extra_body.as_ref().map(serde_json::to_string) {
        let _ = write!(command, " --extra-body {}", quoted(&body));
    }
    command
}

/// As a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,~".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_fit::Unknown;
    use dyno_model::plan::Target;

    #[test]
    fn a_command_goes_where_the_run_went() {
        let with = |target: Target, model: Option<&str>| {
            let mut plan = Plan::new(target);
            plan.request.model = model.map(str::to_owned);
            command(&plan)
        };
        let at = || Target::at("http://localhost:8000");
        assert_eq!(with(at(), None), "dyno bench http://localhost:8000");
        let named = with(at(), Some("a model's"));
        assert_eq!(named, r"dyno bench http://localhost:8000 --model 'a model'\''s'");
        let twin = Target::engine("my.toml");
        assert_eq!(with(twin.clone(), Some("my")), "dyno bench --twin my.toml");
        let predicted = Target { predicted: true, ..twin };
        assert_eq!(with(predicted, None), "dyno predict --twin my.toml");
    }

    #[test]
    fn a_command_has_what_the_server_needs_to_answer() {
        let mut plan = Plan::new(Target::at("https://llm.example"));
        plan.target.insecure = true;
        plan.target.header_names = vec!["X-Key".to_owned()];
        plan.data.tokenizer = Some("my model/tokenizer.json".to_owned());
        let body = serde_json::json!({"top_k": 20});
        plan.request.extra_body = body.as_object().cloned();
        assert_eq!(
            command(&plan),
            "dyno bench https://llm.example --insecure --header X-Key:VALUE \
             --tokenizer 'my model/tokenizer.json' --extra-body '{\"top_k\":20}'"
        );
    }

    #[test]
    fn nothing_is_asked_for_that_would_not_help() {
        assert_eq!(runs(&[], &[], Language::English), "");
        let next = NextRun {
            shows: vec![Unknown::MaxSeqs, Unknown::TokenBudget],
            flags: "--concurrency 256 --duration 30s".to_owned(),
        };
        let text = runs(&[next], &[], Language::English);
        assert!(text.contains("for max_seqs, token_budget:"), "{text}");
        assert!(text.contains("    dyno bench URL --concurrency 256 --duration 30s\n"), "{text}");
    }
}
