//! The trees that the spans of a file make. Spans of one trace or of one conversation are one tree; a span below another
//! request is the same request, as its server saw it. Nothing in a file says which requests are a session: one continues
//! the request whose prompt and response its own prompt begins with. What a request waits for follows from times.

use std::collections::{BTreeMap, HashMap, HashSet};

use dyno_model::Nanos;

use super::AgenticFormat;
use super::family::groups;
use super::key;
use super::messages::TreeMessages;
use super::notes::AgenticRemark;
use super::otel::{GenAiSpan, SpanRequest};
use super::reader::TreeSink;
use super::tree::{PromptParts, Tools, Tree, TreeSession, TreeTurn, TurnAt, Wait, Why};
use super::waits::by_time;
use crate::data::{At, DataError};

/// Makes the trees.
pub(super) fn give(
    mut spans: Vec<GenAiSpan>,
    messages: &TreeMessages,
    wrong: Vec<(Option<String>, DataError)>,
    out: &mut TreeSink,
) {
    // Spans of one trace or of one conversation.
    let names = spans.iter().map(|span| {
        let names = [(false, span.trace.as_deref()), (true, span.conversation.as_deref())];
        names.into_iter().filter_map(|(kind, name)| Some((kind, name?))).collect()
    });
    let groups = groups(names);
    merge(&mut spans, out);
    let mut trees: BTreeMap<usize, Vec<GenAiSpan>> = BTreeMap::new();
    let mut of_trace: HashMap<Option<String>, usize> = HashMap::new();
    for (span, group) in spans.into_iter().zip(groups) {
        of_trace.insert(span.trace.clone(), group);
        if span.request.is_some() {
            trees.entry(group).or_default().push(span);
        }
    }
    for (trace, error) in wrong {
        let lost = of_trace.get(&trace).and_then(|group| trees.remove(group));
        out.notes.leave_tree(lost.map_or(1, |spans| spans.len() + 1), &error);
    }
    let trees = trees.into_values().filter_map(|spans| tree(spans, messages)).collect();
    out.give(trees);
}

/// Makes one request of spans that stand for the same, of which one is above the other and runs at the same time: what the
/// one above does not say is taken from the one below.
fn merge(spans: &mut [GenAiSpan], out: &mut TreeSink) {
    let places: HashMap<(Option<String>, String), usize> = spans
        .iter()
        .enumerate()
        .filter_map(|(place, span)| Some(((span.trace.clone(), span.id.clone()?), place)))
        .collect();
    let above = |place: usize| -> Option<usize> {
        let span: &GenAiSpan = &spans[place];
        places.get(&(span.trace.clone(), span.parent.clone()?)).copied()
    };
    let parents: Vec<Option<usize>> = (0..spans.len()).map(above).collect();
    for place in 0..spans.len() {
        if spans[place].request.is_none() {
            continue;
        }
        let (mut at, mut top, mut seen) = (place, None, HashSet::from([place]));
        while let Some(parent) = parents[at].filter(|parent| seen.insert(*parent)) {
            // Some agents name the request before as the parent of the next: that one has ended.
            let overlaps = |one: &SpanRequest, other: &SpanRequest| one.start < other.end;
            if let (Some(below), Some(above)) = (&spans[place].request, &spans[parent].request)
                && overlaps(below, above)
            {
                top = Some(parent);
            }
            at = parent;
        }
        if let Some(top) = top
            && let Some(below) = spans[place].request.take()
            && let Some(request) = &mut spans[top].request
        {
            out.notes.remark(AgenticRemark::SameRequest, 1);
            request.input = request.input.or(below.input);
            request.output = request.output.or(below.output);
            request.cached = request.cached.or(below.cached);
            request.limit = request.limit.or(below.limit);
            request.model = request.model.take().or(below.model);
            request.prompt = request.prompt.take().or(below.prompt);
            if request.response.is_empty() {
                request.response = below.response;
            }
        }
    }
}

/// Where the sessions of a tree end, by the key of what the last turn was asked and answered.
#[derive(Default)]
struct Tails {
    by_key: HashMap<u64, TurnAt>,
    /// The messages of the last turn of each session.
    history: Vec<Vec<u32>>,
}

fn tree(mut spans: Vec<GenAiSpan>, messages: &TreeMessages) -> Option<Tree> {
    let at: At = spans.first()?.at.clone();
    let name =
        spans.iter().find_map(|span| span.trace.clone().or_else(|| span.conversation.clone()));
    spans.sort_by_key(|span| span.request.as_ref().map(|request| (request.start, request.end)));
    let requests: Vec<SpanRequest> = spans.into_iter().filter_map(|span| span.request).collect();
    let times: Vec<(Nanos, Nanos)> = requests.iter().map(|one| (one.start, one.end)).collect();
    let start = times.first()?.0;
    let has_text = requests.iter().all(|one| one.prompt.is_some());
    let before = by_time(&times);
    let responses: Vec<Vec<u32>> = requests.iter().map(|one| one.response.clone()).collect();
    let mut places: Vec<TurnAt> = Vec::with_capacity(requests.len());
    let mut sessions: Vec<TreeSession> = Vec::new();
    let mut tails = Tails::default();
    for (one, request) in requests.into_iter().enumerate() {
        let prompt = request.prompt.clone().unwrap_or_default();
        let mut waits: Vec<Wait> = before[one]
            .iter()
            .map(|other| Wait {
                on: places[*other],
                why: match responses[*other].iter().any(|said| prompt.contains(said)) {
                    true => Why::Text,
                    false => Why::Time,
                },
            })
            .collect();
        let continued = match has_text {
            true => tails.continued(messages, &prompt).filter(|(at, _)| {
                sessions[at.session].turns[at.turn].ended <= Some(request.start - start)
            }),
            // Without texts a request continues the only one that it waits for.
            false => match before[one][..] {
                [other] => {
                    let at = places[other];
                    (sessions[at.session].turns.len() == at.turn + 1).then_some((at, 0))
                }
                _ => None,
            },
        };
        let (session, kept) = match continued {
            Some((at, kept)) => (at.session, kept),
            None => {
                let parent = waits.first().map(|wait| wait.on.session);
                let name = format!("{}", sessions.len() + 1);
                sessions.push(TreeSession { name, parent, ..TreeSession::default() });
                tails.history.push(Vec::new());
                (sessions.len() - 1, 0)
            }
        };
        let turns = &mut sessions[session].turns;
        // The rule of times finds the turn before, or one that waits for it.
        if let Some(turn) = turns.len().checked_sub(1) {
            let on = TurnAt { session, turn };
            for wait in waits.iter_mut().filter(|wait| wait.on == on) {
                wait.why = Why::Session;
            }
        }
        let place = TurnAt { session, turn: turns.len() };
        places.push(place);
        tails.turn(messages, place, &prompt, &request.response);
        turns.push(TreeTurn {
            input: request.input,
            output: request.output,
            limit: request.limit,
            cached: request.cached,
            sent: Some(request.start - start),
            ended: Some(request.end - start),
            waits,
            model: request.model,
            kept: kept as u32,
            added: prompt[kept..].to_vec(),
            response: request.response,
            tools: Tools { calls: request.calls, results: 0 },
            definitions: request.definitions,
            failed: request.failed,
            ..TreeTurn::default()
        });
    }
    let turns = sessions.iter_mut().flat_map(|session| &mut session.turns);
    let mut used: Vec<&mut Vec<u32>> =
        turns.flat_map(|turn| [&mut turn.added, &mut turn.response]).collect();
    let messages = messages.only(&mut used);
    Some(Tree {
        name: name.unwrap_or_else(|| at.to_string()),
        at,
        format: AgenticFormat::Otel,
        start: Some(start),
        prompts: if has_text {
            PromptParts::Messages { whole: true }
        } else {
            PromptParts::Lengths
        },
        messages,
        sessions,
        totals: None,
    })
}

impl Tails {
    /// The last turn of a session whose prompt, or prompt and response, a prompt begins with, and how many messages of
    /// it: the longest.
    fn continued(&self, messages: &TreeMessages, prompt: &[u32]) -> Option<(TurnAt, usize)> {
        let mut longest = None;
        for (number, key) in keys(messages, prompt).enumerate() {
            if let Some(at) = self.by_key.get(&key) {
                longest = Some((*at, number + 1));
            }
        }
        let (at, _) = longest?;
        let history = self.history.get(at.session)?;
        Some((at, history.iter().zip(prompt).take_while(|(one, other)| one == other).count()))
    }

    /// A turn is the last of its session now.
    fn turn(&mut self, messages: &TreeMessages, at: TurnAt, prompt: &[u32], response: &[u32]) {
        let whole = [prompt, response].concat();
        let before = std::mem::replace(&mut self.history[at.session], whole);
        for key in keys(messages, &before) {
            if self.by_key.get(&key).is_some_and(|other| other.session == at.session) {
                self.by_key.remove(&key);
            }
        }
        let whole = &self.history[at.session];
        let ends = [prompt.len(), whole.len()];
        let keys: Vec<u64> = keys(messages, whole).collect();
        for end in ends {
            if let Some(key) = end.checked_sub(1).and_then(|last| keys.get(last)) {
                self.by_key.insert(*key, at);
            }
        }
    }
}

/// The keys of the beginnings of a list of messages: of the first one, the first two, and so on.
fn keys<'a>(messages: &'a TreeMessages, list: &'a [u32]) -> impl Iterator<Item = u64> + 'a {
    list.iter().scan(key::NOTHING, move |before, place| {
        for (part, _) in
            messages.all.get(*place as usize).map(|said| &said.parts).into_iter().flatten()
        {
            *before = key::after(*before, *part);
        }
        Some(*before)
    })
}
