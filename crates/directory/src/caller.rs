//! The caller behind an access token.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Nullable, Text, Timestamptz},
};

use super::{CredentialHash, Environment, Role, Status, words::Word};

/// The identity behind an access token, whether or not the token is still valid.
#[derive(Debug, Clone)]
pub struct CallerRecord {
    pub access_token_id: i64,
    pub family_id: i64,
    pub expires_at: DateTime<Utc>,
    pub revoked_at: Option<DateTime<Utc>>,
    pub oauth_client_id: i64,
    pub client_status: Status,
    pub organisation_id: i64,
    pub organisation_code: String,
    pub organisation_name: String,
    pub environment: Environment,
    pub organisation_status: Status,
    pub user_id: i64,
    pub username: String,
    pub full_name: String,
    pub phone_number: Option<String>,
    pub email: Option<String>,
    pub role: Role,
    pub user_status: Status,
}

/// Looks up an access token. `None` if there is no such token.
pub async fn find_caller(
    database: &Database,
    access_token: CredentialHash,
) -> Result<Option<CallerRecord>, DatabaseError> {
    let row: Option<Row> = database
        .read(move |connection| {
            Box::pin(async move {
                let row = prepared::<FindCaller>().bind::<Bytea, _>(access_token.0.as_slice());
                row.optional(connection).await
            })
        })
        .await?;
    row.map(CallerRecord::try_from).transpose()
}

struct FindCaller;

impl Statement for FindCaller {
    const SQL: &str = include_str!("find_caller.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    access_token_id: i64,
    #[diesel(sql_type = Timestamptz)]
    expires_at: DateTime<Utc>,
    #[diesel(sql_type = BigInt)]
    family_id: i64,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    revoked_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = BigInt)]
    oauth_client_id: i64,
    #[diesel(sql_type = Text)]
    client_status: String,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = Text)]
    organisation_code: String,
    #[diesel(sql_type = Text)]
    organisation_name: String,
    #[diesel(sql_type = Text)]
    environment: String,
    #[diesel(sql_type = Text)]
    organisation_status: String,
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = Text)]
    username: String,
    #[diesel(sql_type = Text)]
    full_name: String,
    #[diesel(sql_type = Nullable<Text>)]
    phone_number: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    email: Option<String>,
    #[diesel(sql_type = Text)]
    role: String,
    #[diesel(sql_type = Text)]
    user_status: String,
}

impl TryFrom<Row> for CallerRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let (client, organisation, user) = (row.oauth_client_id, row.organisation_id, row.user_id);
        Ok(Self {
            access_token_id: row.access_token_id,
            family_id: row.family_id,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            oauth_client_id: client,
            client_status: Status::read(&row.client_status, "oauth_clients", "status", client)?,
            organisation_id: organisation,
            organisation_code: row.organisation_code,
            organisation_name: row.organisation_name,
            environment: Environment::read(&row.environment, "organisations", "environment", organisation)?,
            organisation_status: Status::read(
                &row.organisation_status,
                "organisations",
                "status",
                organisation,
            )?,
            user_id: user,
            username: row.username,
            full_name: row.full_name,
            phone_number: row.phone_number,
            email: row.email,
            role: Role::read(&row.role, "users", "role", user)?,
            user_status: Status::read(&row.user_status, "users", "status", user)?,
        })
    }
}
