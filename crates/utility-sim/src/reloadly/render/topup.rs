//! A top-up in the aggregator's format: in the answer to a purchase, in its status, in the report.

use serde::Serialize;

use super::{
    MOMENT,
    exact::{Code, Exact},
};
use crate::reloadly::{
    message::Report,
    operator::{COUNTRY, Operator},
    topup::{Ending, State, Statement},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TopupBody<'a> {
    transaction_id: i64,
    status: &'static str,
    /// The operator's transaction number, once there is one.
    operator_transaction_id: Option<String>,
    custom_identifier: &'a str,
    recipient_phone: &'a str,
    sender_phone: Option<&'a str>,
    country_code: &'static str,
    operator_id: u32,
    operator_name: Option<&'static str>,
    requested_amount: Exact,
    requested_amount_currency_code: Code,
    delivered_amount: Exact,
    delivered_amount_currency_code: Code,
    transaction_date: String,
    /// For operators that sell PINs. There are none here.
    pin_detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    balance_info: Option<BalanceInfo>,
    /// Why a top-up failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BalanceInfo {
    old_balance: Exact,
    new_balance: Exact,
    currency_code: Code,
    updated_at: String,
}

#[derive(Serialize)]
pub(super) struct StatusBody<'a> {
    code: Option<String>,
    message: Option<String>,
    status: &'static str,
    transaction: TopupBody<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageBody<'a> {
    content: Vec<TopupBody<'a>>,
    total_pages: usize,
    total_elements: usize,
    first: bool,
    last: bool,
    size: usize,
    number: usize,
    number_of_elements: usize,
    empty: bool,
}

impl<'a> TopupBody<'a> {
    /// The answer to a purchase, with the change of the balance.
    pub(super) fn answered(statement: &'a Statement) -> Self {
        let topup = &statement.topup;
        let [old, new] = topup.balances;
        let balance_info = BalanceInfo {
            old_balance: Exact(old),
            new_balance: Exact(new),
            currency_code: Code(new.currency()),
            updated_at: topup.at.format(MOMENT).to_string(),
        };
        Self { balance_info: Some(balance_info), ..Self::listed(statement) }
    }

    /// A top-up in a status or a report.
    pub(super) fn listed(statement: &'a Statement) -> Self {
        let topup = &statement.topup;
        let order = &topup.order;
        let delivered = statement.state == State::Ended(Ending::Successful);
        let failure = statement.failure();
        Self {
            transaction_id: topup.number,
            status: statement.state.as_str(),
            operator_transaction_id: delivered.then(|| format!("OP{}", topup.number)),
            custom_identifier: &order.custom_identifier,
            recipient_phone: &order.phone,
            sender_phone: None,
            country_code: COUNTRY,
            operator_id: order.operator_id,
            operator_name: Operator::find(order.operator_id).map(|operator| operator.name),
            requested_amount: Exact(order.amount),
            requested_amount_currency_code: Code(order.amount.currency()),
            delivered_amount: Exact(order.amount),
            delivered_amount_currency_code: Code(order.amount.currency()),
            transaction_date: topup.at.format(MOMENT).to_string(),
            pin_detail: None,
            balance_info: None,
            error_code: failure.as_ref().and_then(|why| why.code.as_deref().map(str::to_owned)),
            error_message: failure.map(|why| why.message.into_owned()),
        }
    }
}

impl<'a> StatusBody<'a> {
    pub(super) fn new(statement: &'a Statement) -> Self {
        let failure = statement.failure();
        Self {
            code: failure.as_ref().and_then(|why| why.code.as_deref().map(str::to_owned)),
            message: failure.map(|why| why.message.into_owned()),
            status: statement.state.as_str(),
            transaction: TopupBody::listed(statement),
        }
    }
}

impl<'a> PageBody<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let total_pages = report.total.div_ceil(report.size);
        Self {
            content: report.content.iter().map(TopupBody::listed).collect(),
            total_pages,
            total_elements: report.total,
            first: report.page == 1,
            last: report.page >= total_pages,
            size: report.size,
            number: report.page,
            number_of_elements: report.content.len(),
            empty: report.content.is_empty(),
        }
    }
}
