//! Where the user is on a screen: what Esc comes back to.

use std::any::Any;
use std::sync::Arc;

use crate::table::ListSpot;

/// A place on a screen. It means something to that screen only, also under other figures.
#[derive(Debug, Clone, Default)]
pub struct Spot {
    /// Which part of the screen is shown, by its number.
    pub(crate) part: usize,
    /// What it is filtered or searched by.
    pub(crate) filter: String,
    /// Row and scroll of the list that the cursor is in.
    pub(crate) list: Option<ListSpot>,
    /// What only this screen has.
    pub(crate) own: Option<Arc<dyn Any + Send + Sync>>,
}

impl Spot {
    /// The same with what only this screen has.
    pub(crate) fn with(self, own: impl Any + Send + Sync) -> Self {
        Self {
            own: Some(Arc::new(own)),
            ..self
        }
    }

    /// What only this screen has.
    pub(crate) fn own<T: Any>(&self) -> Option<&T> {
        self.own.as_ref()?.downcast_ref()
    }
}
