//! The surfaces that can be attacked: the same attack on each, by parameter.

use serde_json::{Value, json};

/// One way into the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The versioned one.
    V1,
}

/// What is to be bought.
#[derive(Clone, Debug)]
pub struct Order {
    pub account: i64,
    pub subscriber: String,
    pub external_reference: String,
    /// As a JSON number.
    pub amount: String,
    /// Whether its reference is its idempotency key as well.
    pub is_keyed: bool,
}

impl Surface {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::V1];

    pub(super) const fn login(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/auth/login",
        }
    }

    pub(super) const fn confirm(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/confirm",
        }
    }

    pub(super) const fn retry(self) -> &'static str {
        match self {
            Self::V1 => "/public/v1/purchases/retry",
        }
    }

    /// Where the balance of an account is read.
    pub(super) fn balance(self, account: i64) -> String {
        match self {
            Self::V1 => format!("/public/v1/accounts/{account}"),
        }
    }

    /// The body of a confirm.
    pub(super) fn order(self, order: &Order) -> String {
        match self {
            Self::V1 => {
                let Order { account, subscriber, external_reference, amount, is_keyed: _ } = order;
                format!(
                    r#"{{"source_channel": "POS", "language": "en-BW", "product_type": "ELECTRICITY",
                    "provider_code": "BPC", "debited_account_id": {account},
                    "beneficiary_phone_number": "26771234567", "subscriber_identifier": "{subscriber}",
                    "external_reference": "{external_reference}", "amount": {amount}, "currency": "BWP"}}"#
                )
            }
        }
    }

    /// The body of a retry.
    pub(super) fn question(self, order: &Order) -> Value {
        match self {
            Self::V1 => json!({
                "source_channel": "POS",
                "language": "en-BW",
                "subscriber_identifier": order.subscriber,
                "external_reference": order.external_reference,
            }),
        }
    }
}
