//! Which charts are drawn, in which order, in which grid, and how large. What a chart shows is decided in its own
//! file; how a page is drawn, in `page`.

use super::page::{Chart, PagePart};
use dyno_model::{Localized, Message, message};

/// Charts of a page by name, their grid, and the size of the picture. By default all charts, as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrangement {
    /// Charts (`rates`), panels (`ttft`) or panels of a chart (`rates.ttft`), in order; empty for all.
    pub charts: Vec<String>,
    /// Columns and rows of a single grid.
    pub grid: Option<[usize; 2]>,
    /// Width of the picture in pixels, and its height if it is fixed.
    pub size: Option<(u32, Option<u32>)>,
}

/// Why charts cannot be arranged as requested.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum ArrangementError {
    /// There is no chart or panel of that name.
    #[message("{}", "{}", no_chart(name, known))]
    Unknown {
        /// As given.
        name: String,
        /// The charts of this run, each with its panels.
        known: Vec<String>,
    },
    /// More panels were chosen than the grid has places.
    #[message(
        "{panels} charts do not fit into {}x{}; choose fewer with --charts, or a larger grid",
        "{panels} 个图表放不进 {}x{}；请用 --charts 少选几个，或使用更大的网格",
        grid[0],
        grid[1]
    )]
    TooMany {
        /// Panels.
        panels: usize,
        /// Columns and rows.
        grid: [usize; 2],
    },
    /// A panel would be too small to be read.
    #[message(
        "too small for these charts; use at least {}x{}, or choose fewer with --charts",
        "尺寸放不下这些图表；请至少用 {}x{}，或用 --charts 少选几个",
        least[0],
        least[1]
    )]
    TooSmall {
        /// Least width and height of the picture.
        least: [u32; 2],
    },
}

fn no_chart(name: &str, known: &[String]) -> Message {
    match known {
        [] => message!(
            "there is no chart `{name}`: this run has no data to draw",
            "没有图表 `{name}`：本次测试没有可绘制的数据",
        ),
        known => message!(
            "there is no chart `{name}` for this run; choose from {}",
            "本次测试没有图表 `{name}`；可选：{}",
            known.join(", "),
        ),
    }
}

/// A panel, and the chart that it is from.
type Picked<'a> = (usize, &'a PagePart);

impl Arrangement {
    /// The charts to draw, out of all that there are with their names.
    pub(super) fn apply(&self, all: &[(String, Chart)]) -> Result<Vec<Chart>, ArrangementError> {
        let mut picked = self.picked(all)?;
        let Some(grid @ [columns, rows]) = self.grid else { return Ok(grouped(&picked, all)) };
        let places = columns * rows;
        if self.charts.is_empty() {
            picked.truncate(places);
        }
        if picked.len() > places {
            return Err(ArrangementError::TooMany { panels: picked.len(), grid });
        }
        let Some(first) = picked.first().map(|(chart, _)| *chart) else { return Ok(vec![]) };
        let one_chart = picked.iter().all(|(chart, _)| *chart == first);
        Ok(vec![Chart {
            // Panels of several charts name their own axes.
            title: if one_chart { all[first].1.title.clone() } else { String::new() },
            parts: picked.into_iter().map(|(_, part)| part.clone()).collect(),
            columns,
            height: 290.0,
        }])
    }

    fn picked<'a>(&self, all: &'a [(String, Chart)]) -> Result<Vec<Picked<'a>>, ArrangementError> {
        let panels = |chart: usize| all[chart].1.parts.iter().map(move |part| (chart, part));
        if self.charts.is_empty() {
            let all = (0..all.len()).flat_map(panels);
            return Ok(all.filter(|(_, part)| !part.only_on_request()).collect());
        }
        let mut picked = Vec::new();
        for name in &self.charts {
            let whole: Vec<usize> =
                (0..all.len()).filter(|i| is_called(&all[*i].0, name)).collect();
            let found: Vec<Picked<'a>> = match name.split_once('.') {
                _ if !whole.is_empty() => whole.into_iter().flat_map(panels).collect(),
                Some((chart, panel)) => (0..all.len())
                    .filter(|i| is_called(&all[*i].0, chart))
                    .flat_map(panels)
                    .filter(|(_, part)| part.name() == panel)
                    .collect(),
                None => {
                    let of = |i: usize| -> Vec<Picked<'a>> {
                        panels(i).filter(|(_, part)| part.name() == name).collect()
                    };
                    (0..all.len()).map(of).find(|found| !found.is_empty()).unwrap_or_default()
                }
            };
            if found.is_empty() {
                return Err(ArrangementError::Unknown { name: name.clone(), known: known(all) });
            }
            picked.extend(found);
        }
        Ok(picked)
    }
}

/// Whether this chart is meant: by its own name, or by that of several (`over-time` for `over-time-2`).
fn is_called(own: &str, name: &str) -> bool {
    let number = own.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    own == name || number.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// Panels that follow each other and are from one chart stay under its title.
fn grouped(picked: &[Picked<'_>], all: &[(String, Chart)]) -> Vec<Chart> {
    let groups = picked.chunk_by(|(a, _), (b, _)| a == b);
    let chart = |group: &[Picked<'_>]| {
        let parts: Vec<PagePart> = group.iter().map(|(_, part)| (*part).clone()).collect();
        let own = &all[group[0].0].1;
        Chart { title: own.title.clone(), columns: own.columns, height: own.height, parts }
    };
    groups.map(chart).collect()
}

/// `rates (requests, ttft, itl, latency)`.
fn known(all: &[(String, Chart)]) -> Vec<String> {
    let named = |(name, chart): &(String, Chart)| {
        let mut panels: Vec<&str> = chart.parts.iter().map(PagePart::name).collect();
        panels.retain(|name| !name.is_empty());
        panels.dedup();
        match panels.is_empty() {
            true => name.clone(),
            false => format!("{name} ({})", panels.join(", ")),
        }
    };
    all.iter().map(named).collect()
}
