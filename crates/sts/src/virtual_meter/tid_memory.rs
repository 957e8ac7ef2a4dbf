//! Which identifiers a meter has accepted.

use std::collections::BTreeSet;

use super::entry::EntryRefusal;
use crate::tid::Tid;

/// A meter has room for so many identifiers, the latest ones.
const ROOM: usize = 50;

#[derive(Clone, Debug, Default)]
pub(super) struct TidMemory {
    accepted: BTreeSet<Tid>,
}

impl TidMemory {
    /// Tokens need not arrive in the order in which they were made, only within what is remembered.
    pub(super) fn check(&self, tid: Tid) -> Result<(), EntryRefusal> {
        if self.accepted.contains(&tid) {
            return Err(EntryRefusal::AlreadyUsed);
        }
        match self.accepted.first() {
            Some(oldest) if self.accepted.len() >= ROOM && tid < *oldest => Err(EntryRefusal::TooOld),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn remember(&mut self, tid: Tid) {
        self.accepted.insert(tid);
        if self.accepted.len() > ROOM {
            self.accepted.pop_first();
        }
    }

    pub(super) fn clear(&mut self) {
        self.accepted.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tid(minutes: u64) -> Tid {
        Tid::try_new(minutes).unwrap()
    }

    #[test]
    fn what_is_older_than_everything_remembered_is_refused_only_once_the_memory_is_full() {
        let mut memory = TidMemory::default();
        for minutes in 1_001..1_050 {
            memory.remember(tid(minutes));
        }
        assert_eq!(memory.check(tid(500)), Ok(()));
        memory.remember(tid(1_050));
        assert_eq!(memory.check(tid(500)), Err(EntryRefusal::TooOld));
        assert_eq!(memory.check(tid(1_001)), Err(EntryRefusal::AlreadyUsed));
        memory.remember(tid(1_051));
        assert_eq!(memory.check(tid(1_001)), Err(EntryRefusal::TooOld));
    }
}
