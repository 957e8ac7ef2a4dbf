//! An account of the integrator (specification, section 2.3).

use serde::Serialize;
use utoipa::ToSchema;

use crate::schema::values::{AccountCategory, Money};

/// An open account with the money that is available in it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Account {
    /// What a purchase calls `debited_account_id`.
    id: i64,
    /// A label for people.
    name: String,
    /// ISO 4217 code.
    #[schema(pattern = "^[A-Z]{3}$", example = "BWP")]
    currency: String,
    #[schema(value_type = AccountCategory)]
    category: &'static str,
    /// Always `WALLET`.
    #[schema(pattern = "^WALLET$")]
    r#type: &'static str,
    /// Always `ACTIVE`: other accounts are not shown.
    #[schema(pattern = "^ACTIVE$")]
    status: &'static str,
    /// The order in which to show accounts.
    rank: i32,
    /// What can be spent now.
    #[schema(value_type = Money)]
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
