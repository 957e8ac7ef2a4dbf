//! Wallets as the operator opens, changes, pays into and reads them.

mod change;
mod movement;
mod open;
mod payment;
mod record;
mod reverse;
mod statement;
mod status;

use database::{DatabaseError, Transaction};
use directory::{AuditContext, AuditEntry, append};
use ledger::AccountId;
use purchase::OrganisationId;
use serde_json::Value;

pub use change::{AccountChange, change_account};
pub use movement::Movement;
pub use open::{NewAccount, OpenedAccount, open_account, open_account_for_staging, staging_load};
pub use payment::{Foreseen, Paid, Payment, PaymentError, PaymentRefusal, pay, rehearse_payment, top_up};
pub(crate) use payment::{judge, post};
pub use record::{AccountRecord, accounts_of, find_account};
pub(crate) use reverse::reverse;
pub use reverse::{Reversal, ReverseError, reverse_payment};
pub use statement::{StatementLine, StatementQuery, WalletStatement, account_statement};
pub use status::{AccountRefusal, AccountStatus, set_account_status};

/// Writes a line about a wallet to the audit log.
async fn log(
    transaction: &Transaction,
    action: &'static str,
    account: AccountId,
    organisation: OrganisationId,
    details: Value,
    act: &AuditContext,
) -> Result<(), DatabaseError> {
    let (organisation_id, subject) = (Some(organisation.0), format!("account:{}", account.0));
    append(transaction, AuditEntry { act, action, organisation_id, subject, details }).await
}

fn absent(account: AccountId) -> DatabaseError {
    DatabaseError::Absent { what: "account", key: account.0.to_string() }
}
