//! Servers that were not looked at when the rule was set: other distributions of lengths, servers that
//! obey only sometimes, and other seeds. The rows are published as they came out; nothing is tuned by
//! them.

use super::tests::Dice;
use super::{Said, TOKENS, decide};
use std::convert::Infallible;

/// Where the seeds of these rows begin, far from those of the first table.
const FIRST_SEED: u64 = 5_000_000;
const SERVERS: u64 = 2_000;

/// How long a model's responses to the test prompt are, given a number between 0 and 1 that belongs to the
/// server.
type Natural = fn(&mut Dice, f64) -> f64;

fn exponential(dice: &mut Dice, mean: f64) -> f64 {
    -(1.0 - dice.roll()).ln() * mean
}

fn normal(dice: &mut Dice) -> f64 {
    (0..12).map(|_| dice.roll()).sum::<f64>() - 6.0
}

const MODELS: [(&str, Natural); 8] = [
    ("always the same, 2 to 60 tokens", |_, own| 2.0 + own * 58.0),
    ("geometric, mean 12", |dice, _| exponential(dice, 12.0)),
    ("gamma, shape 4, mean 25", |dice, _| (0..4).map(|_| exponential(dice, 6.25)).sum()),
    ("Pareto from 2 tokens, exponent 1.2", |dice, _| 2.0 * (1.0 - dice.roll()).powf(-1.0 / 1.2)),
    ("log-normal, median 30, spread 2", |dice, _| 30.0 * 2_f64.powf(normal(dice))),
    ("3 or 300 tokens, equally often", |dice, _| if dice.roll() < 0.5 { 3.0 } else { 300.0 }),
    ("a list of 20 to 60 tokens", |dice, _| 20.0 + dice.roll() * 40.0),
    ("16 tokens, give or take 4", |dice, _| 12.0 + dice.roll() * 8.0),
];

/// What a server does with the field.
const SERVERS_THAT: [(&str, Obeys); 3] = [
    ("obeys", |_| true),
    ("ignores", |_| false),
    ("obeys half of the time", |dice| dice.roll() < 0.5),
];

type Obeys = fn(&mut Dice) -> bool;

fn decisions(natural: Natural, obeys: Obeys) -> [u32; 3] {
    let mut decided = [0; 3];
    for server in 0..SERVERS {
        let mut dice = Dice((FIRST_SEED + server).wrapping_mul(2_654_435_761));
        dice.roll();
        let own = dice.roll();
        let mut say = |with: bool, asked: u32| {
            let natural = natural(&mut dice, own).clamp(1.0, 1e9).ceil() as u32;
            let forced = with && obeys(&mut dice);
            let tokens = if forced { asked } else { asked.min(natural) };
            Some(Said { tokens: u64::from(tokens), stopped: natural < asked && !forced })
        };
        let first = say(true, TOKENS);
        let force = decide(first, |with, asked| Ok::<_, Infallible>(say(with, asked)));
        decided[force.unwrap() as usize] += 1;
    }
    decided
}

const TABLE: &str = "\
obeys, always the same, 2 to 60 tokens: no 0, unproven 0, yes 2000
obeys, geometric, mean 12: no 0, unproven 10, yes 1990
obeys, gamma, shape 4, mean 25: no 0, unproven 20, yes 1980
obeys, Pareto from 2 tokens, exponent 1.2: no 0, unproven 32, yes 1968
obeys, log-normal, median 30, spread 2: no 0, unproven 299, yes 1701
obeys, 3 or 300 tokens, equally often: no 0, unproven 999, yes 1001
obeys, a list of 20 to 60 tokens: no 0, unproven 0, yes 2000
obeys, 16 tokens, give or take 4: no 0, unproven 0, yes 2000
ignores, always the same, 2 to 60 tokens: no 2000, unproven 0, yes 0
ignores, geometric, mean 12: no 1931, unproven 2, yes 67
ignores, gamma, shape 4, mean 25: no 1930, unproven 15, yes 55
ignores, Pareto from 2 tokens, exponent 1.2: no 1991, unproven 0, yes 9
ignores, log-normal, median 30, spread 2: no 1626, unproven 247, yes 127
ignores, 3 or 300 tokens, equally often: no 1253, unproven 497, yes 250
ignores, a list of 20 to 60 tokens: no 2000, unproven 0, yes 0
ignores, 16 tokens, give or take 4: no 2000, unproven 0, yes 0
obeys half of the time, always the same, 2 to 60 tokens: no 1116, unproven 0, yes 884
obeys half of the time, geometric, mean 12: no 1272, unproven 8, yes 720
obeys half of the time, gamma, shape 4, mean 25: no 1089, unproven 16, yes 895
obeys half of the time, Pareto from 2 tokens, exponent 1.2: no 1396, unproven 21, yes 583
obeys half of the time, log-normal, median 30, spread 2: no 881, unproven 254, yes 865
obeys half of the time, 3 or 300 tokens, equally often: no 687, unproven 750, yes 563
obeys half of the time, a list of 20 to 60 tokens: no 999, unproven 0, yes 1001
obeys half of the time, 16 tokens, give or take 4: no 1184, unproven 0, yes 816
";

/// The second table of docs/wire.md.
#[test]
fn the_confusion_table_of_servers_that_were_held_out() {
    let mut table = String::new();
    for (rule, obeys) in SERVERS_THAT {
        for (name, natural) in MODELS {
            let [no, unproven, yes] = decisions(natural, obeys);
            table.push_str(&format!("{rule}, {name}: no {no}, unproven {unproven}, yes {yes}\n"));
        }
    }
    assert_eq!(table, TABLE);
}
