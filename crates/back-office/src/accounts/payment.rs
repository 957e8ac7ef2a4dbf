//! Payments by an operator: money paid in, and corrections. They are posted through the ledger, once per reference.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    ExpressionMethods, NullableExpressionMethods, QueryDsl, SelectableHelper,
    sql_types::{BigInt, Bool, Nullable, Text},
};
use directory::AuditContext;
use ledger::{AccountId, Category, LedgerError, Wallet};
use money::{Currency, Money};

use super::{movement::Movement, status::AccountStatus};
use crate::{
    posted_entry::PostedEntry,
    schema::{accounts, journal_entries, payouts, postings},
    system_account,
};

/// A payment to be posted.
#[derive(Clone, Debug)]
pub struct Payment {
    /// The wallet that is credited or debited.
    pub wallet: AccountId,
    /// The direction, and the counterpart account.
    pub movement: Movement,
    /// The amount. It must be positive.
    pub amount: Money,
    /// The operator's own reference, 1 to 64 visible ASCII characters. Each reference is posted once.
    pub reference: Option<String>,
}

/// A payment that is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paid {
    /// The journal entry's number.
    pub entry: i64,
    /// When it was posted.
    pub posted_at: DateTime<Utc>,
    /// The amount that can be spent from the wallet now.
    pub available: Money,
    /// The balance of the wallet, with what is held.
    pub balance: Money,
    /// Whether it had been posted before under this reference. If so, nothing was posted now.
    pub was_there: bool,
}

/// What a payment would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// The amount that can be spent from the wallet afterwards.
    pub available: Money,
    /// The balance of the wallet afterwards, with what is held.
    pub balance: Money,
    /// The entry under this reference that posted the same payment before, and its time. If there is one, nothing is posted.
    pub posted_before: Option<(i64, DateTime<Utc>)>,
}

/// Why nothing was posted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaymentRefusal {
    /// No wallet has that number.
    #[error("there is no wallet {}", .0.0)]
    Absent(AccountId),
    /// The wallet no longer accepts such a payment.
    #[error("wallet {} is {}", wallet.0, status.word())]
    NotActive { wallet: AccountId, status: AccountStatus },
    /// The wallet has another currency.
    #[error("wallet {} is one of {currency}", wallet.0)]
    OtherCurrency { wallet: AccountId, currency: Currency },
    /// More would be taken than can be spent. The amount that is held for open purchases cannot be taken.
    #[error("only {available} can be taken out of wallet {}: {held} of what is in it is held", wallet.0)]
    Insufficient { wallet: AccountId, available: Money, held: Money },
    /// It collects commission, which is paid out.
    #[error("wallet {} collects commission and is not topped up; `vendctl commission pay` pays out of it", .0.0)]
    Commission(AccountId),
    /// Only commission is paid out of a wallet.
    #[error("wallet {} collects no commission; `vendctl account list` shows the category of each", .0.0)]
    NoCommission(AccountId),
    /// Nothing was ever sold in this currency.
    #[error("there is no wallet in {0}, so nothing can be owed in it")]
    UnknownCurrency(Currency),
    /// More fees would be taken out than were earned.
    #[error("only {0} of fees is there to be taken out; what organisations in staging pay is not real")]
    FeesExceeded(Money),
    /// Another payment has this reference.
    #[error("the reference {reference} belongs to another payment, journal entry {entry}")]
    ReferenceTaken { reference: String, entry: i64 },
    /// The ledger refuses it.
    #[error("the ledger refuses it")]
    Ledger(#[source] LedgerError),
}

/// Why nothing was posted, or why that is unknown.
#[derive(Debug, thiserror::Error)]
pub enum PaymentError {
    /// The payment was refused. Nothing was posted.
    #[error(transparent)]
    Refused(#[from] PaymentRefusal),
    /// The database failed.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

/// Posts a payment. A repeat under the same reference posts nothing and reports that.
pub async fn pay(database: &Database, payment: Payment, act: AuditContext) -> Result<Paid, PaymentError> {
    let work =
        database.operate(move |transaction| Box::pin(async move { post(transaction, &payment, &act).await }));
    Ok(work.await??)
}

/// Checks a payment as [`pay`] does, and posts nothing.
pub async fn rehearse_payment(database: &Database, payment: Payment) -> Result<Foreseen, PaymentError> {
    let work =
        database.operate(move |transaction| Box::pin(async move { judge(transaction, &payment).await }));
    Ok(work.await??)
}

/// Pays `amount` into an active wallet, without a reference. For callers that cannot repeat the request.
pub async fn top_up(
    database: &Database,
    account: AccountId,
    amount: Money,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let payment = Payment { wallet: account, movement: Movement::TopUp, amount, reference: None };
    match pay(database, payment, act).await {
        Ok(_paid) => Ok(()),
        Err(PaymentError::Database(error)) => Err(error),
        Err(PaymentError::Refused(_)) => {
            Err(DatabaseError::Stale { what: "an active wallet of that number and currency" })
        }
    }
}

/// Makes one payment in an open transaction. A refusal has written nothing.
pub(crate) async fn post(
    transaction: &Transaction,
    payment: &Payment,
    act: &AuditContext,
) -> Result<Result<Paid, PaymentRefusal>, DatabaseError> {
    let Foreseen { available, balance, posted_before } = match judge(transaction, payment).await? {
        Ok(foreseen) => foreseen,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some((entry, posted_at)) = posted_before {
        return Ok(Ok(Paid { entry, posted_at, available, balance, was_there: true }));
    }
    let (entry, posted_at) = write(transaction, payment, act).await?.into();
    Ok(Ok(Paid { entry, posted_at, available, balance, was_there: false }))
}

/// Locks the wallet, and decides whether the payment may be posted.
pub(crate) async fn judge(
    transaction: &Transaction,
    payment: &Payment,
) -> Result<Result<Foreseen, PaymentRefusal>, DatabaseError> {
    let Some(row) = lock(transaction, payment.wallet).await? else {
        return Ok(Err(PaymentRefusal::Absent(payment.wallet)));
    };
    let currency = read_currency("accounts", payment.wallet.0, &row.currency)?;
    if currency != payment.amount.currency() {
        return Ok(Err(PaymentRefusal::OtherCurrency { wallet: payment.wallet, currency }));
    }
    let corrupt = || DatabaseError::corrupt("accounts", "posted", payment.wallet.0);
    let (posted, held) = row.posted.zip(row.held).ok_or_else(corrupt)?;
    let (posted, held) = (Money::from_minor(posted, currency), Money::from_minor(held, currency));
    let wallet = Wallet::new(payment.wallet, posted, held).map_err(|_contradiction| corrupt())?;
    let available = wallet.available().map_err(|_overflow| corrupt())?;
    let system_account =
        system_account::find(transaction, payment.movement.system_account(), currency).await?;
    if let Some(before) = find(transaction, payment.reference.as_deref()).await? {
        return Ok(before.replay(payment, system_account, (available, posted)));
    }
    if let Err(refusal) = admits(row.category.as_deref(), payment) {
        return Ok(Err(refusal));
    }
    let status = AccountStatus::read(&row.status, payment.wallet)?;
    if !status.admits(payment.movement) {
        return Ok(Err(PaymentRefusal::NotActive { wallet: payment.wallet, status }));
    }
    let rest = match payment.movement.apply(wallet, payment.amount) {
        Ok(rest) => rest,
        Err(LedgerError::Insufficient { .. }) => {
            let wallet = payment.wallet;
            return Ok(Err(PaymentRefusal::Insufficient { wallet, available, held }));
        }
        Err(refusal) => return Ok(Err(PaymentRefusal::Ledger(refusal))),
    };
    let available = rest.available().map_err(|_overflow| corrupt())?;
    Ok(Ok(Foreseen { available, balance: rest.posted(), posted_before: None }))
}

/// Commission is credited to its wallet by purchases, and paid out.
fn admits(category: Option<&str>, payment: &Payment) -> Result<(), PaymentRefusal> {
    let is_commission = category.and_then(Category::parse) == Some(Category::Commission);
    match payment.movement {
        Movement::TopUp if is_commission => Err(PaymentRefusal::Commission(payment.wallet)),
        Movement::PayOut if !is_commission => Err(PaymentRefusal::NoCommission(payment.wallet)),
        Movement::TopUp | Movement::AdjustUp(_) | Movement::AdjustDown(_) | Movement::PayOut => Ok(()),
    }
}

#[derive(diesel::Queryable, diesel::Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg))]
struct WalletRow {
    currency: String,
    category: Option<String>,
    status: String,
    posted: Option<i64>,
    held: Option<i64>,
}

/// Locks only one row, so there is no lock order to keep with the lanes.
async fn lock(transaction: &Transaction, wallet: AccountId) -> Result<Option<WalletRow>, DatabaseError> {
    let row = accounts::table
        .find(wallet.0)
        .filter(accounts::organisation_id.is_not_null())
        .select(WalletRow::as_select())
        .for_no_key_update();
    row.optional::<WalletRow>(transaction).await
}

#[derive(diesel::Queryable)]
struct PaymentRow {
    id: i64,
    posted_at: DateTime<Utc>,
    kind: String,
    debit: i64,
    credit: i64,
    currency: String,
    amount: i64,
    payout: Option<String>,
}

async fn find(
    transaction: &Transaction,
    reference: Option<&str>,
) -> Result<Option<PaymentRow>, DatabaseError> {
    let Some(reference) = reference else { return Ok(None) };
    let row = journal_entries::table
        .inner_join(postings::table)
        .left_join(payouts::table)
        .filter(journal_entries::reference.eq(reference))
        .select((
            journal_entries::id,
            journal_entries::posted_at,
            journal_entries::kind,
            postings::debit_account_id,
            postings::credit_account_id,
            postings::currency,
            postings::amount,
            payouts::kind.nullable(),
        ));
    row.optional::<PaymentRow>(transaction).await
}

impl PaymentRow {
    /// The answer to a payment whose reference is in the journal already: a repeat of that payment, or a conflict. `now` is what can be
    /// spent from the wallet, and its balance.
    fn replay(
        self,
        payment: &Payment,
        system_account: AccountId,
        (available, balance): (Money, Money),
    ) -> Result<Foreseen, PaymentRefusal> {
        let (debit, credit) = if payment.movement.takes() {
            (payment.wallet, system_account)
        } else {
            (system_account, payment.wallet)
        };
        let is_the_same = self.kind == payment.movement.kind().as_str()
            && (self.debit, self.credit) == (debit.0, credit.0)
            && self.currency == payment.amount.currency().as_str()
            && self.amount == payment.amount.minor()
            && self.payout.is_some() == (payment.movement == Movement::PayOut);
        if is_the_same {
            return Ok(Foreseen { available, balance, posted_before: Some((self.id, self.posted_at)) });
        }
        let reference = payment.reference.clone().unwrap_or_default();
        Err(PaymentRefusal::ReferenceTaken { reference, entry: self.id })
    }
}

struct WritePayment;

impl Statement for WritePayment {
    const SQL: &str = include_str!("write_payment.sql");
}

async fn write(
    transaction: &Transaction,
    payment: &Payment,
    act: &AuditContext,
) -> Result<PostedEntry, DatabaseError> {
    if payment.movement == Movement::PayOut {
        return pay_commission(transaction, payment, act).await;
    }
    let written = prepared::<WritePayment>()
        .bind::<BigInt, _>(payment.wallet.0)
        .bind::<Text, _>(payment.movement.kind().as_str())
        .bind::<Text, _>(payment.movement.system_account().as_str())
        .bind::<Bool, _>(payment.movement.takes())
        .bind::<BigInt, _>(payment.amount.minor())
        .bind::<Nullable<Text>, _>(payment.reference.as_deref())
        .bind::<Text, _>(act.actor.as_str())
        .bind::<Text, _>(act.reason.as_str())
        .get_result(transaction);
    written.await
}

struct PayCommission;

impl Statement for PayCommission {
    const SQL: &str = "-- pay_commission
SELECT entry_id AS id, entry_posted_at AS posted_at FROM pay_commission($1, $2, $3, $4, $5)";
}

/// Posts the correction as [`write`] does, and marks it as a payout.
async fn pay_commission(
    transaction: &Transaction,
    payment: &Payment,
    act: &AuditContext,
) -> Result<PostedEntry, DatabaseError> {
    let written = prepared::<PayCommission>()
        .bind::<BigInt, _>(payment.wallet.0)
        .bind::<BigInt, _>(payment.amount.minor())
        .bind::<Nullable<Text>, _>(payment.reference.as_deref())
        .bind::<Text, _>(act.actor.as_str())
        .bind::<Text, _>(act.reason.as_str())
        .get_result(transaction);
    written.await
}
