//! Login: what is known about the presented credentials, and the family of tokens that a login opens.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Nullable, Text, Timestamptz},
};

use super::{CredentialHash, Environment, NewPair, Role, Status, words::Word};

/// What is known about presented credentials whose client exists. Every other part is `None` if it does not match.
#[derive(Debug, Clone)]
pub struct LoginRecord {
    pub oauth_client_id: i64,
    pub client_status: Status,
    /// The presented secret, if it belongs to the client and is live.
    pub client_secret_id: Option<i64>,
    /// The named organisation, if it is the client's: id, environment, status.
    pub organisation: Option<(i64, Environment, Status)>,
    /// The named user, if the organisation has one of that name.
    pub user: Option<LoginUser>,
}

/// The user that logs in.
#[derive(Debug, Clone)]
pub struct LoginUser {
    pub id: i64,
    /// A PHC string.
    pub password_hash: String,
    pub role: Role,
    pub status: Status,
}

/// A login whose credentials were correct.
#[derive(Debug, Clone)]
pub struct NewFamily {
    pub organisation_id: i64,
    pub oauth_client_id: i64,
    pub user_id: i64,
    pub client_secret_id: i64,
    /// The hash that the password was checked against.
    pub password_hash: String,
    pub at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub first: NewPair,
}

/// What a login opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryableByName)]
pub struct FamilyOpened {
    #[diesel(sql_type = BigInt)]
    pub family_id: i64,
    #[diesel(sql_type = BigInt)]
    pub access_token_id: i64,
}

/// Looks up presented credentials, as of `at`. `None` if there is no such client.
pub async fn find_login(
    database: &Database,
    client_id: String,
    secret: CredentialHash,
    organisation_code: String,
    username: String,
    at: DateTime<Utc>,
) -> Result<Option<LoginRecord>, DatabaseError> {
    let row: Option<Row> = database
        .read(move |connection| {
            Box::pin(async move {
                let row = prepared::<FindLogin>()
                    .bind::<Text, _>(client_id)
                    .bind::<Bytea, _>(secret.0.as_slice())
                    .bind::<Text, _>(organisation_code)
                    .bind::<Text, _>(username)
                    .bind::<Timestamptz, _>(at)
                    .optional(connection);
                row.await
            })
        })
        .await?;
    row.map(LoginRecord::try_from).transpose()
}

/// Opens a family of tokens with its first pair. From then on, a new password or a revoked secret ends the family.
///
/// # Errors
/// [`DatabaseError::Stale`] if something that the login depends on was changed meanwhile: the password was replaced, the
/// secret ended, or the user, the client or the organisation was suspended.
pub async fn open_family(database: &Database, new: NewFamily) -> Result<FamilyOpened, DatabaseError> {
    database
        .operate(move |transaction| {
            Box::pin(async move {
                let opened = prepared::<OpenFamily>()
                    .bind::<BigInt, _>(new.organisation_id)
                    .bind::<BigInt, _>(new.oauth_client_id)
                    .bind::<BigInt, _>(new.user_id)
                    .bind::<BigInt, _>(new.client_secret_id)
                    .bind::<Timestamptz, _>(new.at)
                    .bind::<Timestamptz, _>(new.expires_at)
                    .bind::<Bytea, _>(new.first.access_hash.0.as_slice())
                    .bind::<Timestamptz, _>(new.first.access_expires_at)
                    .bind::<Bytea, _>(new.first.refresh_hash.0.as_slice())
                    .bind::<Timestamptz, _>(new.first.refresh_expires_at)
                    .bind::<Text, _>(new.password_hash)
                    .optional(transaction)
                    .await;
                opened?.ok_or(DatabaseError::Stale { what: "what a login rests on" })
            })
        })
        .await
}

struct FindLogin;

impl Statement for FindLogin {
    const SQL: &str = include_str!("find_login.sql");
}

struct OpenFamily;

impl Statement for OpenFamily {
    const SQL: &str = include_str!("open_family.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    oauth_client_id: i64,
    #[diesel(sql_type = Text)]
    client_status: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    client_secret_id: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    organisation_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    environment: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    organisation_status: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    user_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    password_hash: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    role: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    user_status: Option<String>,
}

impl TryFrom<Row> for LoginRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        let organisation = match (row.organisation_id, row.environment, row.organisation_status) {
            (Some(id), Some(environment), Some(status)) => Some((
                id,
                Environment::read(&environment, "organisations", "environment", id)?,
                Status::read(&status, "organisations", "status", id)?,
            )),
            _ => None,
        };
        let user = match (row.user_id, row.password_hash, row.role, row.user_status) {
            (Some(id), Some(password_hash), Some(role), Some(status)) => Some(LoginUser {
                id,
                password_hash,
                role: Role::read(&role, "users", "role", id)?,
                status: Status::read(&status, "users", "status", id)?,
            }),
            _ => None,
        };
        let id = row.oauth_client_id;
        Ok(Self {
            oauth_client_id: id,
            client_status: Status::read(&row.client_status, "oauth_clients", "status", id)?,
            client_secret_id: row.client_secret_id,
            organisation,
            user,
        })
    }
}
