//! Where the user is on a screen: what Esc comes back to.

use std::any::Any;
use std::sync::Arc;

use super::Screen;
use crate::table::ListSpot;

/// A place on a screen. It means something to that screen only, also under other figures.
#[derive(Debug, Clone, Default)]
pub struct Spot {
    /// Which part of the screen is shown, by its number.
    pub(super) part: usize,
    /// What it is filtered or searched by.
    pub(super) filter: String,
    /// Row and scroll of the list that the cursor is in.
    pub(super) list: Option<ListSpot>,
    /// What only this screen has.
    pub(super) own: Option<Arc<dyn Any + Send + Sync>>,
}

impl Spot {
    /// What every screen has.
    pub(super) fn of(screen: &(impl Screen + ?Sized)) -> Self {
        Self {
            filter: screen.filter().unwrap_or_default().to_owned(),
            list: screen.table().map(crate::table::Table::spot),
            ..Self::default()
        }
    }

    /// The same with what only this screen has.
    pub(super) fn with(self, own: impl Any + Send + Sync) -> Self {
        Self {
            own: Some(Arc::new(own)),
            ..self
        }
    }

    /// What only this screen has.
    pub(super) fn own<T: Any>(&self) -> Option<&T> {
        self.own.as_ref()?.downcast_ref()
    }

    /// Goes to what every screen has.
    pub(super) fn recall(&self, screen: &mut (impl Screen + ?Sized)) {
        if screen.filter().is_some_and(|filter| filter != self.filter) {
            screen.set_filter(&self.filter);
        }
        if let (Some(table), Some(list)) = (screen.table_mut(), &self.list) {
            table.recall(list);
        }
    }
}
