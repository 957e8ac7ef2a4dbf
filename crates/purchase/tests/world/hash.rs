//! Hashes of values that have none of their own. The exhaustive model recognises a state by its hash.

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::hash::{Hash, Hasher};

use ahash::RandomState;
use chrono::{DateTime, Utc};
use purchase::{Lifecycle, Sending, State};

/// Hashes all fields of a lifecycle, as they matter from now on. A new field does not compile until it is hashed too.
pub fn hash_lifecycle<H: Hasher>(lifecycle: &Lifecycle, now: DateTime<Utc>, hasher: &mut H) {
    let Lifecycle {
        handling,
        state,
        fence,
        lease_until,
        claimed_at,
        asked_at,
        attempt,
        requests,
        window_closes_at,
    } = lifecycle;
    let second = |at: &DateTime<Utc>| at.timestamp();
    (handling, state.name(), fence, attempt, requests, second(window_closes_at)).hash(hasher);
    // When it ran out does not matter.
    let lease_until = lease_until.map(|until| until.max(now));
    // When to look and when to ask again depends on the last claim, and the model does both at any time.
    (lease_until.as_ref().map(second), claimed_at.is_some(), asked_at.as_ref().map(second)).hash(hasher);
    match state {
        State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => {
            let Sending { copies, last_sent_at, ended_at, earlier_ended_by, no_record_since } = sending;
            (copies, second(last_sent_at), no_record_since.as_ref().map(second)).hash(hasher);
            (ended_at.as_ref().map(second), earlier_ended_by.as_ref().map(second)).hash(hasher);
        }
        State::Successful { provider_transaction } => provider_transaction.hash(hasher),
        State::RetryDue | State::Failed => {}
    }
}

/// A hash for a value that has neither equality nor a hash, but whose `Debug` shows all of it.
pub fn hash_of_debug(shown: &impl Debug) -> u64 {
    thread_local!(static TEXT: RefCell<String> = const { RefCell::new(String::new()) });
    TEXT.with_borrow_mut(|text| {
        text.clear();
        write!(text, "{shown:?}").expect("a string takes everything");
        hash_of(text)
    })
}

/// A hash in 64 bits that is the same in every run. The search spends most of its time here, so it is not the hasher of the
/// standard library.
pub fn hash_of(value: &impl Hash) -> u64 {
    RandomState::with_seeds(1, 2, 3, 4).hash_one(value)
}
