//! What a terminal gets: no line too wide, colour where asked, no control characters.

use super::*;

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut wordy = two_levels("ttft.p95<250ms and tpot.p95<=20ms and errors<1%", 60 * MS);
    wordy.levels[0].label = "一个非常长的标签 with a very long tail of words".to_owned();
    let (talks, mut answers) = talking(8, 30);
    answers[3].outcome = Outcome::Failed(FailureClass::StreamReset);
    let talks = summary_with(&talks, answers, |end| end.starved = Some(29_180 * MS));
    let ladder = ladder(&[1.0, 2.0, 4.0, 8.0, 12.5, 16.0]);
    for summary in [&wordy, &talks, &ladder] {
        for width_of in [40, 50, 60, 80, 120, 200] {
            for language in [Language::English, Language::Chinese] {
                let text = render_text(summary, &at(width_of, language));
                for line in text.lines() {
                    assert!(width(line) <= width_of, "{width_of}: {} {line}\n{text}", width(line));
                }
            }
        }
    }
}

#[test]
fn labels_and_names_cannot_harm() {
    let (mut plan, mut records) = closed(4, 25);
    plan.levels[0].label = "一个非常长的标签\x1b[31m with a very long tail".to_owned();
    plan.request.model = Some("evil\r\n\x1b]0;title\x07".to_owned());
    plan.note = Some("word ".repeat(200));
    records[0].outcome = Outcome::Failed(FailureClass::StreamError);
    records[0].detail = Some(Message::quoted("x".repeat(4096)));
    let summary = summary_of(&plan, records);
    text(&summary);
    chinese(&summary);
}

#[test]
fn colour_only_where_asked() {
    let (plan, records) = closed(4, 25);
    let summary = summary_of(&plan, records);
    let coloured =
        render_text(&summary, &TextOptions { width: 100, color: true, ..TextOptions::default() });
    assert!(coloured.contains("\x1b[32mvalid\x1b[0m") || coloured.contains("\x1b[33msuspect"));
    assert_eq!(
        coloured,
        render_text(&summary, &TextOptions { width: 100, color: true, ..TextOptions::default() })
    );
}

#[test]
fn invalid_rows_are_struck_where_there_is_colour() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    summary.levels[1].verdict = Verdict::Invalid;
    let options = TextOptions { color: true, ..TextOptions::default() };
    let coloured = render_text(&summary, &options);
    assert_eq!(coloured.matches("\x1b[2;9m").count(), 1, "{coloured}");
    let plain = render_text(&summary, &TextOptions::default());
    assert!(!plain.contains('\x1b'));
    let codes = ["\x1b[2;9m", "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"];
    let bare = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(bare, plain, "colour moves nothing");
}
