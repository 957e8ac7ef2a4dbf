//! Postgres: whole atomic operations on owned values.
//!
//! A transaction begins and ends inside one function of this crate. No connection and no open transaction leaves it. So
//! no caller can wait for a provider while it holds a row lock.

use std::{fmt, sync::Arc};

use purchase::Timing;
use tokio::{runtime::Handle, time::timeout};

mod accounts;
mod address;
mod allow_list;
mod calls;
mod catalogue;
mod checks;
mod connection;
mod due;
mod error;
mod gauges;
mod health;
mod housekeeping;
mod idempotency;
pub mod identity;
mod lanes;
mod leases;
mod listing;
mod measures;
mod migrate;
mod operation;
mod outbox;
mod oversight;
mod pool;
mod purchases;
mod records;
mod refused_confirms;
mod role;
mod row;
mod rule;
mod seal;
mod settings;
mod statement;
mod system_account;
#[cfg(test)]
mod test_database;
mod transaction;
mod turns;

pub use accounts::{
    AccountChange, AccountRecord, AccountRefusal, AccountStatus, Movement, NewAccount, OpenedAccount, Paid,
    Payment, PaymentError, PaymentRefusal, StatementLine, StatementQuery, staging_load,
};
pub use address::AddressError;
pub use allow_list::AllowError;
pub use calls::CallIdBlock;
pub use catalogue::{
    Catalogue, CatalogueAccount, CatalogueProduct, Declaration, ListedOffer, ListedProduct, ListedProvider,
    NewProvider,
};
pub use checks::{CheckProgress, Invariant, Violation};
pub use due::{ClaimedPurchase, DueSlots};
pub use error::StoreError;
pub use gauges::{Backlog, OpenWork};
pub use housekeeping::Purged;
pub use idempotency::KeyHolder;
pub use leases::HeldPurchase;
pub use measures::{describe_metrics, show_violations};
pub use migrate::{migrate, schema_version};
pub use outbox::{ClaimedMessage, Contents, Delivery, DeliveryOutcome, GivenUp, MessageId};
pub use oversight::{
    Decided, Decision, DecisionError, IncidentError, IncidentRecord, MessageRecord, Overseen,
    OverseenMessages, OverseenStates, OversightQuery, Story, StoryAmounts, StoryAttempt, StoryEntry,
    StoryEvent, StoryMove, StoryPurchase, StoryReply,
};
pub use purchases::{
    PendingRequest, RecordError, Recorded, Reservation, ReserveError, ReserveRefusal, Reserved, Verdict,
};
pub use records::{ClosingOutcome, ForRetry, RetryKey};
pub use refused_confirms::{RefusedQuery, RefusedRecord};
pub use rule::Rule;
pub use seal::{Aad, KeySettings, SealError, Sealed, SealingKey, SealingKeys, SealingSettings};
pub use settings::StoreSettings;

use connection::Purpose;
use lanes::{LaneContext, Lanes};
use pool::Pool;
use turns::Turns;

/// How many closings of references may wait for an organisation's wallets at a time, and how many closings of keys.
const CLOSING_MAX: usize = 2;

/// How many more closings of each kind may wait for a turn: about as many as get one before their wait times out.
const CLOSING_LATER_MAX: usize = 512;

/// The database, as the crates above see it. Clones are handles to the same one.
#[derive(Clone)]
pub struct Store {
    /// For everything except reserves and records. The lanes have their own connections, so that reads cannot starve
    /// them.
    pub(crate) general: Pool,
    #[cfg(test)]
    pub(crate) money: Pool,
    pub(crate) sealing: Arc<SealingKeys>,
    pub(crate) settings: Arc<StoreSettings>,
    pub(crate) timing: Timing,
    pub(crate) lanes: Arc<Lanes>,
    /// Closing a reference waits for wallets, so only a few closings at a time may use our connections.
    pub(crate) closing_references: Arc<Turns>,
    /// The same for keys. A client with many refused confirms must not delay the retries of others.
    pub(crate) closing_keys: Arc<Turns>,
    engine: Handle,
}

impl Store {
    /// Connects, and checks that the database is safe for money and has this program's schema. Every connection lives
    /// on `engine`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Setting`] or [`StoreError::Schema`].
    pub async fn connect(
        settings: StoreSettings,
        sealing: SealingKeys,
        timing: Timing,
        engine: Handle,
    ) -> Result<Self, StoreError> {
        let address = connection::address(&settings)
            .map_err(|source| StoreError::Unavailable { source: source.into() })?;
        let (money_size, general_size) = (settings.money_pool_size, settings.pool_size);
        let money = Pool::new(&address, &settings, money_size, Purpose::Money, &engine);
        let general = Pool::new(&address, &settings, general_size, Purpose::General, &engine);
        let (sealing, settings) = (Arc::new(sealing), Arc::new(settings));
        let context = LaneContext {
            pool: money.clone(),
            timing,
            group_max: settings.group_max.max(1),
            deadline: settings.operation_deadline(),
        };
        let turns = || Arc::new(Turns::new(CLOSING_MAX, CLOSING_LATER_MAX, settings.pool_wait()));
        let (closing_references, closing_keys) = (turns(), turns());
        let lanes = Arc::new(Lanes::start(&settings, &context, &engine));
        let store = Self {
            general,
            #[cfg(test)]
            money,
            sealing,
            settings,
            timing,
            lanes,
            closing_references,
            closing_keys,
            engine,
        };
        let checked = store.clone();
        store
            .on_engine(async move { migrate::check_schema(&mut *checked.general.get().await?).await })
            .await?;
        Ok(store)
    }

    /// Runs an operation on the engine, where a caller that goes away cannot abort it, and waits for its result.
    pub(crate) async fn on_engine<T: Send + 'static>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let deadline = self.settings.operation_deadline();
        let task = self.engine.spawn(async move {
            let outcome = timeout(deadline, operation).await;
            outcome.unwrap_or_else(|elapsed| Err(StoreError::Unacknowledged { source: elapsed.into() }))
        });
        task.await.map_err(|source| StoreError::Lost { source })?
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("settings", &self.settings).finish_non_exhaustive()
    }
}
