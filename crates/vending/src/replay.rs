//! Confirm under an idempotency key: an earlier purchase under the key is answered again, and not bought again.

use database::DatabaseError;
use purchase::{
    Authority, Failure, IdempotencyKey, KeyedRequest, PurchaseRequest, Record, RequestHash, StateName,
};
use store::KeyHolder;

use crate::{Arrival, ConfirmError, Rejection, Service, Vending, confirm::ConfirmRequest};

/// The result of a confirm under a key.
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
    /// While the purchase that holds the key is open, the answer is [`Rejection::Pending`]. Once it has ended, its
    /// final answer is repeated. If something else was requested under the key, the answer is
    /// [`Rejection::KeyReused`]. The provider is not asked.
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
            let confirm = ConfirmRequest { authority, request, batch: None, arrival };
            vending.0.buy_once(confirm, keyed).await
        })
        .await
    }
}

impl Service {
    /// The key is looked up before any check of the use case. A caller may be answered that nothing was bought only if
    /// no other confirm in progress buys under the key. So the key is closed for those confirms first. If one of them
    /// was quicker, both get the same answer.
    ///
    /// A confirm that is answered "try again" looks the key up a second time, because [`Rejection::Pending`] has two causes.
    /// If another purchase took the key meanwhile (`ReserveRefusal::KeyTaken`), the answer is about that purchase.
    pub(crate) async fn buy_once(
        &self,
        confirm: ConfirmRequest,
        keyed: KeyedRequest,
    ) -> Result<Confirmed, ConfirmError> {
        let Authority { client, organisation, .. } = confirm.authority;
        let holder = self.store.find_key_holder(client, keyed.key.clone()).await;
        if let Some(holder) =
            self.or_unknown_unless_busy(holder, "an idempotency key could not be looked up")?
        {
            return self.answer_again(holder, &keyed).await;
        }
        let error = match Box::pin(self.buy(confirm, Some(keyed.clone()))).await {
            Ok(record) => return Ok(Confirmed::Now(record)),
            Err(error) => error,
        };
        let (holder, log_text) = match Ending::of(&error) {
            Ending::Unchanged => return Err(error),
            Ending::SaysTryAgain => (
                self.store.find_key_holder(client, keyed.key.clone()).await,
                "an idempotency key could not be looked up again",
            ),
            Ending::SaysNothingIsBought => (
                self.store.close_key(organisation, client, keyed.key.clone()).await,
                "an idempotency key could not be closed",
            ),
        };
        let holder = if has_reserved(&error) {
            self.or_unknown(holder, log_text)?
        } else {
            self.or_unknown_unless_busy(holder, log_text)?
        };
        match holder {
            Some(holder) => self.answer_again(holder, &keyed).await,
            None => Err(error),
        }
    }

    /// The answer about the purchase that holds the key.
    async fn answer_again(&self, holder: KeyHolder, keyed: &KeyedRequest) -> Result<Confirmed, ConfirmError> {
        if holder.request != keyed.hash {
            return Err(Rejection::KeyReused.into());
        }
        let record = self.store.get_record(holder.purchase).await;
        let record =
            Box::new(self.or_unknown(record, "the purchase under an idempotency key could not be read")?);
        // `holder.state` is the state at the time when it held the key. If the purchase has failed since then for a
        // transient reason, it has released the key, and such a failure may be answered only after the key is closed.
        // So this answer follows the state that was read with the key.
        match holder.state {
            StateName::InFlight | StateName::InDoubt | StateName::RetryDue | StateName::Review => {
                let recovery = record.recovery.unwrap_or_else(|| self.nothing_is_known());
                Err(Rejection::Pending(recovery).into())
            }
            StateName::Successful => Ok(Confirmed::Before(record)),
            StateName::Failed => Err(ConfirmError::FailedBefore(record)),
        }
    }

    /// The result of the store. If the store fails, it is not known what another confirm did under the key. Then no
    /// answer may be given that invites another purchase.
    fn or_unknown<T>(&self, said: Result<T, DatabaseError>, what: &'static str) -> Result<T, ConfirmError> {
        said.map_err(|error| {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, "{what}");
            self.unknown_after(&error)
        })
    }

    /// The same for a confirm that has reserved nothing. If the store is only too busy for the question, the confirm
    /// is answered "try again" under the same key. It did nothing, and a full queue causes no doubt about money.
    fn or_unknown_unless_busy<T>(
        &self,
        said: Result<T, DatabaseError>,
        what: &'static str,
    ) -> Result<T, ConfirmError> {
        match said {
            Err(error @ DatabaseError::Busy { .. }) => {
                let cause: &dyn std::error::Error = &error;
                tracing::warn!(cause, "{what}");
                Err(Rejection::Overloaded.into())
            }
            said => self.or_unknown(said, what),
        }
    }
}

/// What a confirm without success leaves behind under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Its purchase answers for the key from now on, or the answer says nothing about it.
    Unchanged,
    /// This confirm does not hold the key, and the caller believes that nothing was bought.
    SaysNothingIsBought,
    /// This confirm does not hold the key, and the caller is to ask again. Another purchase may hold the key, because
    /// [`Rejection::of`] turns the store's `KeyTaken` into [`Rejection::Pending`].
    SaysTryAgain,
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
            ) => Self::SaysTryAgain,
            ConfirmError::Rejected(
                Rejection::UnknownAccount
                | Rejection::AccountNotDebitable
                | Rejection::Suspended
                | Rejection::Revoked
                | Rejection::OtherCurrency { .. }
                | Rejection::UnknownProduct
                | Rejection::UnknownProvider
                | Rejection::OfferRemoved { .. }
                | Rejection::Paused { .. }
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
            | ConfirmError::TokenUnreadable(_) => Self::Unchanged,
        }
    }
}

/// Whether this confirm itself held money, even for a short time. Then "try again" would not be true.
const fn has_reserved(error: &ConfirmError) -> bool {
    matches!(error, ConfirmError::Failed(_))
}
