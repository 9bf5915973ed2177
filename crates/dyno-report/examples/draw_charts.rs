//! Draws the charts of a saved summary: `draw_charts summary.json FOLDER [zh]`.
use dyno_report::Summary;
use dyno_report::chart::{ChartOptions, Language, charts, svg};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, folder, rest @ ..] = arguments.as_slice() else {
        return Err("usage: draw_charts summary.json FOLDER [zh]".into());
    };
    let summary: Summary = serde_json::from_slice(&std::fs::read(file)?)?;
    let chinese = rest.iter().any(|argument| argument == "zh");
    let language = if chinese { Language::Chinese } else { Language::English };
    let options = ChartOptions { language };
    std::fs::create_dir_all(folder)?;
    std::fs::write(Path::new(folder).join("all.svg"), svg(&summary, &options))?;
    for (name, drawing) in charts(&summary, &options) {
        std::fs::write(Path::new(folder).join(format!("{name}.svg")), drawing)?;
    }
    Ok(())
}
