//! Which charts a picture shows: `--charts`, `--layout` and `--size`.

use super::values::{List, list};
use clap::Args;
use dyno_draw::Arrangement;
use dyno_model::{Message, message};

/// Pixels of a picture in one direction.
const PIXELS: std::ops::RangeInclusive<u32> = 200..=8000;
/// Charts beside or below each other.
const MOST: usize = 12;

/// What a picture shows.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChartArgs {
    /// With svg or png: only these charts, in this order, such as requests,ttft or rates,frontier; a wrong name
    /// is answered with those that there are [default: all]
    #[arg(long, value_name = "NAMES", value_parser = names)]
    pub(crate) charts: Option<List<String>>,
    /// With svg or png: one grid of this many columns and rows, such as 2x2
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = grid)]
    pub(crate) layout: Option<[usize; 2]>,
    /// With svg or png: size in pixels, such as 1600x1000, or only the width [default: 1200]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    pub(crate) size: Option<(u32, Option<u32>)>,
}

impl ChartArgs {
    /// The same for the charts.
    pub(crate) fn arrangement(&self) -> Arrangement {
        let charts = self.charts.as_ref().map(|list| list.0.clone()).unwrap_or_default();
        Arrangement { charts, grid: self.layout, size: self.size }
    }

    /// The flag that was given, for a format without pictures.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let all = [
            ("--charts", self.charts.is_some()),
            ("--layout", self.layout.is_some()),
            ("--size", self.size.is_some()),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

fn names(text: &str) -> Result<List<String>, Message> {
    list(text, |name| match name.is_empty() {
        true => Err(message!(
            "write names of charts, such as requests,ttft",
            "请写图表名称，例如 requests,ttft"
        )),
        false => Ok(name.to_ascii_lowercase()),
    })
}

/// `2x2`; people also type `2×2` and `2*2`.
fn halves(text: &str) -> Option<(&str, &str)> {
    text.trim().split_once(['x', 'X', '×', '*'])
}

fn grid(text: &str) -> Result<[usize; 2], Message> {
    let parsed = halves(text).map(|(columns, rows)| [columns.trim().parse(), rows.trim().parse()]);
    match parsed {
        Some([Ok(columns), Ok(rows)])
            if (1..=MOST).contains(&columns) && (1..=MOST).contains(&rows) =>
        {
            Ok([columns, rows])
        }
        _ => Err(message!(
            "write columns and rows, 1 to {MOST} each, such as 2x2",
            "请写列数和行数，各为 1 到 {MOST}，例如 2x2"
        )),
    }
}

fn size(text: &str) -> Result<(u32, Option<u32>), Message> {
    let (width, height) =
        halves(text).map_or((text, None), |(width, height)| (width, Some(height)));
    let pixels = |text: &str| text.trim().parse().ok().filter(|pixels| PIXELS.contains(pixels));
    let wrong = || {
        let [least, most] = [PIXELS.start(), PIXELS.end()];
        message!(
            "write width and height in pixels, {least} to {most} each, such as 1600x1000",
            "请写宽度和高度（像素），各为 {least} 到 {most}，例如 1600x1000"
        )
    };
    let height = height.map(|height| pixels(height).ok_or_else(wrong)).transpose()?;
    Ok((pixels(width).ok_or_else(wrong)?, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_and_sizes() {
        assert_eq!(grid("2x3"), Ok([2, 3]));
        assert_eq!(grid("2×2"), Ok([2, 2]));
        assert_eq!(size("1600x1000"), Ok((1600, Some(1000))));
        assert_eq!(size("800"), Ok((800, None)));
        for wrong in ["", "2", "0x2", "2x", "axb", "2x99", "-1x2"] {
            assert!(grid(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "x", "1600x", "1x1", "99999", "1600x1000x2", "-5"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
