//! A cache of the networks of numbers, so that most orders need no question before them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clock::{Monotonic, SharedClock};

use crate::operator::Operator;
use crate::phone::Phone;

/// Numbers move between networks, and networks change what they sell, but rarely between a check and a purchase.
const REMEMBERED_FOR: Duration = Duration::from_mins(15);

const NUMBERS_MAX: usize = 10_000;

#[derive(Debug)]
pub(crate) struct OperatorMemory {
    known: Mutex<HashMap<Phone, Remembered>>,
    clock: SharedClock,
}

#[derive(Debug)]
struct Remembered {
    operator: Operator,
    at: Monotonic,
}

impl OperatorMemory {
    pub(crate) fn new(clock: SharedClock) -> Self {
        Self { known: Mutex::default(), clock }
    }

    pub(crate) fn of(&self, phone: &Phone) -> Option<Operator> {
        let now = self.clock.monotonic();
        self.known().get(phone).filter(|known| known.is_fresh(now)).map(|known| known.operator.clone())
    }

    pub(crate) fn learn(&self, phone: Phone, operator: Operator) {
        let at = self.clock.monotonic();
        let mut known = self.known();
        if known.len() >= NUMBERS_MAX {
            known.retain(|_phone, known| known.is_fresh(at));
        }
        if known.len() >= NUMBERS_MAX {
            known.clear();
        }
        known.insert(phone, Remembered { operator, at });
    }

    pub(crate) fn forget(&self, phone: &Phone) {
        self.known().remove(phone);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Phone, Remembered>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remembered {
    fn is_fresh(&self, now: Monotonic) -> bool {
        now.elapsed_since(self.at) < REMEMBERED_FOR
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::DateTime;
    use clock::ManualClock;
    use phonenumber::country::BW;

    use super::*;
    use crate::operator::Selling;

    fn phone(number: usize) -> Phone {
        Phone::ordered(&format!("26771{number:06}"), BW).unwrap()
    }

    fn operator(id: u64) -> Operator {
        Operator { id, selling: Selling::Nothing }
    }

    #[test]
    fn a_network_is_forgotten_after_a_while_or_when_it_is_told_to_be_wrong() {
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let memory = OperatorMemory::new(Arc::new(clock.clone()));
        memory.learn(phone(1), operator(7));
        memory.learn(phone(2), operator(8));
        clock.advance(REMEMBERED_FOR.saturating_sub(Duration::from_secs(1)));
        assert_eq!(memory.of(&phone(1)), Some(operator(7)));
        memory.forget(&phone(1));
        assert_eq!(memory.of(&phone(1)), None);
        assert_eq!(memory.of(&phone(2)), Some(operator(8)));
        clock.advance(Duration::from_secs(1));
        assert_eq!(memory.of(&phone(2)), None);
    }

    #[test]
    fn the_memory_is_bounded() {
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let memory = OperatorMemory::new(Arc::new(clock.clone()));
        for number in 0..=NUMBERS_MAX {
            memory.learn(phone(number), operator(7));
        }
        assert_eq!(memory.known().len(), 1);
        assert_eq!(memory.of(&phone(NUMBERS_MAX)), Some(operator(7)));
    }
}
