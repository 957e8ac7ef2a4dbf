//! What a request is about: one request at a time waits about the same thing.

use std::fmt;

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text},
};
use ledger::AccountId;
use purchase::PurchaseId;

use super::request::{ApprovalRequest, read};

/// What one request at a time may wait about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestSubject {
    Purchase(PurchaseId),
    /// The payment or correction under this reference.
    Payment(String),
    /// The journal entry that is reversed.
    Entry(i64),
    /// The provider of this code, which is declared anew.
    Provider(String),
}

impl RequestSubject {
    const fn purchase(&self) -> Option<i64> {
        match self {
            Self::Purchase(purchase) => Some(purchase.0),
            Self::Payment(_) | Self::Entry(_) | Self::Provider(_) => None,
        }
    }

    /// As the database names it.
    fn name(&self) -> Option<String> {
        match self {
            Self::Purchase(_) => None,
            Self::Payment(reference) => Some(format!("payment:{reference}")),
            Self::Entry(entry) => Some(format!("entry:{entry}")),
            Self::Provider(code) => Some(format!("provider:{code}")),
        }
    }
}

impl fmt::Display for RequestSubject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Purchase(purchase) => write!(out, "purchase {}", purchase.0),
            Self::Payment(reference) => write!(out, "the payment under {reference}"),
            Self::Entry(entry) => write!(out, "the reversal of entry {entry}"),
            Self::Provider(code) => write!(out, "provider {code}"),
        }
    }
}

struct FindOpenRequest;

impl Statement for FindOpenRequest {
    const SQL: &str = "-- find_open_request
SELECT r.id FROM approval_requests r WHERE (r.open_for = $1 OR r.open_about = $2) AND r.expires_at > clock_timestamp()";
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// The request that waits about this, if there is one.
pub async fn find_request_about(
    database: &Database,
    subject: &RequestSubject,
) -> Result<Option<ApprovalRequest>, DatabaseError> {
    let (purchase, name) = (subject.purchase(), subject.name());
    let found = database.operate(move |transaction| {
        Box::pin(async move {
            let open = prepared::<FindOpenRequest>()
                .bind::<Nullable<BigInt>, _>(purchase)
                .bind::<Nullable<Text>, _>(name);
            match open.optional::<Number>(transaction).await? {
                Some(Number { id }) => read(transaction, id).await,
                None => Ok(None),
            }
        })
    });
    found.await
}

struct FindRequestsOfWallet;

impl Statement for FindRequestsOfWallet {
    const SQL: &str = "-- find_requests_of_wallet
SELECT r.id FROM approval_requests r WHERE r.arguments ? 'wallet' AND (r.arguments ->> 'wallet')::bigint = $1 ORDER BY r.id";
}

/// The numbers of all requests about a wallet, decided ones too.
pub async fn list_requests_of_wallet(
    database: &Database,
    wallet: AccountId,
) -> Result<Vec<i64>, DatabaseError> {
    let found = database.read(move |connection| {
        let requests = prepared::<FindRequestsOfWallet>().bind::<BigInt, _>(wallet.0);
        Box::pin(async move { requests.load::<Number>(connection).await })
    });
    Ok(found.await?.into_iter().map(|row| row.id).collect())
}
