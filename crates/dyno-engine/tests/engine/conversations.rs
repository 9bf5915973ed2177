//! The next turn of a conversation finds what the engine has computed of it.

use dyno_drive::{
    LevelRecorder, LevelSetup, OnFailure, Prepare, StopSignal, Supply, Work, run_level,
};
use dyno_engine::core::{Core, Cost, Policy, Scheduler};
use dyno_engine::predicted::{ClientBehaviour, Predicted, Prompts, TwinPrompt};
use dyno_model::plan::{LevelPlan, Shard};
use dyno_model::prompt::{ChatMessage, Conversation, UserTurn};
use dyno_model::record::RequestRecord;

fn engine(prefix_cache: bool) -> Predicted {
    let scheduler = Scheduler {
        policy: Policy::Chunked,
        max_seqs: 4,
        token_budget: 1_000,
        block: 16,
        kv_blocks: 1_000,
        prefix_cache,
        context: None,
        steps_ahead: 0,
    };
    let core = Core::new(scheduler, Cost { base: 0.01, ..Cost::default() }, 0).unwrap();
    let client = ClientBehaviour { answers: true, details: true, ..ClientBehaviour::default() };
    Predicted::new(core, client)
}

/// A user's turn of so many words, all different from those of other turns.
fn turn(name: &str, words: u32, output_tokens: u32) -> UserTurn {
    let content = (0..words).map(|word| format!("{name}{word}")).collect::<Vec<_>>().join(" ");
    let messages = vec![ChatMessage { role: "user".to_owned(), content }];
    UserTurn { think: 0, messages, output_tokens }
}

struct One(Option<Work<TwinPrompt>>);

impl Supply<TwinPrompt> for One {
    fn take(&mut self) -> Option<Work<TwinPrompt>> {
        self.0.take()
    }
}

#[derive(Default)]
struct Records(Vec<RequestRecord>);

impl LevelRecorder for Records {
    fn record(&mut self, record: Box<RequestRecord>) {
        self.0.push(*record);
    }
}

/// Prompt tokens of each turn, and how many of them were cached.
fn turns(prefix_cache: bool, turns: Vec<UserTurn>) -> Vec<(u64, Option<u64>)> {
    let mut engine = engine(prefix_cache);
    let prompts: Prompts = engine.prompts(true);
    let work = prompts.conversation(&Conversation { turns, input_tokens: None }).map(Work::Turns);
    let plan = LevelPlan { drain_ns: u64::MAX, ..LevelPlan::closed_loop(1, 3) };
    let mut records = Records::default();
    let setup = LevelSetup {
        level: 0,
        plan: &plan,
        seed: 0,
        trace: None,
        sessions: true,
        once: false,
        max_idle: None,
        at_most: None,
        shard: Shard::WHOLE,
        on_failure: OnFailure::default(),
        gate: None,
        stop: &StopSignal::new(),
        recorder: &mut records,
        observer: &(),
    };
    run_level(setup, &mut engine, &mut One(work)).unwrap();
    records.0.iter().map(|record| (record.input.unwrap().tokens, record.cached)).collect()
}

#[test]
fn the_next_turn_finds_the_prompt_and_the_answer_in_the_cache() {
    // Blocks of 16 tokens. The first turn computes 64 tokens and all but the last of the answer:
    // 64 + 31 = 95 tokens, which fill 5 blocks. The second has 64 + 32 + 16 = 112 tokens and adds
    // 33, of which 32 are computed: 144, which fill 9 blocks. The third has 112 + 33 + 10.
    let three = vec![turn("a", 64, 32), turn("b", 16, 33), turn("c", 10, 1)];
    let expected = [(64, Some(0)), (112, Some(80)), (155, Some(144))];
    assert_eq!(turns(true, three.clone()), expected);
    let expected = expected.map(|(input, _)| (input, None));
    assert_eq!(turns(false, three), expected);
}
