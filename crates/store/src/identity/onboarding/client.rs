//! OAuth clients: the programs that an organisation calls us with.

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel_async::RunQueryDsl;
use serde_json::json;

use super::secret::{self, NewSecret, SecretRecord};
use crate::{
    Store, StoreError,
    identity::{
        Act, AuditEntry, Status, append,
        schema::oauth_clients::{client_id, id, name, organisation_id, status, table},
        words::Word,
    },
    transaction::Transaction,
};

/// A client to be made, with its first secret.
#[derive(Debug, Clone)]
pub struct NewClient {
    pub organisation_id: i64,
    /// The public text that names it: `vg_test_` or `vg_live_` and digits.
    pub client_id: String,
    pub name: String,
    pub secret: NewSecret,
}

/// A client as it is stored, with all the secrets that it ever had, the newest last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    pub id: i64,
    pub organisation_id: i64,
    pub client_id: String,
    pub name: String,
    pub status: Status,
    pub secrets: Vec<SecretRecord>,
}

/// Makes a client, and returns its id and that of its secret.
pub async fn create_client(store: &Store, new: NewClient, act: Act) -> Result<(i64, i64), StoreError> {
    let store = store.clone();
    store
        .clone()
        .on_engine(async move {
            let mut transaction = store.general.begin().await?;
            let outcome = insert(&mut transaction, &new, &act).await;
            transaction.end(outcome).await
        })
        .await
}

/// The client with this public text.
pub async fn find_client(store: &Store, by_client_id: String) -> Result<Option<ClientRecord>, StoreError> {
    let store = store.clone();
    store
        .clone()
        .on_engine(async move {
            let mut connection = store.general.get().await?;
            let row = table
                .filter(client_id.eq(by_client_id))
                .select((id, organisation_id, client_id, name, status))
                .first::<(i64, i64, String, String, String)>(&mut connection);
            let Some((key, organisation, text, its_name, its_status)) = row.await.optional()? else {
                return Ok(None);
            };
            Ok(Some(ClientRecord {
                id: key,
                organisation_id: organisation,
                client_id: text,
                name: its_name,
                status: Status::read(&its_status, "oauth_clients", "status", key)?,
                secrets: secret::list(&mut connection, key).await?,
            }))
        })
        .await
}

async fn insert(transaction: &mut Transaction, new: &NewClient, act: &Act) -> Result<(i64, i64), StoreError> {
    let inserted = diesel::insert_into(table)
        .values((organisation_id.eq(new.organisation_id), client_id.eq(&new.client_id), name.eq(&new.name)))
        .returning(id)
        .get_result(&mut *transaction);
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
