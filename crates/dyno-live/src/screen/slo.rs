//! The SLO of the running level: met, missed or undecided so far, and why.

use super::picture::Picture;
use crate::finished::maybe;
use crate::fit::{Part, fitted};
use crate::words::{self, Text};
use dyno_model::Decision;
use dyno_model::summary::TermVerdict;
use dyno_words::columns::number;
use dyno_words::number::percent;
use ratatui_core::style::{Color, Style};
use ratatui_core::text::Line;

/// One line; nothing where the run has no SLO.
pub(super) fn line(picture: &Picture, columns: usize) -> Option<Line<'static>> {
    let language = picture.language;
    let slo = picture.present()?.found.as_ref()?.slo.as_ref()?;
    let outcome = slo.verdict.outcome;
    let so_far = words::decision(outcome).text(language);
    let mut parts = vec![Part::new(0, Text::SloSoFar.with(language, &[so_far]))];
    let ended = slo.met + slo.missed;
    if ended > 0 {
        let share = percent(slo.met as f64 / ended as f64);
        parts.push(Part::new(1, Text::MetShare.with(language, &[share])));
    }
    parts.extend(slo.verdict.terms.iter().map(|term| {
        // What is missed matters most.
        let rank = if term.outcome == Decision::Missed { 2 } else { 3 };
        let known = words::decision(term.outcome).text(language);
        Part::new(rank, format!("{} {known}{}", term.term, language.brackets(&measured(term))))
    }));
    let style = match outcome {
        Decision::Met => Style::new().fg(Color::Green),
        Decision::Missed => Style::new().fg(Color::Red),
        Decision::Inconclusive => Style::new(),
    };
    Some(Line::from(fitted(parts, columns)).style(style))
}

fn measured(term: &TermVerdict) -> String {
    match term.value {
        Some(value) if term.uncertain => format!("~{} {}", number(value), term.unit),
        Some(value) => format!("{} {}", number(value), term.unit),
        None => maybe(None, number),
    }
}
