//! A statement of an account.

use serde::Serialize;
use utoipa::ToSchema;

use purchase::{StatementLine, StatementPage};
use web::SharedState;

use super::moment::rfc_3339;
use crate::{
    requests::Days,
    schema::values::{MovementKind, MovementPart, ProductType, SignedMoney},
};

/// One page of a statement, the oldest line first. The balances are those of the whole statement.
#[derive(Debug, Serialize, ToSchema)]
pub struct Statement {
    pub(crate) account_id: i64,
    /// The label for people.
    pub(crate) account_name: String,
    /// ISO 4217 code.
    #[schema(pattern = "^[A-Z]{3}$", example = "BWP")]
    pub(crate) currency: String,
    /// The first day.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}$")]
    pub(crate) from: String,
    /// The last day.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}$")]
    pub(crate) to: String,
    /// The beginning of the first day (RFC 3339).
    #[schema(format = "date-time")]
    pub(crate) from_time: String,
    /// The end of the last day, which is the beginning of the day after it (RFC 3339).
    #[schema(format = "date-time")]
    pub(crate) to_time: String,
    /// Up to when the statement reaches: `to_time`, or the moment of its first page if that was earlier (RFC 3339).
    #[schema(format = "date-time")]
    pub(crate) as_of: String,
    /// Whether the last day had ended. Then the statement never changes.
    pub(crate) complete: bool,
    /// The balance before the first line of the first page.
    #[schema(value_type = SignedMoney)]
    pub(crate) opening_balance: String,
    /// The same in minor units.
    pub(crate) opening_balance_minor: i64,
    /// The balance after the last line of the last page. Money set aside for open purchases is still in it.
    #[schema(value_type = SignedMoney)]
    pub(crate) closing_balance: String,
    /// The same in minor units.
    pub(crate) closing_balance_minor: i64,
    pub(crate) data: Vec<Line>,
    /// What to send as `cursor` for the next page; null on the last one.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// One posting. Those of the same `entry` were made together.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StatementLine)]
pub struct Line {
    /// The number of the journal entry. It grows from line to line.
    pub(crate) entry: i64,
    /// `YYYY-MM-DD HH:MM:SS` in the time zone of the service.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$", example = "2026-11-20 13:00:00")]
    pub(crate) date: String,
    /// The same moment to the microsecond, with the offset from UTC (RFC 3339).
    #[schema(format = "date-time")]
    pub(crate) posted_at: String,
    #[schema(value_type = MovementKind)]
    pub(crate) kind: &'static str,
    #[schema(value_type = MovementPart)]
    pub(crate) part: &'static str,
    /// Positive if it was credited to the account.
    #[schema(value_type = SignedMoney)]
    pub(crate) amount: String,
    /// The same in minor units.
    pub(crate) amount_minor: i64,
    /// The balance after this line.
    #[schema(value_type = SignedMoney)]
    pub(crate) balance: String,
    /// The same in minor units.
    pub(crate) balance_minor: i64,
    /// The `reference` of the purchase, or of the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) reference: Option<String>,
    /// The `id` of the purchase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) purchase_id: Option<i64>,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) external_reference: Option<String>,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) subscriber_identifier: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = ProductType)]
    pub(crate) product_type: Option<&'static str>,
    /// As in the confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) provider_code: Option<String>,
}

impl Statement {
    /// A page of a statement of these days.
    pub fn new(page: &StatementPage, days: &Days, next_cursor: Option<String>, shared: &SharedState) -> Self {
        let (statement, zone) = (&page.statement, shared.zone());
        let (extent, period) = (&statement.extent, days.period(&zone));
        let money = |minor| money::Money::from_minor(minor, statement.currency).to_string();
        Self {
            account_id: statement.account.0,
            account_name: statement.name.clone(),
            currency: statement.currency.to_string(),
            from: days.first.to_string(),
            to: days.last.to_string(),
            from_time: rfc_3339(period.from, &zone),
            to_time: rfc_3339(period.to, &zone),
            as_of: rfc_3339(extent.as_of, &zone),
            complete: extent.is_complete,
            opening_balance: money(extent.opening),
            opening_balance_minor: extent.opening,
            closing_balance: money(extent.closing),
            closing_balance_minor: extent.closing,
            data: page.lines.iter().map(|line| Line::new(line, shared)).collect(),
            next_cursor,
        }
    }
}

impl Line {
    fn new(line: &StatementLine, shared: &SharedState) -> Self {
        let purchase = line.purchase.as_ref();
        Self {
            entry: line.entry,
            date: shared.date(line.posted_at),
            posted_at: rfc_3339(line.posted_at, &shared.zone()),
            kind: line.kind.as_str(),
            part: line.part.as_str(),
            amount: line.amount.to_string(),
            amount_minor: line.amount.minor(),
            balance: line.balance.to_string(),
            balance_minor: line.balance.minor(),
            reference: line.reference.clone(),
            purchase_id: purchase.map(|purchase| purchase.id.0),
            external_reference: purchase.and_then(|purchase| purchase.external_reference.clone()),
            subscriber_identifier: purchase.map(|purchase| purchase.subscriber.clone()),
            product_type: purchase.map(|purchase| purchase.product.as_str()),
            provider_code: purchase.map(|purchase| purchase.provider_code.clone()),
        }
    }
}
