//! Confirm under an idempotency key: what was bought under it is told again, and not bought again.

use purchase::{
    Authority, Failure, IdempotencyKey, KeyedRequest, PurchaseRequest, Record, RequestHash, StateName,
};
use store::{KeyHolder, StoreError};

use crate::confirm::Order;
use crate::{Arrival, ConfirmError, Desk, Rejection, Vending};

/// What a confirm under a key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmed {
    /// Bought now.
    Now(Box<Record>),
    /// Bought by an earlier confirm under the same key.
    Before(Box<Record>),
}

impl Vending {
    /// Buys as [`Vending::confirm`] does, once for each key of the caller's client.
    ///
    /// While the purchase that holds the key is open, the answer is [`Rejection::Pending`]; once it has ended, its final
    /// answer; and [`Rejection::KeyReused`], if something else was asked for under the key. The provider is not asked.
    pub async fn confirm_once(
        &self,
        authority: Authority,
        key: IdempotencyKey,
        request: PurchaseRequest,
        arrival: Arrival,
    ) -> Result<Confirmed, ConfirmError> {
        let vending = self.clone();
        self.wait_for(async move {
            let keyed = KeyedRequest { key, hash: RequestHash::of(&request) };
            vending.0.buy_once(Order { authority, request, keyed: None, arrival }, keyed).await
        })
        .await
    }
}

impl Desk {
    /// The key is looked up before anything that can refuse. Whoever is told that nothing was bought may be told so only
    /// if nothing is bought under the key by another confirm that is under way: so the key is closed for those first, and
    /// where one of them was quicker, there is one answer for both.
    async fn buy_once(&self, order: Order, keyed: KeyedRequest) -> Result<Confirmed, ConfirmError> {
        let Authority { client, organisation, .. } = order.authority;
        let holder = self.store.find_key_holder(client, keyed.key.clone()).await;
        if let Some(holder) = self.known_or_busy(holder, "an idempotency key could not be looked up")? {
            return self.told_before(holder, &keyed).await;
        }
        let order = Order { keyed: Some(keyed.clone()), ..order };
        let error = match Box::pin(self.buy(order)).await {
            Ok(record) => return Ok(Confirmed::Now(record)),
            Err(error) => error,
        };
        let holder = match Ending::of(&error) {
            Ending::Stands => return Err(error),
            Ending::SaysComeAgain => self.store.find_key_holder(client, keyed.key.clone()).await,
            Ending::SaysNothingIsBought => {
                self.store.close_key(organisation, client, keyed.key.clone()).await
            }
        };
        let holder = if has_reserved(&error) {
            self.known(holder, "an idempotency key could not be closed")?
        } else {
            self.known_or_busy(holder, "an idempotency key could not be closed")?
        };
        match holder {
            Some(holder) => self.told_before(holder, &keyed).await,
            None => Err(error),
        }
    }

    /// The answer about the purchase that holds the key.
    async fn told_before(&self, holder: KeyHolder, keyed: &KeyedRequest) -> Result<Confirmed, ConfirmError> {
        if holder.request != keyed.hash {
            return Err(Rejection::KeyReused.into());
        }
        let record = self.store.get_record(holder.purchase).await;
        let record = Box::new(self.known(record, "the purchase under an idempotency key could not be read")?);
        // As it stood when it held the key: a failure that has freed the key since must close it before it is told.
        match holder.state {
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                let recovery = record.recovery.unwrap_or_else(|| self.nothing_is_known());
                Err(Rejection::Pending(recovery).into())
            }
            StateName::Successful => Ok(Confirmed::Before(record)),
            StateName::Failed => Err(ConfirmError::FailedBefore(record)),
        }
    }

    /// What the store says. While it says nothing, it is not known what another confirm did under the key, and nothing may
    /// be told that invites another purchase.
    fn known<T>(&self, said: Result<T, StoreError>, what: &'static str) -> Result<T, ConfirmError> {
        said.map_err(|error| {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, "{what}");
            self.unread(&error)
        })
    }

    /// The same for a confirm that has reserved nothing. Where the store is only too busy for the question, the confirm is
    /// told to come again under the same key: it did nothing, and a queue that is full is no doubt about money.
    fn known_or_busy<T>(&self, said: Result<T, StoreError>, what: &'static str) -> Result<T, ConfirmError> {
        match said {
            Err(error @ StoreError::Busy { .. }) => {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, "{what}");
                Err(Rejection::Overloaded.into())
            }
            said => self.known(said, what),
        }
    }
}

/// What a confirm that came to no success leaves behind under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Its purchase answers for the key from now on, or nothing was said about it.
    Stands,
    /// The key is free, and whoever asked believes that nothing was bought.
    SaysNothingIsBought,
    /// The key is free, and whoever asked is to ask again.
    SaysComeAgain,
}

impl Ending {
    fn of(error: &ConfirmError) -> Self {
        match error {
            ConfirmError::Rejected(
                Rejection::Pending(_)
                | Rejection::KeyClosed
                | Rejection::ReferenceRests { .. }
                | Rejection::CallerGone
                | Rejection::Overloaded,
            ) => Self::SaysComeAgain,
            ConfirmError::Rejected(
                Rejection::UnknownAccount
                | Rejection::AccountNotDebitable
                | Rejection::Suspended
                | Rejection::Revoked
                | Rejection::OtherCurrency { .. }
                | Rejection::UnknownProduct
                | Rejection::UnknownProvider
                | Rejection::NoDefaultProvider
                | Rejection::SubscriberFormat(_)
                | Rejection::SubscriberNotAllowed
                | Rejection::Price(_)
                | Rejection::Limit { .. }
                | Rejection::Check { .. }
                | Rejection::Insufficient { .. }
                | Rejection::KeyReused
                | Rejection::TooLate
                | Rejection::Internal,
            ) => Self::SaysNothingIsBought,
            ConfirmError::Failed(record) if record.failure.as_ref().is_some_and(Failure::is_transient) => {
                Self::SaysNothingIsBought
            }
            ConfirmError::Failed(_)
            | ConfirmError::FailedBefore(_)
            | ConfirmError::Unknown(_)
            | ConfirmError::TokenUnreadable(_) => Self::Stands,
        }
    }
}

/// Whether this confirm itself held money, if only for a while: then "come again" would not be the truth.
const fn has_reserved(error: &ConfirmError) -> bool {
    matches!(error, ConfirmError::Failed(_))
}
