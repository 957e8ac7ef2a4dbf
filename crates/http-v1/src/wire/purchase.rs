//! The transaction envelope of validate, confirm and retry (specification, section 2.1).

use std::fmt::Display;

use chrono::{DateTime, Utc};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use identity::Caller;
use meter_token::TokenSet;
use money::Money;
use purchase::{PurchaseRequest, PurchaseStatus, Record, Success};
use vend::Breakdown;
use vending::Quote;
use web::SharedState;

use super::{Actor, Beneficiary, Payer, Recovery, moment::Moment};
use crate::schema::{
    purchased::PurchasedProduct,
    values::{self, PurchaseChannel},
};

/// A quote or a purchase.
#[derive(Debug, Serialize, ToSchema)]
pub struct Purchase<'a> {
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
    reference: &'a str,
    /// The integration user that made it. Confirm and retry return it to that user only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    operator: Option<Actor<'a>>,
    /// The same user as `operator`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    requester: Option<Actor<'a>>,
    payer: Payer<'a>,
    beneficiary: Beneficiary<'a>,
    /// What the account pays.
    #[schema(value_type = values::Money)]
    total: Shown<Money>,
    /// What the provider is asked to vend.
    #[schema(value_type = values::Money)]
    net: Shown<Money>,
    /// The charges.
    #[schema(value_type = values::Money)]
    charge: Shown<Money>,
    /// What the organisation earns.
    #[schema(value_type = values::Money)]
    commission: Shown<Money>,
    /// The amount that was asked for.
    #[schema(value_type = values::Money)]
    entry: Shown<Money>,
    subscriber_identifier: &'a str,
    /// The consumer's name as the provider has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    subscriber_details: Option<&'a str>,
    #[schema(value_type = PurchasedProduct)]
    product: Product<'a>,
    #[schema(inline)]
    metadata: Metadata<'a>,
    /// How to get the outcome, if `status` is `PENDING`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    recovery: Option<Recovery>,
}

/// The product block. Airtime has neither token nor units.
#[derive(Debug, Serialize)]
struct Product<'a> {
    r#type: &'static str,
    provider: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<String>,
}

/// What the provider reports about the cost, and its own identifier of a finished vend.
#[derive(Debug, Default, Serialize, ToSchema)]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    vat: Option<Shown<Money>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    levy: Option<Shown<Money>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    regulatory_fee: Option<Shown<Money>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    charge: Option<Shown<Money>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = values::Money)]
    cost: Option<Shown<Money>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider_subscriber_details: Option<&'a str>,
    /// The provider's own identifier of a vend that was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    provider_transaction_identifier: Option<&'a str>,
}

/// A value that is written as its text, without a copy of the text.
#[derive(Debug)]
struct Shown<T>(T);

impl<T: Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'a> Purchase<'a> {
    /// The answer to validate: the request, its price, and what it would yield.
    pub fn quoted(
        request: &'a PurchaseRequest,
        quote: &'a Quote,
        caller: &'a Caller,
        shared: &SharedState,
    ) -> Self {
        Self {
            id: quote.id.0,
            channel: request.source_channel.as_str(),
            date: shared.date(quote.at),
            created_at: None,
            settled_at: None,
            status: "ON_GOING",
            r#type: "TOPUP",
            reference: quote.reference.as_str(),
            operator: Some(Actor::user(caller)),
            requester: Some(Actor::user(caller)),
            payer: Payer::Empty {},
            beneficiary: Beneficiary::at(&request.beneficiary_phone_number),
            total: Shown(quote.price.total),
            net: Shown(quote.price.net),
            charge: Shown(quote.price.charge),
            commission: Shown(quote.price.commission),
            entry: Shown(quote.price.entry),
            subscriber_identifier: request.subscriber.as_str(),
            subscriber_details: quote.subscriber_details.as_deref(),
            product: Product {
                r#type: request.product.as_str(),
                provider: &request.provider_code,
                token: None,
                units: quote.units.as_ref().map(ToString::to_string),
            },
            metadata: Metadata::quoted(quote.breakdown.as_ref(), quote.subscriber_details.as_deref()),
            recovery: None,
        }
    }

    /// The answer to confirm and to retry. The same record always gives the same answer. A record holds only the id of
    /// its user, so if another user of the organisation asks, the user is left out.
    pub fn made(record: &'a Record, caller: &'a Caller, shared: &SharedState) -> Self {
        let user = (record.user.0 == caller.user.id).then(|| Actor::user(caller));
        Self::of(record, user, caller, shared)
    }

    /// A purchase in its current state, bought by `user`.
    pub(super) fn of(
        record: &'a Record,
        user: Option<Actor<'a>>,
        caller: &'a Caller,
        shared: &SharedState,
    ) -> Self {
        let success = record.success.as_ref();
        let moment = |at: DateTime<Utc>| Moment(at.with_timezone(&shared.zone()));
        let vended_details = success.and_then(|success| success.subscriber_details.as_deref());
        let subscriber_details = vended_details.or(record.subscriber_details.as_deref());
        Self {
            id: record.id.0,
            channel: record.source_channel.as_str(),
            date: shared.date(record.created_at),
            created_at: Some(moment(record.created_at)),
            settled_at: record.settled_at.map(moment),
            status: PurchaseStatus::of(record.lifecycle.state.name()).as_str(),
            r#type: "TOPUP",
            reference: record.reference.as_str(),
            operator: user,
            requester: user,
            payer: Payer::Organisation(Actor::organisation(caller)),
            beneficiary: Beneficiary::at(&record.beneficiary_phone_number),
            total: Shown(record.price.total),
            net: Shown(record.price.net),
            charge: Shown(record.price.charge),
            commission: Shown(record.price.commission),
            entry: Shown(record.price.entry),
            subscriber_identifier: record.subscriber.as_str(),
            subscriber_details,
            product: Product {
                r#type: record.product.as_str(),
                provider: &record.provider_code,
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

impl<'a> Metadata<'a> {
    fn quoted(breakdown: Option<&Breakdown>, subscriber_details: Option<&'a str>) -> Self {
        let part = |pick: fn(&Breakdown) -> Money| breakdown.map(|parts| Shown(pick(parts)));
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

    fn vended(success: &'a Success, subscriber_details: Option<&'a str>) -> Self {
        Self {
            provider_transaction_identifier: Some(&success.provider_transaction),
            ..Self::quoted(success.breakdown.as_ref(), subscriber_details)
        }
    }
}
