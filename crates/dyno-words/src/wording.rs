//! Turns a row of the catalogue into a diagnostic, and translates diagnostics.

use crate::catalogue::{self, Place};
use crate::levels::level_name;
use crate::template::{fill, places};
use dyno_model::summary::SearchSummary;
use dyno_model::{Diagnostic, DiagnosticValue, Language, Message, Severity, Subject, Summary};
use std::borrow::Cow;

/// A row of the catalogue: one message in English and Chinese, with placeholders for values.
#[derive(Debug, Clone, Copy)]
pub struct Wording {
    /// Its unique name in the catalogue, which is saved: it does not change, nor does what its values are.
    pub key: &'static str,
    /// The stable name that is saved.
    pub code: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// What was observed.
    pub what: [&'static str; 2],
    /// What to do about it, or its likely cause.
    pub advice: Option<[&'static str; 2]>,
}

impl Wording {
    /// The diagnostic, with its places filled in.
    pub fn with(&self, values: Vec<DiagnosticValue>) -> Diagnostic {
        debug_assert_eq!(values.len(), self.places(), "values of {}: {values:?}", self.key);
        let (what, advice) = self.say(&values, Language::English);
        Diagnostic {
            key: Some(Cow::Borrowed(self.key)),
            severity: Some(self.severity),
            values,
            ..Diagnostic::new(self.code, what, advice)
        }
    }

    /// How many values it takes.
    pub fn places(&self) -> usize {
        let texts = [Some(self.what), self.advice];
        let shown = texts.into_iter().flatten().flat_map(|[english, _]| places(english));
        shown.max().map_or(0, |last| last + 1)
    }

    fn say(&self, values: &[DiagnosticValue], language: Language) -> (String, Option<String>) {
        let values: Vec<_> = values.iter().map(|value| value.text(language)).collect();
        let text = |texts| fill(language.choose(texts), &values);
        (text(self.what), self.advice.map(text))
    }

    /// The wording of a diagnostic. One that was saved without its key has the only wording of its code, if there
    /// is but one; nothing where the wording is not known or takes other values.
    fn of(diagnostic: &Diagnostic) -> Option<&'static Self> {
        let found = match &diagnostic.key {
            Some(key) => catalogue::all().find(|wording| wording.key == key),
            None => {
                let mut same = catalogue::all().filter(|wording| wording.code == diagnostic.code);
                same.next().filter(|_| same.next().is_none())
            }
        };
        found.filter(|wording| wording.places() == diagnostic.values.len())
    }
}

/// Something with texts that can be translated.
pub trait InLanguage: Clone {
    /// The same in a language; unchanged where the wording is unknown.
    #[must_use]
    fn in_language(&self, language: Language) -> Cow<'_, Self>;
}

impl InLanguage for Diagnostic {
    fn in_language(&self, language: Language) -> Cow<'_, Self> {
        let wording = Wording::of(self).filter(|_| language != Language::English);
        let Some(wording) = wording else { return Cow::Borrowed(self) };
        let (what, advice) = wording.say(&self.values, language);
        let advice = advice.filter(|_| self.advice.is_some());
        Cow::Owned(Self { what, advice, ..self.clone() })
    }
}

/// With the names of its levels, their reasons, notes and doubts in the language.
impl InLanguage for Summary {
    fn in_language(&self, language: Language) -> Cow<'_, Self> {
        if language == Language::English {
            return Cow::Borrowed(self);
        }
        let mut said = self.clone();
        let names = said.levels.iter_mut().map(|level| &mut level.label);
        for name in names.chain(said.repeats.iter_mut().map(|level| &mut level.label)) {
            *name = level_name(name, language).into_owned();
        }
        let levels = said.levels.iter_mut().flat_map(|level| {
            let terms = level.slo.iter_mut().flat_map(|slo| &mut slo.verdict.terms);
            let undecided = terms.filter_map(|term| term.why.as_deref_mut());
            let agents = level.agents.iter_mut();
            let of_agents =
                agents.flat_map(|agent| agent.reasons.iter_mut().chain(&mut agent.notes));
            level.reasons.iter_mut().chain(&mut level.notes).chain(undecided).chain(of_agents)
        });
        let doubt = match &mut said.search {
            Some(SearchSummary::Capacity { doubt, .. }) => doubt.as_mut(),
            _ => None,
        };
        for diagnostic in said.notes.iter_mut().chain(levels).chain(doubt) {
            *diagnostic = diagnostic.in_language(language).into_owned();
        }
        Cow::Owned(said)
    }
}

/// The same diagnostic, prefixed with the name of what it is about.
pub fn named(name: &str, said: &Diagnostic) -> Diagnostic {
    within(Place::Named, name.into(), said)
}

/// The same with a name that is translated.
pub fn named_as(name: Message, said: &Diagnostic) -> Diagnostic {
    within(Place::Named, name.into(), said)
}

/// The same diagnostic, prefixed with the line that it is about.
pub fn on_line(said: &Diagnostic) -> Diagnostic {
    let Some(line) = said.line() else { return said.clone() };
    within(Place::Line, line.into(), said).about(Subject::Whole)
}

fn within(place: Place, name: DiagnosticValue, said: &Diagnostic) -> Diagnostic {
    let (what, advice) = crate::said(said);
    let advice = advice.map_or_else(|| "".into(), DiagnosticValue::from);
    let placed = place.with([name, what.into(), advice]);
    Diagnostic {
        code: said.code.clone(),
        severity: said.severity,
        subject: said.subject.clone(),
        // An empty one would be printed as an arrow to nothing.
        advice: placed.advice.filter(|_| said.advice.is_some()),
        ..placed
    }
}

/// What a diagnostic says and advises, in every language.
pub fn said(diagnostic: &Diagnostic) -> (Message, Option<Message>) {
    let [english, chinese] =
        [Language::English, Language::Chinese].map(|language| diagnostic.in_language(language));
    let advice = english.advice.clone().zip(chinese.advice.clone());
    let what = Message::new([english.what.clone(), chinese.what.clone()]);
    (what, advice.map(|(english, chinese)| Message::new([english, chinese])))
}

/// The severity of a diagnostic; where it was read from a file, by its code.
pub fn severity(diagnostic: &Diagnostic) -> Option<Severity> {
    let same = |wording: &&Wording| wording.code == diagnostic.code;
    let known = || catalogue::all().filter(same).map(|wording| wording.severity).max();
    diagnostic.severity.or_else(known)
}

/// The values of a diagnostic, each in every language in which it can be said.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => {{
        #[allow(unused_imports)]
        use $crate::how::{ByDisplay as _, ByLanguage as _, IsValue as _, Shown};
        [$(match $value {
            value => (&Shown(&value)).how().value(value),
        }),*]
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::level_value;
    use crate::{Finding, Note, Problem, check};
    use dyno_model::message;
    use dyno_model::message::list;

    fn read(saved: &str) -> Diagnostic {
        serde_json::from_str(saved).unwrap()
    }

    fn saved(made: &Diagnostic) -> String {
        serde_json::to_string(made).unwrap()
    }

    #[test]
    fn every_wording_is_known_again_when_it_was_saved() {
        for wording in catalogue::all() {
            let values =
                (0..wording.places()).map(|at| DiagnosticValue::from(format!("value {at}")));
            let made = wording.with(values.collect());
            let read = read(&saved(&made));
            assert_eq!(read, made);
            let [said, again] = [&made, &read].map(|one| one.in_language(Language::Chinese));
            assert_eq!(said, again);
        }
    }

    #[test]
    fn values_are_saved_in_every_language() {
        let named = named_as(level_value("rate 4"), &Finding::Partial.into());
        let chinese = read(&saved(&named)).in_language(Language::Chinese).what.clone();
        let said = chinese.strip_prefix("速率 4：").unwrap();
        assert!(check::is_chinese(said), "{chinese}");
    }

    #[test]
    fn a_note_without_its_key_has_the_only_wording_of_its_code() {
        let old = r#"{"code": "no_usage", "what": "older words", "advice": null}"#;
        let old = read(old).in_language(Language::Chinese).into_owned();
        assert_eq!(old.what, Note::ROWS.iter().find(|row| row.code == "no_usage").unwrap().what[1]);
        assert_eq!(old.advice, None);
    }

    #[test]
    fn unknown_wordings_keep_their_text() {
        let made = Note::FieldRefused.with(values!["min_tokens", "400 {}"]);
        assert_eq!(made.in_language(Language::Chinese).what, "服务器不接受 `min_tokens`：400 {}");
        assert_eq!(made.in_language(Language::English).what, made.what);
        for unknown in [
            // Its values were not saved; not those of its wording; of a later version; of several.
            r#"{"code": "field_refused", "what": "the server does not accept `n`: 400"}"#,
            r#"{"code": "no_usage", "what": "other words", "key": "Note::NoUsage", "values": ["a"]}"#,
            r#"{"code": "no_usage", "what": "other words", "key": "Note::OfTomorrow"}"#,
            r#"{"code": "prompts_repeat", "what": "some prompts were sent again"}"#,
        ] {
            let read = read(unknown);
            assert_eq!(read.in_language(Language::Chinese).what, read.what);
        }
    }

    #[test]
    fn the_severity_of_a_saved_diagnostic_follows_its_code() {
        let read = read(&saved(&Finding::Partial.into()));
        assert_eq!(severity(&read), Some(Severity::Warning));
        assert_eq!(severity(&Diagnostic::new("?", "words", None::<String>)), None);
    }

    #[test]
    fn values_are_made_in_the_language_if_they_can_be() {
        let message = message!("late", "迟到");
        let texts = values![
            &message,
            message,
            7,
            level_value("burst 3"),
            std::path::Path::new("/").display()
        ];
        let chinese = texts.each_ref().map(|value| value.text(Language::Chinese).into_owned());
        assert_eq!(chinese, ["迟到", "迟到", "7", "突发 3", "/"]);
    }

    #[test]
    fn a_place_precedes_the_text_in_each_language() {
        let made = Problem::NoRows.with(["t"]).at(7);
        let told = on_line(&named("a.db", &made));
        assert_eq!(told.what, "line 7: a.db: the table `t` has no rows");
        assert_eq!((&told.code, &told.advice), (&made.code, &made.advice));
        assert_eq!(told.line(), None, "it is part of the text");
        let chinese = told.in_language(Language::Chinese);
        assert_eq!(chinese.what, "第 7 行：a.db：表 `t` 没有行");
        assert_eq!(chinese.advice, made.in_language(Language::Chinese).advice);
    }

    #[test]
    fn a_place_adds_no_advice() {
        let made = crate::Measuring::Marked.with(["ITL p99 23.7–25.0 ms"]);
        let told = named("agent 1", &made);
        assert_eq!((&told.advice, &told.in_language(Language::Chinese).advice), (&None, &None));
    }

    #[test]
    fn a_list_is_worded_in_each_language() {
        let each = ["a", "b"].map(|row| message!("{row}: {} vs {}", "{row}：{}，对照 {}", 1, 20));
        let made = Finding::SloNotMet.with(values![list(each)]);
        assert_eq!(made.what, "no level meets the SLO: a: 1 vs 20, b: 1 vs 20");
        assert_eq!(
            made.in_language(Language::Chinese).what,
            "没有档位满足 SLO：a：1，对照 20，b：1，对照 20"
        );
    }
}
