//! Client secrets: replaced while the old ones stay valid for a while, or revoked at once.

use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Transaction};
use diesel::{BoolExpressionMethods, ExpressionMethods, QueryDsl};
use serde_json::json;

use crate::{
    AuditContext, AuditEntry, CredentialHash, append,
    schema::{
        client_secrets::{created_at, expires_at, id, oauth_client_id, revoked_at, secret_hash, table},
        oauth_clients, token_families,
    },
};

/// A secret that is accepted from now on.
#[derive(Debug, Clone)]
pub struct NewSecret {
    pub hash: CredentialHash,
    pub created_at: DateTime<Utc>,
}

/// The parts of a secret that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, diesel::Queryable)]
pub struct SecretRecord {
    pub id: i64,
    pub created_at: DateTime<Utc>,
    pub expires_at: Option<DateTime<Utc>>,
    pub revoked_at: Option<DateTime<Utc>>,
}

/// What a rotation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The new secret.
    pub id: i64,
    /// The old secrets that end with the overlap.
    pub ending: Vec<i64>,
}

/// Gives a client a new secret. Old secrets that would be valid longer end at `old_end_at`. Until then all of them are
/// valid.
pub async fn rotate_secret(
    database: &Database,
    client: i64,
    new: NewSecret,
    old_end_at: DateTime<Utc>,
    act: AuditContext,
) -> Result<Rotated, DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move { rotate(transaction, client, &new, old_end_at, &act).await })
    });
    work.await
}

/// Ends a compromised secret. Every token that was obtained with it ends too.
pub async fn revoke_secret(
    database: &Database,
    secret: i64,
    at: DateTime<Utc>,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    database
        .operate(move |transaction| Box::pin(async move { revoke(transaction, secret, at, &act).await }))
        .await
}

/// All the secrets that a client ever had, the newest last.
pub(super) async fn list(connection: &Connection, client: i64) -> Result<Vec<SecretRecord>, DatabaseError> {
    let rows = table.filter(oauth_client_id.eq(client)).order(id);
    rows.select((id, created_at, expires_at, revoked_at)).load(connection).await
}

pub(super) async fn insert(
    transaction: &Transaction,
    client: i64,
    organisation_id: i64,
    new: &NewSecret,
    act: &AuditContext,
) -> Result<i64, DatabaseError> {
    let inserted = diesel::insert_into(table)
        .values((
            oauth_client_id.eq(client),
            secret_hash.eq(new.hash.0.as_slice()),
            created_at.eq(new.created_at),
        ))
        .returning(id)
        .get_result(transaction);
    let secret = inserted.await?;
    let details = json!({ "secret": secret });
    record(transaction, "client.secret_added", client, organisation_id, details, act).await?;
    Ok(secret)
}

async fn rotate(
    transaction: &Transaction,
    client: i64,
    new: &NewSecret,
    old_end_at: DateTime<Utc>,
    act: &AuditContext,
) -> Result<Rotated, DatabaseError> {
    let ending = outlasting(transaction, client, old_end_at).await?;
    let organisation_id = organisation_of(transaction, client).await?;
    let added = insert(transaction, client, organisation_id, new, act).await?;
    for secret in &ending {
        let ended = diesel::update(table.find(*secret)).set(expires_at.eq(old_end_at));
        ended.execute(transaction).await?;
        let details = json!({ "secret": secret, "expires_at": old_end_at.to_rfc3339() });
        record(transaction, "client.secret_expired", client, organisation_id, details, act).await?;
    }
    Ok(Rotated { id: added, ending })
}

/// The live secrets of a client that would be accepted after `at`. The client is locked, so that of two concurrent
/// rotations the later one sees the secret of the other.
async fn outlasting(
    transaction: &Transaction,
    client: i64,
    at: DateTime<Utc>,
) -> Result<Vec<i64>, DatabaseError> {
    let locked = oauth_clients::table.find(client).select(oauth_clients::id).for_update();
    locked.optional::<i64>(transaction).await?;
    let rows = table
        .filter(oauth_client_id.eq(client))
        .filter(revoked_at.is_null())
        .filter(expires_at.is_null().or(expires_at.gt(at)))
        .order(id)
        .select(id);
    rows.load(transaction).await
}

async fn revoke(
    transaction: &Transaction,
    secret: i64,
    at: DateTime<Utc>,
    act: &AuditContext,
) -> Result<(), DatabaseError> {
    let updated = diesel::update(table.find(secret).filter(revoked_at.is_null()))
        .set(revoked_at.eq(at))
        .returning(oauth_client_id)
        .optional(transaction);
    let client = updated.await?.ok_or_else(|| absent(secret))?;
    let families = diesel::update(token_families::table)
        .filter(token_families::client_secret_id.eq(secret))
        .filter(token_families::revoked_at.is_null())
        .set((token_families::revoked_at.eq(at), token_families::revoked_because.eq("SECRET_REVOKED")))
        .execute(transaction);
    let families = families.await?;
    let organisation_id = organisation_of(transaction, client).await?;
    let details = json!({ "secret": secret, "token_families_ended": families });
    record(transaction, "client.secret_revoked", client, organisation_id, details, act).await
}

async fn record(
    transaction: &Transaction,
    action: &'static str,
    client: i64,
    organisation_id: i64,
    details: serde_json::Value,
    act: &AuditContext,
) -> Result<(), DatabaseError> {
    let (organisation_id, subject) = (Some(organisation_id), format!("client:{client}"));
    append(transaction, AuditEntry { act, action, organisation_id, subject, details }).await
}

async fn organisation_of(transaction: &Transaction, client: i64) -> Result<i64, DatabaseError> {
    let row = oauth_clients::table.find(client).select(oauth_clients::organisation_id);
    let found = row.optional(transaction).await?;
    found.ok_or_else(|| DatabaseError::Absent { what: "client", key: client.to_string() })
}

fn absent(secret: i64) -> DatabaseError {
    DatabaseError::Absent { what: "live client secret", key: secret.to_string() }
}
