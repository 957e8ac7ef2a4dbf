//! An operator's decision about unmatched vends, any number of them in one transaction.

use catalogue::read_currency;
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text},
};
use directory::{AuditContext, AuditEntry, append};
use ledger::{AccountId, SystemAccount};
use money::Money;
use serde_json::json;

use crate::accounts::{Movement, Payment, PaymentRefusal, judge, post};

/// What is done about unmatched vends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VendDecision {
    /// This wallet pays for them: its integrator has sold them.
    Charge(AccountId),
    /// No wallet pays for them. They stay in suspense, and we owe them to the provider.
    Waive,
    /// The provider never vended them, or they were entered by mistake. We do not owe them any more. Also after a waiver.
    Withdraw,
}

/// Why nothing was decided.
#[derive(Debug, thiserror::Error)]
pub enum UnmatchedVendError {
    /// No unmatched vend has that number.
    #[error("there is no unmatched vend {0}")]
    Absent(i64),
    /// It was decided before.
    #[error("{by} decided unmatched vend {id} before")]
    Decided { id: i64, by: String },
    /// They do not add up, because they have several currencies, or more than an amount can be.
    #[error("the vends have no common sum")]
    NoSum,
    /// The wallet cannot be charged.
    #[error(transparent)]
    Refused(#[from] PaymentRefusal),
    /// The database failed.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

struct FindUndecided;

impl Statement for FindUndecided {
    const SQL: &str = "-- find_undecided_vends
SELECT n.id AS number, u.currency, u.net, d.actor, d.entry_id IS NOT NULL AS is_charged,
    EXISTS (SELECT FROM reversals r WHERE r.entry_id = u.entry_id) AS is_withdrawn
FROM unnest($1) AS n (id)
LEFT JOIN unmatched_vends u ON u.id = n.id
LEFT JOIN unmatched_vend_decisions d ON d.unmatched_vend_id = u.id
ORDER BY n.id";
}

#[derive(QueryableByName)]
struct Undecided {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Nullable<Text>)]
    currency: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    net: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    actor: Option<String>,
    #[diesel(sql_type = Bool)]
    is_charged: bool,
    #[diesel(sql_type = Bool)]
    is_withdrawn: bool,
}

struct WithdrawVends;

impl Statement for WithdrawVends {
    const SQL: &str = "-- withdraw_unmatched_vends
SELECT withdraw_unmatched_vends($1, $2, $3)";
}

struct InsertDecisions;

impl Statement for InsertDecisions {
    const SQL: &str = "-- insert_unmatched_vend_decisions
INSERT INTO unmatched_vend_decisions (unmatched_vend_id, entry_id, actor, reason)
SELECT id, $2, $3, $4 FROM unnest($1) AS u (id)";
}

/// Decides all these unmatched vends, or none of them. A charge is one correction against suspense, of their sum.
pub async fn decide_unmatched_vends(
    database: &Database,
    mut ids: Vec<i64>,
    decision: VendDecision,
    act: AuditContext,
) -> Result<(), UnmatchedVendError> {
    ids.sort_unstable();
    ids.dedup();
    let work = database
        .operate(move |transaction| Box::pin(async move { decide(transaction, &ids, decision, &act).await }));
    work.await?
}

/// What [`decide_unmatched_vends`] would charge, checked as it does. Nothing is decided.
pub async fn rehearse_unmatched_vends(
    database: &Database,
    mut ids: Vec<i64>,
    decision: VendDecision,
) -> Result<Money, UnmatchedVendError> {
    ids.sort_unstable();
    ids.dedup();
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let sum = match sum_for(transaction, &ids, decision).await? {
                Ok(sum) => sum,
                Err(refusal) => return Ok(Err(refusal)),
            };
            match decision {
                VendDecision::Waive | VendDecision::Withdraw => Ok(Ok(sum)),
                VendDecision::Charge(wallet) => Ok(judge(transaction, &charge(wallet, sum))
                    .await?
                    .map(|_foreseen| sum)
                    .map_err(Into::into)),
            }
        })
    });
    work.await?
}

/// The sum of these vends, none of which is decided.
pub(crate) async fn undecided_sum(
    transaction: &Transaction,
    ids: &[i64],
) -> Result<Result<Money, UnmatchedVendError>, DatabaseError> {
    // Whatever is not withdrawn needs vends without a decision.
    sum_for(transaction, ids, VendDecision::Waive).await
}

/// The sum of these vends, about each of which this can be decided.
async fn sum_for(
    transaction: &Transaction,
    ids: &[i64],
    decision: VendDecision,
) -> Result<Result<Money, UnmatchedVendError>, DatabaseError> {
    let rows: Vec<Undecided> =
        prepared::<FindUndecided>().bind::<Array<BigInt>, _>(ids).load(transaction).await?;
    sum(&rows, decision == VendDecision::Withdraw)
}

fn charge(wallet: AccountId, amount: Money) -> Payment {
    Payment { wallet, movement: Movement::AdjustDown(SystemAccount::Suspense), amount, reference: None }
}

/// A refusal has written nothing.
async fn decide(
    transaction: &Transaction,
    ids: &[i64],
    decision: VendDecision,
    act: &AuditContext,
) -> Result<Result<(), UnmatchedVendError>, DatabaseError> {
    let sum = match sum_for(transaction, ids, decision).await? {
        Ok(sum) => sum,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let entry = match decision {
        VendDecision::Waive => None,
        // The database writes the decisions, the entries and the lines of the audit log.
        VendDecision::Withdraw => {
            let withdraw = prepared::<WithdrawVends>()
                .bind::<Array<BigInt>, _>(ids)
                .bind::<Text, _>(&act.actor)
                .bind::<Text, _>(&act.reason);
            withdraw.execute(transaction).await?;
            return Ok(Ok(()));
        }
        VendDecision::Charge(wallet) => match post(transaction, &charge(wallet, sum), act).await? {
            Ok(paid) => Some(paid.entry),
            Err(refusal) => return Ok(Err(refusal.into())),
        },
    };
    prepared::<InsertDecisions>()
        .bind::<Array<BigInt>, _>(ids)
        .bind::<Nullable<BigInt>, _>(entry)
        .bind::<Text, _>(&act.actor)
        .bind::<Text, _>(&act.reason)
        .execute(transaction)
        .await?;
    for id in ids {
        let line = AuditEntry {
            act,
            action: if entry.is_some() { "unmatched_vend.charged" } else { "unmatched_vend.waived" },
            organisation_id: None,
            subject: format!("unmatched_vend:{id}"),
            details: json!({ "entry": entry }),
        };
        append(transaction, line).await?;
    }
    Ok(Ok(()))
}

fn sum(rows: &[Undecided], is_withdrawal: bool) -> Result<Result<Money, UnmatchedVendError>, DatabaseError> {
    let mut sum: Option<Money> = None;
    for row in rows {
        let (Some(currency), Some(net)) = (row.currency.as_deref(), row.net) else {
            return Ok(Err(UnmatchedVendError::Absent(row.number)));
        };
        let stands = !is_withdrawal || row.is_charged || row.is_withdrawn;
        if let Some(by) = row.actor.as_ref().filter(|_by| stands) {
            return Ok(Err(UnmatchedVendError::Decided { id: row.number, by: by.clone() }));
        }
        let net = Money::from_minor(net, read_currency("unmatched_vends", row.number, currency)?);
        let Ok(added) = sum.map_or(Ok(net), |sum| sum.plus(net)) else {
            return Ok(Err(UnmatchedVendError::NoSum));
        };
        sum = Some(added);
    }
    Ok(sum.ok_or(UnmatchedVendError::NoSum))
}
