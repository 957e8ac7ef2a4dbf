//! What a certificate says.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use money::Money;
use serde::Serialize;

use crate::{Digested, Salt};

/// The final facts of a purchase. None of them changes, and none is about a person: what names one is digested, or left out.
#[derive(Clone)]
pub struct Facts<'a> {
    /// The address under which the service is reached.
    pub issuer: &'a str,
    /// The number of the organisation that bought. Its name may change.
    pub organisation: i64,
    /// The number of the purchase.
    pub purchase: i64,
    /// The reference that people use.
    pub reference: &'a str,
    /// The integrator's own name for the purchase.
    pub external_reference: Option<&'a str>,
    /// The product.
    pub product: &'a str,
    /// The provider's code.
    pub provider: &'a str,
    /// The meter, of which the certificate has a digest. `None` if the subscriber is a phone number: few digits are guessed even
    /// from a salted digest by a holder of the salt, and phone numbers must be erasable.
    pub subscriber: Option<&'a str>,
    /// What the account paid, or would have paid.
    pub total: Money,
    /// When the purchase was accepted.
    pub created_at: DateTime<Utc>,
    /// When it became final.
    pub settled_at: DateTime<Utc>,
    /// What came of it.
    pub outcome: Outcome<'a>,
}

/// The final answer about a purchase.
#[derive(Clone, Copy)]
pub enum Outcome<'a> {
    /// The provider has vended, and the account has paid.
    Sold {
        /// The provider's identifier of the vend.
        provider_transaction: &'a str,
        /// The tokens, of which the certificate has a digest. `None` if the product has none, or if they are erased.
        tokens: Option<&'a str>,
    },
    /// Nothing was vended, and nothing was charged.
    NotSold {
        /// The error code.
        reason: &'a str,
    },
}

/// The payload of a certificate. Absent members are left out.
#[derive(Serialize)]
pub(crate) struct Payload<'a> {
    version: u8,
    iss: &'a str,
    organisation_id: i64,
    purchase_id: i64,
    reference: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_reference: Option<&'a str>,
    product: &'a str,
    provider_code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscriber_digest: Option<String>,
    total: String,
    created_at: String,
    settled_at: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_transaction: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_digest: Option<String>,
}

/// Raised when the meaning of a member changes.
const VERSION: u8 = 1;

impl<'a> Payload<'a> {
    pub(crate) fn of(facts: &Facts<'a>, salt: &Salt) -> Self {
        let (outcome, reason, provider_transaction, tokens) = match facts.outcome {
            Outcome::Sold { provider_transaction, tokens } => {
                ("SOLD", None, Some(provider_transaction), tokens)
            }
            Outcome::NotSold { reason } => ("NOT_SOLD", Some(reason), None, None),
        };
        Self {
            version: VERSION,
            iss: facts.issuer,
            organisation_id: facts.organisation,
            purchase_id: facts.purchase,
            reference: facts.reference,
            external_reference: facts.external_reference,
            product: facts.product,
            provider_code: facts.provider,
            subscriber_digest: facts.subscriber.map(|text| salt.digest(Digested::Subscriber, text)),
            total: facts.total.to_string(),
            created_at: moment(facts.created_at),
            settled_at: moment(facts.settled_at),
            outcome,
            reason,
            provider_transaction,
            token_digest: tokens.map(|text| salt.digest(Digested::Token, text)),
        }
    }
}

/// RFC 3339 in UTC, because the zone of the service is a setting.
fn moment(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

impl fmt::Debug for Facts<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Facts").field("purchase", &self.purchase).finish_non_exhaustive()
    }
}

impl fmt::Debug for Outcome<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sold { .. } => out.write_str("Sold"),
            Self::NotSold { reason } => write!(out, "NotSold({reason})"),
        }
    }
}
