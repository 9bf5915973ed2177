//! What is sent: opens the data of a plan before anything is sent, and makes the items of each
//! level on the encoder's thread.

use dyno_core::environment::Note;
use dyno_core::plan::{Api, DataPlan, LevelPlan, Plan};
use dyno_core::prompt::{Content, Item};
use dyno_workload::data::{DataSet, DataSpec, Kind, Order, Outside, Selected, Selection, Tally};
use dyno_workload::lengths::Lengths;
use dyno_workload::random::{RandomOptions, RandomPrompts};
use dyno_workload::tokenizer::Tokenizer;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The data of a run.
#[derive(Clone)]
pub(crate) struct Workload {
    tokenizer: Tokenizer,
    /// No tokenizer was given, so the server's own may be asked.
    open_to_server: bool,
    source: Source,
    /// Random prompts of some level: the search for words that are one token each is done once.
    prepared: Arc<Mutex<Option<Arc<RandomPrompts>>>>,
    account: Arc<Mutex<Account>>,
}

#[derive(Clone)]
enum Source {
    Random(RandomOptions),
    Set(Box<DataSet>, Selection),
}

/// What became of the data. Prompts are made ahead, so it is kept by how many had been made:
/// what was made and never sent does not count.
#[derive(Debug, Clone, Default)]
struct Account {
    /// For each level, the tally after so many items, wherever it changed in more than that.
    changes: Vec<(u32, u64, Tally)>,
    /// What ended the data before their time.
    error: Option<String>,
}

/// Changes beyond these are not told apart any more.
const MOST_CHANGES: usize = 100_000;

impl Account {
    fn keep(&mut self, level: u32, made: u64, tally: Tally) {
        let telling =
            |t: &Tally| (t.skipped, t.dropped_short, t.dropped_long, t.truncated, t.repeats);
        let changed = match self.changes.last() {
            Some((before, _, last)) if *before == level => telling(last) != telling(&tally),
            _ => true,
        };
        if changed && self.changes.len() < MOST_CHANGES {
            self.changes.push((level, made, tally));
        }
    }

    /// The tally of a level of which so many items were sent.
    fn after(&self, level: u32, sent: u64) -> Option<Tally> {
        let made = |(of, made, _): &&(u32, u64, Tally)| *of == level && *made <= sent;
        self.changes.iter().rfind(made).map(|(_, _, tally)| *tally)
    }
}

/// Makes items by index, on the encoder's thread; nothing when there are no more.
pub(crate) type Items = Box<dyn FnMut(u64) -> Option<(Item, u32)> + Send>;

impl Workload {
    /// Opens the data of a plan; the flag at fault and the words if that fails.
    pub(crate) fn open(plan: &Plan) -> Result<Self, (&'static str, String)> {
        let data = &plan.data;
        let tokenizer = match &data.tokenizer {
            Some(path) => Tokenizer::load(Path::new(path)).map_err(|error| {
                let words = error.to_string();
                ("--tokenizer", words.trim_start_matches("--tokenizer ").to_owned())
            })?,
            None => Tokenizer::estimate(),
        };
        let chat = plan.target.api == Api::OpenAiChat;
        let source = source(data, chat, plan.seed).map_err(|words| ("--data", words))?;
        let open_to_server = data.tokenizer.is_none();
        Ok(Self {
            tokenizer,
            open_to_server,
            source,
            prepared: Arc::default(),
            account: Arc::default(),
        })
    }

    /// What a data file turned out to be, in a line.
    pub(crate) fn recognised(&self) -> Option<String> {
        match &self.source {
            Source::Random(_) => None,
            Source::Set(set, _) => Some(set.recognised().to_string()),
        }
    }

    /// Whether the server may be asked to count, because nobody gave a tokenizer.
    pub(crate) fn is_open_to_server(&self) -> bool {
        self.open_to_server
    }

    /// Counts with another tokenizer from now on.
    pub(crate) fn count_with(&mut self, tokenizer: Tokenizer) {
        self.tokenizer = tokenizer;
        self.prepared = Arc::default();
    }

    /// The items of a level; the words for the user if they cannot be made.
    pub(crate) fn items(&self, plan: &Plan, number: u32) -> Result<Items, String> {
        let level = &plan.levels[number as usize];
        let output: Lengths = lengths(&level.output_tokens.0)?;
        match &self.source {
            Source::Random(options) => self.random(plan, number, level, options.clone(), output),
            Source::Set(set, selection) => {
                let mut selection = selection.clone();
                // A level of its own order: what the last one sent may still be cached.
                selection.seed ^= u64::from(number) << 32;
                let count = self.counter(plan.target.api == Api::OpenAiChat, &selection);
                let selected = selection.of(set, count).map_err(|error| error.to_string())?;
                Ok(self.selected(selected, output, plan.seed, number))
            }
        }
    }

    fn random(
        &self,
        plan: &Plan,
        number: u32,
        level: &LevelPlan,
        options: RandomOptions,
        output: Lengths,
    ) -> Result<Items, String> {
        let input = lengths(&level.input_tokens.0)?;
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let prompts = match prepared.as_ref() {
            Some(prompts) => prompts.again(input, number),
            None => RandomPrompts::new(&self.tokenizer, input, plan.seed, number, options),
        };
        let prompts = Arc::new(prompts.map_err(|error| error.to_string())?);
        *prepared = Some(Arc::clone(&prompts));
        let mut rng = dyno_drive::arrivals::seeded(plan.seed, number, b"outputs ");
        let account = Arc::clone(&self.account);
        Ok(Box::new(move |index| match prompts.prompt(index) {
            Ok(item) => {
                let tokens = output.sample(&mut rng);
                Some((item, tokens))
            }
            Err(error) => {
                lock(&account).error.get_or_insert(error.to_string());
                None
            }
        }))
    }

    fn selected(
        &self,
        mut selected: Selected<'static>,
        output: Lengths,
        seed: u64,
        number: u32,
    ) -> Items {
        let account = Arc::clone(&self.account);
        let mut rng = dyno_drive::arrivals::seeded(seed, number, b"outputs ");
        Box::new(move |index| {
            let next = selected.next();
            let mut account = lock(&account);
            account.keep(number, index + 1, selected.tally());
            match next? {
                Ok(item) => {
                    let tokens = output.sample(&mut rng);
                    Some((item, tokens))
                }
                Err(error) => {
                    account.error.get_or_insert(error.to_string());
                    None
                }
            }
        })
    }

    /// Counts every item with a tokenizer that was given. Without one, the server's usage will
    /// say; only bounds on the length are worth an estimate, which is not asked of the server for
    /// each item.
    fn counter(
        &self,
        chat: bool,
        selection: &Selection,
    ) -> Option<dyno_workload::data::Count<'static>> {
        let bounded = selection.min_input.is_some() || selection.max_input.is_some();
        let tokenizer = match self.open_to_server {
            false => self.tokenizer.clone(),
            true if bounded => Tokenizer::estimate(),
            true => return None,
        };
        Some(Box::new(move |content: &Content| {
            tokenizer.count_content(content, chat).map_err(|error| error.to_string())
        }))
    }

    /// What ended the data before their time.
    pub(crate) fn error(&self) -> Option<String> {
        lock(&self.account).error.clone()
    }

    /// A prompt that is like those of the first level and none of them, to compare counts with;
    /// nothing where nobody has counted.
    pub(crate) fn specimen(&self, plan: &Plan) -> Result<Option<Item>, String> {
        if let Source::Random(_) = self.source {
            let made = self.items(plan, 0)?(u64::MAX);
            return Ok(made.map(|(item, _)| item));
        }
        if self.open_to_server {
            return Ok(None);
        }
        let aside = Self { account: Arc::default(), ..self.clone() };
        let Some((Item { content: Content::Text(text), .. }, _)) = aside.items(plan, 0)?(0) else {
            return Ok(None);
        };
        let content = Content::Text(format!("({}) {text}", plan.seed));
        let chat = plan.target.api == Api::OpenAiChat;
        let tokens = self.tokenizer.count_content(&content, chat).map_err(|e| e.to_string())?;
        Ok(Some(Item { content, output_tokens: None, input_tokens: Some(tokens) }))
    }

    /// Makes sure that there is something to send in every level, before anything is sent.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), (&'static str, String)> {
        let aside = Self { account: Arc::default(), ..self.clone() };
        if let Source::Set(..) = self.source {
            let mut items = aside.items(plan, 0).map_err(|words| ("--data", words))?;
            return match (items(0), aside.error()) {
                (Some(_), _) => Ok(()),
                (None, words) => Err(("--data", words.unwrap_or("there is no prompt".into()))),
            };
        }
        let flag = "--input-tokens";
        (0..plan.levels.len() as u32)
            .try_for_each(|number| aside.items(plan, number).map(drop))
            .map_err(|words| (flag, words))
    }

    /// What should be known of the data when reading the figures; `sent` is how many prompts of
    /// each level were.
    pub(crate) fn notes(&self, sent: &[u64]) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut say = |code: &str, what: String, advice: Option<&str>| {
            notes.push(Note { code: code.to_owned(), what, advice: advice.map(str::to_owned) });
        };
        let selection = match &self.source {
            Source::Random(_) => None,
            Source::Set(_, selection) => Some(selection),
        };
        let estimated = match selection {
            None => self.tokenizer.is_estimate(),
            Some(s) => self.open_to_server && (s.min_input.is_some() || s.max_input.is_some()),
        };
        if estimated {
            say(
                "tokenizer_estimate",
                "prompt lengths are estimates: no tokenizer was given".to_owned(),
                Some("give the model's folder or tokenizer.json with --tokenizer"),
            );
        }
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(check) = prepared.as_ref().map(|p| p.checks()).filter(|c| c.wrong > 0) {
            say(
                "prompt_lengths_wrong",
                format!("{} of {} prompts counted again were off", check.wrong, check.checked),
                Some("please report it with the name of the tokenizer"),
            );
        }
        let account = lock(&self.account);
        let tallies: Vec<Tally> =
            (0..).zip(sent).filter_map(|(level, sent)| account.after(level, *sent)).collect();
        let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
        let left_out = [
            (sum(|t| t.skipped), "skipped as bad"),
            (sum(|t| t.dropped_short), "left out as too short"),
            (sum(|t| t.dropped_long), "left out as too long"),
            (sum(|t| t.truncated), "cut to the longest allowed"),
        ];
        for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
            say("data_selected", format!("records {what}, over all levels: {count}"), None);
        }
        let again = selection.is_some_and(|s| {
            let next_level = s.order == Order::File && sent.iter().filter(|n| **n > 0).count() > 1;
            !s.unique_prefix && (sum(|t| t.repeats) > 0 || next_level)
        });
        if again {
            say(
                "prompts_repeat",
                "some prompts were sent more than once".to_owned(),
                Some(
                    "a prefix cache makes repeated prompts faster than they are; use \
                     --unique-prefix",
                ),
            );
        }
        notes
    }
}

fn lock(account: &Mutex<Account>) -> std::sync::MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lengths(text: &str) -> Result<Lengths, String> {
    text.parse().map_err(|error: dyno_workload::lengths::LengthsError| error.to_string())
}

fn source(data: &DataPlan, chat: bool, seed: u64) -> Result<Source, String> {
    let spec: DataSpec = match &data.spec {
        None => return Ok(Source::Random(random_options(None, data, chat)?)),
        Some(text) => {
            text.parse().map_err(|error: dyno_workload::data::SpecError| error.to_string())?
        }
    };
    match spec.kind {
        Some(Kind::Random) => Ok(Source::Random(random_options(Some(&spec), data, chat)?)),
        Some(kind @ (Kind::Session | Kind::Trace)) => {
            Err(format!("`{}` cannot be sent yet; this version sends single prompts", kind.name()))
        }
        _ => {
            let set = DataSet::new(&spec).map_err(|error| error.to_string())?;
            Ok(Source::Set(Box::new(set), selection(data, seed)))
        }
    }
}

/// How a plan takes from a data set.
pub(crate) fn selection(data: &DataPlan, seed: u64) -> Selection {
    Selection {
        order: if data.shuffle { Order::Shuffle } else { Order::File },
        seed,
        min_input: data.min_input_tokens,
        max_input: data.max_input_tokens,
        outside: if data.truncate { Outside::Truncate } else { Outside::Drop },
        limit: data.limit,
        repeat: true,
        unique_prefix: data.unique_prefix,
    }
}

fn random_options(
    spec: Option<&DataSpec>,
    data: &DataPlan,
    chat: bool,
) -> Result<RandomOptions, String> {
    let mut options = RandomOptions { chat, unique: data.unique_prefix, ..Default::default() };
    if let Some(spec) = spec {
        if spec.path.is_some() {
            return Err("random prompts come from no file; leave the path out".to_owned());
        }
        spec.only(&["prefix", "groups"]).map_err(|error| error.to_string())?;
        for (key, place) in [("prefix", &mut options.prefix), ("groups", &mut options.groups)] {
            if let Some(text) = spec.option(key) {
                *place = text
                    .parse()
                    .map_err(|_| format!("{key}={text}: write a whole number, such as {key}=64"))?;
            }
        }
    }
    Ok(options)
}
