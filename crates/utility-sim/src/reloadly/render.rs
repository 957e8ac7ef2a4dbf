//! Writes answers in the format of the Reloadly top-up interface.

mod exact;
mod operator;
mod topup;

use serde::Serialize;

use super::{Message, Refusal, Reply, access::Grant};
use exact::{Code, Exact};
use operator::OperatorBody;
use topup::{PageBody, StatusBody, TopupBody};

/// The aggregator's date format.
pub(crate) const MOMENT: &str = "%Y-%m-%d %H:%M:%S";

/// Writes an answer as JSON.
pub(crate) fn render(message: &Message) -> Vec<u8> {
    match &message.reply {
        Reply::Access(grant) => json(&AccessBody::new(grant)),
        Reply::Operators { operators, currency } => {
            json(&operators.iter().map(|one| OperatorBody::new(one, *currency)).collect::<Vec<_>>())
        }
        Reply::Operator { operator, currency } => json(&OperatorBody::new(operator, *currency)),
        Reply::Balance(left) => json(&BalanceBody {
            balance: Exact(*left),
            currency_code: Code(left.currency()),
            updated_at: message.at.format(MOMENT).to_string(),
        }),
        Reply::Topup(statement) => json(&TopupBody::answered(statement)),
        Reply::Status(statement) => json(&StatusBody::new(statement)),
        Reply::Report(report) => json(&PageBody::new(report)),
        Reply::Refusal(refusal) => json(&ErrorBody::new(message, refusal)),
    }
}

#[derive(Serialize)]
struct AccessBody<'a> {
    access_token: &'a str,
    scope: &'static str,
    expires_in: u64,
    token_type: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BalanceBody {
    balance: Exact,
    currency_code: Code,
    updated_at: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorBody<'a> {
    time_stamp: String,
    message: &'a str,
    path: &'a str,
    error_code: Option<&'a str>,
    info_link: Option<&'a str>,
    details: [&'a str; 0],
}

impl<'a> AccessBody<'a> {
    fn new(grant: &'a Grant) -> Self {
        Self {
            access_token: &grant.access_token,
            scope: "send-topups read-operators read-topups-history",
            expires_in: grant.expires_in_s,
            token_type: "Bearer",
        }
    }
}

impl<'a> ErrorBody<'a> {
    fn new(message: &'a Message, refusal: &'a Refusal) -> Self {
        Self {
            time_stamp: message.at.format(MOMENT).to_string(),
            message: &refusal.message,
            path: &message.path,
            error_code: refusal.code.as_deref(),
            info_link: None,
            details: [],
        }
    }
}

fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("a body of strings and numbers can be written")
}
