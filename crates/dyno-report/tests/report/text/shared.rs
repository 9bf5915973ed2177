//! Findings that several levels have in common.

use super::*;

#[test]
fn what_levels_share_is_printed_once() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    for level in &mut summary.levels {
        level.reasons = vec![Finding::Partial.into()];
        level.verdict = Verdict::Suspect;
    }
    summary.levels[0].reasons.push(Finding::OutOfFiles.with([3]));
    summary.levels[2].reasons.push(Finding::OutOfFiles.with([7]));
    summary.levels[1].notes.push(Finding::OutOfFiles.with([9]));
    let text = text(&summary);
    let shared = text.lines().skip_while(|line| !line.starts_with("Notes:"));
    insta::assert_snapshot!(shared.take(20).collect::<Vec<_>>().join("\n"));
    let partial = &summary.levels[0].reasons[0];
    let words: String = partial.what.chars().take(30).collect();
    assert_eq!(text.matches(&words).count(), 1, "{text}");
    let advice: String =
        summary.levels[0].reasons[1].advice.iter().flat_map(|it| it.chars()).take(20).collect();
    assert_eq!(
        text.matches(&advice).count(),
        2,
        "once for several levels, once for a note: {text}"
    );
}

#[test]
fn what_one_level_has_is_not_called_shared() {
    let mut summary = ladder(&[1.0, 2.0]);
    let level = &mut summary.levels[0];
    level.verdict = Verdict::Suspect;
    level.reasons = vec![Finding::OutOfFiles.with([3]), Finding::OutOfFiles.with([7])];
    let text = text(&summary);
    assert!(
        text.contains("! concurrency 1: 3 requests") && !text.contains("concurrency 2:"),
        "{text}"
    );
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("(EMFILE); 7 requests") && !text.contains("milder"), "{text}");
    assert_eq!(text.matches("ulimit -n").count(), 1, "{text}");
}

/// "likewise" was said of a level whose p99 was known to a factor of 2, beside one of 3 %.
#[test]
fn what_differs_is_listed_and_of_many_levels_the_worst_is_named() {
    let mut summary = ladder(&[1.0, 2.0, 4.0, 8.0, 16.0]);
    let ranges = ["17.1–17.6", "13.1–27.3", "40.0–41.0", "50.0–51.5", "60.0–61.0"];
    let note = |range: &str| Measuring::Marked.with([format!("ITL p99 {range} ms")]);
    summary.levels[0].notes = vec![note(ranges[0])];
    summary.levels[1].notes = vec![note(ranges[1])];
    let said = text(&summary).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ranges[..2].iter().all(|range| said.contains(range)), "{said}");
    for (level, range) in summary.levels.iter_mut().zip(ranges) {
        level.notes = vec![note(range)];
    }
    let said = text(&summary).split_whitespace().collect::<Vec<_>>().join(" ");
    let worst = "concurrency 2: known only to lie within a range, and marked: ITL p99 13.1–27.3 ms; \
                 milder in concurrency 1, 4, 8, 16";
    assert!(said.contains(worst), "{said}");
}

/// A suspect level came first, and the level that is invalid under the same code was only "likewise".
#[test]
fn what_makes_a_level_invalid_is_said_first_and_apart() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    let fair = |figure: &str| Measuring::Fair.with([figure]);
    let tail = |figure: &str| Measuring::PoorTail.with([figure]);
    let reasons = [
        (Verdict::Suspect, vec![fair("figure A")]),
        (
            Verdict::Invalid,
            vec![Measuring::Poor.with(["figure B"]), tail("figure C"), fair("figure D")],
        ),
        (Verdict::Suspect, vec![tail("figure E")]),
    ];
    for (level, (verdict, reasons)) in summary.levels.iter_mut().zip(reasons) {
        (level.verdict, level.reasons) = (verdict, reasons);
    }
    for (text, marks) in [
        (
            text(&summary),
            [
                "✗ concurrency 2: the client could not measure precisely",
                "! concurrency 1: accurate to within 10 %: figure A concurrency 2: accurate to within 10 %: figure D",
                "! concurrency 2: known only to lie within a range",
            ],
        ),
        (
            chinese(&summary),
            [
                "✗ 并发 2：客户端未能准确测量",
                "! 并发 1：精度在 10 % 以内：figure A 并发 2：精度在 10 % 以内：figure D",
                "! 并发 2：因本机繁忙",
            ],
        ),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let at = marks.map(|mark| text.find(mark).unwrap_or_else(|| panic!("{mark}: {text}")));
        assert!(at.is_sorted(), "{text}");
        assert_eq!(text.matches('✗').count(), 1, "{text}");
        assert!(
            ["B", "C", "D", "E"].iter().all(|of| text.contains(&format!("figure {of}"))),
            "{text}"
        );
    }
}

#[test]
fn levels_that_are_too_short_for_intervals_are_named_once_with_the_longest_duration() {
    let mut summary = ladder(&[1.0, 2.0, 4.0, 8.0]);
    for (level, seconds) in summary.levels.iter_mut().zip([12, 8, 40]) {
        level.notes = vec![Finding::NoIntervalBlocks.with([format!("--duration {seconds}s")])];
    }
    for (text, said, advice) in [
        (
            text(&summary),
            "concurrency 1, 2, 4: too short for 95 % confidence intervals → use",
            "--duration 40s (concurrency 4 needs that; the others need less)",
        ),
        (
            chinese(&summary),
            "并发 1，2，4：时长过短，无法给出 95 % 置信区间 → ",
            "请使用 --duration 40s（并发 4 需要这么多，其他档位可以更少）",
        ),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches(said).count(), 1, "{text}");
        assert_eq!(text.matches(advice).count(), 1, "{text}");
        assert_eq!(text.matches("--duration").count(), 1, "{text}");
    }
}

#[test]
fn no_advice_is_cut_off() {
    let mut summary = ladder(&[1.0]);
    let late = Finding::SendLag.with([12]);
    let advice = late.advice.clone().unwrap();
    summary.levels[0].notes = vec![late];
    let text = text(&summary);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&advice), "{text}");
}

/// C1: what a reader of a terminal of 40 lines sees last is the answer.
#[test]
fn nine_levels_end_with_the_answer_on_one_screen() {
    let mut summary = ladder(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]);
    for level in summary.levels.iter_mut().skip(2) {
        level.verdict = Verdict::Suspect;
        level.reasons = vec![Finding::OutOfFiles.with([level.requests.planned.unwrap_or(3)])];
        level.notes = vec![Finding::NoIntervalBlocks.with([8])];
    }
    for (language, last) in [(Language::English, "Notes:"), (Language::Chinese, "说明：")] {
        let text = render_text(&summary, &at(80, language));
        assert!(text.lines().count() <= 40, "{}\n{text}", text.lines().count());
        assert!(text.contains(last) && !text.contains("client: "), "{text}");
        let details = TextOptions { details: true, ..at(80, language) };
        let detailed = render_text(&summary, &details);
        assert!(detailed.lines().count() > 60, "{detailed}");
        let notes = |text: &str| text.lines().position(|line| line == last).unwrap();
        let end = detailed.lines().count() - notes(&detailed);
        assert!(end < 30, "details come before the table: {detailed}");
    }
}
