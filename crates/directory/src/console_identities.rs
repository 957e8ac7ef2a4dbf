//! The identities at OpenID providers with which operators sign in to the console. The database says whose each is.

use chrono::{DateTime, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Bool, Nullable, Text, Timestamptz},
};

use super::AuditContext;

/// A person as an OpenID provider knows one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider, as it names itself.
    pub issuer: String,
    /// The person, who has this name there for ever.
    pub subject: String,
}

/// An identity, and the operator who has added it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleIdentity {
    pub identity: Identity,
    /// Who it is, as the database says.
    pub login: String,
    pub added_at: DateTime<Utc>,
}

struct AddConsoleIdentity;

impl Statement for AddConsoleIdentity {
    const SQL: &str = "-- add_console_identity
SELECT is_new FROM add_console_identity($1, $2, $3, $4)";
}

struct RemoveConsoleIdentity;

impl Statement for RemoveConsoleIdentity {
    const SQL: &str = "-- remove_console_identity
SELECT its_login AS login FROM remove_console_identity($1, $2, $3, $4)";
}

struct FindConsoleIdentity;

impl Statement for FindConsoleIdentity {
    const SQL: &str = "-- find_console_identity
SELECT find_console_identity($1, $2) AS login";
}

struct ListConsoleIdentities;

impl Statement for ListConsoleIdentities {
    const SQL: &str = "-- list_console_identities
SELECT issuer, subject, login, added_at FROM console_identities ORDER BY login, issuer, subject";
}

#[derive(QueryableByName)]
struct Added {
    #[diesel(sql_type = Bool)]
    is_new: bool,
}

#[derive(QueryableByName)]
struct Whose {
    #[diesel(sql_type = Nullable<Text>)]
    login: Option<String>,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    issuer: String,
    #[diesel(sql_type = Text)]
    subject: String,
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = Timestamptz)]
    added_at: DateTime<Utc>,
}

/// Adds an identity of the connected operator. Returns whether it is new.
///
/// # Errors
/// What the database refuses.
pub async fn add_console_identity(
    database: &Database,
    identity: Identity,
    act: AuditContext,
) -> Result<bool, DatabaseError> {
    let added = database.operate(move |transaction| {
        Box::pin(async move {
            let statement = prepared::<AddConsoleIdentity>()
                .bind::<Text, _>(identity.issuer)
                .bind::<Text, _>(identity.subject)
                .bind::<Text, _>(act.actor)
                .bind::<Text, _>(act.reason);
            statement.get_result::<Added>(transaction).await
        })
    });
    Ok(added.await?.is_new)
}

/// Removes an identity: one's own, or as an administrator anyone's. Returns whose it was. `None` if there is no such identity
/// that the operator may remove.
///
/// # Errors
/// What the database refuses.
pub async fn remove_console_identity(
    database: &Database,
    identity: Identity,
    act: AuditContext,
) -> Result<Option<String>, DatabaseError> {
    let removed = database.operate(move |transaction| {
        Box::pin(async move {
            let statement = prepared::<RemoveConsoleIdentity>()
                .bind::<Text, _>(identity.issuer)
                .bind::<Text, _>(identity.subject)
                .bind::<Text, _>(act.actor)
                .bind::<Text, _>(act.reason);
            statement.get_result::<Whose>(transaction).await
        })
    });
    Ok(removed.await?.login)
}

/// All identities.
///
/// # Errors
/// What the database refuses.
pub async fn list_console_identities(database: &Database) -> Result<Vec<ConsoleIdentity>, DatabaseError> {
    let rows: Vec<Row> = database
        .read(|connection| Box::pin(async { prepared::<ListConsoleIdentities>().load(connection).await }))
        .await?;
    let listed = rows.into_iter().map(|Row { issuer, subject, login, added_at }| ConsoleIdentity {
        identity: Identity { issuer, subject },
        login,
        added_at,
    });
    Ok(listed.collect())
}

/// Whose an identity is. `None` if no operator has added it. For the console's own login, which reads nothing else.
///
/// # Errors
/// What the database refuses.
pub async fn find_console_identity(
    database: &Database,
    identity: Identity,
) -> Result<Option<String>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let statement = prepared::<FindConsoleIdentity>()
                .bind::<Text, _>(identity.issuer)
                .bind::<Text, _>(identity.subject);
            statement.get_result::<Whose>(connection).await
        })
    });
    Ok(found.await?.login)
}
