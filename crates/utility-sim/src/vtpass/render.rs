//! Writes answers in the format of the VTpass interface.

use serde::Serialize;
use serde_json::{json, value::RawValue};

use super::{
    Message, Reply,
    message::{Ending, State, Statement},
    request::nigeria,
};
use crate::{product::in_units, xmlvend::customer_name};

const NOTHING: &str = "N/A";

/// Writes an answer as JSON.
pub(crate) fn render(message: &Message) -> Vec<u8> {
    let body = match &message.reply {
        Reply::Customer { meter, can_vend, limits } => {
            let limit = |amount: Option<money::Money>| {
                amount.map_or_else(String::new, |amount| amount.amount().to_string())
            };
            serde_json::to_vec(&json!({
                "code": "000",
                "content": {
                    "Customer_Name": customer_name(meter),
                    "Address": "ABULE EGBA",
                    "Meter_Number": meter.number.as_str(),
                    "Customer_Arrears": "",
                    "Minimum_Amount": "",
                    "Min_Purchase_Amount": limit(limits.minimum),
                    "MAX_Purchase_Amount": limit(limits.maximum),
                    "Can_Vend": if *can_vend { "yes" } else { "no" },
                    "Business_Unit": "",
                    "Customer_Account_Type": "NMD",
                    "Meter_Type": "PREPAID",
                    "WrongBillersCode": false,
                },
            }))
        }
        Reply::NoSuchCustomer { why } => serde_json::to_vec(&json!({
            "code": "000",
            "content": { "error": why, "WrongBillersCode": true },
        })),
        Reply::Transaction(statement) => serde_json::to_vec(&TransactionBody::new(statement)),
        Reply::Rejection(rejection) => serde_json::to_vec(&json!({
            "code": rejection.code,
            "response_description": rejection.description,
            "content": { "errors": [] },
        })),
    };
    body.expect("a body of strings and numbers can be written")
}

#[derive(Serialize)]
struct TransactionBody<'a> {
    code: &'static str,
    content: Content<'a>,
    response_description: &'static str,
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    /// A number with the exact digits.
    amount: Box<RawValue>,
    transaction_date: String,
    purchased_code: String,
    #[serde(rename = "customerName")]
    customer_name: &'static str,
    token: String,
    kct1: &'a str,
    kct2: &'a str,
    #[serde(rename = "resetToken")]
    reset_token: &'static str,
    #[serde(rename = "configureToken")]
    configure_token: &'static str,
    units: String,
}

#[derive(Serialize)]
struct Content<'a> {
    transactions: Transactions<'a>,
}

#[derive(Serialize)]
struct Transactions<'a> {
    status: &'static str,
    product_name: &'static str,
    unique_element: &'a str,
    unit_price: String,
    quantity: u8,
    channel: &'static str,
    r#type: &'static str,
    phone: &'a str,
    /// A text, as in the vendor's answers to an order.
    amount: String,
    platform: &'static str,
    #[serde(rename = "transactionId")]
    transaction_id: String,
}

impl<'a> TransactionBody<'a> {
    fn new(statement: &'a Statement) -> Self {
        let (transaction, order) = (&statement.transaction, &statement.transaction.order);
        let (code, response_description, status) = words(statement.state);
        // The tokens are shown when the transaction is delivered, not before.
        let shown: &[String] = match statement.state {
            State::Ended(Ending::Delivered) => &transaction.tokens,
            State::Pending | State::Ended(Ending::Failed | Ending::Reversed) => &[],
        };
        let [kct1, kct2] = match shown {
            [first, second, _credit] => [first.as_str(), second.as_str()],
            _ => [NOTHING; 2],
        };
        let token = shown.last().map_or_else(|| NOTHING.to_owned(), |token| format!("Token : {token}"));
        let amount = order.amount.amount().to_string();
        let at = transaction.at.with_timezone(&nigeria());
        Self {
            code,
            content: Content {
                transactions: Transactions {
                    status,
                    product_name: "Ikeja Electric Payment - IKEDC",
                    unique_element: &order.meter,
                    unit_price: amount.clone(),
                    quantity: 1,
                    channel: "api",
                    r#type: "Electricity Bill",
                    phone: &order.phone,
                    amount: amount.clone(),
                    platform: "api",
                    transaction_id: transaction.number.to_string(),
                },
            },
            response_description,
            request_id: statement.request_id.as_deref(),
            amount: RawValue::from_string(amount).expect("an amount is a JSON number"),
            transaction_date: at.format("%Y-%m-%dT%H:%M:%S.000000Z").to_string(),
            purchased_code: if shown.is_empty() { String::new() } else { token.clone() },
            customer_name: NOTHING,
            token,
            kct1,
            kct2,
            reset_token: NOTHING,
            configure_token: NOTHING,
            units: format!("{} kWh", in_units(transaction.tenths)),
        }
    }
}

/// The code, the sentence and the status of a state.
const fn words(state: State) -> (&'static str, &'static str, &'static str) {
    match state {
        State::Pending => ("000", "TRANSACTION PROCESSING - PENDING", "pending"),
        State::Ended(Ending::Delivered) => ("000", "TRANSACTION SUCCESSFUL", "delivered"),
        State::Ended(Ending::Failed) => ("016", "TRANSACTION FAILED", "failed"),
        State::Ended(Ending::Reversed) => ("040", "TRANSACTION REVERSAL", "reversed"),
    }
}
