//! The transaction envelope of validate, confirm and retry (specification, section 2.1).

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use identity::Caller;
use meter_token::TokenSet;
use money::Money;
use purchase::{PurchaseRequest, PurchaseStatus, Record, Success};
use vend::Breakdown;
use vending::Quote;
use web::SharedState;

use super::{Actor, Beneficiary, Payer, Recovery, moment::Moment};
use crate::openapi::{
    purchased::PurchasedProduct,
    values::{self, PurchaseChannel},
};

/// A quote or a purchase.
#[derive(Debug, Serialize, ToSchema)]
pub struct Purchase {
    id: i64,
    #[schema(value_type = PurchaseChannel)]
    channel: &'static str,
    /// `YYYY-MM-DD HH:MM:SS` in the time zone of the service.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$", example = "2026-11-20 13:00:00")]
    date: String,
    /// When the purchase was accepted: the moment of `date`, with its offset from UTC. A quote has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime, example = "2026-11-20T13:00:00.000000+02:00")]
    created_at: Option<Moment>,
    /// When the purchase became `SUCCESSFUL` or `FAILED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime, example = "2026-11-20T13:00:01.250000+02:00")]
    settled_at: Option<Moment>,
    #[schema(value_type = values::PurchaseStatus)]
    status: &'static str,
    /// Always `TOPUP`.
    #[schema(pattern = "^TOPUP$")]
    r#type: &'static str,
    /// `TOP/<year>/<month>/<digits>`, for people.
    #[schema(pattern = r"^TOP/\d{4}/\d{2}/\d{10,}$", example = "TOP/2026/11/0000004217")]
    reference: String,
    /// The integration user that made it. Confirm and retry return it to that user only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    operator: Option<Actor>,
    /// The same user as `operator`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    requester: Option<Actor>,
    payer: Payer,
    beneficiary: Beneficiary,
    /// What the account pays.
    #[schema(value_type = values::Money)]
    total: String,
    /// What the provider is asked to vend.
    #[schema(value_type = values::Money)]
    net: String,
    /// The charges.
    #[schema(value_type = values::Money)]
    charge: String,
    /// What the organisation earns.
    #[schema(value_type = values::Money)]
    commission: String,
    /// The amount that was asked for.
    #[schema(value_type = values::Money)]
    entry: String,
    subscriber_identifier: String,
    /// The consumer's name as the provider has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    subscriber_details: Option<String>,
    #[schema(value_type = PurchasedProduct)]
    product: Product,
    #[schema(inline)]
    metadata: Metadata,
    /// How to get the outcome, if `status` is `PENDING`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    recovery: Option<Recovery>,
}

/// The product block. Airtime has neither token nor units.
#[derive(Debug, Serialize)]
struct Product {
    r#type: &'static str,
    provider: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<String>,
}

/// What the provider reports about the cost, and its own identifier of a finished vend.
#[derive(Debug, Default, Serialize, ToSchema)]
struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    vat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    levy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    regulatory_fee: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    charge: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    cost: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider_subscriber_details: Option<String>,
    /// The provider's own identifier of a vend that was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider_transaction_identifier: Option<String>,
}

impl Purchase {
    /// The answer to validate: the request, its price, and what it would yield.
    pub fn quoted(request: &PurchaseRequest, quote: Quote, caller: &Caller, shared: &SharedState) -> Self {
        Self {
            id: quote.id.0,
            channel: request.source_channel.as_str(),
            date: shared.date(quote.at),
            created_at: None,
            settled_at: None,
            status: "ON_GOING",
            r#type: "TOPUP",
            reference: quote.reference.to_string(),
            operator: Some(Actor::user(caller)),
            requester: Some(Actor::user(caller)),
            payer: Payer::Empty {},
            beneficiary: Beneficiary::at(&request.beneficiary_phone_number),
            total: quote.price.total.to_string(),
            net: quote.price.net.to_string(),
            charge: quote.price.charge.to_string(),
            commission: quote.price.commission.to_string(),
            entry: quote.price.entry.to_string(),
            subscriber_identifier: request.subscriber.to_string(),
            subscriber_details: quote.subscriber_details.clone(),
            product: Product {
                r#type: request.product.as_str(),
                provider: request.provider_code.clone(),
                token: None,
                units: quote.units.map(|units| units.to_string()),
            },
            metadata: Metadata::quoted(quote.breakdown.as_ref(), quote.subscriber_details),
            recovery: None,
        }
    }

    /// The answer to confirm and to retry. The same record always gives the same answer. A record holds only the id of
    /// its user, so if another user of the organisation asks, the user is left out.
    pub fn made(record: &Record, caller: &Caller, shared: &SharedState) -> Self {
        let user = (record.user.0 == caller.user.id).then(|| Actor::user(caller));
        Self::of(record, user, caller, shared)
    }

    /// A purchase in its current state, bought by `user`.
    pub(super) fn of(record: &Record, user: Option<Actor>, caller: &Caller, shared: &SharedState) -> Self {
        let success = record.success.as_ref();
        let moment = |at: DateTime<Utc>| Moment(at.with_timezone(&shared.zone()));
        let vended_details = success.and_then(|success| success.subscriber_details.clone());
        let subscriber_details = vended_details.or_else(|| record.subscriber_details.clone());
        Self {
            id: record.id.0,
            channel: record.source_channel.as_str(),
            date: shared.date(record.created_at),
            created_at: Some(moment(record.created_at)),
            settled_at: record.settled_at.map(moment),
            status: PurchaseStatus::of(record.lifecycle.state.name()).as_str(),
            r#type: "TOPUP",
            reference: record.reference.to_string(),
            operator: user.clone(),
            requester: user,
            payer: Payer::Organisation(Actor::organisation(caller)),
            beneficiary: Beneficiary::at(&record.beneficiary_phone_number),
            total: record.price.total.to_string(),
            net: record.price.net.to_string(),
            charge: record.price.charge.to_string(),
            commission: record.price.commission.to_string(),
            entry: record.price.entry.to_string(),
            subscriber_identifier: record.subscriber.to_string(),
            subscriber_details: subscriber_details.clone(),
            product: Product {
                r#type: record.product.as_str(),
                provider: record.provider_code.clone(),
                token: success.and_then(|success| success.tokens.as_ref()).map(TokenSet::wire_form),
                units: success.and_then(|success| success.units.as_ref()).map(ToString::to_string),
            },
            metadata: success
                .map(|success| Metadata::vended(success, subscriber_details))
                .unwrap_or_default(),
            recovery: Recovery::of(record),
        }
    }
}

impl Metadata {
    fn quoted(breakdown: Option<&Breakdown>, subscriber_details: Option<String>) -> Self {
        let part = |pick: fn(&Breakdown) -> Money| breakdown.map(|parts| pick(parts).to_string());
        Self {
            vat: part(|parts| parts.vat),
            levy: part(|parts| parts.levy),
            regulatory_fee: part(|parts| parts.regulatory_fee),
            charge: part(|parts| parts.charge),
            cost: part(|parts| parts.cost),
            provider_subscriber_details: breakdown.and(subscriber_details),
            provider_transaction_identifier: None,
        }
    }

    fn vended(success: &Success, subscriber_details: Option<String>) -> Self {
        Self {
            provider_transaction_identifier: Some(success.provider_transaction.clone()),
            ..Self::quoted(success.breakdown.as_ref(), subscriber_details)
        }
    }
}
