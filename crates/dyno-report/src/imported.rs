//! What `dyno import` found: the outcome of each file, and the results.

use dyno_import::{FileOutcome, ImportOutcome};
use dyno_model::summary::Origin;
use dyno_model::{Language, Localized, Summary, Sure, message};
use dyno_words::columns::{cut_middle, left, right, width};
use dyno_words::escape::escape;
use dyno_words::messages;

messages! {
    /// Heads and cells.
    enum Say;

    File: "file", "文件";
    Tool: "tool", "工具";
    Sureness: "recognised", "识别";
    Levels: "levels", "档位";
    What: "outcome", "结果";
    Read: "read", "已读入";
    Copy: "same results as {}", "与 {} 的结果相同";
    Empty: "no results in it", "其中没有结果";
    Unknown: "not recognised", "无法识别";
    Certain: "certain", "确定";
    Likely: "likely", "很可能";
    Possible: "possible", "可能";
    Counted: "{} files: {} read, {} with the same results, {} without results, {} not recognised, {} unreadable",
        "共 {} 个文件：已读入 {} 个，结果重复 {} 个，没有结果 {} 个，无法识别 {} 个，无法读取 {} 个";
}

/// The outcome of each file.
pub fn files(files: &[FileOutcome], language: Language) -> String {
    let say = |say: Say| say.with(language, &[] as &[&str]);
    let mut rows = vec![[Say::File, Say::Tool, Say::Sureness, Say::Levels, Say::What].map(say)];
    let mut counts = [0_usize; 5];
    for file in files {
        let dash = || "–".to_owned();
        let sure = |sure: &Option<Sure>| {
            sure.map_or_else(dash, |sure| {
                say(match sure {
                    Sure::Certain => Say::Certain,
                    Sure::Likely => Say::Likely,
                    Sure::Possible => Say::Possible,
                })
            })
        };
        let shown = |tool: &String| if tool.is_empty() { dash() } else { tool.clone() };
        let (kind, rest) = match &file.outcome {
            ImportOutcome::Read { tool, sure: how, levels } => {
                (0, [tool.clone(), sure(how), levels.to_string(), say(Say::Read)])
            }
            ImportOutcome::Copy { tool, of } => {
                let same = Say::Copy.with(language, &[&escape(of, 80)]);
                (1, [tool.clone(), dash(), dash(), same])
            }
            ImportOutcome::Empty { tool } => (2, [shown(tool), dash(), dash(), say(Say::Empty)]),
            ImportOutcome::Unknown => (3, [dash(), dash(), dash(), say(Say::Unknown)]),
            ImportOutcome::Unreadable(why) => {
                let why = escape(&why.text(language), 120);
                (4, [dash(), dash(), dash(), why])
            }
        };
        counts[kind] += 1;
        let [tool, sure, levels, what] = rest;
        rows.push([escape(&file.file, 200), tool, sure, levels, what]);
    }
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths = [widest(0).min(NAME), widest(1), widest(2), widest(3)];
    let mut text = String::new();
    for [file, tool, sure, levels, what] in &rows {
        let cells = [
            left(&cut_middle(file, widths[0]), widths[0]),
            left(tool, widths[1]),
            left(sure, widths[2]),
            right(levels, widths[3]),
        ];
        text.push_str(format!("{}  {what}", cells.join("  ")).trim_end());
        text.push('\n');
    }
    let numbers = [&[files.len()], counts.as_slice()].concat().into_iter().map(|n| n.to_string());
    let numbers: Vec<String> = numbers.collect();
    text + &Say::Counted.with(language, &numbers) + "\n\n"
}

/// Columns of the names of files.
const NAME: usize = 60;

/// A result, and the file that has it where that is known better than by the result itself.
pub type ImportedTable<'a> = (&'a Summary, Option<String>);

/// One line for each result, and how many there are.
pub fn results(found: &[ImportedTable<'_>], language: Language) -> String {
    let mut text = String::new();
    for (place, (summary, file)) in (1..).zip(found) {
        let levels = summary.levels.len();
        let rows = language.choose([if levels == 1 { "level " } else { "levels" }, "个档位"]);
        let what = described(summary, file.as_ref());
        text.push_str(&format!("{place:>3}  {levels:>3} {rows}  {what}\n"));
    }
    let levels: usize = found.iter().map(|(summary, _)| summary.levels.len()).sum();
    let runs = found.len();
    let total = match levels {
        1 => message!("{runs} in total, with {levels} level", "共 {runs} 个，{levels} 个档位"),
        _ => message!("{runs} in total, with {levels} levels", "共 {runs} 个，{levels} 个档位"),
    };
    text + &total.text(language) + "\n"
}

/// The name of a result, and where it was found.
fn described(summary: &Summary, file: Option<&String>) -> String {
    let run = &summary.run;
    let label = run.label.as_deref().filter(|label| !label.trim().is_empty());
    let name = escape(label.unwrap_or(&run.id), 80);
    let Some(origin) = &run.origin else { return name };
    let file = file.unwrap_or(&origin.file).clone();
    let origin = Origin { file, ..origin.clone() };
    format!("{name} ({})", escape(&origin.described(), 160))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_row_and_is_counted() {
        let file = |file: &str, outcome| FileOutcome { file: file.to_owned(), outcome };
        let tool = || "vllm".to_owned();
        let all = [
            file(
                "a.json",
                ImportOutcome::Read { tool: tool(), sure: Some(Sure::Likely), levels: 3 },
            ),
            file("b.json", ImportOutcome::Copy { tool: tool(), of: "a.json".to_owned() }),
            file("c.txt", ImportOutcome::Unknown),
        ];
        let text = files(&all, Language::English);
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(text.contains("a.json  vllm  likely"), "{text}");
        assert!(text.contains("same results as a.json\n"), "{text}");
        assert!(text.contains("3 files: 1 read, 1 with the same results"), "{text}");
        assert_eq!(results(&[], Language::Chinese), "共 0 个，0 个档位\n");
    }
}
