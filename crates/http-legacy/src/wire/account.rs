//! An account of the integrator (specification, section 2.3).

use serde::Serialize;

/// An open account with the money that is available in it.
#[derive(Debug, Serialize)]
pub struct Account {
    id: i64,
    name: String,
    currency: String,
    category: &'static str,
    r#type: &'static str,
    status: &'static str,
    rank: i32,
    balance: String,
}

impl From<ledger::Account> for Account {
    fn from(account: ledger::Account) -> Self {
        Self {
            id: account.id.0,
            name: account.name,
            currency: account.currency.to_string(),
            category: account.category.as_str(),
            r#type: "WALLET",
            status: "ACTIVE",
            rank: account.rank,
            balance: account.available.to_string(),
        }
    }
}
