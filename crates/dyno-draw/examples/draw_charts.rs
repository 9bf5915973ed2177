//! Draws the charts of a run, each as SVG and PNG: `draw_charts RUN FOLDER [zh]`.
use dyno_analysis::{Detail, DirSource, summarise};
use dyno_draw::{ChartOptions, charts, picture, svg};
use dyno_model::Language;
use dyno_record::RunDir;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, folder, rest @ ..] = arguments.as_slice() else {
        return Err("usage: draw_charts RUN FOLDER [zh]".into());
    };
    let dir = RunDir::open(run)?;
    let source = DirSource::open(&dir)?;
    let summary = summarise(&dir.read_plan()?, dir.read_environment()?.as_ref(), &source);
    let detail = Detail::gather(&source);
    let chinese = rest.iter().any(|argument| argument == "zh");
    let language = if chinese { Language::Chinese } else { Language::English };
    let options = ChartOptions { language };
    let mut drawings = charts(&summary, Some(&detail), &options);
    drawings.push(("all".to_owned(), svg(&summary, Some(&detail), &options)));
    std::fs::create_dir_all(folder)?;
    for (name, drawing) in drawings {
        let file = Path::new(folder).join(name);
        std::fs::write(file.with_extension("png"), picture(&drawing)?.bytes)?;
        std::fs::write(file.with_extension("svg"), drawing)?;
    }
    Ok(())
}
