//! Purchases: the requests to the lanes, and their answers.

use std::{fmt, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use database::DatabaseError;
use directory::AuditContext;
use money::{Currency, Money};
use purchase::{
    Authority, Event, KeyedRequest, OrganisationId, Price, PurchaseId, PurchaseRequest, Record, Reference,
    Success,
};
pub use purchase::{Recorded, Reserved, Verdict};
use serde_json::Value;
use vend::{Breakdown, ProviderReference, Vend};
use zeroize::Zeroizing;

use crate::{Aad, SealError, Sealed, Store};

/// The column that a meter token is sealed for.
pub const TOKEN_COLUMN: &str = "purchases.sealed_token";

/// A purchase to be reserved, with everything that is known before money is held. After a lost acknowledgement, run it
/// again with the same numbers.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// Its number, from [`Store::take_purchase_ids`].
    pub id: PurchaseId,
    /// Its reference for people.
    pub reference: Reference,
    /// The authority under which it is made.
    pub authority: Authority,
    /// The request.
    pub request: PurchaseRequest,
    /// The price.
    pub price: Price,
    /// The provider reference of its first attempt.
    pub provider_reference: ProviderReference,
    /// The consumer's name, as the check returned it.
    pub subscriber_details: Option<String>,
    /// The idempotency key that it uses, if any.
    pub keyed: Option<KeyedRequest>,
    /// The line of a batch that it buys, if it does. Then the batch vouches for the authority, in place of the access token, which
    /// may have ended since.
    pub batch: Option<BatchClaim>,
    /// The id of the request: 1 to 128 characters.
    pub request_id: Option<String>,
    /// The state of the request, read whenever it is needed.
    pub pending: Arc<dyn PendingRequest>,
}

/// A line of a batch that a worker has taken, and the number of this claim. A reserve for it is refused if another worker has
/// taken the line since, and if the batch is paused or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchClaim {
    /// The number of the batch.
    pub batch: i64,
    /// The place of the line in it.
    pub line: i32,
    /// How often the line was taken.
    pub fence: i64,
}

/// The request behind a reserve. Its state is read after the reserve's transaction has begun. A process may pause at
/// any moment before that, and an answer that a retry gives meanwhile must count.
pub trait PendingRequest: fmt::Debug + Send + Sync {
    /// The time since its arrival, by a clock that continues while the machine is suspended. The arrival is the earlier of
    /// two moments: its last byte reached the kernel, or its head was read.
    fn age(&self) -> Duration;

    /// Whether its caller has closed the connection. If so, nothing is reserved.
    fn is_abandoned(&self) -> bool;
}

impl Reservation {
    /// The record that results from this reservation and its vend, without reading it back.
    pub fn into_settled_record(self, created_at: DateTime<Utc>, settled: Recorded, vend: Vend) -> Record {
        let breakdown = breakdown_of(&vend, self.price.net).copied();
        let request = self.request;
        Record {
            id: self.id,
            reference: self.reference,
            organisation: self.authority.organisation,
            client: self.authority.client,
            user: self.authority.user,
            account: request.debited_account,
            source_channel: request.source_channel,
            language: request.language,
            product: request.product,
            provider_code: request.provider_code,
            subscriber: request.subscriber,
            beneficiary_phone_number: request.beneficiary_phone_number,
            price: self.price,
            external_reference: request.external_reference,
            comment: request.comment,
            notifications: request.notifications,
            request_id: self.request_id,
            created_at,
            settled_at: Some(settled.at),
            subscriber_details: self.subscriber_details,
            provider_reference: self.provider_reference,
            lifecycle: settled.lifecycle,
            success: Some(Success { breakdown, ..vend.into() }),
            failure: None,
            recovery: None,
        }
    }
}

/// The split of a vend, if it adds up to the net amount. A split that does not must not prevent the vend from being stored,
/// so it is left out. No answer shows it: neither the one from memory, nor any that is read from the row.
pub(crate) fn breakdown_of(vend: &Vend, net: Money) -> Option<&Breakdown> {
    let split = vend.breakdown.as_ref()?;
    let sum = split.parts().into_iter().try_fold(Money::zero(net.currency()), Money::plus);
    (sum == Ok(net)).then_some(split)
}

/// Why nothing was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReserveRefusal {
    /// The token, the client or the user is no longer valid.
    #[error("the caller's authority has been revoked")]
    Revoked,
    /// The organisation is suspended.
    #[error("the organisation is suspended")]
    Suspended,
    /// The organisation has no such account.
    #[error("the account is not one of the organisation's")]
    UnknownAccount,
    /// The account is not active, or its category cannot pay.
    #[error("the account cannot be debited")]
    NotDebitable,
    /// The account is in another currency.
    #[error("the account is in {0}")]
    OtherCurrency(Currency),
    /// Another purchase holds the idempotency key.
    #[error("another purchase holds the idempotency key")]
    KeyTaken,
    /// The available balance is too low.
    #[error("the balance is {gap} too low")]
    Insufficient {
        /// The amount that is missing.
        gap: Money,
    },
    /// An earlier purchase for the same subscriber is open.
    #[error("an earlier purchase for the same subscriber is open")]
    Pending {
        /// The open purchase. `None` if it is being reserved at this moment.
        open: Option<PurchaseId>,
    },
    /// The request is older than the intake limit, so it must not be sent. Closed references and keys are not checked
    /// in that case.
    #[error("the request is too old")]
    TooLate,
    /// The caller closed its connection before anything was held.
    #[error("the caller closed its connection")]
    Abandoned,
    /// A retry has given a final answer about the external reference, and the reference still rests.
    #[error("the external reference rests for another {wait:?}")]
    ReferenceRests {
        /// How long it still rests.
        wait: Duration,
    },
    /// This provider no longer offers the product to the organisation.
    #[error("the provider does not offer the product to the organisation")]
    NotOffered,
    /// The provider's sales of the product are paused, by an operator or by a breaker.
    #[error("the sales of the provider are paused")]
    Paused {
        /// When the pause ends by itself. `None` if an operator ends it.
        until: Option<DateTime<Utc>>,
    },
    /// The organisation is locked to its allow-list, and the subscriber is no longer on it.
    #[error("the subscriber is not on the organisation's allow-list")]
    SubscriberNotAllowed,
    /// Another confirm under the idempotency key was refused after this one arrived.
    #[error("the idempotency key was closed by another confirm's refusal")]
    KeyClosed,
    /// Commission is due and the organisation has no account for it.
    #[error("the organisation has no commission account in this currency")]
    NoCommissionAccount,
}

/// Why there is no reserve, or why that is unknown.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReserveError {
    /// A rule refused it. Nothing is held.
    #[error("the reserve was refused")]
    Refused(#[source] ReserveRefusal),
    /// Nothing was committed. Too many reserves are waiting, another session keeps the wallet locked, or the database is busy,
    /// away or not usable. The caller may try again.
    #[error("nothing was committed, because the database is busy or not usable")]
    Overloaded,
    /// The commit was not acknowledged. Run it again with the same numbers.
    #[error("the reserve was not acknowledged")]
    Unacknowledged(#[source] Arc<DatabaseError>),
    /// The database failed before a commit. Nothing is held.
    #[error("the reserve failed")]
    Failed(#[source] Arc<DatabaseError>),
}

/// Why an event is not recorded, or why that is unknown.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// No purchase has this number.
    #[error("there is no such purchase")]
    NoSuchPurchase,
    /// It was not committed, or that is unknown. Run it again.
    #[error("the event was not acknowledged")]
    Unacknowledged(#[source] Arc<DatabaseError>),
    /// The secret parts of the event could not be sealed.
    #[error("the vend could not be sealed")]
    Sealing(#[source] Arc<SealError>),
}

/// An event that is submitted to the lanes to be recorded. Its secret parts are sealed already.
#[derive(Clone, Debug)]
pub(crate) struct SubmittedEvent {
    pub(crate) id: PurchaseId,
    pub(crate) event: Event,
    pub(crate) sealed: SealedParts,
    /// The operator action, if an operator caused the event.
    pub(crate) operator_action: Option<Box<OperatorAction>>,
}

/// What an operator does to a purchase: a line of the audit log, written with the change that it makes.
#[derive(Clone, Debug)]
pub(crate) struct OperatorAction {
    pub(crate) act: AuditContext,
    pub(crate) of: OrganisationId,
    /// What was done, as `noun.past_participle`.
    pub(crate) action: &'static str,
    /// A JSON object. Never a token.
    pub(crate) details: Value,
    /// The approval of another person's request, which is written first.
    pub(crate) approval: Option<Approval>,
}

/// The approval of a request for a decision about a purchase.
#[derive(Clone, Debug)]
pub struct Approval {
    /// The number of the request.
    pub request: i64,
    pub reason: String,
}

/// The secret parts of an event, sealed.
#[derive(Clone, Debug, Default)]
pub(crate) struct SealedParts {
    /// The token that is typed into the meter.
    pub(crate) tokens: Option<Sealed>,
    /// The provider's reply, whether it proves something or not.
    pub(crate) reply: Option<Sealed>,
}

impl Store {
    /// Holds the money and writes the purchase with its first attempt, in one durable transaction.
    ///
    /// A caller that may run it again keeps the reservation and passes a handle to it.
    pub async fn reserve(&self, reservation: impl Into<Arc<Reservation>>) -> Result<Reserved, ReserveError> {
        self.lanes.reserve(reservation.into()).await
    }

    /// Proposes an event to a purchase and writes its effects in one durable transaction: the state, the hold, the
    /// journal, the history.
    pub async fn record(
        &self,
        id: PurchaseId,
        of: OrganisationId,
        event: Event,
    ) -> Result<Recorded, RecordError> {
        let sealed = self.seal(id, &event).map_err(|error| RecordError::Sealing(Arc::new(error)))?;
        self.lanes.record(of, SubmittedEvent { id, event, sealed, operator_action: None }).await
    }

    /// The same for an operator action.
    pub(crate) async fn record_operator_action(
        &self,
        id: PurchaseId,
        event: Event,
        operator_action: OperatorAction,
    ) -> Result<Recorded, RecordError> {
        let sealed = self.seal(id, &event).map_err(|error| RecordError::Sealing(Arc::new(error)))?;
        self.lanes
            .record(
                operator_action.of,
                SubmittedEvent { id, event, sealed, operator_action: Some(Box::new(operator_action)) },
            )
            .await
    }

    fn seal(&self, id: PurchaseId, event: &Event) -> Result<SealedParts, SealError> {
        let (tokens, reply) = match event {
            Event::Vended { vend } => (vend.tokens.as_ref(), Some(&vend.raw_reply)),
            // There is no reply: an operator typed it.
            Event::OperatorVended { vend, .. } => (vend.tokens.as_ref(), None),
            Event::Lost { why, .. } | Event::LeaseReleased { why, .. } => (None, why.raw_reply.as_ref()),
            Event::Refused { .. }
            | Event::NeverSent { .. }
            | Event::Claimed
            | Event::NoRecord { .. }
            | Event::SentAgain { .. }
            | Event::AttemptStarted { .. }
            | Event::WindowClosed { .. }
            | Event::OperatorNotVended { .. } => (None, None),
        };
        let seal = |plaintext: &[u8], column| self.sealing.seal(plaintext, Aad { row_id: id.0, column });
        let wire_form = tokens.map(|tokens| Zeroizing::new(tokens.wire_form()));
        Ok(SealedParts {
            tokens: wire_form.map(|text| seal(text.as_bytes(), TOKEN_COLUMN)).transpose()?,
            reply: reply.map(|reply| self.sealing.seal_reply(&reply.0, id.0)).transpose()?,
        })
    }
}
