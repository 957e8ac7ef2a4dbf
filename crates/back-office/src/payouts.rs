//! What the operator pays out beside wallets: to providers, and the fees that it has earned. Each is posted against funding, once per
//! reference, and undone at most once. Commission is paid out of its wallet ([`Movement::PayOut`](crate::Movement::PayOut)).

mod reverse;

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use directory::AuditContext;
use ledger::SystemAccount;
use money::{Currency, Money};

use crate::{
    accounts::{PaymentError, PaymentRefusal},
    posted_entry::{Posted, PostedEntry},
};

pub use reverse::{PayoutReversal, reverse_payout};

/// To whom money is paid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payee {
    /// A provider, by its code. It may be paid in advance.
    Provider(String),
    /// The operator, out of the fees that it has earned.
    Operator,
}

/// A payout to be posted.
#[derive(Clone, Debug)]
pub struct Payout {
    /// To whom.
    pub payee: Payee,
    /// How much. It must be positive.
    pub amount: Money,
    /// The operator's own reference, 1 to 64 visible ASCII characters. Each reference is posted once.
    pub reference: String,
}

/// A payout that was posted or rehearsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidOut {
    /// The journal entry and its time. `None` in a rehearsal.
    pub posted: Option<Posted>,
    /// What the payee is owed afterwards. Negative: paid in advance.
    pub left: Money,
    /// Whether it had been posted before under this reference. If so, nothing was posted now.
    pub was_there: bool,
}

struct LockSystemAccount;

impl Statement for LockSystemAccount {
    const SQL: &str = "-- lock_system_account
SELECT id FROM accounts WHERE house = $1 AND currency = $2 FOR NO KEY UPDATE";
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

struct SystemBalance;

impl Statement for SystemBalance {
    const SQL: &str = "-- system_balance
SELECT system_balance($1, $2) AS id";
}

struct FindByReference;

impl Statement for FindByReference {
    const SQL: &str = "-- find_payout
SELECT e.id, e.posted_at, o.kind, o.provider_code, p.currency, p.amount
FROM journal_entries e
JOIN postings p ON p.entry_id = e.id
LEFT JOIN payouts o ON o.entry_id = e.id
WHERE e.reference = $1";
}

#[derive(QueryableByName)]
struct PayoutRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Timestamptz)]
    posted_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    kind: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
}

struct PostPayout;

impl Statement for PostPayout {
    const SQL: &str = "-- post_payout
SELECT entry_id AS id, entry_posted_at AS posted_at FROM post_payout($1, $2, $3, $4, $5, $6, $7)";
}

/// Posts a payout. A repeat under the same reference posts nothing and reports that. In a rehearsal everything is checked and
/// nothing is posted.
pub async fn pay_out(
    database: &Database,
    payout: Payout,
    is_rehearsal: bool,
    act: AuditContext,
) -> Result<PaidOut, PaymentError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move { post(transaction, &payout, is_rehearsal, &act).await })
    });
    Ok(work.await??)
}

/// A refusal has written nothing.
async fn post(
    transaction: &Transaction,
    payout: &Payout,
    is_rehearsal: bool,
    act: &AuditContext,
) -> Result<Result<PaidOut, PaymentRefusal>, DatabaseError> {
    let currency = payout.amount.currency();
    let Some(owed) = payout.payee.owed(transaction, currency).await? else {
        return Ok(Err(PaymentRefusal::UnknownCurrency(currency)));
    };
    let rows: Vec<PayoutRow> =
        prepared::<FindByReference>().bind::<Text, _>(payout.reference.as_str()).load(transaction).await?;
    if let Some(before) = rows.first() {
        return Ok(before.replay(payout, owed));
    }
    let Ok(left) = owed.minus(payout.amount) else {
        return Err(DatabaseError::corrupt("postings", "amount", currency));
    };
    if payout.payee == Payee::Operator && left.minor() < 0 {
        return Ok(Err(PaymentRefusal::FeesExceeded(owed)));
    }
    let posted = if is_rehearsal { None } else { Some(payout.write(transaction, act).await?) };
    Ok(Ok(PaidOut { posted, left, was_there: false }))
}

impl Payee {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Provider(_) => "PROVIDER",
            Self::Operator => "FEES",
        }
    }

    fn provider(&self) -> Option<&str> {
        match self {
            Self::Provider(code) => Some(code),
            Self::Operator => None,
        }
    }

    const fn system_account(&self) -> SystemAccount {
        match self {
            Self::Provider(_) => SystemAccount::ProviderPayable,
            Self::Operator => SystemAccount::FeeIncome,
        }
    }

    /// Locks the system account, so that payouts of it take turns, and reads what is owed. `None` if it was never opened.
    async fn owed(
        &self,
        transaction: &Transaction,
        currency: Currency,
    ) -> Result<Option<Money>, DatabaseError> {
        let locked = prepared::<LockSystemAccount>()
            .bind::<Text, _>(self.system_account().as_str())
            .bind::<Text, _>(currency.as_str())
            .optional::<IdRow>(transaction);
        let Some(account) = locked.await? else { return Ok(None) };
        let balance = prepared::<SystemBalance>()
            .bind::<BigInt, _>(account.id)
            .bind::<Nullable<Text>, _>(self.provider())
            .get_result::<IdRow>(transaction);
        Ok(Some(Money::from_minor(balance.await?.id, currency)))
    }
}

impl Payout {
    async fn write(&self, transaction: &Transaction, act: &AuditContext) -> Result<Posted, DatabaseError> {
        let currency = self.amount.currency();
        let posted = prepared::<PostPayout>()
            .bind::<Text, _>(self.payee.kind())
            .bind::<Nullable<Text>, _>(self.payee.provider())
            .bind::<Text, _>(currency.as_str())
            .bind::<BigInt, _>(self.amount.minor())
            .bind::<Text, _>(self.reference.as_str())
            .bind::<Text, _>(act.actor.as_str())
            .bind::<Text, _>(act.reason.as_str())
            .get_result::<PostedEntry>(transaction);
        Ok(posted.await?.into())
    }
}

impl PayoutRow {
    /// The answer to a payout whose reference is in the journal already: a repeat of it, or a conflict.
    fn replay(&self, payout: &Payout, left: Money) -> Result<PaidOut, PaymentRefusal> {
        let is_the_same = self.kind.as_deref() == Some(payout.payee.kind())
            && self.provider_code.as_deref() == payout.payee.provider()
            && self.currency == payout.amount.currency().as_str()
            && self.amount == payout.amount.minor();
        if is_the_same {
            return Ok(PaidOut { posted: Some((self.id, self.posted_at)), left, was_there: true });
        }
        Err(PaymentRefusal::ReferenceTaken { reference: payout.reference.clone(), entry: self.id })
    }
}
