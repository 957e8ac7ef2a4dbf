//! Purchases: what is asked of the lanes, and what they answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use money::{Currency, Money};
use purchase::{
    Authority, Fact, Illegal, KeyedRequest, Life, OrganisationId, Price, PurchaseId, PurchaseRequest, Record,
    Reference, Success,
};
use serde_json::Value;
use vend::{ProviderReference, Vend};
use zeroize::Zeroizing;

use crate::identity::Act;
use crate::{Aad, SealError, Sealed, Store, StoreError};

/// Where a meter token is sealed for.
pub(crate) const TOKEN_COLUMN: &str = "purchases.sealed_token";
/// Where a provider's reply is sealed for.
pub(crate) const REPLY_COLUMN: &str = "provider_replies.sealed_reply";

/// A purchase to be reserved: everything that is known before money is held. Run again with the same
/// numbers after a lost acknowledgement.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// Its number, from [`Store::take_purchase_ids`].
    pub id: PurchaseId,
    /// Its name for people.
    pub reference: Reference,
    /// In whose name.
    pub authority: Authority,
    /// What was asked.
    pub request: PurchaseRequest,
    /// What it costs.
    pub price: Price,
    /// The name of its first attempt.
    pub provider_reference: ProviderReference,
    /// The consumer's name as the check gave it.
    pub subscriber_details: Option<String>,
    /// The idempotency key that it asks for, if it has one.
    pub keyed: Option<KeyedRequest>,
    /// The name of the request that asks for it: 1 to 128 characters.
    pub request_id: Option<String>,
    /// How the request stands, whenever that is asked.
    pub pending: Arc<dyn PendingRequest>,
}

/// The request behind a reserve. It is asked how it stands once the reserve's transaction has begun: a process may stand
/// still at any moment before that, and what a retry has answered meanwhile must count.
pub trait PendingRequest: fmt::Debug + Send + Sync {
    /// How long ago its last byte reached this machine, by a clock that goes on while the machine sleeps.
    fn age(&self) -> Duration;

    /// Whether its caller has closed the connection. Then nothing is reserved.
    fn is_abandoned(&self) -> bool;
}

impl Reservation {
    /// The record that this reservation and its vend make together, without reading it back.
    pub fn record(&self, created_at: DateTime<Utc>, life: Life, vend: &Vend) -> Record {
        let request = &self.request;
        Record {
            id: self.id,
            reference: self.reference.clone(),
            organisation: self.authority.organisation,
            client: self.authority.client,
            user: self.authority.user,
            account: request.debited_account,
            source_channel: request.source_channel,
            language: request.language.clone(),
            product: request.product,
            provider_code: request.provider_code.clone(),
            subscriber: request.subscriber.clone(),
            beneficiary_phone_number: request.beneficiary_phone_number.clone(),
            price: self.price,
            external_reference: request.external_reference.clone(),
            comment: request.comment.clone(),
            notifications: request.notifications,
            request_id: self.request_id.clone(),
            created_at,
            subscriber_details: self.subscriber_details.clone(),
            provider_reference: self.provider_reference,
            life,
            success: Some(Success {
                tokens: vend.tokens.clone(),
                units: vend.units.clone(),
                provider_transaction: vend.provider_transaction.clone(),
                breakdown: vend.breakdown,
                subscriber_details: vend.subscriber_details.clone(),
            }),
            failure: None,
            recovery: None,
        }
    }
}

/// Money is held and the first send is on record.
#[derive(Clone, Debug)]
pub struct Reserved {
    /// As the reserve left it.
    pub life: Life,
    /// The database's time of the reserve.
    pub at: DateTime<Utc>,
}

/// Why nothing was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReserveRefusal {
    /// Token, client or user are no longer live.
    #[error("the caller's authority has been revoked")]
    Revoked,
    /// The organisation is suspended.
    #[error("the organisation is suspended")]
    Suspended,
    /// No such account of this organisation.
    #[error("the account is not one of the organisation's")]
    UnknownAccount,
    /// The account is not active, or not of a kind that pays.
    #[error("the account cannot be debited")]
    NotDebitable,
    /// The account is in another currency.
    #[error("the account is in {0}")]
    OtherCurrency(Currency),
    /// Another purchase holds the idempotency key.
    #[error("another purchase holds the idempotency key")]
    KeyTaken,
    /// Too little is available.
    #[error("the balance is {gap} too low")]
    Insufficient {
        /// How much is missing.
        gap: Money,
    },
    /// An earlier purchase for the same subscriber is open.
    #[error("an earlier purchase for the same subscriber is open")]
    Pending {
        /// Which; none if it is being reserved at this moment.
        open: Option<PurchaseId>,
    },
    /// The request is older than any may be whose order is to leave: nothing that has been told meanwhile is looked up.
    #[error("the request is too old")]
    TooLate,
    /// The caller has hung up before anything was held.
    #[error("the caller closed its connection")]
    Abandoned,
    /// A retry has given a final answer about the external reference, which still rests.
    #[error("the external reference rests for another {wait:?}")]
    ReferenceRests {
        /// How long it does.
        wait: Duration,
    },
    /// The product is not offered to the organisation by this provider any more.
    #[error("the provider does not offer the product to the organisation")]
    NotOffered,
    /// The organisation is locked to its allow-list, and the subscriber is not on it any more.
    #[error("the subscriber is not on the organisation's allow-list")]
    SubscriberNotAllowed,
    /// Another confirm under the idempotency key was refused, after this one was asked for.
    #[error("the idempotency key was closed by another confirm's refusal")]
    KeyClosed,
    /// Commission is due and the organisation has no account for it.
    #[error("the organisation has no commission account in this currency")]
    NoCommissionAccount,
}

/// Why there is no reserve, or nobody knows.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReserveError {
    /// Refused by a rule; nothing is held.
    #[error("the reserve was refused")]
    Refused(#[source] ReserveRefusal),
    /// Too many are waiting, or others keep what is needed; nothing is held.
    #[error("too many reserves are waiting, or others keep the wallet")]
    Overloaded,
    /// The commit was not acknowledged: run it again with the same numbers.
    #[error("the reserve was not acknowledged")]
    Unacknowledged(#[source] Arc<StoreError>),
    /// The database failed before a commit; nothing is held.
    #[error("the reserve failed")]
    Failed(#[source] Arc<StoreError>),
}

/// How a purchase stands after a fact was offered to it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// As it stands now.
    pub life: Life,
    /// The database's time.
    pub at: DateTime<Utc>,
    /// What the fact did.
    pub verdict: Verdict,
}

/// What a fact did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It moved the purchase.
    Moved,
    /// It was on record already.
    AlreadyThere,
    /// It had no place; nothing changed.
    Illegal(Illegal),
}

/// Why a fact may not be on record.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordError {
    /// No purchase has this number.
    #[error("there is no such purchase")]
    NoSuchPurchase,
    /// Nobody knows whether it was kept, or it was not: run it again.
    #[error("the fact was not acknowledged")]
    Unacknowledged(#[source] Arc<StoreError>),
    /// What must not be read could not be sealed.
    #[error("the vend could not be sealed")]
    Sealing(#[source] Arc<SealError>),
}

/// A fact about a purchase, ready for the lanes: what must not be read is sealed already.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: PurchaseId,
    pub(crate) fact: Fact,
    pub(crate) sealed: SealedParts,
    /// Whose doing it is, where it is a person's.
    pub(crate) deed: Option<Box<Deed>>,
}

/// What a person does to a purchase: a line of the audit log, written with the move that it makes.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) act: Act,
    pub(crate) of: OrganisationId,
    /// What was done, as `noun.past_participle`.
    pub(crate) action: &'static str,
    /// A JSON object. Never a token.
    pub(crate) details: Value,
}

/// What must not be read of a fact.
#[derive(Clone, Debug, Default)]
pub(crate) struct SealedParts {
    /// What is typed into the meter.
    pub(crate) tokens: Option<Sealed>,
    /// What the provider said, whether it proves something or not.
    pub(crate) reply: Option<Sealed>,
}

impl Store {
    /// Holds the money and writes the purchase with its first attempt, as one durable transaction.
    pub async fn reserve(&self, reservation: Reservation) -> Result<Reserved, ReserveError> {
        self.lanes.reserve(reservation).await
    }

    /// Offers a fact to a purchase and keeps whatever it does, as one durable transaction: the state,
    /// the hold, the journal, the history.
    pub async fn record(
        &self,
        id: PurchaseId,
        of: OrganisationId,
        fact: Fact,
    ) -> Result<Recorded, RecordError> {
        let sealed = self.seal(id, &fact).map_err(|error| RecordError::Sealing(Arc::new(error)))?;
        self.lanes.record(of, Entry { id, fact, sealed, deed: None }).await
    }

    /// The same for what a person does.
    pub(crate) async fn record_deed(
        &self,
        id: PurchaseId,
        fact: Fact,
        deed: Deed,
    ) -> Result<Recorded, RecordError> {
        let sealed = self.seal(id, &fact).map_err(|error| RecordError::Sealing(Arc::new(error)))?;
        self.lanes.record(deed.of, Entry { id, fact, sealed, deed: Some(Box::new(deed)) }).await
    }

    fn seal(&self, id: PurchaseId, fact: &Fact) -> Result<SealedParts, SealError> {
        let (tokens, reply) = match fact {
            Fact::Vended { vend } => (vend.tokens.as_ref(), Some(&vend.raw_reply)),
            // Nothing was said: a person typed it.
            Fact::OperatorVended { vend, .. } => (vend.tokens.as_ref(), None),
            Fact::Lost { why, .. } | Fact::LetGo { why, .. } => (None, why.raw_reply.as_ref()),
            Fact::Refused { .. }
            | Fact::NeverSent { .. }
            | Fact::Claimed
            | Fact::NoRecord { .. }
            | Fact::SentAgain { .. }
            | Fact::AttemptStarted { .. }
            | Fact::WindowClosed { .. }
            | Fact::OperatorNotVended { .. } => (None, None),
        };
        let seal = |plaintext: &[u8], column| self.sealing.seal(plaintext, Aad { purchase_id: id.0, column });
        let wire_form = tokens.map(|tokens| Zeroizing::new(tokens.wire_form()));
        Ok(SealedParts {
            tokens: wire_form.map(|text| seal(text.as_bytes(), TOKEN_COLUMN)).transpose()?,
            reply: reply.map(|reply| seal(&reply.0, REPLY_COLUMN)).transpose()?,
        })
    }
}
