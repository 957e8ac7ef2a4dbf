//! What is stored about one person: all of it as JSON, and its erasure.
//!
//! A person is known by phone numbers and meters. No index has the beneficiary's phone number, because every purchase
//! would pay for it. So both commands read all purchases, page by page.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Jsonb, Nullable, Text, Timestamptz},
};
use directory::{AuditContext, AuditEntry, append};
use purchase::PurchaseId;
use serde_json::{Value, json};

/// A person, by every phone number or meter under which purchases were made.
#[derive(Clone, PartialEq, Eq)]
pub struct Person {
    identifiers: Vec<String>,
}

/// Everything that is stored about a person, except sealed values.
pub struct PersonExport {
    /// An object of lists: the rows of each table, in the names of its columns.
    pub data: Value,
    /// How many purchases are in it.
    pub purchases: usize,
}

/// What was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersonErased {
    /// The person's purchases.
    pub found: usize,
    /// Those of them that had something to be erased.
    pub erased: u64,
}

/// Why nothing was erased.
#[derive(Debug, thiserror::Error)]
pub enum EraseError {
    /// A purchase of the person is open: its message and its retry still need the data.
    #[error("purchase {} of this person is open", .0.0)]
    Open(PurchaseId),
    /// A purchase ended so recently that its `Idempotency-Key` is held, or a message about it may be on its way.
    #[error("purchase {} of this person ended within the last 7 days, at {ended_at}", purchase.0)]
    Recent { purchase: PurchaseId, ended_at: DateTime<Utc> },
    /// An incident needs its evidence until it is decided.
    #[error("purchase {} of this person has an incident without a decision", .0.0)]
    Incident(PurchaseId),
    /// A line of a batch has not ended: its purchase would need the data.
    #[error("batch {0} has a line of this person that has not ended")]
    OpenBatch(i64),
    /// The database failed.
    #[error("it could not be erased")]
    Database(#[from] DatabaseError),
}

/// How many purchases are read at a time.
const PAGE: i64 = 20_000;
/// How many purchases one transaction erases from.
const BATCH: usize = 500;

struct FindOfPerson;

impl Statement for FindOfPerson {
    const SQL: &str = "-- find_of_person
WITH page AS MATERIALIZED (
    SELECT id, subscriber_identifier, beneficiary_phone_number FROM purchases WHERE id > $1 ORDER BY id LIMIT $2
)
SELECT max(id) AS until, coalesce(array_agg(id ORDER BY id) FILTER (
        WHERE subscriber_identifier = ANY ($3 || ARRAY (SELECT pseudonym(i) FROM unnest($3) AS i))
            OR beneficiary_phone_number = ANY ($3)
    ), '{}') AS found
FROM page";
}

#[derive(QueryableByName)]
struct PageRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    until: Option<i64>,
    #[diesel(sql_type = Array<BigInt>)]
    found: Vec<i64>,
}

struct ExportPerson;

impl Statement for ExportPerson {
    const SQL: &str = include_str!("privacy/export_person.sql");
}

#[derive(QueryableByName)]
struct ExportRow {
    #[diesel(sql_type = Jsonb)]
    data: Value,
}

struct FindPseudonym;

impl Statement for FindPseudonym {
    const SQL: &str = "-- find_pseudonym
SELECT pseudonym($1) AS pseudonym";
}

#[derive(QueryableByName)]
struct PseudonymRow {
    #[diesel(sql_type = Text)]
    pseudonym: String,
}

struct FindHindrance;

impl Statement for FindHindrance {
    const SQL: &str = "-- find_hindrance
SELECT p.id, p.ended_at,
    EXISTS (
        SELECT FROM incidents i LEFT JOIN incident_decisions d ON d.incident_id = i.id
        WHERE i.purchase_id = p.id AND d.incident_id IS NULL
    ) AS has_open_incident
FROM purchases p
WHERE p.id = ANY ($1) AND (
    (p.ended_at < now() - interval '7 days') IS NOT TRUE
    OR EXISTS (
        SELECT FROM incidents i LEFT JOIN incident_decisions d ON d.incident_id = i.id
        WHERE i.purchase_id = p.id AND d.incident_id IS NULL
    )
)
ORDER BY p.ended_at DESC NULLS FIRST, p.id LIMIT 1";
}

#[derive(QueryableByName)]
struct HindranceRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Bool)]
    has_open_incident: bool,
}

struct FindOpenBatch;

impl Statement for FindOpenBatch {
    const SQL: &str = "-- find_open_batch_of_person
SELECT batch_id AS id FROM batch_lines
WHERE ended_at IS NULL AND (subscriber_identifier = ANY ($1) OR beneficiary_phone_number = ANY ($1))
LIMIT 1";
}

#[derive(QueryableByName)]
struct BatchRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

struct ErasePerson;

impl Statement for ErasePerson {
    const SQL: &str = "-- erase_person
SELECT erased FROM erase_person($1, $2, $3, $4, $5)";
}

#[derive(QueryableByName)]
struct ErasedRow {
    #[diesel(sql_type = BigInt)]
    erased: i64,
}

impl Person {
    /// The person with these phone numbers and meters, each as an integrator wrote it. A phone number is looked for with
    /// and without its plus.
    pub fn new(identifiers: &[String]) -> Self {
        let mut written: Vec<String> = Vec::new();
        for identifier in identifiers {
            written.push(identifier.clone());
            match identifier.strip_prefix('+') {
                Some(digits) => written.push(digits.to_owned()),
                None if identifier.bytes().all(|byte| byte.is_ascii_digit()) => {
                    written.push(format!("+{identifier}"));
                }
                None => {}
            }
        }
        written.dedup();
        Self { identifiers: written }
    }
}

/// Reads everything that is stored about a person. The audit log keeps that it was read, and names the person by a
/// pseudonym.
///
/// # Errors
/// If the database does not answer.
pub async fn export_person(
    database: &Database,
    person: Person,
    act: AuditContext,
) -> Result<PersonExport, DatabaseError> {
    let ids = purchases_of(database, &person).await?;
    let purchases = ids.len();
    let data = database
        .operate(move |transaction| Box::pin(async move { export(transaction, &person, &ids, &act).await }))
        .await?;
    Ok(PersonExport { data, purchases })
}

async fn export(
    transaction: &Transaction,
    person: &Person,
    ids: &[i64],
    act: &AuditContext,
) -> Result<Value, DatabaseError> {
    let row: ExportRow = prepared::<ExportPerson>()
        .bind::<Array<BigInt>, _>(ids)
        .bind::<Array<Text>, _>(&person.identifiers)
        .get_result(transaction)
        .await?;
    let first = person.identifiers.first().map_or("", String::as_str);
    let PseudonymRow { pseudonym } =
        prepared::<FindPseudonym>().bind::<Text, _>(first).get_result(transaction).await?;
    let line = AuditEntry {
        act,
        action: "person.exported",
        organisation_id: None,
        subject: format!("person:{pseudonym}"),
        details: json!({ "purchases": ids.len() }),
    };
    append(transaction, line).await?;
    Ok(row.data)
}

/// Erases what retention would erase later: personal data and sealed values of the person's purchases, and the person's
/// refused confirms. Amounts, references and states stay.
///
/// # Errors
/// [`EraseError`]. Nothing was erased if a purchase prevents it. If the database fails, the rest is erased by the same
/// call again.
pub async fn erase_person(
    database: &Database,
    person: Person,
    act: AuditContext,
) -> Result<PersonErased, EraseError> {
    let ids = purchases_of(database, &person).await?;
    if let Some(hindrance) = find_hindrance(database, ids.clone()).await? {
        return Err(hindrance.into());
    }
    if let Some(batch) = find_open_batch(database, person.clone()).await? {
        return Err(EraseError::OpenBatch(batch));
    }
    let mut outcome = PersonErased { found: ids.len(), erased: 0 };
    // Without purchases, one call erases the refused confirms.
    let mut batches: Vec<Vec<i64>> = ids.chunks(BATCH).map(<[i64]>::to_vec).collect();
    let last = batches.pop().unwrap_or_default();
    let calls = batches.into_iter().map(|batch| (batch, false)).chain([(last, true)]);
    for (batch, is_last) in calls {
        let (person, act) = (person.clone(), act.clone());
        let erased = database.operate(move |transaction| {
            Box::pin(async move { erase_batch(transaction, &person, &batch, is_last, &act).await })
        });
        outcome.erased = outcome.erased.saturating_add(erased.await?);
    }
    Ok(outcome)
}

async fn erase_batch(
    transaction: &Transaction,
    person: &Person,
    purchases: &[i64],
    is_last: bool,
    act: &AuditContext,
) -> Result<u64, DatabaseError> {
    let row: ErasedRow = prepared::<ErasePerson>()
        .bind::<Array<Text>, _>(&person.identifiers)
        .bind::<Array<BigInt>, _>(purchases)
        .bind::<Bool, _>(is_last)
        .bind::<Text, _>(&act.actor)
        .bind::<Text, _>(&act.reason)
        .get_result(transaction)
        .await?;
    Ok(u64::try_from(row.erased).unwrap_or_default())
}

async fn find_hindrance(database: &Database, ids: Vec<i64>) -> Result<Option<HindranceRow>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let rows: Vec<HindranceRow> =
                prepared::<FindHindrance>().bind::<Array<BigInt>, _>(ids).load(connection).await?;
            Ok(rows.into_iter().next())
        })
    });
    found.await
}

async fn find_open_batch(database: &Database, person: Person) -> Result<Option<i64>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let lines = prepared::<FindOpenBatch>().bind::<Array<Text>, _>(&person.identifiers);
            lines.load::<BatchRow>(connection).await
        })
    });
    Ok(found.await?.into_iter().next().map(|row| row.id))
}

impl From<HindranceRow> for EraseError {
    fn from(row: HindranceRow) -> Self {
        let purchase = PurchaseId(row.id);
        match row.ended_at {
            None => Self::Open(purchase),
            Some(_) if row.has_open_incident => Self::Incident(purchase),
            Some(ended_at) => Self::Recent { purchase, ended_at },
        }
    }
}

/// The numbers of the person's purchases, in ascending order.
async fn purchases_of(database: &Database, person: &Person) -> Result<Vec<i64>, DatabaseError> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let identifiers = person.identifiers.clone();
        let page = database.read(move |connection| {
            Box::pin(async move {
                let page = prepared::<FindOfPerson>()
                    .bind::<BigInt, _>(after)
                    .bind::<BigInt, _>(PAGE)
                    .bind::<Array<Text>, _>(identifiers);
                let page: PageRow = page.get_result(connection).await?;
                Ok(page)
            })
        });
        let page = page.await?;
        found.extend(page.found);
        match page.until {
            Some(until) => after = until,
            None => return Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_number_is_looked_for_with_and_without_its_plus() {
        let person = Person::new(&["+26771234567".into(), "04257670465".into(), "A-17".into()]);
        assert_eq!(
            person.identifiers,
            ["+26771234567", "26771234567", "04257670465", "+04257670465", "A-17"]
        );
    }
}
