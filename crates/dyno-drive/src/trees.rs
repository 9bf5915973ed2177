//! Makes the requests of trees ahead of time: when a request is sent, or answered where that matters, the next one of
//! its session is made on a thread that all trees of a level share. One that is due before it was made is made on the driver's thread.

use crate::transport::{Body, Payload};
use crate::work::{Prepare, TreePrompt, TreePrompts, TurnRequest, TurnRequests, Turns};
use dyno_model::tree::PlannedTurn;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A turn of a tree that can be made.
type Wanted<P> = (Arc<Mutex<MadeTree<P>>>, u32);

/// The thread that makes requests of trees; it ends when nothing refers to it any more.
pub(crate) struct TreeMaker<P: Prepare> {
    prepare: Arc<P>,
    wanted: Option<Sender<Wanted<P>>>,
}

impl<P: Prepare> TreeMaker<P> {
    pub(crate) fn new(prepare: Arc<P>) -> Self {
        Self { prepare, wanted: None }
    }

    /// The turns of a tree. Those that it begins with are made at once.
    pub(crate) fn turns(&mut self, prompts: Box<dyn TreePrompts>) -> Turns<P::Body> {
        let planned = prompts.turns();
        let wanted = self.wanted.get_or_insert_with(|| {
            let (wanted, of) = channel();
            // Without the thread, requests are made when they are due.
            let _ = std::thread::Builder::new().name("dyno-trees".into()).spawn(|| make(of));
            wanted
        });
        let (prepare, made) = (Arc::clone(&self.prepare), vec![false; planned.len()]);
        let mut tree = MadeTree { prepare, prompts, ready: HashMap::new(), made };
        let firsts = (0_u32..).zip(planned.iter()).filter(|(_, turn)| turn.waits.is_empty());
        firsts.for_each(|(turn, _)| tree.make(turn));
        let next = next_of_sessions(&planned);
        let (size, after_answers) = (tree.size(), tree.prompts.contain_answers());
        let tree = Arc::new(Mutex::new(tree));
        let requests = TreeRequests { tree, wanted: wanted.clone(), next, after_answers, size };
        Turns { planned, requests: Box::new(requests), is_tree: true }
    }
}

fn make<P: Prepare>(wanted: Receiver<Wanted<P>>) {
    for (tree, turn) in wanted {
        lock(&tree).make(turn);
    }
}

/// The turn that follows each in its session.
fn next_of_sessions(planned: &[PlannedTurn]) -> Vec<Option<u32>> {
    let mut last: HashMap<u32, usize> = HashMap::new();
    let mut next = vec![None; planned.len()];
    for (turn, of) in planned.iter().enumerate() {
        if let Some(before) = last.insert(of.session, turn) {
            next[before] = u32::try_from(turn).ok();
        }
    }
    next
}

/// A tree, with the requests that are ready.
struct MadeTree<P: Prepare> {
    prepare: Arc<P>,
    prompts: Box<dyn TreePrompts>,
    /// Those that cannot be made are empty.
    ready: HashMap<u32, Option<TurnRequest<P::Body>>>,
    /// Which were made: each is made once, here or there.
    made: Vec<bool>,
}

impl<P: Prepare> MadeTree<P> {
    fn make(&mut self, turn: u32) {
        let made = self.made.get_mut(turn as usize);
        if made.is_some_and(|made| !std::mem::replace(made, true)) {
            let made = self.prompts.prompt(turn).map(|prompt| {
                let TreePrompt { item, growth, overflows } = prompt;
                let payload: Payload<P::Body> = self.prepare.single(&item, 1);
                TurnRequest { payload, growth, repeated: None, overflows }
            });
            self.ready.insert(turn, made);
        }
    }

    fn size(&self) -> usize {
        let ready = self.ready.values().flatten().map(|request| request.payload.body.size());
        self.prompts.size() + ready.sum::<usize>()
    }
}

/// A tree as the driver uses it.
struct TreeRequests<P: Prepare> {
    tree: Arc<Mutex<MadeTree<P>>>,
    wanted: Sender<Wanted<P>>,
    next: Vec<Option<u32>>,
    after_answers: bool,
    /// About how much memory it held before it began.
    size: usize,
}

impl<P: Prepare> TreeRequests<P> {
    /// Has the request made that follows in the session of this one.
    fn make_next(&self, turn: u32) {
        if let Some(next) = self.next.get(turn as usize).copied().flatten() {
            let _ = self.wanted.send((Arc::clone(&self.tree), next));
        }
    }
}

impl<P: Prepare> TurnRequests<P::Body> for TreeRequests<P> {
    fn take(&mut self, turn: u32) -> Option<TurnRequest<P::Body>> {
        let mut tree = lock(&self.tree);
        tree.make(turn);
        let request = tree.ready.remove(&turn).flatten()?;
        // Known only now: other sessions may have been sent since it was made.
        let repeated = if request.overflows { None } else { tree.prompts.sent(turn) };
        Some(TurnRequest { repeated, ..request })
    }

    fn sent(&mut self, turn: u32) {
        if !self.after_answers {
            self.make_next(turn);
        }
    }

    fn answered(&mut self, turn: u32, answer: &str) {
        if self.after_answers {
            lock(&self.tree).prompts.answered(turn, answer);
            self.make_next(turn);
        }
    }

    fn size(&self) -> usize {
        self.size
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
