//! Colours and fonts, as CSS in each chart. Print always uses the light theme.

/// The number of distinct colours of lines, also for colour-blind people.
pub(super) const STYLES: usize = 8;
/// The number of distinct lines: after all colours, they repeat with dashes and other markers.
pub(super) const DISTINCT: usize = 2 * STYLES;
/// The number of distinct markers.
const MARKERS: usize = 4;

/// The class of a line in this style.
pub(super) fn line_class(style: usize) -> String {
    let again = if style / STYLES % 2 == 1 { " dc-again" } else { "" };
    format!("dc-line dc-l{}{again}", style % STYLES)
}

/// Which marker a style has: another one where its colour is used again.
pub(super) fn marker_of(style: usize) -> usize {
    (style + style / STYLES) % MARKERS
}

const LIGHT: [&str; STYLES] =
    ["#0072b2", "#d55e00", "#00805c", "#a8478a", "#8a6a00", "#2f9fd0", "#5b4bb0", "#666666"];
const DARK: [&str; STYLES] =
    ["#56b4e9", "#ff8a3d", "#2ec997", "#e79fc8", "#e6c229", "#9ad8f5", "#b3a6ff", "#bbbbbb"];

const INK: &str = "#1a1a1a";
const FAULT: &str = "#c00000";

const FONTS: &str = "'Noto Sans','Helvetica Neue',Arial,'DejaVu Sans','Noto Sans CJK SC',\
    'Noto Sans SC','Source Han Sans SC','PingFang SC','Hiragino Sans GB','Microsoft YaHei',\
    'WenQuanYi Micro Hei',sans-serif";

struct Ground {
    paper: &'static str,
    ink: &'static str,
    muted: &'static str,
    grid: &'static str,
    mark: &'static str,
    fault: &'static str,
    lines: [&'static str; STYLES],
}

fn rules(ground: &Ground) -> String {
    let Ground { paper, ink, muted, grid, mark, fault, lines } = ground;
    let mut out = format!(
        ".dc-paper{{fill:{paper}}}.dc-ink{{fill:{ink}}}.dc-muted,.dc-tick{{fill:{muted}}}\
         .dc-grid{{stroke:{grid}}}.dc-axis,.dc-all{{stroke:{muted}}}.dc-mark{{fill:{mark}}}\
         .dc-edge{{stroke:{mark}}}.dc-name{{fill:{muted};stroke:{paper}}}\
         .dc-bad{{fill:{paper};stroke:{muted}}}.dc-wait{{fill:{muted};fill-opacity:.3}}.dc-cross{{stroke:{fault}}}.dc-gap{{stroke:{muted}}}.dc-cut{{stroke:{ink}}}.dc-join{{fill:{ink};stroke:{paper}}}.dc-tree{{fill:{grid}}}.dc-fault{{fill:{fault}}}"
    );
    for (i, line) in lines.iter().enumerate() {
        let pale = pale(line, paper);
        out.push_str(&format!(
            ".dc-l{i}{{stroke:{line}}}.dc-p{i}{{fill:{line};stroke:{line}}}\
             .dc-q{i}{{fill:{pale};stroke:{line}}}\
             .dc-h{i}{{fill:{paper};stroke:{line}}}.dc-b{i}{{fill:{line}}}"
        ));
    }
    out
}

/// The colour half way to the paper.
fn pale(color: &str, paper: &str) -> String {
    let channel = |text: &str, i: usize| {
        let digits = text.get(1 + 2 * i..3 + 2 * i).unwrap_or_default();
        u32::from_str_radix(digits, 16).unwrap_or_default()
    };
    let mixed = (0..3).map(|i| (channel(color, i) + channel(paper, i)) / 2);
    format!("#{}", mixed.map(|channel| format!("{channel:02x}")).collect::<String>())
}

/// The style sheet.
pub(super) fn css() -> String {
    let light = Ground {
        paper: "#ffffff",
        ink: INK,
        muted: "#595959",
        grid: "#e3e3e3",
        mark: "#e9c46a",
        fault: FAULT,
        lines: LIGHT,
    };
    let dark = Ground {
        paper: "#15181c",
        ink: "#f0f0f0",
        muted: "#b0b4ba",
        grid: "#30353c",
        mark: "#b58a1f",
        fault: "#ff6b6b",
        lines: DARK,
    };
    let (light, dark) = (rules(&light), rules(&dark));
    format!(
        "text{{font-family:{FONTS}}}.dc-line{{fill:none;stroke-width:2;stroke-linejoin:round}}\
         .dc-again{{stroke-dasharray:10 3}}.dc-doubt{{stroke-dasharray:3 4}}.dc-band{{fill-opacity:.16}}\
         .dc-whisker{{fill:none;stroke-width:1;stroke-opacity:.6}}\
         .dc-point{{stroke-width:1.5}}\
         .dc-grid,.dc-axis{{stroke-width:1}}.dc-mark{{fill-opacity:.35}}\
         .dc-edge{{stroke-width:2}}.dc-gap{{stroke-width:1;stroke-opacity:.75}}.dc-cut{{fill:none;stroke-width:1.6}}.dc-join{{stroke-width:.8}}.dc-tree{{fill-opacity:.55}}.dc-cross{{fill:none;stroke-width:1.6}}.dc-all{{stroke-width:1.2;stroke-dasharray:6 4}}\
         .dc-bad{{stroke-dasharray:3 3}}.dc-name{{stroke-width:3;paint-order:stroke}}{light}\
         @media screen and (prefers-color-scheme:dark){{{dark}}}"
    )
}

/// Bold titles by a stroke, for a font without a bold face. Only for the light theme.
pub(super) fn bold_by_stroke() -> String {
    format!(
        ".dc-ink{{stroke:{INK};stroke-width:.04em}}.dc-fault{{stroke:{FAULT};stroke-width:.04em}}"
    )
}

/// A shade from light (0) to dark (1), lighter where `pale`, and the text colour that is readable on
/// it. Both themes use the same.
pub(super) fn shade(share: f64, pale: bool) -> (String, &'static str) {
    const STOPS: [[f64; 3]; 4] =
        [[237.0, 245.0, 252.0], [158.0, 202.0, 225.0], [49.0, 130.0, 189.0], [8.0, 48.0, 107.0]];
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let before = (place as usize).min(STOPS.len() - 2);
    let part = place - before as f64;
    let color: Vec<f64> = (0..3)
        .map(|i| STOPS[before][i] + part * (STOPS[before + 1][i] - STOPS[before][i]))
        .map(|channel| if pale { 255.0 - (255.0 - channel) * 0.45 } else { channel })
        .collect();
    let light = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2];
    let text = color.iter().map(|channel| format!("{:02x}", *channel as u8)).collect::<String>();
    (format!("#{text}"), if light > 140.0 { "dc-on-light" } else { "dc-on-dark" })
}

/// The inks of [`shade`].
pub(super) const INKS: &str = ".dc-on-light{fill:#111}.dc-on-dark{fill:#fff}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_differ_by_colour_marker_or_dashes() {
        let looks =
            (0..DISTINCT).map(|style| (line_class(style), style % STYLES, marker_of(style)));
        let points = looks.clone().map(|(_, colour, marker)| (colour, marker));
        let lines = looks.map(|(class, ..)| class);
        assert_eq!(points.collect::<std::collections::BTreeSet<_>>().len(), DISTINCT);
        assert_eq!(lines.collect::<std::collections::BTreeSet<_>>().len(), DISTINCT);
    }

    #[test]
    fn pale_colours_are_nearer_to_the_paper() {
        assert_eq!(pale("#0072b2", "#ffffff"), "#7fb8d8");
        assert_eq!(pale("#ffffff", "#000000"), "#7f7f7f");
    }

    #[test]
    fn shades_get_darker_and_their_ink_changes() {
        assert_eq!(shade(0.0, false), ("#edf5fc".to_owned(), "dc-on-light"));
        assert_eq!(shade(1.0, false), ("#08306b".to_owned(), "dc-on-dark"));
        assert_eq!(shade(1.0, true).1, "dc-on-light");
        assert_eq!(shade(f64::INFINITY, false).0, "#08306b");
    }
}
