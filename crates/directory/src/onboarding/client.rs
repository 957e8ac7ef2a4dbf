//! OAuth clients: the programs with which an organisation calls this service.

use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Transaction};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use super::secret::{self, NewSecret, SecretRecord};
use crate::{
    AuditContext, AuditEntry, Status, append,
    schema::oauth_clients::{client_id, created_at, id, name, organisation_id, status, table},
    words::Word,
};

/// A client to be created, with its first secret.
#[derive(Debug, Clone)]
pub struct NewClient {
    pub organisation_id: i64,
    /// Its public identifier: `vg_test_` or `vg_live_` and digits.
    pub client_id: String,
    pub name: String,
    pub secret: NewSecret,
}

/// A client as stored, with all the secrets that it ever had, the newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    pub id: i64,
    pub organisation_id: i64,
    pub client_id: String,
    pub name: String,
    pub status: Status,
    pub created_at: DateTime<Utc>,
    pub secrets: Vec<SecretRecord>,
}

type Row = (i64, i64, String, String, String, DateTime<Utc>);

/// Creates a client, and returns its id and the id of its secret.
pub async fn create_client(
    database: &Database,
    new: NewClient,
    act: AuditContext,
) -> Result<(i64, i64), DatabaseError> {
    database.operate(move |transaction| Box::pin(async move { insert(transaction, &new, &act).await })).await
}

/// The client with this public identifier.
pub async fn find_client(
    database: &Database,
    by_client_id: String,
) -> Result<Option<ClientRecord>, DatabaseError> {
    let found = database.read(move |connection| {
        Box::pin(async move {
            let row = table
                .filter(client_id.eq(by_client_id))
                .select((id, organisation_id, client_id, name, status, created_at))
                .optional::<Row>(connection);
            match row.await? {
                Some(row) => record(connection, row).await.map(Some),
                None => Ok(None),
            }
        })
    });
    found.await
}

/// The clients of an organisation, the oldest first.
pub async fn list_clients(
    database: &Database,
    organisation: i64,
) -> Result<Vec<ClientRecord>, DatabaseError> {
    let listed = database.read(move |connection| {
        Box::pin(async move {
            let rows: Vec<Row> = table
                .filter(organisation_id.eq(organisation))
                .order(id)
                .select((id, organisation_id, client_id, name, status, created_at))
                .load(connection)
                .await?;
            let mut clients = Vec::with_capacity(rows.len());
            for row in rows {
                clients.push(record(connection, row).await?);
            }
            Ok(clients)
        })
    });
    listed.await
}

async fn record(connection: &Connection, row: Row) -> Result<ClientRecord, DatabaseError> {
    let (key, organisation, text, its_name, its_status, its_beginning) = row;
    Ok(ClientRecord {
        id: key,
        organisation_id: organisation,
        client_id: text,
        name: its_name,
        status: Status::read(&its_status, "oauth_clients", "status", key)?,
        created_at: its_beginning,
        secrets: secret::list(connection, key).await?,
    })
}

async fn insert(
    transaction: &Transaction,
    new: &NewClient,
    act: &AuditContext,
) -> Result<(i64, i64), DatabaseError> {
    let inserted = diesel::insert_into(table)
        .values((organisation_id.eq(new.organisation_id), client_id.eq(&new.client_id), name.eq(&new.name)))
        .returning(id)
        .get_result(transaction);
    let client = inserted.await?;
    let entry = AuditEntry {
        act,
        action: "client.created",
        organisation_id: Some(new.organisation_id),
        subject: format!("client:{client}"),
        details: json!({ "client_id": new.client_id, "name": new.name }),
    };
    append(transaction, entry).await?;
    let first = secret::insert(transaction, client, new.organisation_id, &new.secret, act).await?;
    Ok((client, first))
}
