//! Which diagnostics of several levels are one: the same rule with the same advice, also where the
//! advice differs in its numbers, because each level would need another duration.

use dyno_model::Diagnostic;

/// Whether two diagnostics are printed as one.
pub(crate) fn alike(a: &Diagnostic, b: &Diagnostic) -> bool {
    let same_advice =
        || a.what == b.what && parts(a).map(|(text, _)| text) == parts(b).map(|(text, _)| text);
    a.code == b.code && (a.advice == b.advice || same_advice())
}

/// The advice of diagnostics that are [`alike`]: the one with the largest numbers, which is enough for
/// all of them.
pub(crate) fn advice<'a>(all: impl IntoIterator<Item = &'a Diagnostic>) -> Option<&'a str> {
    let numbers = |said: &&Diagnostic| parts(said).map(|(_, numbers)| numbers);
    let most = all.into_iter().reduce(|most, said| {
        let larger = numbers(&said).partial_cmp(&numbers(&most)).is_some_and(|order| order.is_gt());
        if larger { said } else { most }
    });
    most.and_then(|said| said.advice.as_deref())
}

/// The advice without its numbers, and the numbers.
fn parts(said: &Diagnostic) -> Option<(String, Vec<f64>)> {
    let advice = said.advice.as_deref()?;
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let text = advice.split(is_digit).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("#");
    let numbers = advice.split(|c| !is_digit(c)).filter_map(|number| number.parse().ok());
    Some((text, numbers.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_words::Finding;

    #[test]
    fn advice_that_differs_in_a_number_is_given_once_for_the_largest() {
        let [short, long] = [8, 40].map(|seconds| Finding::NoIntervalBlocks.with([seconds]));
        assert!(alike(&short, &long));
        let said = advice([&short, &long, &short]);
        assert_eq!(said, Some("use --duration 40s or longer"));
        let burst = Finding::NoIntervalBurst.into();
        assert!(!alike(&short, &burst), "the same code, but something else is to be done");
        let files = [3, 7].map(|count| Finding::OutOfFiles.with([count]));
        assert!(alike(&files[0], &files[1]));
        assert_eq!(advice(&files), files[0].advice.as_deref());
    }
}
