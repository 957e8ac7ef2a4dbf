//! The database of the whole test environment, checked against its invariants, the utility's own log, and the answers
//! of one merchant. The invariants hold at every moment, so every test checks them at its end, whatever the other
//! tests are doing.

use std::sync::{Arc, Mutex, PoisonError};

use acceptance::checker::{Evidence, History, Moment, Violation, check, gather};
use clock::{Clock, Monotonic, SystemClock};

use crate::{env::env, merchant::Answered};

/// Everything that was stored at one moment or later, and what is wrong with it.
struct Reading {
    began: Monotonic,
    evidence: Evidence,
    violations: Vec<Violation>,
}

/// The newest reading. It is locked while another one is made.
static LATEST: Mutex<Option<Arc<Reading>>> = Mutex::new(None);

/// Does something that no program does, such as to change a purchase that has ended, while no test reads: a reading compares the
/// purchases with what they were at its begin.
pub fn between_readings<T>(work: impl FnOnce() -> T) -> T {
    let _no_reading = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Fails if an invariant is violated, or if a purchase was answered with other tokens than were vended for it.
pub fn assert_sound(answered: &Answered) {
    let reading = read_from_now_on();
    let lines: Vec<String> = reading.violations.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "invariants are violated:\n{}", lines.join("\n"));
    let Evidence { vends, books, .. } = &reading.evidence;
    let vended = vends.vended();
    for (id, tokens) in answered {
        let purchase = books.purchase(*id).unwrap();
        let vends = &vended[&(purchase.product.as_str(), purchase.provider_reference.as_str())];
        assert_eq!((purchase.state.as_str(), &vends[0].tokens), ("SUCCESSFUL", tokens), "purchase {id}");
    }
}

/// A reading that begins after this call. One test reads at a time, because that takes longest, and the tests that have waited
/// for it meanwhile share the next reading.
fn read_from_now_on() -> Arc<Reading> {
    let called = SystemClock.monotonic();
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reading) = latest.as_ref().filter(|reading| reading.began >= called) {
        return Arc::clone(reading);
    }
    let began = SystemClock.monotonic();
    let sandbox = &env().sandbox;
    let evidence = gather(sandbox.database(), &sandbox.vend_log(), Moment::Amid, History::default());
    let reading = Arc::new(Reading { began, violations: check(&evidence), evidence });
    *latest = Some(Arc::clone(&reading));
    reading
}
