//! Entering the vends of a statement that no wallet has paid for: those that no attempt has asked for, and those of purchases that have
//! failed.

use std::sync::Arc;

use database::{Database, DatabaseError, Run, Statement, Transaction, column, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bytea, Integer, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use reconciliation::{ListedToken, ListedVend};
use serde_json::json;
use store::{Aad, Sealed, SealingKeys, TOKEN_COLUMN as TOKEN_OF_PURCHASE};

use super::standing::{Standing, standings};

/// The place of a sealed token. Its number is that of the unmatched vend.
pub(super) const TOKEN_COLUMN: &str = "unmatched_vends.sealed_token";

/// What was entered of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnteredVends {
    /// The numbers of the new unmatched vends, in the order of the statement.
    pub entered: Vec<i64>,
    /// The numbers of the new incidents, in the order of the statement.
    pub incidents: Vec<i64>,
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

struct EnterLateVend;

impl Statement for EnterLateVend {
    const SQL: &str = "-- enter_late_vend
SELECT incident AS id FROM enter_late_vend($1, $2, $3, $4, $5, $6, $7, $8, $9)";
}

/// Enters what no wallet has paid for among the vends that a statement of this provider lists, with their tokens sealed. A vend that no
/// attempt has asked for becomes an unmatched vend, and all of these have one line in the audit log. A vend of a purchase that has
/// failed becomes an incident, with a line of its own. What was entered before is left as it is, so a statement can be entered again.
pub async fn enter_unmatched_vends(
    database: &Database,
    sealing: Arc<SealingKeys>,
    provider_code: String,
    listed: Vec<ListedVend>,
    act: AuditContext,
) -> Result<EnteredVends, DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let found = standings(transaction, &provider_code, &listed).await?;
            let known = found.iter().filter(|found| matches!(found, Standing::Entered(_))).count();
            let (mut unmatched, mut incidents) = (Vec::new(), Vec::new());
            for (vend, standing) in listed.iter().zip(&found) {
                match standing {
                    Standing::Unknown => unmatched.push(vend),
                    Standing::Late(purchase) => {
                        let tokens =
                            seal(&sealing, vend, Aad { row_id: purchase.0, column: TOKEN_OF_PURCHASE })?;
                        incidents.push(open_incident(transaction, &provider_code, vend, tokens, &act).await?);
                    }
                    Standing::Entered(_)
                    | Standing::OfAnotherProvider { .. }
                    | Standing::Open { .. }
                    | Standing::Paid(_)
                    | Standing::PaidOtherwise(_)
                    | Standing::Incident { .. }
                    | Standing::LateOtherwise(_)
                    | Standing::VendOfAnother { .. } => {}
                }
            }
            if unmatched.is_empty() {
                return Ok(EnteredVends { entered: Vec::new(), incidents, known });
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
            Ok(EnteredVends { entered, incidents, known })
        })
    });
    work.await
}

/// The database checks once more that the purchase has failed and has no incident.
async fn open_incident(
    transaction: &Transaction,
    provider_code: &str,
    vend: &ListedVend,
    tokens: Option<Sealed>,
    act: &AuditContext,
) -> Result<i64, DatabaseError> {
    let (key_id, bytes) = tokens.map(|sealed| (sealed.key_id, sealed.bytes)).unzip();
    let opened: NumberRow = prepared::<EnterLateVend>()
        .bind::<Text, _>(provider_code)
        .bind::<Text, _>(&vend.provider_reference)
        .bind::<Text, _>(&vend.provider_transaction)
        .bind::<Text, _>(vend.net.currency().to_string())
        .bind::<BigInt, _>(vend.net.minor())
        .bind::<Nullable<Integer>, _>(key_id)
        .bind::<Nullable<Bytea>, _>(bytes)
        .bind::<Text, _>(&act.actor)
        .bind::<Text, _>(&act.reason)
        .get_result(transaction)
        .await?;
    Ok(opened.id)
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
        .map(|(vend, number)| seal(sealing, vend, Aad { row_id: *number, column: TOKEN_COLUMN }))
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

fn seal(sealing: &SealingKeys, vend: &ListedVend, place: Aad) -> Result<Option<Sealed>, DatabaseError> {
    let tokens = match &vend.token {
        ListedToken::Tokens(tokens) => Some(sealing.seal(tokens.wire_form().as_bytes(), place)),
        ListedToken::Absent | ListedToken::Digest(_) => None,
    };
    tokens.transpose().map_err(|_no_randomness| DatabaseError::Stale { what: "randomness for a nonce" })
}
