//! Trees of sessions over time: which levels, and which of their trees and sessions.

use super::chosen::{Shown, all};
use super::page::{Chart, PagePart};
use super::rows::Row;
use super::swim::{Band, Stop, Swim, Turn};
use super::timeline::{interesting, row};
use super::words::Word;
use dyno_analysis::detail::{Became, Detail, TreeBar, TurnBar};
use dyno_model::Language;
use dyno_model::summary::Summary;

/// The most sessions of a tree, and of a panel.
const SESSIONS: usize = 8;
const LANES: usize = 60;
/// Of a whole page.
const WIDE: f64 = 1152.0;

/// The first trees of up to four levels.
pub(super) fn trees(summary: &Summary, detail: &Detail, language: Language) -> Option<Chart> {
    let levels = all(summary, detail, |_, detail| !detail.trees.kept.is_empty());
    let swims: Vec<Swim> =
        interesting(&levels).into_iter().map(|i| swim(&levels[i], language)).collect();
    let height = swims.iter().map(|swim| swim.height(WIDE, language)).fold(0.0, f64::max);
    (!swims.is_empty()).then(|| Chart {
        title: Word::Trees.in_language(language).to_owned(),
        columns: 1,
        parts: swims.into_iter().map(PagePart::Swim).collect(),
        height,
    })
}

fn swim(level: &Shown, language: Language) -> Swim {
    let trees = &level.detail.trees;
    let (mut bands, mut lanes, mut hidden) = (Vec::new(), 0, 0);
    for tree in &trees.kept {
        let sessions = tree.sessions.len().min(SESSIONS);
        if lanes + sessions > LANES {
            break;
        }
        lanes += sessions;
        hidden += tree.sessions.len() - sessions;
        bands.push(band(tree, language));
    }
    let [shown, of] = [bands.len() as u64, trees.of].map(|count| count.to_string());
    let mut about = match shown == of {
        true => Word::SomeTrees.with(language, &[of]),
        false => Word::FirstTrees.with(language, &[shown, of]),
    };
    let mut add = |text: &str| about = format!("{about}{}{text}", language.comma());
    let part = |tree: &TreeBar| {
        tree.records > tree.sessions.values().map(|turns| turns.len() as u64).sum()
    };
    if trees.kept.iter().take(bands.len()).any(part) {
        add(Word::FirstRequests.in_language(language));
    }
    if hidden > 0 {
        add(&Word::HiddenSessions.with(language, &[hidden.to_string()]));
    }
    Swim { title: format!("{}{}", level.name, language.brackets(&about)), bands }
}

fn band(tree: &TreeBar, language: Language) -> Band {
    // In the order in which they were started.
    let mut sessions: Vec<(&u64, &Vec<TurnBar>)> = tree.sessions.iter().collect();
    let begins = |turns: &[TurnBar]| turns.first().map_or(0.0, |turn| turn.ready_s);
    sessions.sort_by(|(a, of_a), (b, of_b)| {
        let is_child = |place: &u64| *place > 0;
        (is_child(a).cmp(&is_child(b))).then(begins(of_a).total_cmp(&begins(of_b))).then(a.cmp(b))
    });
    let turns = |(place, turns): &(&u64, &Vec<TurnBar>)| {
        turns.iter().map(|one| turn(one, **place, language)).collect()
    };
    Band {
        name: Word::TreeNamed.with(language, &[(tree.tree + 1).to_string()]),
        fate: fate(tree),
        sessions: sessions.iter().take(SESSIONS).map(turns).collect(),
    }
}

fn fate(tree: &TreeBar) -> Option<Word> {
    let mut turns = tree.sessions.values().flatten();
    let any = |is: &dyn Fn(&TurnBar) -> bool| tree.sessions.values().flatten().any(is);
    let failed = |turn: &TurnBar| match &turn.bar.became {
        Became::Failed(_) | Became::Shed(_) => true,
        Became::Dropped => !turn.too_long,
        Became::Completed | Became::Censored => false,
    };
    let whole = turns.all(|turn| turn.bar.became == Became::Completed);
    match () {
        () if any(&failed) => Some(Word::TreeFailed),
        () if any(&|turn| turn.too_long) => Some(Word::TreeTooLong),
        () if whole && tree.records >= tree.turns.into() => None,
        () => Some(Word::TreeCut),
    }
}

fn turn(one: &TurnBar, place: u64, language: Language) -> Turn {
    let stop = match &one.bar.became {
        _ if one.too_long => Stop::TooLong,
        Became::Censored => Stop::Cut,
        _ => Stop::None,
    };
    let number = one.number.to_string();
    let named = match place {
        0 => Word::RootTurn.with(language, &[number]),
        place => Word::SubAgentTurn.with(language, &[place.to_string(), number]),
    };
    let bar = row(&one.bar, 0, language);
    Turn {
        row: Row {
            // Its own mark says that it did not complete.
            whole: bar.whole || stop != Stop::None,
            first: bar.first.filter(|_| !one.warms),
            about: format!("{named}{}{}", language.comma(), bar.about),
            ..bar
        },
        ready: one.ready_s,
        joins: one.joins,
        warms: one.warms,
        stop,
    }
}
