//! A tokenizer read from disk: `tokenizer.json`, and beside it the chat template and the special
//! tokens that a server would read from the same folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use dyno_model::budget::Budget;
use serde::Serialize;
use serde_json::{Map, Value};

use super::TokenizerError;
use super::growth;
use super::template::ChatTemplate;

/// Names under which templates know the special tokens.
const SPECIALS: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

/// Classes of `transformers` that build their own opening and closing tokens from
/// `add_bos_token` and `add_eos_token`, whatever `tokenizer.json` says.
const CLASSES_THAT_ADD: [&str; 4] = ["Llama", "CodeLlama", "Gemma", "Cohere"];

/// A tokenizer read from disk.
pub(crate) struct Local {
    encoder: tokenizers::Tokenizer,
    template: Option<ChatTemplate>,
    /// The opening token that the server's class adds (or leaves out) beyond `tokenizer.json`.
    opening: i64,
    path: PathBuf,
}

impl Local {
    /// Reads a `tokenizer.json`, or a folder with one; the files beside it are read too.
    pub(crate) fn load(given: &Path) -> Result<Self, TokenizerError> {
        let unreadable = |error: std::io::Error| TokenizerError::Unreadable {
            path: given.to_owned(),
            why: error.to_string(),
        };
        let is_folder = fs::metadata(given).map_err(unreadable)?.is_dir();
        let file = if is_folder { given.join("tokenizer.json") } else { given.to_owned() };
        if is_folder && !file.exists() {
            return Err(no_tokenizer_json(given));
        }
        let bytes = read(&file).map_err(unreadable)?;
        let unusable = |why: String| TokenizerError::NotATokenizer { path: file.clone(), why };
        growth::check(&bytes).map_err(unusable)?;
        let mut encoder = tokenizers::Tokenizer::from_bytes(&bytes)
            .map_err(|error| unusable(error.to_string()))?;
        // Some files cut or fill what they encode, which no server does to a prompt.
        encoder.with_padding(None);
        let _ = encoder.with_truncation(None);

        // A file of another name stands alone: what lies beside it need not be its own.
        let own = file.file_name().is_some_and(|name| name == "tokenizer.json");
        let folder = file.parent().filter(|_| own);
        let config = match folder {
            Some(folder) => json_object(&folder.join("tokenizer_config.json"))?,
            None => None,
        }
        .unwrap_or_default();
        let template = match folder {
            Some(folder) => chat_template(folder, &config)?,
            None => None,
        };
        let opening = opening(&encoder, &config);
        Ok(Self { encoder, template, opening, path: given.to_owned() })
    }

    /// Whether conversations can be rendered.
    pub(crate) fn has_template(&self) -> bool {
        self.template.is_some()
    }

    /// Where it was read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Tokens of a bare prompt, with the special tokens that the tokenizer adds by itself.
    pub(crate) fn count(&self, text: &str) -> Result<u32, TokenizerError> {
        let tokens = i64::from(self.encoded(text, true)?) + self.opening;
        Ok(u32::try_from(tokens).unwrap_or(0))
    }

    /// Tokens of a conversation through the template, whose text holds the special tokens
    /// already; `None` without a template.
    pub(crate) fn count_chat(
        &self,
        messages: &impl Serialize,
        tools: Option<&Value>,
    ) -> Result<Option<u32>, TokenizerError> {
        let Some(template) = &self.template else { return Ok(None) };
        let text =
            template.render(messages, tools).map_err(|why| TokenizerError::Render { why })?;
        self.encoded(&text, false).map(Some)
    }

    fn encoded(&self, text: &str, specials: bool) -> Result<u32, TokenizerError> {
        let encoding = self.encoder.encode_fast(text, specials).map_err(|error| {
            TokenizerError::Encode { why: error.to_string(), text: text.chars().take(40).collect() }
        })?;
        Ok(u32::try_from(encoding.len()).unwrap_or(u32::MAX))
    }

    /// Whether every token of a word spells a part of it: false for words that the tokenizer
    /// does not know and would replace.
    pub(crate) fn spells(&self, word: &str) -> bool {
        let small = word.to_lowercase();
        let known = |id: u32| {
            let token = self.encoder.id_to_token(id).unwrap_or_default().to_lowercase();
            small.contains(token.trim_matches(['ġ', '▁', '#', ' ']))
        };
        self.encoder.encode_fast(word, false).is_ok_and(|encoding| {
            !encoding.is_empty() && encoding.get_ids().iter().copied().all(known)
        })
    }

    /// Lower-case ASCII words of the vocabulary, in the order of their numbers.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut vocabulary: Vec<(u32, String)> =
            self.encoder.get_vocab(false).into_iter().map(|(token, id)| (id, token)).collect();
        vocabulary.sort_unstable();
        let mut words: Vec<String> = Vec::new();
        for (_, token) in vocabulary {
            let word = token.trim_start_matches(['Ġ', '▁']);
            if (2..=12).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase()) {
                words.push(word.to_owned());
            }
        }
        words
    }
}

fn no_tokenizer_json(folder: &Path) -> TokenizerError {
    let hint =
        if ["tokenizer.model", "vocab.json", "vocab.txt"].iter().any(|f| folder.join(f).exists()) {
            "it holds an older form of tokenizer: load it with transformers' AutoTokenizer and \
         save_pretrained(), which writes tokenizer.json"
        } else {
            "give the folder that holds the model's files, or the file itself"
        };
    TokenizerError::NoTokenizerJson { path: folder.to_owned(), hint: hint.to_owned() }
}

/// The largest file that is read; the vocabularies of all known models are smaller.
const LARGEST_FILE: u64 = 256 << 20;

/// The bytes of a file, unless it is larger than any of a tokenizer, or has no end.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST_FILE {
        true => Err(std::io::Error::other("it is larger than 256 MiB")),
        false => Ok(bytes),
    }
}

/// A JSON object from a file; `None` when there is no such file.
fn json_object(file: &Path) -> Result<Option<Map<String, Value>>, TokenizerError> {
    let bad = |why: String| TokenizerError::BadConfig { path: file.to_owned(), why };
    let bytes = match read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(bad(error.to_string())),
    };
    match Budget::foreign().json(&bytes) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(bad("not a JSON object".to_owned())),
        Err(error) => Err(bad(format!("not JSON: {error}"))),
    }
}

/// The folder's chat template: `chat_template.jinja` before `tokenizer_config.json` before
/// `chat_template.json`, as servers look for it.
fn chat_template(
    folder: &Path,
    config: &Map<String, Value>,
) -> Result<Option<ChatTemplate>, TokenizerError> {
    let jinja = folder.join("chat_template.jinja");
    let (file, source) = match read(&jinja) {
        Ok(source) => (jinja, Some(String::from_utf8_lossy(&source).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let file = folder.join("tokenizer_config.json");
            match config.get("chat_template") {
                Some(value) => (file.clone(), template_text(value, &file)?),
                None => {
                    let file = folder.join("chat_template.json");
                    let found = json_object(&file)?.and_then(|mut o| o.remove("chat_template"));
                    let source = match found {
                        Some(value) => template_text(&value, &file)?,
                        None => None,
                    };
                    (file, source)
                }
            }
        }
        Err(error) => {
            return Err(TokenizerError::BadConfig { path: jinja, why: error.to_string() });
        }
    };
    let Some(source) = source else { return Ok(None) };
    let specials = specials(folder, config)?;
    ChatTemplate::new(&source, specials)
        .map(Some)
        .map_err(|why| TokenizerError::BadTemplate { path: file, why })
}

/// A template's text: given as such, or by name in a list of which `default` is the one for
/// plain conversations.
fn template_text(value: &Value, file: &Path) -> Result<Option<String>, TokenizerError> {
    let bad = |why: &str| TokenizerError::BadConfig { path: file.to_owned(), why: why.to_owned() };
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Array(named) => {
            let default = named.iter().find(|one| one["name"] == "default");
            let only = named.first().filter(|_| named.len() == 1);
            default
                .or(only)
                .and_then(|one| one["template"].as_str())
                .map(|text| Some(text.to_owned()))
                .ok_or_else(|| bad("`chat_template` is a list without one named \"default\""))
        }
        _ => Err(bad("`chat_template` is neither text nor a list of named templates")),
    }
}

/// The text of the special tokens, from `tokenizer_config.json` or `special_tokens_map.json`.
fn specials(
    folder: &Path,
    config: &Map<String, Value>,
) -> Result<BTreeMap<String, String>, TokenizerError> {
    let map = json_object(&folder.join("special_tokens_map.json"))?.unwrap_or_default();
    let text = |name: &str| {
        config.get(name).and_then(token_text).or_else(|| map.get(name).and_then(token_text))
    };
    Ok(SPECIALS
        .iter()
        .filter_map(|name| text(name).map(|text| ((*name).to_owned(), text)))
        .collect())
}

/// A token is written as its text, or as an object with the text in `content`.
fn token_text(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value.get("content")?.as_str()).map(str::to_owned)
}

/// How many opening tokens the server's tokenizer class adds beyond what `tokenizer.json` does.
fn opening(encoder: &tokenizers::Tokenizer, config: &Map<String, Value>) -> i64 {
    let class = config.get("tokenizer_class").and_then(Value::as_str).unwrap_or_default();
    let class = class.trim_end_matches("Fast").trim_end_matches("Tokenizer");
    let bos = config.get("bos_token").and_then(token_text).and_then(|t| encoder.token_to_id(&t));
    let wanted = config.get("add_bos_token").and_then(Value::as_bool);
    let (true, Some(bos), Some(wanted)) = (CLASSES_THAT_ADD.contains(&class), bos, wanted) else {
        return 0;
    };
    let opens = encoder
        .encode_fast("a", true)
        .is_ok_and(|encoding| encoding.get_ids().first() == Some(&bos));
    i64::from(wanted) - i64::from(opens)
}
