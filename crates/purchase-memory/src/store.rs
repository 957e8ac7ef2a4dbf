//! The transactions of a purchase, as the protocols need them.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use ledger::{AccountId, Wallet};
use money::Money;
use purchase::{Event, Fence, Lifecycle, OrganisationId, Price, PurchaseId, Rules, Success};
pub use purchase::{Recorded, Reserved, Verdict};
use vend::{ProviderReference, Sale, SubscriberIdentifier, VendOrder};

/// Where purchases and wallets are kept. Each method is one durable transaction, and the clock is that of the store.
///
/// [`MemoryStore`](crate::MemoryStore) is the meaning of these methods, and [`specification`](crate::specification)
/// examines any other implementation. Write one with the attribute `#[async_trait]` of the crate `async-trait`.
#[async_trait]
pub trait PurchaseStore: Send + Sync {
    /// Holds the money and writes the purchase with its first send, under the first fence. A reservation that runs
    /// again finds the purchase that it made, changes nothing, and says that it is not [new](Reserved::is_new). Of runs at the same
    /// time, one at most is told that it is new.
    ///
    /// If several rules refuse it, the first in the order of [`ReserveRefusal`] is told.
    async fn reserve(&self, reservation: &Reservation, caller: Caller) -> Result<Reserved, ReserveError>;

    /// Proposes an event to a purchase. [`purchase::step`] decides. The new state and all effects are written together. A vend
    /// whose incident is open already is [`Verdict::AlreadyThere`].
    async fn record(&self, id: PurchaseId, event: Event) -> Result<Recorded, RecordError>;

    /// Renews the lease of the holder of `fence`, as [`Lifecycle::renewed`] does. Returns false if there is no such
    /// holder any more.
    async fn renew(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged>;

    /// Takes the turn for an enquiry, as [`Lifecycle::asked_about`] does. Returns whether it was taken.
    async fn take_turn(&self, id: PurchaseId, fence: Fence) -> Result<bool, Unacknowledged>;

    /// The purchase. `None` if there is none of this number.
    async fn get(&self, id: PurchaseId) -> Result<Option<Found>, Unacknowledged>;

    /// The newest purchase of a reference. If there is none, the reference is closed, so that "not found" stays true
    /// while it rests.
    async fn find(&self, key: &Key) -> Result<Option<Found>, Unacknowledged>;

    /// Closes a reference, so that a final answer about `known`, its newest purchase, stays true. If there is a newer
    /// one, closes nothing and returns that one. A closing never shortens an earlier rest.
    async fn close(
        &self,
        key: &Key,
        known: PurchaseId,
        answer: FinalAnswer,
    ) -> Result<Option<Found>, Unacknowledged>;

    /// A wallet: its posted balance and its holds. `None` if there is none of this number.
    async fn wallet(&self, account: AccountId) -> Result<Option<Wallet>, Unacknowledged>;
}

/// What a confirm reserves. The same confirm passes it again after a lost acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The number of the purchase. No other purchase has it.
    pub id: PurchaseId,
    /// The organisation that buys.
    pub organisation: OrganisationId,
    /// The wallet that pays. It has to be one of the organisation's.
    pub account: AccountId,
    /// What is held: `total`.
    pub price: Price,
    /// What the provider is asked for. Its amount is the price's `net`.
    pub sale: Sale,
    /// The buyer's own reference. Another purchase may have the same.
    pub external_reference: String,
    /// The reference of the first attempt.
    pub provider_reference: ProviderReference,
}

impl Reservation {
    /// The key under which a retry finds this purchase.
    pub fn key(&self) -> Key {
        Key {
            organisation: self.organisation,
            subscriber: self.sale.subscriber.clone(),
            external_reference: self.external_reference.clone(),
        }
    }
}

/// The request of a reserve, as it is when its transaction has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Time since its arrival.
    pub age: Duration,
    /// Whether it has closed its connection.
    pub has_hung_up: bool,
}

/// The key that a retry asks about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The organisation that buys.
    pub organisation: OrganisationId,
    /// The subscriber that the purchase is for.
    pub subscriber: SubscriberIdentifier,
    /// The buyer's own reference.
    pub external_reference: String,
}

/// The final answer that a retry is about to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalAnswer {
    /// It was bought. What arrived before the answer no longer buys under the reference.
    Bought,
    /// Nothing was bought, so the buyer may buy again. The reference rests for
    /// [`reference_rest`](purchase::Timing::reference_rest): what is still on its way buys nothing.
    NotBought,
}

/// A purchase as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its number.
    pub id: PurchaseId,
    /// The order of its current attempt.
    pub order: VendOrder,
    /// Its state.
    pub lifecycle: Lifecycle,
    /// What the provider gave, if it is successful: the buyer pays for the tokens, so a store that loses them has lost the purchase.
    pub success: Option<Success>,
    /// The rules of its connection, as they are declared now.
    pub rules: Rules,
    /// When this was read, by the store's clock.
    pub at: DateTime<Utc>,
}

/// Why nothing is reserved, or why that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReserveError {
    /// A rule refuses it. Nothing is held.
    #[error("the reserve is refused: {0}")]
    Refused(ReserveRefusal),
    /// This run was certainly not committed. Nothing is held.
    #[error("the reserve was not kept")]
    NotKept,
    /// Whether it was committed is unknown.
    #[error("the reserve was not acknowledged")]
    Unacknowledged,
}

/// The rule that refuses a reserve. A store may have more rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReserveRefusal {
    /// The caller has closed its connection.
    #[error("the caller has closed its connection")]
    CallerGone,
    /// The request is older than [`intake`](purchase::Timing::intake).
    #[error("the request is too old")]
    TooLate,
    /// The organisation has no such account.
    #[error("the organisation has no such account")]
    UnknownAccount,
    /// An earlier purchase for the same subscriber and product is open.
    #[error("an earlier purchase for the subscriber is open")]
    Pending,
    /// The request arrived before the end of its reference's rest.
    #[error("the reference rests")]
    ReferenceRests,
    /// The available balance is too low.
    #[error("the balance is {gap} too low")]
    Insufficient {
        /// What is missing.
        gap: Money,
    },
}

/// Why an event is not recorded, or why that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No purchase has this number.
    #[error("there is no such purchase")]
    NoSuchPurchase,
    /// Whether it was committed is unknown.
    #[error("the event was not acknowledged")]
    Unacknowledged,
}

/// A transaction whose commit is not known, or a question that was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store did not answer")]
pub struct Unacknowledged;
