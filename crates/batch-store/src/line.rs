//! A line of a batch as an integrator reads it.

use chrono::{DateTime, Utc};
use money::Money;
use purchase::{Failure, PurchaseId};
use secrecy::SecretString;
use vend::Product;

use crate::LineState;

/// A line, and what has become of it.
#[derive(Debug)]
pub struct Line {
    /// Its place in the batch, from 1.
    pub number: u32,
    /// What is bought.
    pub product: Product,
    /// From which provider.
    pub provider_code: String,
    /// The meter, phone or account that it is for.
    pub subscriber: String,
    /// The reference of its purchase. It is unique in the batch.
    pub external_reference: String,
    /// The requested amount.
    pub amount: Money,
    /// What has become of it.
    pub state: LineState,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Its purchase, if there is one.
    pub purchase: Option<LinePurchase>,
    /// Why there is none, if it failed without one.
    pub rejection: Option<StoredRejection>,
}

/// The purchase of a line.
#[derive(Debug)]
pub struct LinePurchase {
    /// Its number.
    pub id: PurchaseId,
    /// Its reference for people.
    pub reference: String,
    /// What the wallet pays.
    pub total: Money,
    /// Why it has failed, if it has.
    pub failure: Option<Failure>,
    /// The token, if it was sold, has one, and this one can be opened here.
    pub token: Option<SecretString>,
}

/// Why a line was not bought, as it is stored. The use cases give its parts their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRejection {
    /// The kind of the rejection.
    pub kind: String,
    /// The provider's reason, if it has one.
    pub reason: Option<String>,
    /// The amount in question, in minor units of the line's currency.
    pub amount: Option<i64>,
}
