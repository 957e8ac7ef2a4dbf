//! A payout that was entered by mistake is undone: the same amount goes back between the same system accounts, once.

use catalogue::read_currency;
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text},
};
use directory::AuditContext;
use money::Money;

use super::Payee;
use crate::{
    accounts::ReverseError,
    posted_entry::{Posted, undo},
};

/// A payout and its reversal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayoutReversal {
    /// To whom it was paid out.
    pub payee: Payee,
    /// What comes back.
    pub amount: Money,
    /// The entry that undoes the payout, and when it was posted. `None` in a rehearsal.
    pub posted: Option<Posted>,
    /// What the payee is owed afterwards.
    pub left: Money,
}

struct FindPayout;

impl Statement for FindPayout {
    const SQL: &str = "-- find_posted_payout
SELECT o.provider_code, p.currency, p.amount, undone.reversed_by
FROM payouts o
JOIN postings p ON p.entry_id = o.entry_id
LEFT JOIN reversals undone ON undone.entry_id = o.entry_id
WHERE o.entry_id = $1 AND o.kind IN ('PROVIDER', 'FEES')
    AND NOT EXISTS (SELECT FROM reversals r WHERE r.reversed_by = o.entry_id)";
}

#[derive(QueryableByName)]
struct FoundRow {
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    reversed_by: Option<i64>,
}

struct ReversePayout;

impl Statement for ReversePayout {
    const SQL: &str = "-- reverse_payout
SELECT entry_id AS id, entry_posted_at AS posted_at FROM reverse_payout($1, $2, $3)";
}

/// Undoes one payout to a provider or of fees, by the number of its entry. In a rehearsal everything is checked and nothing is
/// posted.
pub async fn reverse_payout(
    database: &Database,
    entry: i64,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<PayoutReversal, ReverseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move { reverse(transaction, entry, is_rehearsal, &act).await })
    });
    work.await?
}

/// Another operator may undo the payout until the system account is locked, so that is read once more then. A refusal has written
/// nothing.
async fn reverse(
    transaction: &Transaction,
    entry: i64,
    is_rehearsal: bool,
    act: &AuditContext,
) -> Result<Result<PayoutReversal, ReverseError>, DatabaseError> {
    let Some(found) = find(transaction, entry).await? else {
        return Ok(Err(ReverseError::NoPayment(entry)));
    };
    let currency = read_currency("postings", entry, &found.currency)?;
    let (payee, amount) = (found.payee(), Money::from_minor(found.amount, currency));
    let corrupt = || DatabaseError::corrupt("postings", "amount", entry);
    let owed = payee.owed(transaction, currency).await?.ok_or_else(corrupt)?;
    let now = find(transaction, entry).await?;
    if let Some(reversed_by) = now.and_then(|payout| payout.reversed_by) {
        return Ok(Err(ReverseError::Reversed { entry, reversed_by }));
    }
    let left = owed.plus(amount).map_err(|_overflow| corrupt())?;
    let posted =
        if is_rehearsal { None } else { Some(undo::<ReversePayout>(transaction, entry, act).await?) };
    Ok(Ok(PayoutReversal { payee, amount, posted, left }))
}

async fn find(transaction: &Transaction, entry: i64) -> Result<Option<FoundRow>, DatabaseError> {
    prepared::<FindPayout>().bind::<BigInt, _>(entry).optional(transaction).await
}

impl FoundRow {
    fn payee(&self) -> Payee {
        self.provider_code.clone().map_or(Payee::Operator, Payee::Provider)
    }
}
