//! Small tokenizers of the three common kinds, trained here, and folders that hold them as a
//! model's folder would.

use std::path::Path;

use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::models::unigram::{Unigram, UnigramTrainer};
use tokenizers::models::wordpiece::{WordPiece, WordPieceTrainer};
use tokenizers::models::{ModelWrapper, TrainerWrapper};
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::{AddedToken, Tokenizer};

/// A conversation of one user's message, in the style of ChatML.
pub const TEMPLATE: &str = "{{- bos_token }}{% for message in messages %}\
    {{- '<|im_start|>' + message.role + '\\n' + message.content | trim + '<|im_end|>\\n' }}\
    {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// What the template makes of a user's message.
pub fn templated(text: &str) -> String {
    format!("<s><|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n")
}

/// Byte-level BPE, unigram with Metaspace as SentencePiece writes it, and WordPiece.
pub const KINDS: [&str; 3] = ["byte-level BPE", "unigram", "WordPiece"];

/// Trains a tokenizer of a kind.
pub fn trained(kind: &str) -> Tokenizer {
    let specials: Vec<AddedToken> = ["<unk>", "[UNK]", "<s>", "<|im_start|>", "<|im_end|>"]
        .map(|text| AddedToken::from(text, true))
        .to_vec();
    let (mut tokenizer, mut trainer): (Tokenizer, TrainerWrapper) = match kind {
        "byte-level BPE" => {
            let mut tokenizer = Tokenizer::new(BPE::default());
            tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
            tokenizer.with_decoder(Some(ByteLevel::default()));
            let trainer = BpeTrainer::builder()
                .vocab_size(900)
                .show_progress(false)
                .special_tokens(specials)
                .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
                .build();
            (tokenizer, trainer.into())
        }
        "unigram" => {
            let mut tokenizer = Tokenizer::new(ModelWrapper::from(Unigram::default()));
            tokenizer.with_pre_tokenizer(Some(Metaspace::new('▁', PrependScheme::Always, true)));
            let trainer = UnigramTrainer::builder()
                .vocab_size(600)
                .show_progress(false)
                .special_tokens(specials)
                .unk_token(Some("<unk>".to_owned()))
                .build()
                .expect("trainer");
            (tokenizer, trainer.into())
        }
        _ => {
            let model = WordPiece::builder().unk_token("[UNK]".to_owned()).build();
            let mut tokenizer = Tokenizer::new(model.expect("model"));
            tokenizer.with_normalizer(Some(BertNormalizer::default())).expect("normalizer");
            tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
            let trainer = WordPieceTrainer::builder()
                .vocab_size(900)
                .show_progress(false)
                .special_tokens(specials)
                .build();
            (tokenizer, trainer.into())
        }
    };
    tokenizer.train(&mut trainer, corpus().into_iter()).expect("training");
    tokenizer
}

/// Writes a model's folder, with a chat template if one is given.
pub fn write_folder(folder: &Path, tokenizer: &Tokenizer, template: Option<&str>) {
    tokenizer.save(folder.join("tokenizer.json"), false).expect("save");
    if let Some(template) = template {
        let config = serde_json::json!({
            "bos_token": {"content": "<s>", "lstrip": false},
            "chat_template": template,
        });
        std::fs::write(folder.join("tokenizer_config.json"), config.to_string()).expect("write");
    }
}

/// Sentences of common words in no order, but always the same.
fn corpus() -> Vec<String> {
    const WORDS: &str = "the and for with that this from have been were when more time some over \
        into than them only after first people water long day where work three place year back \
        light hand high keep last near line city tree farm story night life north book room \
        friend idea fish stop once base horse cut sure watch color face wood main open seem next \
        white begin walk paper group always music those both mark letter mile river car feet care \
        second enough plain girl usual young ready above ever red list though feel talk";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut state = 12_345_usize;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        words[(state >> 8) % words.len()]
    };
    (0..3_000).map(|_| (0..12).map(|_| next()).collect::<Vec<_>>().join(" ") + ".\n").collect()
}
