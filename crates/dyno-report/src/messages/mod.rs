//! The fixed texts of reports, in English and Chinese, one table per kind of report. The wording of
//! diagnostics is in `dyno-words`.

mod heads;
mod layouts;
mod text;
mod trees;

pub(crate) use heads::Head;
pub(crate) use layouts::Label;
pub(crate) use text::Say;
pub(crate) use trees::TreeText;

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::Language;

    #[test]
    fn places_are_filled_in_order() {
        let filled = Label::LevelInvalid.with(Language::English, &["c={}", "too late"]);
        assert_eq!(filled, "c={} is invalid: too late");
        assert_eq!(Label::Ttft.with(Language::Chinese, &["p50"]), "TTFT p50 (ms)");
    }
}
