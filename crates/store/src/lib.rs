//! The money path in Postgres: purchases, their holds and their messages, as whole atomic operations on owned values.
//!
//! A transaction begins and ends inside one function of this crate. So no caller waits for a provider while it holds a
//! row lock.

use std::{fmt, sync::Arc};

use purchase::Timing;
use tokio::runtime::Handle;

mod accounts;
mod calls;
mod certificates;
mod closings;
mod cutoffs;
mod decision;
mod due;
mod health;
mod idempotency;
mod issued_tokens;
mod lanes;
mod leases;
mod listing;
mod measures;
mod named;
mod outbox;
mod permits;
mod purchases;
mod receipt;
mod records;
mod refused_confirms;
mod row;
mod sales;
mod seal;
mod shown_tokens;
mod slot_shares;
mod statement;
mod trial_balances;

pub use calls::CallIdBlock;
pub use certificates::CertificateError;
pub use decision::{Decided, Decision, DecisionError};
pub use due::{ClaimedPurchase, DueSlots};
pub use idempotency::KeyHolder;
pub use leases::HeldPurchase;
pub use measures::describe_metrics;
pub use outbox::{
    ClaimedMessage, Contents, Delivery, DeliveryOutcome, GivenUp, MESSAGES_PER_DAY, MESSAGES_PER_DAY_MAX,
    MessageId, RepeatRequest, RepeatedMessage, ResendRequest,
};
pub use purchases::{
    Approval, BatchClaim, PendingRequest, RecordError, Recorded, Reservation, ReserveError, ReserveRefusal,
    Reserved, TOKEN_COLUMN, Verdict,
};
pub use records::{ClosingOutcome, ForRetry, RetryKey};
pub use refused_confirms::{RefusedQuery, RefusedRecord, UnavailableProvider};
pub use row::FailureRow;
pub use sales::SalesRow;
pub use seal::{Aad, KeySettings, SealError, Sealed, SealingKey, SealingKeys, SealingSettings};
pub use shown_tokens::{ShownToken, TOKENS_PER_DAY, TOKENS_PER_DAY_MAX, open_tokens};
pub use slot_shares::{WantedSlots, WorkerId};

use closings::Closings;
use database::{Database, DatabaseError, DatabaseSettings, Purpose};
use lanes::{LaneContext, Lanes};
use permits::Permits;

/// How many groups of closings of references may wait for the wallets of their organisations at a time, and how many closings
/// of keys.
const CLOSING_MAX: usize = 2;

/// How many more closings of each kind may wait for a permit: about as many as get one before their wait times out.
const CLOSING_LATER_MAX: usize = 512;

/// The money path. Clones are handles to the same one.
#[derive(Clone)]
pub struct Store {
    /// For everything except reserves, records and claims. The lanes have their own connections, so that reads cannot starve
    /// them.
    database: Database,
    /// See [`Store::claiming`].
    claiming: Database,
    sealing: Arc<SealingKeys>,
    timing: Timing,
    lanes: Arc<Lanes>,
    /// Closing a reference waits for wallets, so only a few groups of closings at a time may use our connections.
    closings: Arc<Closings>,
    /// A few closings of keys at a time, for the same reason. A client with many refused confirms must not delay the retries of others.
    closing_keys: Arc<Permits>,
}

/// How many lanes there are, if the settings do not say it. A customer waits for each group of a server: while one group commits, the
/// next one runs. No customer waits for a worker, so its groups are larger instead, and cost the database less.
fn lanes_of(wanted: Option<usize>, purpose: Purpose) -> usize {
    wanted.unwrap_or(match purpose {
        Purpose::Money | Purpose::Requests => 2,
        Purpose::General | Purpose::Rehearsal => 1,
    })
}

impl Store {
    /// Connects, and checks that the database is safe for money and has this program's schema. Every connection lives
    /// on `engine`.
    ///
    /// # Errors
    /// Those of [`Database::connect`].
    pub async fn connect(
        settings: DatabaseSettings,
        sealing: SealingKeys,
        timing: Timing,
        purpose: Purpose,
        engine: Handle,
    ) -> Result<Self, DatabaseError> {
        Ok(Self::on(Database::connect(settings, purpose, engine).await?, sealing, timing))
    }

    /// The money path on a connected database.
    pub fn on(database: Database, sealing: SealingKeys, timing: Timing) -> Self {
        let settings = database.settings();
        let money = database.another_pool(Purpose::Money, settings.money_pool_size);
        let context = LaneContext {
            pool: money.clone(),
            timing,
            group_max: settings.group_max.max(1),
            deadline: settings.operation_deadline(),
        };
        let lanes = lanes_of(settings.lanes, database.purpose());
        let permits = || Permits::new(CLOSING_MAX, CLOSING_LATER_MAX, settings.pool_wait());
        Self {
            sealing: Arc::new(sealing),
            timing,
            lanes: Arc::new(Lanes::start(lanes, &context, database.engine())),
            closings: Arc::new(Closings::new(permits())),
            closing_keys: Arc::new(permits()),
            claiming: database.through(money),
            database,
        }
    }

    /// The database below it, for the operations of other crates.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The same database over the connections of the lanes, for what a worker claims: one claim at a time, and short. The planner makes a
    /// plan of a claim's statements once for each of these connections. Elsewhere it makes one for each claim.
    pub fn claiming(&self) -> &Database {
        &self.claiming
    }

    /// The keys that seal tokens and replies.
    pub fn sealing(&self) -> &Arc<SealingKeys> {
        &self.sealing
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("database", &self.database).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_has_one_lane_and_a_server_two_unless_the_settings_say_otherwise() {
        let lanes = [Purpose::General, Purpose::Requests].map(|purpose| lanes_of(None, purpose));
        assert_eq!(lanes, [1, 2]);
        assert_eq!(lanes_of(Some(3), Purpose::General), 3);
    }
}
