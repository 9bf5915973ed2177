//! What the runs do not show, in words.

use super::words::{Say, kind};
use dyno_fit::Unknown;
use dyno_model::Language;

/// One thing that the runs leave open, and why.
pub(super) fn text(unknown: &Unknown, language: Language) -> String {
    match unknown {
        Unknown::Attention => Say::NoAttention.text(language).to_owned(),
        Unknown::Context => Say::NoContext.text(language).to_owned(),
        Unknown::MaxSeqs => Say::NoMaxSeqs.text(language).to_owned(),
        Unknown::TokenBudget => Say::NoTokenBudget.text(language).to_owned(),
        Unknown::KvCache => Say::NoKvCache.text(language).to_owned(),
        Unknown::PrefixCache => Say::NoPrefixCache.text(language).to_owned(),
        Unknown::Coefficient(name) | Unknown::Setting(name) => {
            Say::NoCoefficient.with(language, &[name])
        }
        Unknown::Kind(of) => Say::NoKind.with(language, &[kind(*of, language)]),
    }
}

/// Its name alone.
pub(super) fn name(unknown: &Unknown, language: Language) -> String {
    match unknown {
        Unknown::Attention => "attention_ns".to_owned(),
        Unknown::Context => "kv_ns".to_owned(),
        Unknown::MaxSeqs => "max_seqs".to_owned(),
        Unknown::TokenBudget => "token_budget".to_owned(),
        Unknown::KvCache => "kv_blocks".to_owned(),
        Unknown::PrefixCache => "prefix_cache".to_owned(),
        Unknown::Coefficient(name) | Unknown::Setting(name) => (*name).to_owned(),
        Unknown::Kind(of) => kind(*of, language).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_fit::TrialKind;

    #[test]
    fn everything_unknown_has_a_text_that_begins_with_its_name() {
        for unknown in [
            Unknown::Attention,
            Unknown::Context,
            Unknown::MaxSeqs,
            Unknown::TokenBudget,
            Unknown::KvCache,
            Unknown::PrefixCache,
            Unknown::Coefficient("front.chunk_us"),
            Unknown::Setting("policy"),
            Unknown::Kind(TrialKind::Open),
        ] {
            for language in [Language::English, Language::Chinese] {
                let (text, name) = (text(&unknown, language), name(&unknown, language));
                assert!(text.starts_with(&name), "{text} / {name}");
            }
        }
    }
}
