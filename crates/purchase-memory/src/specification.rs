//! The requirements that every store must meet, and their examination.
//!
//! Implement [`PurchaseStore`] over a database, and [`Bench`] over a test of it. Then [`examine`] must find no violation.
//! The money rules themselves are in `purchase` and `ledger`. What is examined here is the part of a store: which writes
//! are one transaction, what a repeated write does, and which purchases exclude each other.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use ledger::AccountId;
use money::Money;
use purchase::{Handling, OrganisationId, PurchaseId, Timing};
use vend::{Capabilities, ProviderReference};

use crate::PurchaseStore;

mod buyer;
mod evidence;
mod races;
mod records;
mod references;
mod reserves;

/// A store under examination.
#[async_trait]
pub trait Bench: Send + Sync {
    /// The store.
    fn store(&self) -> &dyn PurchaseStore;

    /// The time chain of the store.
    fn timing(&self) -> Timing;

    /// An amount in the currency of the wallets.
    fn amount(&self, minor: i64) -> Money;

    /// A wallet of a new organisation.
    async fn open_account(&self, handling: Handling, balance: Money) -> (OrganisationId, AccountId);

    /// The number of a new purchase, and the reference of its first attempt.
    async fn number(&self) -> (PurchaseId, ProviderReference);

    /// The time of the store's clock.
    async fn now(&self) -> DateTime<Utc>;

    /// Lets this much time pass, by the clock of the store. It need not wait: it may move all stored times back.
    async fn passes(&self, length: Duration);

    /// Changes what the connection is declared to do in doubt. It counts for purchases that are open, too.
    async fn declare(&self, declared: Capabilities);
}

macro_rules! requirements {
    ($($requirement:ident: $sentence:literal, $examination:path;)*) => {
        /// A requirement that every store must meet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Requirement {
            $(#[doc = $sentence] $requirement,)*
        }

        impl Requirement {
            /// Every requirement, in the order of the examination.
            pub const ALL: &'static [Self] = &[$(Self::$requirement),*];

            /// The requirement as a sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$requirement => $sentence,)* }
            }
        }

        async fn examine_one(bench: &dyn Bench, requirement: Requirement) -> Result<(), String> {
            match requirement { $(Requirement::$requirement => $examination(bench).await,)* }
        }
    };
}

requirements! {
    HoldsTheTotal: "a reserve holds the total of its price and is in flight under the first fence",
        reserves::holds_the_total;
    ReservesOnce: "a reservation that runs again is the same purchase, holds once, and is new to the first run only",
        reserves::reserves_once;
    OneOpenPurchase: "one purchase for a subscriber and product is open at a time",
        reserves::one_open_purchase;
    NeverOverdrawn: "a hold beyond the balance is refused and names the gap",
        reserves::never_overdrawn;
    OwnAccount: "an organisation pays from its own accounts only",
        reserves::own_account;
    TooLate: "a request that is too old, or whose caller is gone, holds nothing",
        reserves::too_late;
    ReservesInTurn: "reserves at the same time do as one after the other does: one for a subscriber, none beyond the balance",
        races::reserves_in_turn;
    CapturesByProof: "a vend turns the hold into a debit, under any fence",
        records::captures_by_proof;
    ReleasesByProof: "what was refused or never sent is released, under the current fence only",
        records::releases_by_proof;
    RecordsOnce: "an event that is recorded again changes nothing",
        records::records_once;
    RecordsInTurn: "events at the same time do as one after the other does: one claims, and a hold ends once",
        races::records_in_turn;
    KeepsTheTokens: "a purchase that was bought is found with the tokens and units of the vend that was paid for",
        evidence::keeps_the_tokens;
    LateVend: "a vend that becomes known after the end changes nothing, and is reported once",
        records::late_vend;
    ClaimAwaitsTheLease: "a purchase is taken over only when its lease has run out, under the next fence",
        records::claim_awaits_the_lease;
    StaleFence: "a holder that was replaced changes nothing by what it learns or sends",
        evidence::stale_fence;
    DeclaredRules: "what is declared about a connection decides about its purchases, from when it is declared",
        evidence::declared_rules;
    TellsTheTime: "every answer has the time of the store's clock",
        evidence::tells_the_time;
    LeaseIsRenewed: "only the holder of the current fence renews a lease",
        records::lease_is_renewed;
    OneTurn: "one turn for an enquiry is taken in each gap",
        records::one_turn;
    NewReference: "after a further attempt the purchase is found with the reference of that attempt",
        records::new_reference;
    UnknownPurchase: "an event for a purchase that does not exist is refused",
        records::unknown_purchase;
    NotFoundStaysTrue: "what arrived before the end of a reference's rest buys nothing",
        references::not_found_stays_true;
    BoughtStaysTrue: "what arrived before the answer that it was bought buys nothing, and what arrives after it buys",
        references::bought_stays_true;
    NewestIsFound: "a retry finds the newest purchase of a reference, and a closing does not pass over a newer one",
        references::newest_is_found;
    RestIsNotShortened: "a later closing never shortens a rest",
        references::rest_is_not_shortened;
}

/// A requirement that a store violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub requirement: Requirement,
    /// What the store did instead.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requirement, found } = self;
        write!(out, "{requirement:?}: {}. Found: {found}", requirement.sentence())
    }
}

/// Examines a store. Each requirement uses wallets and subscribers of its own.
///
/// A store that locks nothing may win a race by chance: `ReservesInTurn` and `RecordsInTurn` run what they run a few times at once, on
/// as many connections as the store opens. Examine such a store more than once.
pub async fn examine(bench: &dyn Bench) -> Vec<Violation> {
    let mut violations = Vec::new();
    for requirement in Requirement::ALL.iter().copied() {
        bench.declare(Capabilities::NONE).await;
        if let Err(found) = examine_one(bench, requirement).await {
            violations.push(Violation { requirement, found });
        }
    }
    violations
}

/// That two values are equal, or which.
#[expect(clippy::needless_pass_by_value, reason = "every caller makes both values for this comparison")]
fn is<T: fmt::Debug + PartialEq>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}")) }
}
