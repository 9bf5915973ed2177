//! A tokenizer read from disk: `tokenizer.json`, and beside it the chat template and the special
//! tokens that a server would read from the same folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dyno_model::budget::Budget;
use dyno_model::{Localized, Message, message};
use serde::Serialize;
use serde_json::{Map, Value};

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
    pub(crate) fn load(given: &Path) -> Result<Self, Message> {
        let unreadable = |error: Unread| {
            message!(
                "{}: {why}; give a Hugging Face tokenizer.json or a model's folder",
                "{}：{why}；请给出 Hugging Face 的 tokenizer.json 或模型目录",
                given.display(),
                why = Message::of(error)
            )
        };
        let is_folder = fs::metadata(given).map_err(Unread::from).map_err(unreadable)?.is_dir();
        let file = if is_folder { given.join("tokenizer.json") } else { given.to_owned() };
        if is_folder && !file.exists() {
            return Err(no_tokenizer_json(given));
        }
        let bytes = read(&file).map_err(unreadable)?;
        let unusable = |why: Message| {
            message!(
                "{}: not a Hugging Face tokenizer.json: {why}",
                "{}：不是 Hugging Face 的 tokenizer.json：{why}",
                file.display()
            )
        };
        growth::check(&bytes).map_err(unusable)?;
        let mut encoder = tokenizers::Tokenizer::from_bytes(&bytes)
            .map_err(|error| unusable(message!("{error}", "“{error}”")))?;
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
    pub(crate) fn count(&self, text: &str) -> Result<u32, Message> {
        let tokens = i64::from(self.encoded(text, true)?) + self.opening;
        Ok(u32::try_from(tokens).unwrap_or(0))
    }

    /// Tokens of a conversation through the template, whose text holds the special tokens
    /// already; `None` without a template.
    pub(crate) fn count_chat(
        &self,
        messages: &impl Serialize,
        tools: Option<&Value>,
    ) -> Result<Option<u32>, Message> {
        let Some(text) = self.rendered(messages, tools)? else { return Ok(None) };
        self.encoded(&text, false).map(Some)
    }

    /// Tokens of a conversation before the last occurrence of a text; `None` without a template, or where the text
    /// is not in it.
    pub(crate) fn tokens_before(
        &self,
        messages: &impl Serialize,
        text: &str,
    ) -> Result<Option<u32>, Message> {
        let Some(whole) = self.rendered(messages, None)? else { return Ok(None) };
        let Some(at) = whole.rfind(text) else { return Ok(None) };
        self.encoded(&whole[..at], false).map(Some)
    }

    fn rendered(
        &self,
        messages: &impl Serialize,
        tools: Option<&Value>,
    ) -> Result<Option<String>, Message> {
        let Some(template) = &self.template else { return Ok(None) };
        let text = template.render(messages, tools);
        text.map(Some).map_err(|why| message!("chat template: {why}", "对话模板：{why}"))
    }

    fn encoded(&self, text: &str, specials: bool) -> Result<u32, Message> {
        let encoding = self.encoder.encode_fast(text, specials).map_err(|error| {
            let text: String = text.chars().take(40).collect();
            message!(
                "tokenizer: {why}; the text begins {text:?}",
                "分词器：{why}；文本开头为 {text:?}",
                why = Message::quoted(error)
            )
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

fn no_tokenizer_json(folder: &Path) -> Message {
    let older = ["tokenizer.model", "vocab.json", "vocab.txt"];
    let hint = match older.iter().any(|file| folder.join(file).exists()) {
        true => message!(
            "it holds an older form of tokenizer: load it with transformers' AutoTokenizer and \
             save_pretrained(), which writes tokenizer.json",
            "其中是旧格式的分词器：请用 transformers 的 AutoTokenizer 加载，再用 save_pretrained() 写出 \
             tokenizer.json"
        ),
        false => message!(
            "give the folder that holds the model's files, or the file itself",
            "请给出模型文件所在的目录，或文件本身"
        ),
    };
    message!(
        "{}: no tokenizer.json in this folder; {hint}",
        "{}：该目录中没有 tokenizer.json；{hint}",
        folder.display()
    )
}

/// The largest file that is read; the vocabularies of all known models are smaller.
const LARGEST_FILE: u64 = 256 << 20;

/// Why a file was not read.
#[derive(Debug, Localized)]
enum Unread {
    #[message(transparent)]
    System(#[from] io::Error),
    #[message("it is larger than 256 MiB", "文件超过 256 MiB")]
    TooLarge,
}

impl Unread {
    fn is_absent(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// The bytes of a file, unless it is larger than any of a tokenizer, or has no end.
fn read(file: &Path) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST_FILE {
        true => Err(Unread::TooLarge),
        false => Ok(bytes),
    }
}

/// Why a file beside the tokenizer cannot be used.
fn bad_config(path: &Path, why: Message) -> Message {
    message!(
        "{}: {why}; fix the file or remove it",
        "{}：{why}；请修正或删除该文件",
        path.display()
    )
}

/// A JSON object from a file; `None` when there is no such file.
fn json_object(file: &Path) -> Result<Option<Map<String, Value>>, Message> {
    let bad = |why: Message| bad_config(file, why);
    let bytes = match read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(bad(Message::of(error))),
    };
    match Budget::foreign().json(&bytes) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(bad(message!("not a JSON object", "不是 JSON 对象"))),
        Err(error) => Err(bad(message!("not JSON: {error}", "不是 JSON：{error}"))),
    }
}

/// The folder's chat template: `chat_template.jinja` before `tokenizer_config.json` before
/// `chat_template.json`, as servers look for it.
fn chat_template(
    folder: &Path,
    config: &Map<String, Value>,
) -> Result<Option<ChatTemplate>, Message> {
    let jinja = folder.join("chat_template.jinja");
    let (file, source) = match read(&jinja) {
        Ok(source) => (jinja, Some(String::from_utf8_lossy(&source).into_owned())),
        Err(error) if error.is_absent() => {
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
            return Err(bad_config(&jinja, Message::of(error)));
        }
    };
    let Some(source) = source else { return Ok(None) };
    let specials = specials(folder, config)?;
    ChatTemplate::new(&source, specials).map(Some).map_err(|why| {
        message!("chat template of {}: {why}", "{} 的对话模板：{why}", file.display())
    })
}

/// A template's text: given as such, or by name in a list of which `default` is the one for
/// plain conversations.
fn template_text(value: &Value, file: &Path) -> Result<Option<String>, Message> {
    let bad = |why| bad_config(file, why);
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
                .ok_or_else(|| {
                    bad(message!(
                        "`chat_template` is a list without one named \"default\"",
                        "`chat_template` 是列表，但其中没有名为 \"default\" 的模板"
                    ))
                })
        }
        _ => Err(bad(message!(
            "`chat_template` is neither text nor a list of named templates",
            "`chat_template` 既不是文本，也不是带名称的模板列表"
        ))),
    }
}

/// The text of the special tokens, from `tokenizer_config.json` or `special_tokens_map.json`.
fn specials(
    folder: &Path,
    config: &Map<String, Value>,
) -> Result<BTreeMap<String, String>, Message> {
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
