//! A purchase as it is stored.

use chrono::{DateTime, Utc};
use ledger::AccountId;
use meter_token::TokenSet;
use vend::{Breakdown, Product, Refusal, SubscriberIdentifier, Units, Vend};

use crate::{
    ClientId, Lifecycle, NotificationFlags, OrganisationId, Price, PurchaseId, Recovery, Reference,
    SourceChannel, UserId,
};

/// Everything that a later answer about a purchase needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of the purchase.
    pub id: PurchaseId,
    /// The reference that people use.
    pub reference: Reference,
    /// The organisation that bought it.
    pub organisation: OrganisationId,
    /// The client program that sent the request.
    pub client: ClientId,
    /// The integration user of the request.
    pub user: UserId,
    /// The wallet that pays.
    pub account: AccountId,
    /// Where the request came from.
    pub source_channel: SourceChannel,
    /// The locale tag of the request.
    pub language: String,
    /// The product.
    pub product: Product,
    /// The code by which callers name the provider.
    pub provider_code: String,
    /// The subscriber that it is for.
    pub subscriber: SubscriberIdentifier,
    /// The phone number that receives the message.
    pub beneficiary_phone_number: String,
    /// The five amounts.
    pub price: Price,
    /// The integrator's own name for it.
    pub external_reference: Option<String>,
    /// Free text.
    pub comment: Option<String>,
    /// Which messages are sent.
    pub notifications: NotificationFlags,
    /// The id of the request that made it, as its caller knows it. `None` for a purchase from before these ids were
    /// stored.
    pub request_id: Option<String>,
    /// When it was reserved.
    pub created_at: DateTime<Utc>,
    /// When it became successful or failed. `None` while it is open.
    pub settled_at: Option<DateTime<Utc>>,
    /// The consumer's name from the check before the reserve.
    pub subscriber_details: Option<String>,
    /// The provider reference of the current attempt.
    pub provider_reference: vend::ProviderReference,
    /// Its state, and what decides about the next one.
    pub lifecycle: Lifecycle,
    /// What an integrator does about it while it is open.
    pub recovery: Option<Recovery>,
    /// What was bought, if it is successful.
    pub success: Option<Success>,
    /// Why it failed, if it failed.
    pub failure: Option<Failure>,
}

/// The result of a successful purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    /// The tokens that are typed into the meter.
    pub tokens: Option<TokenSet>,
    /// The units that the tokens are worth.
    pub units: Option<Units>,
    /// The provider's identifier of the vend.
    pub provider_transaction: String,
    /// The provider's split of `net`.
    pub breakdown: Option<Breakdown>,
    /// The consumer's name from the vend.
    pub subscriber_details: Option<String>,
}

/// Everything of a vend but the provider's reply, which no answer shows.
impl From<Vend> for Success {
    fn from(vend: Vend) -> Self {
        let Vend { tokens, units, provider_transaction, breakdown, subscriber_details, raw_reply: _ } = vend;
        Self { tokens, units, provider_transaction, breakdown, subscriber_details }
    }
}

/// Why a purchase failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The provider refused it, or the order was not sent.
    Refused(Refusal),
    /// The provider has no record of it, and that counts as proof by the rule declared for its connection.
    NoRecord,
    /// An operator vouched that nothing was vended.
    Operator,
}

impl Failure {
    /// The name of its kind in the database.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Refused(_) => "REFUSED",
            Self::NoRecord => "NO_RECORD",
            Self::Operator => "OPERATOR",
        }
    }

    /// The provider's refusal, if that is why.
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::NoRecord | Self::Operator => None,
        }
    }

    /// Whether the same may be bought a little later with a chance of success. It may not if the customer, the amount
    /// or the operator prevents it.
    pub const fn may_be_bought_again(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.reason.is_transient(),
            Self::NoRecord | Self::Operator => true,
        }
    }

    /// Whether the very same request may succeed a little later.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.reason.is_transient(),
            Self::NoRecord | Self::Operator => false,
        }
    }
}
