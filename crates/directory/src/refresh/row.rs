//! A presented refresh token as stored, read under the lock on its family.

use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Integer, Nullable, Text, Timestamptz},
};

use super::{Exchange, Proof};
use crate::{CredentialHash, Role, Status, words::Word};

/// A refresh token that the client is allowed to present.
pub(super) struct Presented {
    pub(super) family_id: i64,
    pub(super) role: Role,
    pub(super) next_generation: i32,
    pub(super) expires_at: DateTime<Utc>,
    pub(super) family_expires_at: DateTime<Utc>,
    pub(super) revoked_at: Option<DateTime<Utc>>,
    pub(super) client_and_user_are_active: bool,
    pub(super) organisation_is_active: bool,
    pub(super) exchanged_at: Option<DateTime<Utc>>,
    /// The pair that it was exchanged for.
    pub(super) successor: Option<Successor>,
}

#[derive(Clone, Copy)]
pub(super) struct Successor {
    pub(super) refresh_hash: CredentialHash,
    pub(super) access_expires_at: DateTime<Utc>,
    pub(super) exchanged: bool,
}

/// Locks the family of `token`. Returns `false` if there is none.
pub(super) async fn lock_family(
    transaction: &Transaction,
    token: CredentialHash,
) -> Result<bool, DatabaseError> {
    let locked = prepared::<LockFamily>().bind::<Bytea, _>(token.0.as_slice()).execute(transaction);
    Ok(locked.await? == 1)
}

/// Finds the presented token, if the client has proved that it owns the session.
pub(super) async fn find(
    transaction: &Transaction,
    exchange: &Exchange,
) -> Result<Option<Presented>, DatabaseError> {
    let (client_id, secret, access_token) = match &exchange.proof {
        Proof::Secret { client_id, secret_hash } => (Some(client_id), Some(secret_hash), None),
        Proof::AccessToken { client_id, access_hash } => (client_id.as_ref(), None, Some(access_hash)),
    };
    let bytes = |hash: Option<&CredentialHash>| hash.map(|hash| hash.0.to_vec());
    let row = prepared::<FindExchange>()
        .bind::<Bytea, _>(exchange.presented.0.as_slice())
        .bind::<Nullable<Text>, _>(client_id)
        .bind::<Nullable<Bytea>, _>(bytes(secret))
        .bind::<Timestamptz, _>(exchange.at)
        .bind::<Nullable<Bytea>, _>(bytes(access_token))
        .optional::<Row>(transaction);
    row.await?.map(Presented::try_from).transpose()
}

struct LockFamily;

impl Statement for LockFamily {
    const SQL: &str = include_str!("../lock_family.sql");
}

struct FindExchange;

impl Statement for FindExchange {
    const SQL: &str = include_str!("../find_exchange.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Integer)]
    generation: i32,
    #[diesel(sql_type = Timestamptz)]
    expires_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    exchanged_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = BigInt)]
    family_id: i64,
    #[diesel(sql_type = Timestamptz)]
    family_expires_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    revoked_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = Text)]
    organisation_status: String,
    #[diesel(sql_type = BigInt)]
    oauth_client_id: i64,
    #[diesel(sql_type = Text)]
    client_status: String,
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = Text)]
    user_status: String,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Nullable<Bytea>)]
    successor_hash: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    successor_exchanged_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    successor_access_expires_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Presented {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let (client, organisation, user) = (row.oauth_client_id, row.organisation_id, row.user_id);
        let client_status = Status::read(&row.client_status, "oauth_clients", "status", client)?;
        let user_status = Status::read(&row.user_status, "users", "status", user)?;
        let organisation_status =
            Status::read(&row.organisation_status, "organisations", "status", organisation)?;
        let corrupt = |column| DatabaseError::corrupt("refresh_tokens", column, row.family_id);
        let successor = match (row.successor_hash, row.successor_access_expires_at) {
            (Some(hash), Some(access_expires_at)) => {
                let hash = <[u8; 32]>::try_from(hash.as_slice()).ok();
                Some(Successor {
                    refresh_hash: CredentialHash(hash.ok_or_else(|| corrupt("token_hash"))?),
                    access_expires_at,
                    exchanged: row.successor_exchanged_at.is_some(),
                })
            }
            _ => None,
        };
        Ok(Self {
            family_id: row.family_id,
            role: Role::read(&row.role, "users", "role", user)?,
            next_generation: row.generation.checked_add(1).ok_or_else(|| corrupt("generation"))?,
            expires_at: row.expires_at,
            family_expires_at: row.family_expires_at,
            revoked_at: row.revoked_at,
            client_and_user_are_active: client_status == Status::Active && user_status == Status::Active,
            organisation_is_active: organisation_status == Status::Active,
            exchanged_at: row.exchanged_at,
            successor,
        })
    }
}
