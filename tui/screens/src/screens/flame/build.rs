//! The tree is made in a thread of its own: there may be millions of contexts.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::progress::Progress;
use super::tree::{Shape, Tree};
use crate::analysis::AnalysisView;
use crate::received::receive;

/// How long a key waits for the tree, before it is drawn that it is made.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);

/// A tree that is being made; one that is dropped is given up.
#[derive(Debug)]
pub(super) struct Build {
    tree: Receiver<Tree>,
    progress: Arc<Progress>,
    total: u64,
    pub(super) shape: Shape,
}

impl Drop for Build {
    fn drop(&mut self) {
        self.progress.give_up();
    }
}

impl Build {
    pub(super) fn start(analysis: &Arc<AnalysisView>, shape: Shape) -> Self {
        let (sender, tree) = channel();
        let progress = Arc::new(Progress::default());
        let total = analysis.profile.contexts.len() as u64;
        let (analysis, watched) = (Arc::clone(analysis), Arc::clone(&progress));
        let run = move || {
            if let Some(tree) = Tree::of(&analysis, shape, &watched) {
                // The tree may have been given up.
                let _ = sender.send(tree);
            }
        };
        // If there is no thread for it, there is no tree.
        let _ = thread::Builder::new().spawn(run);
        Self {
            tree,
            progress,
            total,
            shape,
        }
    }

    /// The tree, if it is made; waits for it if told to, or for a moment.
    pub(super) fn tree(&self, wait: Option<Duration>) -> Option<Tree> {
        receive(&self.tree, wait).ok()
    }

    /// How much is done, from 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let done = self.progress.done() as f64;
        (done / self.total.max(1) as f64).min(1.0)
    }
}
