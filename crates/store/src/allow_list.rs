//! For whom an organisation may buy in staging: the operator's side of the list, each change with its line in the
//! audit log. The servers read it with the catalogue.

use diesel::sql_types::{Array, BigInt, Text};
use diesel_async::RunQueryDsl;
use purchase::{AllowList, OrganisationId};
use serde_json::json;
use vend::SubscriberIdentifier;

use crate::identity::{Act, AuditEntry, append};
use crate::statement::{Statement, prepared};
use crate::transaction::Transaction;
use crate::{Store, StoreError};

/// Why a list was not lengthened.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    /// It would name more than every server is willing to keep in memory.
    #[error("an organisation's allow-list names at most {max} subscribers", max = AllowList::LENGTH_MAX)]
    Full,
    /// The list is as it was, or nobody knows.
    #[error("the allow-list could not be changed")]
    Store(#[from] StoreError),
}

/// What the database calls its limit.
const LIMIT: &str = "allowed_subscribers_at_most_1000";

impl Store {
    /// Lets an organisation buy for these too, and says how many of them are new. Servers notice within seconds.
    ///
    /// # Errors
    /// [`AllowError::Full`], and nothing is changed; [`StoreError::Absent`] when there is no such organisation.
    pub async fn allow(
        &self,
        organisation: OrganisationId,
        subscribers: Vec<SubscriberIdentifier>,
        act: Act,
    ) -> Result<usize, AllowError> {
        let added = self
            .operate(move |transaction| Box::pin(lengthen(transaction, organisation, subscribers, act)))
            .await;
        added.map_err(|error| {
            let is_full = matches!(&error, StoreError::Rejected { constraint, .. } if constraint == LIMIT);
            if is_full { AllowError::Full } else { AllowError::Store(error) }
        })
    }

    /// Takes these off an organisation's list, and says how many of them were on it. Servers notice within seconds.
    pub async fn disallow(
        &self,
        organisation: OrganisationId,
        subscribers: Vec<SubscriberIdentifier>,
        act: Act,
    ) -> Result<usize, StoreError> {
        self.operate(move |transaction| Box::pin(shorten(transaction, organisation, subscribers, act))).await
    }

    /// An organisation's list in order, whatever its environment.
    pub async fn list_allowed(
        &self,
        organisation: OrganisationId,
    ) -> Result<Vec<SubscriberIdentifier>, StoreError> {
        self.read(move |connection| {
            Box::pin(async move {
                let listed = prepared::<ListAllowed>().bind::<BigInt, _>(organisation.0);
                let rows: Vec<AllowedRow> = listed.load(connection).await?;
                rows.into_iter().map(AllowedRow::read).collect()
            })
        })
        .await
    }
}

async fn lengthen(
    transaction: &mut Transaction,
    organisation: OrganisationId,
    subscribers: Vec<SubscriberIdentifier>,
    act: Act,
) -> Result<usize, StoreError> {
    // Two who add at once wait for each other here, or each would count without the other's.
    let locked = prepared::<LockOrganisation>().bind::<BigInt, _>(organisation.0);
    if locked.execute(&mut **transaction).await? == 0 {
        return Err(StoreError::Absent { what: "organisation", key: organisation.0.to_string() });
    }
    let names = names_of(&subscribers);
    let added = prepared::<Allow>().bind::<BigInt, _>(organisation.0).bind::<Array<Text>, _>(&names);
    let added = added.execute(&mut **transaction).await?;
    log(transaction, organisation, "allow_list.lengthened", &names, &act).await?;
    Ok(added)
}

async fn shorten(
    transaction: &mut Transaction,
    organisation: OrganisationId,
    subscribers: Vec<SubscriberIdentifier>,
    act: Act,
) -> Result<usize, StoreError> {
    let names = names_of(&subscribers);
    let removed = prepared::<Disallow>().bind::<BigInt, _>(organisation.0).bind::<Array<Text>, _>(&names);
    let removed = removed.execute(&mut **transaction).await?;
    log(transaction, organisation, "allow_list.shortened", &names, &act).await?;
    Ok(removed)
}

fn names_of(subscribers: &[SubscriberIdentifier]) -> Vec<&str> {
    subscribers.iter().map(SubscriberIdentifier::as_str).collect()
}

async fn log(
    transaction: &mut Transaction,
    organisation: OrganisationId,
    action: &'static str,
    names: &[&str],
    act: &Act,
) -> Result<(), StoreError> {
    let entry = AuditEntry {
        act,
        action,
        organisation_id: Some(organisation.0),
        subject: format!("organisation:{}", organisation.0),
        details: json!({ "subscribers": names }),
    };
    append(transaction, entry).await
}

struct LockOrganisation;

impl Statement for LockOrganisation {
    const SQL: &str = "-- lock_organisation
SELECT id FROM organisations WHERE id = $1 FOR NO KEY UPDATE";
}

struct Allow;

impl Statement for Allow {
    const SQL: &str = "-- allow_subscribers
INSERT INTO allowed_subscribers (organisation_id, subscriber_identifier)
SELECT DISTINCT $1, subscriber FROM unnest($2) AS subscriber
ON CONFLICT (organisation_id, subscriber_identifier) DO NOTHING";
}

struct Disallow;

impl Statement for Disallow {
    const SQL: &str = "-- disallow_subscribers
DELETE FROM allowed_subscribers WHERE organisation_id = $1 AND subscriber_identifier = ANY ($2)";
}

struct ListAllowed;

impl Statement for ListAllowed {
    const SQL: &str = "-- list_allowed_subscribers
SELECT subscriber_identifier FROM allowed_subscribers WHERE organisation_id = $1 ORDER BY subscriber_identifier";
}

#[derive(diesel::QueryableByName)]
struct AllowedRow {
    #[diesel(sql_type = Text)]
    subscriber_identifier: String,
}

impl AllowedRow {
    fn read(self) -> Result<SubscriberIdentifier, StoreError> {
        let text = self.subscriber_identifier;
        SubscriberIdentifier::parse(&text)
            .map_err(|_malformed| StoreError::corrupt("allowed_subscribers", "subscriber_identifier", &text))
    }
}
