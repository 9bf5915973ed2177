//! Blocks of the reference implementation: each is an object with a hash, users and the time it became
//! unused.

#[derive(Debug, Clone, Default)]
struct Block {
    hash: Option<u64>,
    users: u32,
    left: u64,
}

#[derive(Debug)]
pub(crate) struct Blocks {
    all: Vec<Block>,
    clock: u64,
}

impl Blocks {
    pub(crate) fn new(count: u64) -> Self {
        Self { all: vec![Block::default(); count as usize], clock: 0 }
    }

    pub(crate) fn available(&self) -> usize {
        self.all.iter().filter(|block| block.users == 0).count()
    }

    pub(crate) fn used(&self) -> usize {
        self.all.len() - self.available()
    }

    pub(crate) fn is_idle(&self, block: usize) -> bool {
        self.all[block].users == 0
    }

    pub(crate) fn with_hash(&self, hash: u64) -> Option<usize> {
        self.all.iter().position(|block| block.hash == Some(hash))
    }

    /// Takes an empty block, or else the one that became unused first.
    pub(crate) fn take(&mut self) -> usize {
        let unused = || (0..self.all.len()).filter(|block| self.all[*block].users == 0);
        let block = unused()
            .find(|block| self.all[*block].hash.is_none())
            .or_else(|| unused().min_by_key(|block| self.all[*block].left))
            .unwrap();
        self.all[block] = Block { hash: None, users: 1, left: 0 };
        block
    }

    pub(crate) fn share(&mut self, block: usize) {
        self.all[block].users += 1;
    }

    pub(crate) fn publish(&mut self, block: usize, hash: u64) {
        if self.with_hash(hash).is_none() {
            self.all[block].hash = Some(hash);
        }
    }

    /// The last one first: the start of a prompt is most useful to others.
    pub(crate) fn leave(&mut self, blocks: Vec<usize>) {
        for block in blocks.into_iter().rev() {
            self.clock += 1;
            self.all[block].users -= 1;
            self.all[block].left = self.clock;
        }
    }
}
