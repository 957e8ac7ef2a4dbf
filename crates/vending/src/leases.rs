//! The leases of the purchases on which this process works. They are short, so that other processes notice within
//! seconds that the process has died. They are renewed as long as the work lasts: all of them in one statement, and
//! none for work that is over before the first renewal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use clock::{Monotonic, SharedClock};
use purchase::{Fence, PurchaseId};
use store::{HeldPurchase, Store};
use tokio::runtime::Handle;

/// When each lease was last written.
type Written = BTreeMap<(PurchaseId, Fence), Monotonic>;

/// Which purchases are held, and when each lease was last written.
#[derive(Debug)]
pub(crate) struct Leases {
    written: Mutex<Written>,
    clock: SharedClock,
}

/// The lease of one purchase, held until this is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    leases: Arc<Leases>,
    id: PurchaseId,
    fence: Fence,
}

impl Leases {
    pub(crate) fn new(clock: SharedClock) -> Arc<Self> {
        Arc::new(Self { written: Mutex::default(), clock })
    }

    /// Renews the held leases on `runtime`, as long as this value exists.
    pub(crate) fn keep(self: &Arc<Self>, store: Store, renewal: Duration, runtime: &Handle) {
        let leases = Arc::downgrade(self);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(renewal / 2).await;
                let Some(due) = due(&leases, renewal) else { return };
                if !due.is_empty() {
                    // Without the timeout, one renewal that hangs would stop all later renewals.
                    let renewing = tokio::time::timeout(renewal / 2, renew(&leases, &store, due));
                    if renewing.await.is_err() {
                        tracing::warn!("leases were not renewed in time");
                    }
                }
            }
        });
    }

    /// A lease that was written after `since`. Its age counts from `since`, because the database counts from before
    /// its commit.
    pub(crate) fn hold(self: &Arc<Self>, id: PurchaseId, fence: Fence, since: Monotonic) -> Lease {
        self.lock().insert((id, fence), since);
        Lease { leases: Arc::clone(self), id, fence }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// The same purchase, held under another fence by a lease that was written after `since`.
    pub(crate) fn moves_to(&mut self, fence: Fence, since: Monotonic) {
        let mut written = self.leases.lock();
        written.remove(&(self.id, self.fence));
        written.insert((self.id, fence), since);
        drop(written);
        self.fence = fence;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.lock().remove(&(self.id, self.fence));
    }
}

/// The leases that are due for renewal. `None` when the leases no longer exist.
fn due(leases: &Weak<Leases>, renewal: Duration) -> Option<Vec<HeldPurchase>> {
    let leases = leases.upgrade()?;
    let now = leases.clock.monotonic();
    let written = leases.lock();
    let due = written.iter().filter(|(_, at)| now.elapsed_since(**at) >= renewal);
    Some(due.map(|((id, fence), _)| HeldPurchase { id: *id, fence: *fence }).collect())
}

/// A lease that is not renewed is tried again at the next turn. A holder whose lease ends may be replaced, and then
/// the fence protects the purchase.
async fn renew(leases: &Weak<Leases>, store: &Store, due: Vec<HeldPurchase>) {
    let number = due.len();
    let Some(since) = leases.upgrade().map(|leases| leases.clock.monotonic()) else { return };
    match store.renew_leases(due).await {
        Ok(renewed) => {
            let Some(leases) = leases.upgrade() else { return };
            let mut written = leases.lock();
            for held in renewed {
                if let Some(at) = written.get_mut(&(held.id, held.fence)) {
                    *at = since;
                }
            }
        }
        Err(error) => {
            let cause: &dyn std::error::Error = &error;
            tracing::warn!(cause, purchases = number, "leases could not be renewed");
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use clock::{Clock, ManualClock};

    use super::*;

    const RENEWAL: Duration = Duration::from_secs(2);

    fn held(id: i64, fence: i64) -> HeldPurchase {
        HeldPurchase { id: PurchaseId(id), fence: Fence(fence) }
    }

    #[test]
    fn a_lease_is_due_for_renewal_when_it_has_run_for_a_while_and_is_held() {
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let leases = Leases::new(Arc::new(clock.clone()));
        let keeper = Arc::downgrade(&leases);
        let due = || due(&keeper, RENEWAL).unwrap();
        let now = || clock.monotonic();
        let mut first = leases.hold(PurchaseId(1), Fence(1), now());
        clock.advance(Duration::from_secs(1));
        let second = leases.hold(PurchaseId(2), Fence(4), now());
        assert_eq!(due(), []);
        clock.advance(Duration::from_secs(1));
        assert_eq!(due(), [held(1, 1)]);
        clock.advance(Duration::from_secs(1));
        assert_eq!(due(), [held(1, 1), held(2, 4)]);
        first.moves_to(Fence(2), now());
        assert_eq!(due(), [held(2, 4)]);
        clock.advance(RENEWAL);
        drop(second);
        assert_eq!(due(), [held(1, 2)]);
        drop(first);
        assert_eq!(due(), []);
    }

    #[test]
    fn two_holders_of_one_purchase_are_told_apart_by_their_fences() {
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let leases = Leases::new(Arc::new(clock.clone()));
        let replaced = leases.hold(PurchaseId(1), Fence(1), clock.monotonic());
        let _holder = leases.hold(PurchaseId(1), Fence(2), clock.monotonic());
        clock.advance(RENEWAL);
        drop(replaced);
        assert_eq!(due(&Arc::downgrade(&leases), RENEWAL).unwrap(), [held(1, 2)]);
    }

    #[test]
    fn nothing_is_renewed_when_the_service_is_gone() {
        let leases = Leases::new(Arc::new(ManualClock::at(DateTime::UNIX_EPOCH)));
        let keeper = Arc::downgrade(&leases);
        drop(leases);
        assert_eq!(due(&keeper, RENEWAL), None);
    }
}
