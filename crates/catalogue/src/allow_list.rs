//! The subscribers for whom an organisation may buy in staging. This is the operator's side of the list: each change
//! writes a line in the audit log. The servers read the list with the catalogue.

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    ExpressionMethods, QueryDsl,
    sql_types::{Array, BigInt, Text},
};
use directory::{AuditContext, AuditEntry, append};
use purchase::{AllowList, OrganisationId};
use serde_json::json;
use vend::SubscriberIdentifier;

use crate::schema::{allowed_subscribers, organisations};

/// Why a list was not extended.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    /// The list would have more subscribers than a server keeps in memory.
    #[error("an organisation's allow-list names at most {max} subscribers", max = AllowList::LENGTH_MAX)]
    Full,
    /// The list is unchanged, or that is unknown.
    #[error("the allow-list could not be changed")]
    Database(#[from] DatabaseError),
}

/// The name of the database constraint for the limit.
const LIMIT: &str = "allowed_subscribers_at_most_1000";

/// Adds subscribers to an organisation's allow-list, and returns how many of them are new. Servers notice within
/// seconds.
///
/// # Errors
/// [`AllowError::Full`], and nothing is changed. [`DatabaseError::Absent`] if there is no such organisation.
pub async fn allow(
    database: &Database,
    organisation: OrganisationId,
    subscribers: Vec<SubscriberIdentifier>,
    act: AuditContext,
) -> Result<usize, AllowError> {
    let added = database
        .operate(move |transaction| Box::pin(lengthen(transaction, organisation, subscribers, act)))
        .await;
    added.map_err(|error| {
        let is_full = matches!(&error, DatabaseError::Rejected { constraint, .. } if constraint == LIMIT);
        if is_full { AllowError::Full } else { AllowError::Database(error) }
    })
}

/// Removes subscribers from an organisation's allow-list, and returns how many of them were on it. Servers notice
/// within seconds.
pub async fn disallow(
    database: &Database,
    organisation: OrganisationId,
    subscribers: Vec<SubscriberIdentifier>,
    act: AuditContext,
) -> Result<usize, DatabaseError> {
    database.operate(move |transaction| Box::pin(shorten(transaction, organisation, subscribers, act))).await
}

/// An organisation's allow-list in order, in any environment.
pub async fn list_allowed(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Vec<SubscriberIdentifier>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let listed: Vec<String> = allowed_subscribers::table
                    .filter(allowed_subscribers::organisation_id.eq(organisation.0))
                    .order(allowed_subscribers::subscriber_identifier)
                    .select(allowed_subscribers::subscriber_identifier)
                    .load(connection)
                    .await?;
                listed.iter().map(|text| read(text)).collect()
            })
        })
        .await
}

async fn lengthen(
    transaction: &Transaction,
    organisation: OrganisationId,
    subscribers: Vec<SubscriberIdentifier>,
    act: AuditContext,
) -> Result<usize, DatabaseError> {
    // Two concurrent additions wait for each other here. Otherwise each would count without the rows of the other.
    let locked = organisations::table.find(organisation.0).select(organisations::id).for_no_key_update();
    if locked.optional::<i64>(transaction).await?.is_none() {
        return Err(DatabaseError::Absent { what: "organisation", key: organisation.0.to_string() });
    }
    let names = names_of(&subscribers);
    let added = prepared::<Allow>().bind::<BigInt, _>(organisation.0).bind::<Array<Text>, _>(&names);
    let added = added.execute(transaction).await?;
    log(transaction, organisation, "allow_list.lengthened", &names, &act).await?;
    Ok(added)
}

async fn shorten(
    transaction: &Transaction,
    organisation: OrganisationId,
    subscribers: Vec<SubscriberIdentifier>,
    act: AuditContext,
) -> Result<usize, DatabaseError> {
    let names = names_of(&subscribers);
    let removed = diesel::delete(allowed_subscribers::table)
        .filter(allowed_subscribers::organisation_id.eq(organisation.0))
        .filter(allowed_subscribers::subscriber_identifier.eq_any(names.iter().copied()));
    let removed = removed.execute(transaction).await?;
    log(transaction, organisation, "allow_list.shortened", &names, &act).await?;
    Ok(removed)
}

fn names_of(subscribers: &[SubscriberIdentifier]) -> Vec<&str> {
    subscribers.iter().map(SubscriberIdentifier::as_str).collect()
}

async fn log(
    transaction: &Transaction,
    organisation: OrganisationId,
    action: &'static str,
    names: &[&str],
    act: &AuditContext,
) -> Result<(), DatabaseError> {
    let entry = AuditEntry {
        act,
        action,
        organisation_id: Some(organisation.0),
        subject: format!("organisation:{}", organisation.0),
        details: json!({ "subscribers": names }),
    };
    append(transaction, entry).await
}

struct Allow;

impl Statement for Allow {
    const SQL: &str = "-- allow_subscribers
INSERT INTO allowed_subscribers (organisation_id, subscriber_identifier)
SELECT DISTINCT $1, subscriber FROM unnest($2) AS subscriber
ON CONFLICT (organisation_id, subscriber_identifier) DO NOTHING";
}

fn read(text: &str) -> Result<SubscriberIdentifier, DatabaseError> {
    SubscriberIdentifier::parse(text)
        .map_err(|_malformed| DatabaseError::corrupt("allowed_subscribers", "subscriber_identifier", text))
}
