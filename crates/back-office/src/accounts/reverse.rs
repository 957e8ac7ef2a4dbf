//! A payment that was entered by mistake is undone: the same amount goes back between the same accounts, once.

use catalogue::read_currency;
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Nullable, Text},
};
use directory::AuditContext;
use ledger::{AccountId, SystemAccount};
use money::Money;

use super::{
    movement::Movement,
    payment::{Foreseen, Payment, PaymentRefusal, judge},
};
use crate::posted_entry::{Posted, undo};

/// A payment and its reversal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversal {
    /// The wallet.
    pub wallet: AccountId,
    /// What is taken out of the wallet (negative) or put into it.
    pub amount: Money,
    /// The entry that undoes the payment, and when it was posted. `None` in a rehearsal.
    pub posted: Option<Posted>,
    /// The amount that can be spent from the wallet afterwards.
    pub available: Money,
    /// The balance of the wallet afterwards, with what is held.
    pub balance: Money,
}

/// Why nothing was reversed, or why that is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ReverseError {
    /// The entry is no payment by an operator, or it is a reversal, or it charges unmatched vends.
    #[error("entry {0} is no payment or correction that can be reversed")]
    NoPayment(i64),
    /// It is undone already.
    #[error("entry {entry} was reversed before, by entry {reversed_by}")]
    Reversed {
        /// The payment.
        entry: i64,
        /// What undid it.
        reversed_by: i64,
    },
    /// The wallet cannot give the amount back, or it takes no corrections.
    #[error(transparent)]
    Refused(#[from] PaymentRefusal),
    /// The database failed.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

/// Undoes one payment or correction, by the number of its entry. In a rehearsal everything is checked and nothing is posted.
pub async fn reverse_payment(
    database: &Database,
    entry: i64,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<Reversal, ReverseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move { reverse(transaction, entry, is_rehearsal, &act).await })
    });
    work.await?
}

struct FindPayment;

impl Statement for FindPayment {
    const SQL: &str = "-- find_payment
SELECT w.id AS wallet, h.house, p.credit_account_id = w.id AS was_paid_in, p.currency, p.amount, undone.reversed_by,
    EXISTS (SELECT FROM reversals r WHERE r.reversed_by = e.id) OR EXISTS (
        SELECT FROM unmatched_vend_decisions d WHERE d.entry_id = e.id) AS stays
FROM journal_entries e
JOIN postings p ON p.entry_id = e.id
JOIN accounts w ON w.id IN (p.debit_account_id, p.credit_account_id) AND w.house IS NULL
JOIN accounts h ON h.id IN (p.debit_account_id, p.credit_account_id) AND h.house IS NOT NULL
LEFT JOIN reversals undone ON undone.entry_id = e.id
WHERE e.id = $1 AND e.kind IN ('TOP_UP', 'ADJUST')";
}

#[derive(QueryableByName)]
struct PaymentRow {
    #[diesel(sql_type = BigInt)]
    wallet: i64,
    #[diesel(sql_type = Text)]
    house: String,
    #[diesel(sql_type = Bool)]
    was_paid_in: bool,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    reversed_by: Option<i64>,
    #[diesel(sql_type = Bool)]
    stays: bool,
}

struct ReversePayment;

impl Statement for ReversePayment {
    const SQL: &str = "-- reverse_payment
SELECT entry_id AS id, entry_posted_at AS posted_at FROM reverse_payment($1, $2, $3)";
}

/// Another operator may undo the payment until its wallet is locked, so that is read once more then. A refusal has written
/// nothing.
pub(crate) async fn reverse(
    transaction: &Transaction,
    entry: i64,
    is_rehearsal: bool,
    act: &AuditContext,
) -> Result<Result<Reversal, ReverseError>, DatabaseError> {
    let Some(found) = find(transaction, entry).await? else {
        return Ok(Err(ReverseError::NoPayment(entry)));
    };
    if let Some(reversed_by) = found.reversed_by {
        return Ok(Err(ReverseError::Reversed { entry, reversed_by }));
    }
    let payment = found.undoing(entry)?;
    let (available, balance) = match judge(transaction, &payment).await? {
        Ok(Foreseen { available, balance, .. }) => (available, balance),
        Err(refusal) => return Ok(Err(refusal.into())),
    };
    let now = find(transaction, entry).await?;
    if let Some(reversed_by) = now.and_then(|payment| payment.reversed_by) {
        return Ok(Err(ReverseError::Reversed { entry, reversed_by }));
    }
    let posted =
        if is_rehearsal { None } else { Some(undo::<ReversePayment>(transaction, entry, act).await?) };
    let taken = Money::from_minor(-payment.amount.minor(), payment.amount.currency());
    let amount = if payment.movement.takes() { taken } else { payment.amount };
    Ok(Ok(Reversal { wallet: payment.wallet, amount, posted, available, balance }))
}

async fn find(transaction: &Transaction, entry: i64) -> Result<Option<PaymentRow>, DatabaseError> {
    let rows: Vec<PaymentRow> = prepared::<FindPayment>().bind::<BigInt, _>(entry).load(transaction).await?;
    Ok(rows.into_iter().next().filter(|payment| !payment.stays))
}

impl PaymentRow {
    /// The correction that takes the amount back, or gives it back.
    fn undoing(&self, entry: i64) -> Result<Payment, DatabaseError> {
        let corrupt = || DatabaseError::corrupt("postings", "account", entry);
        let house = SystemAccount::parse(&self.house).ok_or_else(corrupt)?;
        let currency = read_currency("postings", entry, &self.currency)?;
        let movement = if self.was_paid_in { Movement::AdjustDown(house) } else { Movement::AdjustUp(house) };
        let (wallet, amount) = (AccountId(self.wallet), Money::from_minor(self.amount, currency));
        Ok(Payment { wallet, movement, amount, reference: None })
    }
}
