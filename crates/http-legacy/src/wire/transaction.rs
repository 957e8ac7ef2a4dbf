//! The transaction of validate, confirm and retry (specification, section 2.5).

use serde::Serialize;

use identity::Caller;
use meter_token::TokenSet;
use money::Money;
use purchase::{Price, PurchaseRequest, PurchaseStatus, Record, Success};
use vend::Breakdown;
use vending::Quote;

use super::{Actor, Beneficiary, Payer};

/// A quote or a purchase of electricity.
#[derive(Debug, Serialize)]
pub struct Transaction {
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    channel: &'static str,
    status: &'static str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requester: Option<Actor>,
    payer: Payer,
    beneficiary: Beneficiary,
    #[serde(flatten)]
    amounts: Amounts,
    meter_number: String,
    meter_details: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    electricity_units: Option<String>,
    metadata: Metadata,
}

#[derive(Debug, Serialize)]
struct Amounts {
    total: String,
    net: String,
    charge: String,
    commission: String,
    entry: String,
}

/// Empty until something was vended. The parts are unknown if an operator confirmed the vend, or if its receipt does
/// not add up. Then they are left out, because an amount cannot be invented.
#[derive(Debug, Default, Serialize)]
struct Metadata {
    #[serde(flatten)]
    breakdown: Option<WireBreakdown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_meter_details: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_transaction_identifier: Option<String>,
}

#[derive(Debug, Serialize)]
struct WireBreakdown {
    vat: String,
    levy: String,
    regulatory_fee: String,
    charge: String,
    cost: String,
}

impl Transaction {
    /// The answer to validate: the request and its price.
    pub fn quoted(request: &PurchaseRequest, quote: Quote, caller: &Caller) -> Self {
        Self {
            id: quote.id.0,
            reference: None,
            channel: request.source_channel.as_str(),
            status: "ON_GOING",
            r#type: "TOPUP",
            operator: Some(Actor::user(caller)),
            requester: Some(Actor::user(caller)),
            payer: Payer::Empty {},
            beneficiary: Beneficiary::at(&request.beneficiary_phone_number),
            amounts: Amounts::of(&quote.price),
            meter_number: request.subscriber.to_string(),
            meter_details: quote.subscriber_details.unwrap_or_default(),
            token: None,
            electricity_units: None,
            metadata: Metadata::default(),
        }
    }

    /// The answer to confirm and to retry. The same record always gives the same answer. A record holds only the id of
    /// its user, so if another user of the organisation asks, the user is left out.
    pub fn made(record: &Record, caller: &Caller) -> Self {
        let user = (record.user.0 == caller.user.id).then(|| Actor::user(caller));
        let success = record.success.as_ref();
        let vended_details = success.and_then(|success| success.subscriber_details.clone());
        let meter_details = vended_details.or_else(|| record.subscriber_details.clone()).unwrap_or_default();
        Self {
            id: record.id.0,
            reference: Some(record.reference.to_string()),
            channel: record.source_channel.as_str(),
            status: PurchaseStatus::of(record.lifecycle.state.name()).as_str(),
            r#type: "TOPUP",
            operator: user.clone(),
            requester: user,
            payer: Payer::Organisation(Actor::organisation(caller)),
            beneficiary: Beneficiary::at(&record.beneficiary_phone_number),
            amounts: Amounts::of(&record.price),
            meter_number: record.subscriber.to_string(),
            meter_details: meter_details.clone(),
            token: success.and_then(|success| success.tokens.as_ref()).map(TokenSet::wire_form),
            electricity_units: success.map(units_of),
            metadata: success.map(|success| Metadata::vended(success, meter_details)).unwrap_or_default(),
        }
    }
}

/// An empty text if the units are unknown, for example after an operator confirmed the vend.
fn units_of(success: &Success) -> String {
    success.units.as_ref().map(ToString::to_string).unwrap_or_default()
}

impl Amounts {
    fn of(price: &Price) -> Self {
        let Price { entry, charge, net, total, commission } = price;
        Self {
            total: total.to_string(),
            net: net.to_string(),
            charge: charge.to_string(),
            commission: commission.to_string(),
            entry: entry.to_string(),
        }
    }
}

impl Metadata {
    fn vended(success: &Success, meter_details: String) -> Self {
        Self {
            breakdown: success.breakdown.as_ref().map(WireBreakdown::from),
            provider_meter_details: Some(meter_details),
            provider_transaction_identifier: Some(success.provider_transaction.clone()),
        }
    }
}

impl From<&Breakdown> for WireBreakdown {
    fn from(breakdown: &Breakdown) -> Self {
        let Breakdown { cost, vat, levy, regulatory_fee, charge } = breakdown;
        let text = Money::to_string;
        Self {
            vat: text(vat),
            levy: text(levy),
            regulatory_fee: text(regulatory_fee),
            charge: text(charge),
            cost: text(cost),
        }
    }
}
