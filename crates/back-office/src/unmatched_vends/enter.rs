//! Entering the vends of a statement that no attempt has asked for.

use std::sync::Arc;

use database::{Database, DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bytea, Integer, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use reconciliation::{Found, ListedToken, ListedVend, find_booked};
use serde_json::json;
use store::{Aad, Sealed, SealingKeys};

/// The place of a sealed token. Its number is that of the unmatched vend.
pub(super) const TOKEN_COLUMN: &str = "unmatched_vends.sealed_token";

/// What was entered of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnteredVends {
    /// The numbers of the new unmatched vends, in the order of the statement.
    pub entered: Vec<i64>,
    /// How many of its vends were entered before.
    pub known: usize,
}

struct TakeNumbers;

impl Statement for TakeNumbers {
    const SQL: &str = "-- take_unmatched_vend_numbers
SELECT nextval('unmatched_vend_ids') AS id FROM generate_series(1, $1)";
}

#[derive(QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

struct InsertUnmatchedVends;

impl Statement for InsertUnmatchedVends {
    const SQL: &str = "-- insert_unmatched_vends
INSERT INTO unmatched_vends (provider_code, id, provider_reference, provider_transaction, vended_at, product,
    subscriber_identifier, currency, net, token_key_id, sealed_token)
SELECT $1, u.* FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS u";
}

/// Enters the unmatched vends among those that a statement of this provider lists, with their tokens sealed, and one line in
/// the audit log. What was entered before is left as it is, so a statement can be entered again.
pub async fn enter_unmatched_vends(
    database: &Database,
    sealing: Arc<SealingKeys>,
    provider_code: String,
    listed: Vec<ListedVend>,
    act: AuditContext,
) -> Result<EnteredVends, DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let all: Vec<&ListedVend> = listed.iter().collect();
            let found = find_booked(transaction, &provider_code, &all).await?;
            let known = found.iter().filter(|found| matches!(found, Found::Entered(_))).count();
            let pairs = listed.iter().zip(&found);
            let unmatched: Vec<&ListedVend> =
                pairs.filter_map(|(vend, found)| matches!(found, Found::Nothing).then_some(vend)).collect();
            if unmatched.is_empty() {
                return Ok(EnteredVends { entered: Vec::new(), known });
            }
            let entered = insert(transaction, &sealing, &provider_code, &unmatched).await?;
            let entry = AuditEntry {
                act: &act,
                action: "unmatched_vends.entered",
                organisation_id: None,
                subject: format!("provider:{provider_code}"),
                details: json!({ "listed": listed.len(), "entered": entered, "known": known }),
            };
            append(transaction, entry).await?;
            Ok(EnteredVends { entered, known })
        })
    });
    work.await
}

async fn insert(
    transaction: &Transaction,
    sealing: &SealingKeys,
    provider_code: &str,
    vends: &[&ListedVend],
) -> Result<Vec<i64>, DatabaseError> {
    let count = i64::try_from(vends.len()).unwrap_or(i64::MAX);
    let numbers: Vec<NumberRow> =
        prepared::<TakeNumbers>().bind::<BigInt, _>(count).load(transaction).await?;
    let numbers: Vec<i64> = numbers.iter().map(|row| row.id).collect();
    let tokens: Vec<Option<Sealed>> = vends
        .iter()
        .zip(&numbers)
        .map(|(vend, number)| seal(sealing, vend, *number))
        .collect::<Result<_, _>>()?;
    prepared::<InsertUnmatchedVends>()
        .bind::<Text, _>(provider_code)
        .bind::<Array<BigInt>, _>(&numbers)
        .bind::<Array<Text>, _>(column(vends, |vend| vend.provider_reference.as_str()))
        .bind::<Array<Text>, _>(column(vends, |vend| vend.provider_transaction.as_str()))
        .bind::<Array<Timestamptz>, _>(column(vends, |vend| vend.vended_at))
        .bind::<Array<Text>, _>(column(vends, |vend| vend.product.as_str()))
        .bind::<Array<Text>, _>(column(vends, |vend| vend.subscriber_identifier.as_str()))
        .bind::<Array<Text>, _>(column(vends, |vend| vend.net.currency().to_string()))
        .bind::<Array<BigInt>, _>(column(vends, |vend| vend.net.minor()))
        .bind::<Array<Nullable<Integer>>, _>(column(&tokens, |token| {
            token.as_ref().map(|token| token.key_id)
        }))
        .bind::<Array<Nullable<Bytea>>, _>(column(&tokens, |token| {
            token.as_ref().map(|token| token.bytes.as_slice())
        }))
        .execute(transaction)
        .await?;
    Ok(numbers)
}

fn seal(sealing: &SealingKeys, vend: &ListedVend, number: i64) -> Result<Option<Sealed>, DatabaseError> {
    let place = Aad { row_id: number, column: TOKEN_COLUMN };
    let tokens = match &vend.token {
        ListedToken::Tokens(tokens) => Some(sealing.seal(tokens.wire_form().as_bytes(), place)),
        ListedToken::Absent | ListedToken::Digest(_) => None,
    };
    tokens.transpose().map_err(|_no_randomness| DatabaseError::Stale { what: "randomness for a nonce" })
}
