//! The webhook endpoints of organisations, and the sealed keys that sign their messages.

use std::time::Duration;

use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use purchase::{OrganisationId, UserId};
use webhook::{ENDPOINTS_MAX, Endpoint, EndpointChange, EndpointId, EndpointSettings, SigningKeys};

mod row;

use store::{Aad, SealError, Sealed};

use crate::WebhookStore;
use row::EndpointRow;

/// The column for which the keys of an endpoint are sealed.
pub(crate) const KEYS_COLUMN: &str = "webhook_keys";

/// Why an endpoint was not written.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The organisation already has [`ENDPOINTS_MAX`] endpoints.
    #[error("the organisation has as many endpoints as it may have")]
    TooMany,
    /// Its keys could not be sealed.
    #[error("the keys of a webhook endpoint could not be sealed")]
    Sealing(#[from] SealError),
    /// The database refused it or was not available.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// What is read of an endpoint. A deleted one is not found.
macro_rules! select_endpoints {
    ($name:literal, $rest:literal) => {
        concat!(
            "-- ",
            $name,
            "
SELECT e.id, e.url, e.description, e.event_types, e.include_tokens, e.status, e.status_since, e.switched_off_because,
    e.created_at, ARRAY (SELECT k.public_key FROM webhook_keys k
        WHERE k.endpoint_id = e.id AND (k.valid_until IS NULL OR k.valid_until > now()) ORDER BY k.id DESC) AS public_keys
FROM webhook_endpoints e
WHERE e.organisation_id = $1 AND e.status <> 'DELETED' ",
            $rest
        )
    };
}

struct ListEndpoints;

impl Statement for ListEndpoints {
    const SQL: &str = select_endpoints!("list_webhook_endpoints", "ORDER BY e.id");
}

struct GetEndpoint;

impl Statement for GetEndpoint {
    const SQL: &str = select_endpoints!("get_webhook_endpoint", "AND e.id = $2");
}

/// One request at a time adds an endpoint to an organisation, so that the limit holds.
struct LockEndpoints;

impl Statement for LockEndpoints {
    const SQL: &str = "-- lock_webhook_endpoints
SELECT count(*) AS id FROM pg_advisory_xact_lock(hashtextextended('vendgate.webhook_endpoints.' || $1::bigint, 0))";
}

struct InsertEndpoint;

impl Statement for InsertEndpoint {
    const SQL: &str = "-- insert_webhook_endpoint
INSERT INTO webhook_endpoints (organisation_id, changed_by, url, description, event_types, include_tokens)
SELECT $1, $2, $3, $4, $5, $6
WHERE (SELECT count(*) FROM webhook_endpoints WHERE organisation_id = $1 AND status <> 'DELETED') < $7
RETURNING id";
}

/// Nothing is written if nothing would change, so the audit log has no line of it.
struct ChangeEndpoint;

impl Statement for ChangeEndpoint {
    const SQL: &str = "-- change_webhook_endpoint
UPDATE webhook_endpoints e
SET url = n.url, description = n.description, event_types = n.event_types, include_tokens = n.include_tokens, status = n.status,
    status_since = CASE WHEN n.status = e.status THEN e.status_since ELSE now() END,
    switched_off_because = CASE WHEN n.status = e.status THEN e.switched_off_because END, changed_by = $3
FROM (
    SELECT id, coalesce($4, url) AS url, CASE WHEN $5 IS NULL THEN description ELSE nullif($5, '') END AS description,
        coalesce($6, event_types) AS event_types, coalesce($7, include_tokens) AS include_tokens,
        CASE $8 WHEN true THEN 'ACTIVE' WHEN false THEN 'PAUSED' ELSE status END AS status
    FROM webhook_endpoints WHERE organisation_id = $1 AND id = $2 AND status <> 'DELETED'
    FOR UPDATE
) n
WHERE e.id = n.id
    AND (e.url, e.description, e.event_types, e.include_tokens, e.status)
        IS DISTINCT FROM (n.url, n.description, n.event_types, n.include_tokens, n.status)";
}

struct DeleteEndpoint;

impl Statement for DeleteEndpoint {
    const SQL: &str = "-- delete_webhook_endpoint
UPDATE webhook_endpoints SET status = 'DELETED', status_since = now(), switched_off_because = NULL, changed_by = $3
WHERE organisation_id = $1 AND id = $2 AND status <> 'DELETED'";
}

/// Takes the endpoint for the rotation of its keys.
struct TakeEndpoint;

impl Statement for TakeEndpoint {
    const SQL: &str = "-- take_webhook_endpoint
UPDATE webhook_endpoints SET changed_by = $3 WHERE organisation_id = $1 AND id = $2 AND status <> 'DELETED' RETURNING id";
}

/// The current keys end after a time, and older ones now.
struct EndKeys;

impl Statement for EndKeys {
    const SQL: &str = "-- end_webhook_keys
UPDATE webhook_keys SET valid_until = CASE WHEN valid_until IS NULL THEN now() + $2 * interval '1 second' ELSE now() END
WHERE endpoint_id = $1 AND (valid_until IS NULL OR valid_until > now())";
}

struct TakeKeyId;

impl Statement for TakeKeyId {
    const SQL: &str = "-- take_webhook_key_id\nSELECT nextval('webhook_key_ids') AS id";
}

struct InsertKeys;

impl Statement for InsertKeys {
    const SQL: &str = "-- insert_webhook_keys
INSERT INTO webhook_keys (id, endpoint_id, sealed, key_id, public_key) VALUES ($1, $2, $3, $4, $5)";
}

#[derive(diesel::QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Keys that are sealed for their place in the database.
struct SealedKeys {
    id: i64,
    sealed: Sealed,
    public_key: String,
}

impl WebhookStore {
    /// The endpoints of an organisation, the oldest first.
    pub async fn list(&self, organisation: OrganisationId) -> Result<Vec<Endpoint>, DatabaseError> {
        let listed = self.database.read(move |connection| {
            let endpoints = prepared::<ListEndpoints>().bind::<BigInt, _>(organisation.0);
            Box::pin(async move { endpoints.load::<EndpointRow>(connection).await })
        });
        listed.await?.into_iter().map(Endpoint::try_from).collect()
    }

    /// One endpoint, if it is the organisation's.
    pub async fn find(
        &self,
        organisation: OrganisationId,
        id: EndpointId,
    ) -> Result<Option<Endpoint>, DatabaseError> {
        let found = self.database.read(move |connection| {
            let endpoint =
                prepared::<GetEndpoint>().bind::<BigInt, _>(organisation.0).bind::<BigInt, _>(id.0);
            Box::pin(async move { endpoint.load::<EndpointRow>(connection).await })
        });
        found.await?.into_iter().next().map(Endpoint::try_from).transpose()
    }

    /// Adds an endpoint with its first keys. It gets events that happen from now on.
    pub async fn add(
        &self,
        organisation: OrganisationId,
        user: UserId,
        settings: EndpointSettings,
        keys: &SigningKeys,
    ) -> Result<Endpoint, EndpointError> {
        let keys = self.seal_keys(keys).await?;
        let added = self.database.operate(move |transaction| {
            Box::pin(async move {
                let Some(id) = insert(transaction, organisation, user, &settings).await? else {
                    return Ok(None);
                };
                insert_keys(transaction, id, &keys).await?;
                get(transaction, organisation, id).await
            })
        });
        added.await?.map(Endpoint::try_from).transpose()?.ok_or(EndpointError::TooMany)
    }

    /// Changes an endpoint of the organisation. `None` if it has no such endpoint.
    pub async fn change(
        &self,
        organisation: OrganisationId,
        user: UserId,
        id: EndpointId,
        change: EndpointChange,
    ) -> Result<Option<Endpoint>, DatabaseError> {
        let changed = self.database.operate(move |transaction| {
            Box::pin(async move {
                prepared::<ChangeEndpoint>()
                    .bind::<BigInt, _>(organisation.0)
                    .bind::<BigInt, _>(id.0)
                    .bind::<BigInt, _>(user.0)
                    .bind::<Nullable<Text>, _>(change.url)
                    .bind::<Nullable<Text>, _>(change.description)
                    .bind::<Nullable<Array<Text>>, _>(change.event_types)
                    .bind::<Nullable<Bool>, _>(change.include_tokens)
                    .bind::<Nullable<Bool>, _>(change.is_active)
                    .execute(transaction)
                    .await?;
                get(transaction, organisation, id.0).await
            })
        });
        changed.await?.map(Endpoint::try_from).transpose()
    }

    /// Gives an endpoint new keys. Messages are signed with the ones before, too, for `overlap`; still older ones end now.
    pub async fn rotate_keys(
        &self,
        organisation: OrganisationId,
        user: UserId,
        id: EndpointId,
        keys: &SigningKeys,
        overlap: Duration,
    ) -> Result<Option<Endpoint>, EndpointError> {
        let keys = self.seal_keys(keys).await?;
        let rotated = self.database.operate(move |transaction| {
            Box::pin(async move {
                let taken: Vec<IdRow> = prepared::<TakeEndpoint>()
                    .bind::<BigInt, _>(organisation.0)
                    .bind::<BigInt, _>(id.0)
                    .bind::<BigInt, _>(user.0)
                    .load(transaction)
                    .await?;
                if taken.is_empty() {
                    return Ok(None);
                }
                prepared::<EndKeys>()
                    .bind::<BigInt, _>(id.0)
                    .bind::<BigInt, _>(i64::try_from(overlap.as_secs()).unwrap_or(i64::MAX))
                    .execute(transaction)
                    .await?;
                insert_keys(transaction, id.0, &keys).await?;
                get(transaction, organisation, id.0).await
            })
        });
        Ok(rotated.await?.map(Endpoint::try_from).transpose()?)
    }

    /// Deletes an endpoint of the organisation, with its keys. Whether it had such an endpoint.
    pub async fn delete(
        &self,
        organisation: OrganisationId,
        user: UserId,
        id: EndpointId,
    ) -> Result<bool, DatabaseError> {
        let deleted = self.database.operate(move |transaction| {
            Box::pin(async move {
                let deleted = prepared::<DeleteEndpoint>()
                    .bind::<BigInt, _>(organisation.0)
                    .bind::<BigInt, _>(id.0)
                    .bind::<BigInt, _>(user.0)
                    .execute(transaction)
                    .await?;
                let keys = prepared::<EndKeys>().bind::<BigInt, _>(id.0).bind::<BigInt, _>(0);
                if deleted == 1 {
                    keys.execute(transaction).await?;
                }
                Ok(deleted == 1)
            })
        });
        deleted.await
    }

    async fn seal_keys(&self, keys: &SigningKeys) -> Result<SealedKeys, EndpointError> {
        let taken = self.database.operate(|transaction| {
            Box::pin(async move { prepared::<TakeKeyId>().get_result::<IdRow>(transaction).await })
        });
        let id = taken.await?.id;
        let aad = Aad { row_id: id, column: KEYS_COLUMN };
        let sealed = self.sealing.seal(keys.random().as_slice(), aad)?;
        Ok(SealedKeys { id, sealed, public_key: keys.public_key() })
    }
}

async fn insert(
    transaction: &Transaction,
    organisation: OrganisationId,
    user: UserId,
    settings: &EndpointSettings,
) -> Result<Option<i64>, DatabaseError> {
    prepared::<LockEndpoints>().bind::<BigInt, _>(organisation.0).get_result::<IdRow>(transaction).await?;
    let inserted: Vec<IdRow> = prepared::<InsertEndpoint>()
        .bind::<BigInt, _>(organisation.0)
        .bind::<BigInt, _>(user.0)
        .bind::<Text, _>(&settings.url)
        .bind::<Nullable<Text>, _>(settings.description.as_deref())
        .bind::<Array<Text>, _>(&settings.event_types)
        .bind::<Bool, _>(settings.include_tokens)
        .bind::<BigInt, _>(i64::from(ENDPOINTS_MAX))
        .load(transaction)
        .await?;
    Ok(inserted.first().map(|row| row.id))
}

async fn insert_keys(
    transaction: &Transaction,
    endpoint: i64,
    keys: &SealedKeys,
) -> Result<(), DatabaseError> {
    prepared::<InsertKeys>()
        .bind::<BigInt, _>(keys.id)
        .bind::<BigInt, _>(endpoint)
        .bind::<Binary, _>(&keys.sealed.bytes)
        .bind::<Integer, _>(keys.sealed.key_id)
        .bind::<Text, _>(&keys.public_key)
        .execute(transaction)
        .await?;
    Ok(())
}

async fn get(
    transaction: &Transaction,
    organisation: OrganisationId,
    id: i64,
) -> Result<Option<EndpointRow>, DatabaseError> {
    let endpoint = prepared::<GetEndpoint>().bind::<BigInt, _>(organisation.0).bind::<BigInt, _>(id);
    Ok(endpoint.load(transaction).await?.into_iter().next())
}
