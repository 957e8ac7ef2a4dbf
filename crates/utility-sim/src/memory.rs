//! What was answered to whom: why a repeated message id is noticed, and where an advice finds its answer.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    settings::{OnRepeat, Remembers},
    xmlvend::{DeviceId, Message, MsgId, Reply, Sender},
};

/// The answers to vends, by client and message id, and the ids of all other requests.
#[derive(Debug)]
pub(crate) struct Memory {
    remembers: Remembers,
    on_repeat: OnRepeat,
    slots: Mutex<HashMap<Name, Slot>>,
}

type Name = (DeviceId, MsgId);
/// Locked while its vend is being made: whoever asks about that vend meanwhile waits for the answer.
type Slot = Arc<Mutex<Use>>;

/// What a message id was used for.
#[derive(Debug, Default)]
enum Use {
    /// Nothing that is remembered.
    #[default]
    None,
    /// Something else than a vend.
    Question,
    /// A vend, with this answer.
    Vend(Arc<Message>),
}

/// Whether a vend was made just now.
#[derive(Debug)]
pub(crate) enum Recollection {
    /// It was: this is its answer.
    Fresh(Arc<Message>),
    /// The message id had been answered before, with this.
    Known(Arc<Message>),
    /// The message id belongs to a request that was no vend.
    Taken,
}

impl Memory {
    pub(crate) fn new(remembers: Remembers, on_repeat: OnRepeat) -> Self {
        Self { remembers, on_repeat, slots: Mutex::default() }
    }

    /// Makes a vend, unless its message id has an answer already that settings say to stand by.
    pub(crate) fn vend_once(&self, sender: &Sender, vend: impl FnOnce() -> Message) -> Recollection {
        let slot = Arc::clone(self.slots().entry(name(sender)).or_default());
        let mut used = lock(&slot);
        match &*used {
            Use::Question => return Recollection::Taken,
            Use::Vend(known) if self.on_repeat != OnRepeat::VendAgain => {
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

    /// Notes the message id of a request that is no vend; false if it was used before.
    pub(crate) fn note(&self, sender: &Sender) -> bool {
        let strict = self.remembers == Remembers::Everything && self.on_repeat == OnRepeat::Reject;
        if !strict {
            return true;
        }
        match self.slots().entry(name(sender)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::new(Mutex::new(Use::Question)));
                true
            }
        }
    }

    /// What was answered to a client's earlier vend.
    pub(crate) fn find(&self, client: &DeviceId, about: &MsgId) -> Option<Arc<Message>> {
        let slot = Arc::clone(self.slots().get(&(client.clone(), about.clone()))?);
        let used = lock(&slot);
        if let Use::Vend(message) = &*used { Some(Arc::clone(message)) } else { None }
    }

    fn keeps(&self, message: &Message) -> bool {
        match self.remembers {
            Remembers::Everything => true,
            Remembers::Vends => !matches!(message.reply, Reply::Fault(_)),
            Remembers::Nothing => false,
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Name, Slot>> {
        lock(&self.slots)
    }
}

fn name(sender: &Sender) -> Name {
    (sender.client.clone(), sender.msg_id.clone())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
