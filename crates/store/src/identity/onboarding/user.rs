//! Users: in whose name an organisation's clients act.

use diesel::ExpressionMethods;
use diesel_async::RunQueryDsl;
use serde_json::json;

use crate::{
    Store, StoreError,
    identity::{
        Act, AuditEntry, Role, append,
        schema::users::{
            email, full_name, id, organisation_id, password_hash, phone_number, role, table, username,
        },
    },
    transaction::Transaction,
};

/// A user to be made.
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

/// Makes a user, and returns its id.
///
/// # Errors
/// [`StoreError::Duplicate`] when the organisation has a user of that name.
pub async fn create_user(store: &Store, new: NewUser, act: Act) -> Result<i64, StoreError> {
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

async fn insert(transaction: &mut Transaction, new: &NewUser, act: &Act) -> Result<i64, StoreError> {
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
        .get_result(&mut *transaction);
    let user = inserted.await?;
    let entry = AuditEntry {
        act,
        action: "user.created",
        organisation_id: Some(new.organisation_id),
        subject: format!("user:{user}"),
        details: json!({ "username": new.username, "role": new.role.code() }),
    };
    append(transaction, entry).await?;
    Ok(user)
}
