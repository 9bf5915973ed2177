//! Turns a row of the catalogue into a diagnostic, and translates diagnostics.

use crate::catalogue::{self, Place};
use crate::levels::level_name;
use crate::template::{fill, places};
use crate::translate::translated;
use dyno_model::summary::SearchSummary;
use dyno_model::{Diagnostic, Language, Severity, Subject, Summary, Value};
use std::borrow::Cow;

/// A row of the catalogue: one message in English and Chinese, with placeholders for values.
#[derive(Debug, Clone, Copy)]
pub struct Wording {
    /// Its unique name in the catalogue.
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
    pub fn with(&self, values: Vec<Value>) -> Diagnostic {
        debug_assert_eq!(values.len(), self.places(), "values of {}: {values:?}", self.key);
        let (what, advice) = self.say(&values, Language::English);
        Diagnostic {
            key: Some(self.key),
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

    fn say(&self, values: &[Value], language: Language) -> (String, Option<String>) {
        let said = |value: &Value| match value {
            // Such as an error of the system; one word may be a name.
            Value::Text(text) if text.contains(' ') => translated(text, language).into_owned(),
            value => value.text(language).to_owned(),
        };
        let values: Vec<String> = values.iter().map(said).collect();
        let text = |texts| fill(language.choose(texts), &values);
        (text(self.what), self.advice.map(text))
    }

    /// The wording of a diagnostic; nothing where it was read from a file.
    fn of(diagnostic: &Diagnostic) -> Option<&'static Self> {
        catalogue::all().find(|wording| Some(wording.key) == diagnostic.key)
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

/// Recognises a note that was read from a file with its values, by its English text.
pub fn recognised(note: &Diagnostic) -> Diagnostic {
    let is = |wording: &&Wording| {
        wording.code == note.code && wording.say(&note.values, Language::English).0 == note.what
    };
    let key = note.key.or_else(|| catalogue::all().find(is).map(|wording| wording.key));
    Diagnostic { key, ..note.clone() }
}

/// The same diagnostic, prefixed with the name of what it is about.
pub fn named(name: &str, said: &Diagnostic) -> Diagnostic {
    within(Place::Named, name.into(), said)
}

/// The same with a name that is translated.
pub fn named_as(name: Value, said: &Diagnostic) -> Diagnostic {
    within(Place::Named, name, said)
}

/// The same diagnostic, prefixed with the line that it is about.
pub fn on_line(said: &Diagnostic) -> Diagnostic {
    let Some(line) = said.line() else { return said.clone() };
    within(Place::Line, line.into(), said).about(Subject::Whole)
}

fn within(place: Place, name: Value, said: &Diagnostic) -> Diagnostic {
    let both = [Language::English, Language::Chinese].map(|language| said.in_language(language));
    let what = Value::Worded(both.each_ref().map(|said| said.what.clone()));
    let advice = Value::Worded(both.map(|said| said.advice.clone().unwrap_or_default()));
    let placed = place.with([name, what, advice]);
    Diagnostic {
        code: said.code.clone(),
        severity: said.severity,
        subject: said.subject.clone(),
        // An empty one would be printed as an arrow to nothing.
        advice: placed.advice.filter(|_| said.advice.is_some()),
        ..placed
    }
}

/// The severity of a diagnostic; where it was read from a file, by its code.
pub fn severity(diagnostic: &Diagnostic) -> Option<Severity> {
    let same = |wording: &&Wording| wording.code == diagnostic.code;
    let known = || catalogue::all().filter(same).map(|wording| wording.severity).max();
    diagnostic.severity.or_else(known)
}

/// The values of a diagnostic.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::Value::from($value)),*] };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finding, Note, Phrase, Problem};

    fn read(saved: &str) -> Diagnostic {
        serde_json::from_str(saved).unwrap()
    }

    #[test]
    fn every_wording_is_recognised() {
        for wording in catalogue::all() {
            let values = (0..wording.places()).map(|at| Value::from(format!("value {at}")));
            let made = wording.with(values.collect());
            let read = Diagnostic { key: None, ..made.clone() };
            assert_eq!(recognised(&read).in_language(Language::Chinese).what, {
                made.in_language(Language::Chinese).what.clone()
            });
        }
    }

    #[test]
    fn unknown_wordings_keep_their_text() {
        let made = Note::FieldRefused.with(values!["min_tokens", "400 {}"]);
        assert_eq!(made.in_language(Language::Chinese).what, "服务器不接受 `min_tokens`：400 {}");
        assert_eq!(made.in_language(Language::English).what, made.what);
        let older = Diagnostic { values: Vec::new(), key: None, ..made };
        assert_eq!(recognised(&older).in_language(Language::Chinese).what, older.what);
        let saved = r#"{"code": "models_unknown", "what": "/v1/models did not answer: 404"}"#;
        assert_eq!(recognised(&read(saved)).key, None);
        let saved = r#"{"code": "no_usage", "what": "other words", "advice": null}"#;
        assert_eq!(recognised(&read(saved)).key, None);
    }

    #[test]
    fn texts_of_a_file_are_kept_and_their_severity_follows_the_code() {
        let made = Diagnostic::from(Finding::Partial);
        let read = read(&serde_json::to_string(&made).unwrap());
        assert_eq!(read, made);
        assert_eq!(read.in_language(Language::Chinese).what, made.what);
        assert_eq!(severity(&read), Some(Severity::Warning));
        assert_eq!(severity(&Diagnostic::new("?", "words", None::<String>)), None);
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
        let each = ["a", "b"].map(|row| Phrase::Against.value(values![row, 1, 20]));
        let made = Finding::SloNotMet.with([crate::list(each, [", ", "，"])]);
        assert_eq!(made.what, "no level meets the SLO: a: 1 vs 20, b: 1 vs 20");
        assert_eq!(
            made.in_language(Language::Chinese).what,
            "没有档位满足 SLO：a：1，对照 20，b：1，对照 20"
        );
    }
}
