//! An event as it is read.

use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::sql_types::{BigInt, Jsonb, Nullable, Text, Timestamptz};
use money::{Currency, Money};
use purchase::{OrganisationId, PurchaseId};
use serde_json::Value;
use vend::Product;

use crate::Position;

/// Something that happened to a thing of an organisation.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEvent {
    /// Where it is in the feed. It names the event for ever.
    pub position: Position,
    /// Whose thing it happened to.
    pub organisation: OrganisationId,
    /// The name of its type. It may be one that this program does not know yet ([`EventType`](crate::EventType)).
    pub kind: String,
    /// When it happened. Times may be out of the feed's order.
    pub occurred_at: DateTime<Utc>,
    /// What it happened to.
    pub subject: Subject,
}

/// What an event is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A purchase.
    Purchase(Box<PurchaseFacts>),
    /// Anything else, as JSON that was written with the event.
    Other(Value),
}

/// What never changes about a purchase, except that its personal data may be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseFacts {
    /// Its number.
    pub id: PurchaseId,
    /// Its reference for people.
    pub reference: String,
    /// The integrator's own name for it.
    pub external_reference: Option<String>,
    /// The wallet that pays.
    pub account: i64,
    /// What is bought.
    pub product: Product,
    /// From which provider.
    pub provider_code: String,
    /// The meter, phone or account that is bought for.
    pub subscriber: String,
    /// The amount that was asked for.
    pub entry: Money,
    /// What the wallet pays.
    pub total: Money,
}

/// An event with its purchase, if it has one.
#[derive(diesel::QueryableByName)]
pub(crate) struct Row {
    #[diesel(sql_type = Nullable<BigInt>)]
    transaction_no: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    kind: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Jsonb>)]
    details: Option<Value>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    account_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_identifier: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    entry: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    total: Option<i64>,
}

impl Row {
    /// The event, or `None` if the row has none.
    pub(crate) fn read(mut self, organisation: OrganisationId) -> Result<Option<FeedEvent>, DatabaseError> {
        let (Some(transaction), Some(number)) = (self.transaction_no, self.id) else { return Ok(None) };
        let position = Position { transaction, number };
        let corrupt = |column| move || DatabaseError::corrupt("feed_events", column, position);
        let kind = self.kind.take().ok_or_else(corrupt("kind"))?;
        let occurred_at = self.at.ok_or_else(corrupt("at"))?;
        let subject = match (self.details.take(), self.purchase_id) {
            (Some(details), None) => Subject::Other(details),
            (None, Some(id)) => {
                Subject::Purchase(Box::new(self.purchase(id).ok_or_else(corrupt("purchase_id"))?))
            }
            (None, None) | (Some(_), Some(_)) => return Err(corrupt("details")()),
        };
        Ok(Some(FeedEvent { position, organisation, kind, occurred_at, subject }))
    }

    /// `None` if a value of the purchase is missing or cannot be read.
    fn purchase(self, id: i64) -> Option<PurchaseFacts> {
        let currency = Currency::in_hundredths(&self.currency?).ok()?;
        Some(PurchaseFacts {
            id: PurchaseId(id),
            reference: self.reference?,
            external_reference: self.external_reference,
            account: self.account_id?,
            product: Product::parse(&self.product?)?,
            provider_code: self.provider_code?,
            subscriber: self.subscriber_identifier?,
            entry: Money::from_minor(self.entry?, currency),
            total: Money::from_minor(self.total?, currency),
        })
    }
}
