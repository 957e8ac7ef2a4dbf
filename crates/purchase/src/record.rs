//! A purchase as it is on file.

use chrono::{DateTime, Utc};
use ledger::AccountId;
use meter_token::TokenSet;
use vend::{Breakdown, Product, Refusal, SubscriberIdentifier, Units};

use crate::{
    ClientId, Life, NotificationFlags, OrganisationId, Price, PurchaseId, Recovery, Reference, SourceChannel,
    UserId,
};

/// Everything that a later answer about a purchase is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number.
    pub id: PurchaseId,
    /// Its name for people.
    pub reference: Reference,
    /// Whose.
    pub organisation: OrganisationId,
    /// Through which client.
    pub client: ClientId,
    /// As which user.
    pub user: UserId,
    /// Out of which wallet.
    pub account: AccountId,
    /// Where from.
    pub source_channel: SourceChannel,
    /// The locale tag of the request.
    pub language: String,
    /// What.
    pub product: Product,
    /// From whom, on the wire.
    pub provider_code: String,
    /// For whom.
    pub subscriber: SubscriberIdentifier,
    /// Who gets the message.
    pub beneficiary_phone_number: String,
    /// The five amounts.
    pub price: Price,
    /// The integrator's own name for it.
    pub external_reference: Option<String>,
    /// Free text.
    pub comment: Option<String>,
    /// Which messages are sent.
    pub notifications: NotificationFlags,
    /// The name of the request that made it, as its caller knows it; none of a purchase from before they were kept.
    pub request_id: Option<String>,
    /// When it was reserved.
    pub created_at: DateTime<Utc>,
    /// The consumer's name as the check before the reserve gave it.
    pub subscriber_details: Option<String>,
    /// The current attempt's name at the provider.
    pub provider_reference: vend::ProviderReference,
    /// Where it stands.
    pub life: Life,
    /// What an integrator does about it while it is open.
    pub recovery: Option<Recovery>,
    /// What was bought, once it is successful.
    pub success: Option<Success>,
    /// Why not, once it has failed.
    pub failure: Option<Failure>,
}

/// What a successful purchase yielded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    /// What is typed into the meter.
    pub tokens: Option<TokenSet>,
    /// What the tokens are worth.
    pub units: Option<Units>,
    /// The provider's name for the vend.
    pub provider_transaction: String,
    /// The provider's split of `net`.
    pub breakdown: Option<Breakdown>,
    /// The consumer's name as the vend gave it.
    pub subscriber_details: Option<String>,
}

/// Why a purchase failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The provider said no, or the order never left us.
    Refused(Refusal),
    /// The provider has no record of it, by the rule declared for its connection.
    NoRecord,
    /// An operator vouched that nothing was vended.
    Operator,
}

impl Failure {
    /// Whether the same may be bought a little later with a chance of success. No, where the customer, the amount or the
    /// operator stands in the way.
    pub const fn may_be_bought_again(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.reason.is_transient(),
            Self::NoRecord | Self::Operator => true,
        }
    }

    /// Whether the very same request may well succeed a little later.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.reason.is_transient(),
            Self::NoRecord | Self::Operator => false,
        }
    }
}
