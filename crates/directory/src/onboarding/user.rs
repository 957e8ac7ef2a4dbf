//! Users: the people in whose name an organisation's clients act.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Transaction};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use crate::{
    AuditContext, AuditEntry, Role, Status, append,
    schema::{
        token_families,
        users::{
            created_at, email, full_name, id, organisation_id, password_hash, phone_number, role, status,
            table, username,
        },
    },
    words::Word,
};

/// A user to be created.
#[derive(Debug, Clone)]
pub struct NewUser {
    pub organisation_id: i64,
    /// Unique within the organisation.
    pub username: String,
    /// An argon2id hash, as a PHC string.
    pub password_hash: String,
    pub full_name: String,
    /// E.164 digits.
    pub phone_number: Option<String>,
    pub email: Option<String>,
    pub role: Role,
}

/// The parts of a user that may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    pub id: i64,
    pub organisation_id: i64,
    pub username: String,
    pub full_name: String,
    pub phone_number: Option<String>,
    pub email: Option<String>,
    pub role: Role,
    pub status: Status,
    pub created_at: DateTime<Utc>,
}

#[derive(diesel::Queryable)]
struct Row {
    id: i64,
    organisation_id: i64,
    username: String,
    full_name: String,
    phone_number: Option<String>,
    email: Option<String>,
    role: String,
    status: String,
    created_at: DateTime<Utc>,
}

const COLUMNS: (id, organisation_id, username, full_name, phone_number, email, role, status, created_at) =
    (id, organisation_id, username, full_name, phone_number, email, role, status, created_at);

/// Creates a user, and returns its id.
///
/// # Errors
/// [`DatabaseError::Duplicate`] if the organisation has a user of that name.
pub async fn create_user(database: &Database, new: NewUser, act: AuditContext) -> Result<i64, DatabaseError> {
    database.operate(move |transaction| Box::pin(async move { insert(transaction, &new, &act).await })).await
}

/// An organisation's user of this name.
pub async fn find_user(
    database: &Database,
    organisation: i64,
    by_name: String,
) -> Result<Option<UserRecord>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let rows = table.filter(organisation_id.eq(organisation)).filter(username.eq(by_name));
            rows.select(COLUMNS).optional::<Row>(connection).await
        })
    });
    found.await?.map(UserRecord::try_from).transpose()
}

/// The users of an organisation, by name.
pub async fn list_users(database: &Database, organisation: i64) -> Result<Vec<UserRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows = table.filter(organisation_id.eq(organisation)).order(username);
            rows.select(COLUMNS).load::<Row>(connection).await
        })
    });
    listed.await?.into_iter().map(UserRecord::try_from).collect()
}

/// Gives a user another role. Requests in progress end under the old role. The next request has the new one.
pub async fn set_role(
    database: &Database,
    user: i64,
    new_role: Role,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let updated = diesel::update(table.find(user))
                .set(role.eq(new_role.code()))
                .returning(organisation_id)
                .optional(transaction);
            let organisation = updated.await?.ok_or_else(|| absent(user))?;
            let details = json!({ "role": new_role.code() });
            record(transaction, "user.role_set", user, organisation, details, &act).await
        })
    });
    work.await
}

/// Replaces a user's password, and ends every session that was opened with the old one.
pub async fn replace_password(
    database: &Database,
    user: i64,
    new_hash: String,
    at: DateTime<Utc>,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let work = database.operate(move |transaction| {
        Box::pin(async move {
            let updated = diesel::update(table.find(user))
                .set(password_hash.eq(new_hash))
                .returning(organisation_id)
                .optional(transaction);
            let organisation = updated.await?.ok_or_else(|| absent(user))?;
            let ended = diesel::update(token_families::table)
                .filter(token_families::organisation_id.eq(organisation))
                .filter(token_families::user_id.eq(user))
                .filter(token_families::revoked_at.is_null())
                .set((
                    token_families::revoked_at.eq(at),
                    token_families::revoked_because.eq("PASSWORD_REPLACED"),
                ))
                .execute(transaction);
            let details = json!({ "token_families_ended": ended.await? });
            record(transaction, "user.password_replaced", user, organisation, details, &act).await
        })
    });
    work.await
}

async fn insert(transaction: &Transaction, new: &NewUser, act: &AuditContext) -> Result<i64, DatabaseError> {
    let inserted = diesel::insert_into(table)
        .values((
            organisation_id.eq(new.organisation_id),
            username.eq(&new.username),
            password_hash.eq(&new.password_hash),
            full_name.eq(&new.full_name),
            phone_number.eq(&new.phone_number),
            email.eq(&new.email),
            role.eq(new.role.code()),
        ))
        .returning(id)
        .get_result(transaction);
    let user = inserted.await?;
    let details = json!({ "username": new.username, "role": new.role.code() });
    record(transaction, "user.created", user, new.organisation_id, details, act).await?;
    Ok(user)
}

async fn record(
    transaction: &Transaction,
    action: &'static str,
    user: i64,
    organisation: i64,
    details: serde_json::Value,
    act: &AuditContext,
) -> Result<(), DatabaseError> {
    let subject = format!("user:{user}");
    let entry = AuditEntry { act, action, organisation_id: Some(organisation), subject, details };
    append(transaction, entry).await
}

fn absent(user: i64) -> DatabaseError {
    DatabaseError::Absent { what: "user", key: user.to_string() }
}

impl TryFrom<Row> for UserRecord {
    type Error = DatabaseError;

    fn try_from(row: Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            role: Role::read(&row.role, "users", "role", row.id)?,
            status: Status::read(&row.status, "users", "status", row.id)?,
            id: row.id,
            organisation_id: row.organisation_id,
            username: row.username,
            full_name: row.full_name,
            phone_number: row.phone_number,
            email: row.email,
            created_at: row.created_at,
        })
    }
}
