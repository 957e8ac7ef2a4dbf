//! Brings a wallet to a balance, by the payments that an operator could make.

use std::cmp::Ordering;

use actix_web::http::StatusCode;
use back_office::{
    AccountChange, AccountRecord, Movement, Payment, PaymentError, PaymentRefusal, change_account,
    find_account, pay,
};
use database::{Database, DatabaseError};
use identity::AuditContext;
use ledger::{AccountId, SystemAccount};
use money::{AmountError, Currency, Money, MoneyError, parse_amount};

/// A purchase that ends between the look and the payment changes the balance. More than one of them in a row is rare.
const LOOKS: usize = 5;

/// Why a wallet is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    #[error("there is no wallet {0}: GET /accounts of the API lists the wallets of an organisation")]
    NoWallet(String),
    #[error("the body cannot be read: {0}")]
    Body(#[source] serde_json::Error),
    #[error("{field}: {why}; write it like 50.00")]
    Amount { field: &'static str, why: AmountError },
    #[error(
        "balance: wallet {} cannot have {wanted}, because {held} is held for open purchases; ask for at least that, or wait until \
         they have ended",
        wallet.0
    )]
    Held { wallet: AccountId, wanted: Money, held: Money },
    #[error("{0}")]
    Refused(PaymentRefusal),
    #[error("wallet {} is in use: purchases changed its balance meanwhile; send the request again", .0.0)]
    InUse(AccountId),
    #[error("the difference cannot be computed")]
    Difference(#[from] MoneyError),
    #[error("the database failed: {0}")]
    Database(#[from] DatabaseError),
}

impl ControlError {
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::NoWallet(_) => StatusCode::NOT_FOUND,
            Self::Body(_) | Self::Amount { .. } => StatusCode::BAD_REQUEST,
            Self::Held { .. } | Self::Refused(_) | Self::InUse(_) => StatusCode::CONFLICT,
            Self::Difference(_) | Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// Pays in what is missing, or takes out what is too much. Returns the wallet, which then has exactly this balance.
pub(super) async fn set_balance(
    database: &Database,
    wallet: AccountId,
    text: &str,
) -> Result<AccountRecord, ControlError> {
    for _ in 0..LOOKS {
        let found = find(database, wallet).await?;
        let wanted = amount("balance", text, found.currency)?;
        if wanted.compare(found.held)? == Ordering::Less {
            return Err(ControlError::Held { wallet, wanted, held: found.held });
        }
        let (movement, amount) = match wanted.compare(found.posted)? {
            Ordering::Equal => return Ok(found),
            Ordering::Greater => (Movement::TopUp, wanted.minus(found.posted)?),
            Ordering::Less => (Movement::AdjustDown(SystemAccount::Funding), found.posted.minus(wanted)?),
        };
        match pay(database, Payment { wallet, movement, amount, reference: None }, act()).await {
            // The next look says what is held now.
            Ok(_) | Err(PaymentError::Refused(PaymentRefusal::Insufficient { .. })) => {}
            Err(PaymentError::Refused(refusal)) => return Err(ControlError::Refused(refusal)),
            Err(PaymentError::Database(error)) => return Err(error.into()),
        }
    }
    Err(ControlError::InUse(wallet))
}

/// Sets the balance below which the feed tells `wallet.low`. Zero: never.
pub(super) async fn set_low_balance(
    database: &Database,
    wallet: AccountId,
    text: &str,
) -> Result<(), ControlError> {
    let currency = find(database, wallet).await?.currency;
    let low_balance = Some(amount("low_balance", text, currency)?.minor());
    Ok(change_account(database, wallet, AccountChange { low_balance, ..AccountChange::default() }, act())
        .await?)
}

async fn find(database: &Database, wallet: AccountId) -> Result<AccountRecord, ControlError> {
    let found = find_account(database, wallet).await?;
    found.ok_or_else(|| ControlError::NoWallet(wallet.0.to_string()))
}

/// Zero is an amount here, other than in a purchase.
fn amount(field: &'static str, json: &str, currency: Currency) -> Result<Money, ControlError> {
    let text = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json);
    match parse_amount(text, currency) {
        Err(AmountError::NotPositive) => Ok(Money::zero(currency)),
        read => read.map_err(|why| ControlError::Amount { field, why }),
    }
}

fn act() -> AuditContext {
    AuditContext { actor: "sandbox".to_owned(), reason: "a test asked for it".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_number_or_a_text_and_may_be_zero() {
        let pula = Currency::parse("BWP").unwrap();
        for (json, minor) in [("50", 5000), ("\"50.5\"", 5050), ("0", 0), ("\"0.00\"", 0)] {
            assert_eq!(amount("balance", json, pula).unwrap().minor(), minor, "{json}");
        }
        for json in ["-1", "\"\"", "\"BWP 1\"", "0.001", "null", "[]", "\"1_0\""] {
            let refused = amount("balance", json, pula).unwrap_err();
            assert!(refused.to_string().starts_with("balance: the amount is "), "{json}: {refused}");
        }
    }
}
