//! How repeats and enquiries are handled. It can be changed at run time.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::settings::{OnRepeat, Remembers};

/// The memory settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Habits {
    pub(crate) remembers: Remembers,
    pub(crate) on_repeat: OnRepeat,
}

/// The current memory settings, shared by several owners.
#[derive(Clone, Debug)]
pub(crate) struct SharedHabits(Arc<Mutex<Habits>>);

impl SharedHabits {
    pub(crate) fn new(habits: Habits) -> Self {
        Self(Arc::new(Mutex::new(habits)))
    }

    pub(crate) fn get(&self) -> Habits {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, habits: Habits) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = habits;
    }
}
