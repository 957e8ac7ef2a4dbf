//! The identifiers that a meter has accepted.

use alloc::collections::BTreeSet;

use super::entry::EntryRefusal;
use crate::tid::Tid;

/// The number of identifiers that a meter remembers: the latest ones.
const CAPACITY: usize = 50;

#[derive(Clone, Debug, Default)]
pub(super) struct TidMemory {
    accepted: BTreeSet<Tid>,
}

impl TidMemory {
    /// Tokens may arrive in any order, but only within the range of the remembered identifiers.
    pub(super) fn check(&self, tid: Tid) -> Result<(), EntryRefusal> {
        if self.accepted.contains(&tid) {
            return Err(EntryRefusal::AlreadyUsed);
        }
        match self.accepted.first() {
            Some(oldest) if self.accepted.len() >= CAPACITY && tid < *oldest => Err(EntryRefusal::TooOld),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn remember(&mut self, tid: Tid) {
        self.accepted.insert(tid);
        if self.accepted.len() > CAPACITY {
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
    fn a_token_older_than_all_remembered_is_refused_only_if_the_memory_is_full() {
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
