//! A request is approved: what was requested is checked as it stands now, and the database carries it out, in one transaction.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use directory::AuditContext;
use ledger::{AccountId, SystemAccount};
use money::Money;
use serde_json::Value;

use super::request::{ActKind, ApprovalRequest, read};
use crate::{
    accounts::{Foreseen, Movement, Payment, PaymentRefusal, ReverseError, judge, reverse},
    posted_entry::Posted,
    unmatched_vends::{UnmatchedVendError, undecided_sum},
};

/// Why nothing was approved, or why that is unknown.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// No request has that number.
    #[error("there is no request {0}")]
    Absent(i64),
    /// It was decided before.
    #[error("{by} has decided request {id} before")]
    Decided { id: i64, by: String },
    /// The payment was posted meanwhile.
    #[error("this payment had already been posted, as journal entry {0}")]
    PostedBefore(i64),
    /// The wallet does not take it any more.
    #[error(transparent)]
    Refused(#[from] PaymentRefusal),
    /// The entry cannot be reversed any more.
    #[error(transparent)]
    Reverse(#[from] ReverseError),
    /// The vends cannot be charged any more.
    #[error(transparent)]
    UnmatchedVend(#[from] UnmatchedVendError),
    /// The vends have another sum than was requested.
    #[error("the vends do not add up to what was requested")]
    OtherSum,
    /// The database failed.
    #[error("it could not be recorded")]
    Database(#[from] DatabaseError),
}

struct Approve;

impl Statement for Approve {
    const SQL: &str = "-- approve_request
SELECT entry_id AS id, entry_posted_at AS posted_at FROM approve_request($1, $2)";
}

#[derive(QueryableByName)]
struct Done {
    #[diesel(sql_type = Nullable<BigInt>)]
    id: Option<i64>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    posted_at: Option<DateTime<Utc>>,
}

/// Approves a request, and does what it says. The decision about a purchase is approved by the store instead.
pub async fn approve_request(
    database: &Database,
    id: i64,
    act: AuditContext,
) -> Result<Option<Posted>, ApproveError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            if let Err(refusal) = check(transaction, id, &act).await? {
                return Ok(Err(refusal));
            }
            let approve = prepared::<Approve>().bind::<BigInt, _>(id).bind::<Text, _>(act.reason);
            let done: Done = approve.get_result(transaction).await?;
            Ok(Ok(done.id.zip(done.posted_at)))
        })
    });
    work.await?
}

/// Checks a request as [`approve_request`] does, and does nothing.
pub async fn rehearse_approval(database: &Database, id: i64, act: AuditContext) -> Result<(), ApproveError> {
    let work =
        database.operate(move |transaction| Box::pin(async move { check(transaction, id, &act).await }));
    work.await?.map(drop)
}

/// Locks what the request is about, and checks it again.
async fn check(
    transaction: &Transaction,
    id: i64,
    act: &AuditContext,
) -> Result<Result<ApprovalRequest, ApproveError>, DatabaseError> {
    let Some(request) = read(transaction, id).await? else { return Ok(Err(ApproveError::Absent(id))) };
    if let Some(decision) = request.decision {
        return Ok(Err(ApproveError::Decided { id, by: decision.by }));
    }
    let refusal = match request.kind {
        ActKind::TopUp | ActKind::Adjust => check_payment(transaction, &request).await?.err(),
        ActKind::Reverse => {
            let entry = integer(&request, "entry")?;
            reverse(transaction, entry, true, act).await?.err().map(ApproveError::from)
        }
        ActKind::Charge => check_charge(transaction, &request).await?.err(),
        ActKind::Resolve | ActKind::Release | ActKind::Declare | ActKind::Threshold => None,
    };
    Ok(refusal.map_or(Ok(request), Err))
}

async fn check_payment(
    transaction: &Transaction,
    request: &ApprovalRequest,
) -> Result<Result<(), ApproveError>, DatabaseError> {
    match judge(transaction, &payment(request)?).await? {
        Ok(Foreseen { posted_before: None, .. }) => Ok(Ok(())),
        Ok(Foreseen { posted_before: Some((entry, _)), .. }) => Ok(Err(ApproveError::PostedBefore(entry))),
        Err(refusal) => Ok(Err(refusal.into())),
    }
}

async fn check_charge(
    transaction: &Transaction,
    request: &ApprovalRequest,
) -> Result<Result<(), ApproveError>, DatabaseError> {
    let vends = request.arguments.get("vends").and_then(Value::as_array).ok_or_else(|| corrupt(request))?;
    let vends: Vec<i64> = vends.iter().filter_map(Value::as_i64).collect();
    let sum = match undecided_sum(transaction, &vends).await? {
        Ok(sum) => sum,
        Err(refusal) => return Ok(Err(refusal.into())),
    };
    let amount = amount(request)?;
    if sum != amount {
        return Ok(Err(ApproveError::OtherSum));
    }
    let movement = Movement::AdjustDown(SystemAccount::Suspense);
    let wallet = AccountId(integer(request, "wallet")?);
    let charge = Payment { wallet, movement, amount, reference: None };
    Ok(judge(transaction, &charge).await?.map(drop).map_err(ApproveError::from))
}

fn payment(request: &ApprovalRequest) -> Result<Payment, DatabaseError> {
    let house = request.arguments.get("against").and_then(Value::as_str).and_then(SystemAccount::parse);
    let house = house.ok_or_else(|| corrupt(request))?;
    let movement = if request.kind == ActKind::TopUp {
        Movement::TopUp
    } else if truth(request, "pays_out")? {
        Movement::PayOut
    } else if truth(request, "takes")? {
        Movement::AdjustDown(house)
    } else {
        Movement::AdjustUp(house)
    };
    let reference = request.arguments.get("reference").and_then(Value::as_str).map(str::to_owned);
    Ok(Payment {
        wallet: AccountId(integer(request, "wallet")?),
        movement,
        amount: amount(request)?,
        reference,
    })
}

fn amount(request: &ApprovalRequest) -> Result<Money, DatabaseError> {
    let code = request.arguments.get("currency").and_then(Value::as_str).ok_or_else(|| corrupt(request))?;
    let currency = read_currency("approval_requests", request.id, code)?;
    Ok(Money::from_minor(integer(request, "minor")?, currency))
}

fn integer(request: &ApprovalRequest, name: &str) -> Result<i64, DatabaseError> {
    request.arguments.get(name).and_then(Value::as_i64).ok_or_else(|| corrupt(request))
}

fn truth(request: &ApprovalRequest, name: &str) -> Result<bool, DatabaseError> {
    request.arguments.get(name).and_then(Value::as_bool).ok_or_else(|| corrupt(request))
}

fn corrupt(request: &ApprovalRequest) -> DatabaseError {
    DatabaseError::corrupt("approval_requests", "arguments", request.id)
}
