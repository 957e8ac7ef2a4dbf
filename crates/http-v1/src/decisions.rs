//! The decision table of confirm and retry as Markdown: for the guide, the OpenAPI document and the page of each code.

use std::fmt::Write as _;

use error_codes::{Decision, ErrorCode, MoneyCall, Reply};

use crate::Endpoint;

impl Endpoint {
    /// The call whose answers decide about money.
    pub const fn money_call(self) -> Option<MoneyCall> {
        match self {
            Self::Confirm => Some(MoneyCall::Confirm),
            Self::Retry => Some(MoneyCall::Retry),
            Self::Login
            | Self::Refresh
            | Self::Me
            | Self::Accounts
            | Self::Account
            | Self::Products
            | Self::Validate
            | Self::Purchases
            | Self::Purchase
            | Self::Statement
            | Self::Sales
            | Self::Receipt
            | Self::Certificate
            | Self::LookUp
            | Self::Message
            | Self::Events
            | Self::Webhooks(_)
            | Self::Batches(_) => None,
        }
    }

    /// What this endpoint's answer with a code means for the money of the sale.
    pub fn decision(self, code: ErrorCode) -> Option<Decision> {
        self.money_call()?.decision(Reply::Error(code))
    }

    /// The decision table of this endpoint, in Markdown. Empty if its answers decide nothing about money.
    pub fn decision_table(self) -> String {
        let Some(call) = self.money_call() else { return String::new() };
        let mut rows: Vec<(Decision, Vec<Reply>)> = Vec::new();
        for (reply, decision) in call.decisions() {
            match rows.iter_mut().find(|(known, _)| *known == decision) {
                Some((_, replies)) => replies.push(reply),
                None => rows.push((decision, vec![reply])),
            }
        }
        let mut table = format!(
            "| Answer of {} | The money | What to do now | Reference |\n|---|---|---|---|\n",
            name_of(call)
        );
        for (decision, replies) in rows {
            let Decision { money, action } = decision;
            let (answers, reference) = (self.answers(&replies), decision.reference().as_str());
            let (money, action) = (money.sentence(), action.sentence());
            let _infallible = writeln!(table, "| {answers} | {money} | {action} | {reference} |");
        }
        table
    }

    /// The answers by status: ``400 `missing_field`, `invalid_argument`; 404 `meter_not_found` ``.
    fn answers(self, replies: &[Reply]) -> String {
        let mut by_status: Vec<(String, Vec<String>)> = Vec::new();
        for reply in replies {
            let (status, what) = match reply {
                Reply::Bought => ("200".to_owned(), "`SUCCESSFUL`".to_owned()),
                Reply::Pending => ("200".to_owned(), "`PENDING`".to_owned()),
                Reply::Error(code) => (self.status(*code).to_string(), format!("`{code}`")),
                Reply::Silence => ("no answer".to_owned(), "or one without our error body".to_owned()),
            };
            match by_status.iter_mut().find(|(known, _)| *known == status) {
                Some((_, codes)) => codes.push(what),
                None => by_status.push((status, vec![what])),
            }
        }
        let groups: Vec<String> =
            by_status.into_iter().map(|(status, codes)| format!("{status} {}", codes.join(", "))).collect();
        groups.join("; ")
    }
}

const fn name_of(call: MoneyCall) -> &'static str {
    match call {
        MoneyCall::Confirm => "confirm",
        MoneyCall::Retry => "retry",
    }
}
