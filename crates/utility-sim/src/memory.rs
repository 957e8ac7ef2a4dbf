//! The stored answers by name. They show whether a name is repeated, and they answer enquiries.

mod habits;

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::settings::{OnRepeat, Remembers};

pub(crate) use habits::{Habits, SharedHabits};

/// The answers to vends, by the client's name for each, and the names of all other requests.
#[derive(Debug)]
pub(crate) struct Memory<N, A> {
    habits: SharedHabits,
    slots: Mutex<HashMap<N, Slot<A>>>,
}

/// An answer that may be stored.
pub(crate) trait Remembered {
    /// Whether it is a refusal.
    fn is_refusal(&self) -> bool;
}

/// Locked while its vend is made: an enquiry about that vend waits for the answer.
type Slot<A> = Arc<Mutex<Use<A>>>;

/// The use of a name.
#[derive(Debug)]
enum Use<A> {
    /// None that is remembered.
    None,
    /// A request that is not a vend.
    Question,
    /// A vend with this answer.
    Vend(Arc<A>),
}

/// Whether the vend was made by this call.
#[derive(Debug)]
pub(crate) enum Recollection<A> {
    /// It was made now, with this answer.
    Fresh(Arc<A>),
    /// The name had this answer already.
    Known(Arc<A>),
    /// The name belongs to a request that is not a vend.
    Taken,
}

impl<N: Clone + Eq + Hash, A: Remembered> Memory<N, A> {
    pub(crate) fn new(habits: SharedHabits) -> Self {
        Self { habits, slots: Mutex::default() }
    }

    /// Makes a vend, unless its name has an answer that the settings say to keep.
    pub(crate) fn vend_once(&self, name: &N, vend: impl FnOnce() -> A) -> Recollection<A> {
        let slot = Arc::clone(self.slots().entry(name.clone()).or_insert_with(|| slot(Use::None)));
        let mut used = lock(&slot);
        match &*used {
            Use::Question => return Recollection::Taken,
            Use::Vend(known) if self.on_repeat() != OnRepeat::VendAgain => {
                return Recollection::Known(Arc::clone(known));
            }
            Use::Vend(_) | Use::None => {}
        }
        let fresh = Arc::new(vend());
        if self.keeps(&fresh) {
            *used = Use::Vend(Arc::clone(&fresh));
        }
        Recollection::Fresh(fresh)
    }

    /// Restores the answer of a vend from an earlier run.
    pub(crate) fn recall(&self, name: N, answer: A) {
        if self.keeps(&answer) {
            self.slots().insert(name, slot(Use::Vend(Arc::new(answer))));
        }
    }

    /// Records the name of a request that is not a vend. False if the name was used before.
    pub(crate) fn note(&self, name: &N) -> bool {
        let strict = Habits { remembers: Remembers::Everything, on_repeat: OnRepeat::Reject };
        if self.habits.get() != strict {
            return true;
        }
        match self.slots().entry(name.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(slot(Use::Question));
                true
            }
        }
    }

    /// The answer to the vend with this name.
    pub(crate) fn find(&self, name: &N) -> Option<Arc<A>> {
        let slot = Arc::clone(self.slots().get(name)?);
        let used = lock(&slot);
        if let Use::Vend(answer) = &*used { Some(Arc::clone(answer)) } else { None }
    }

    /// How a repeated vend is handled.
    pub(crate) fn on_repeat(&self) -> OnRepeat {
        self.habits.get().on_repeat
    }

    /// Forgets all names and answers.
    pub(crate) fn forget(&self) {
        self.slots().clear();
    }

    fn keeps(&self, answer: &A) -> bool {
        match self.habits.get().remembers {
            Remembers::Everything => true,
            Remembers::Vends => !answer.is_refusal(),
            Remembers::Nothing => false,
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<N, Slot<A>>> {
        lock(&self.slots)
    }
}

fn slot<A>(used: Use<A>) -> Slot<A> {
    Arc::new(Mutex::new(used))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
