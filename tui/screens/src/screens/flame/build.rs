//! The tree is made by a worker: there may be millions of contexts.

use std::sync::Arc;
use std::time::Instant;

use super::tree::{FlameShape, Tree};
use crate::analysis::AnalysisView;
use crate::worker::{Received, Worker};

/// A tree that is being made.
#[derive(Debug)]
pub(super) struct Build {
    worker: Worker<Tree>,
    pub(super) shape: FlameShape,
}

impl Build {
    pub(super) fn start(analysis: &Arc<AnalysisView>, shape: FlameShape) -> Self {
        let contexts = analysis.profile.contexts.len() as u64;
        let analysis = Arc::clone(analysis);
        let worker = Worker::start(contexts, move |task| {
            if let Some(tree) = Tree::of(&analysis, shape, task.progress()) {
                task.found(tree);
            }
        });
        Self { worker, shape }
    }

    /// The tree, if it is made; waits for it until some moment, or as long as it takes.
    pub(super) fn tree(&self, until: Option<Instant>) -> Received<Tree> {
        self.worker.next(until)
    }

    /// How much is done, from 0 to 1.
    pub(super) fn share(&self) -> f64 {
        self.worker.share()
    }
}
