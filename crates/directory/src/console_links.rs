//! The links by which operators sign in to the console. What is sealed in one is opened only with the secret in the link.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    ExpressionMethods, QueryableByName,
    sql_types::{Binary, Nullable, Text},
};

use super::{CredentialHash, schema::console_links};

/// A link that was taken: it does not work again.
#[derive(Debug)]
pub struct ConsoleLink {
    /// Who made it, as the database says.
    pub login: String,
    /// What that person sealed.
    pub sealed: Vec<u8>,
}

struct TakeConsoleLink;

impl Statement for TakeConsoleLink {
    const SQL: &str = "-- take_console_link
SELECT login, sealed FROM take_console_link($1)";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Nullable<Text>)]
    login: Option<String>,
    #[diesel(sql_type = Nullable<Binary>)]
    sealed: Option<Vec<u8>>,
}

/// Enters a link of the connected operator. The database says whose it is and until when it is valid.
///
/// # Errors
/// What the database refuses.
pub async fn enter_console_link(
    database: &Database,
    secret: CredentialHash,
    sealed: Vec<u8>,
) -> Result<(), DatabaseError> {
    database
        .operate(move |transaction| {
            Box::pin(async move {
                let entered = diesel::insert_into(console_links::table)
                    .values((
                        console_links::secret_sha256.eq(&secret.0[..]),
                        console_links::sealed.eq(sealed),
                    ))
                    .execute(transaction);
                entered.await.map(drop)
            })
        })
        .await
}

/// Takes a link, once. `None` if there is none with this secret, or if it has expired.
///
/// # Errors
/// What the database refuses.
pub async fn take_console_link(
    database: &Database,
    secret: CredentialHash,
) -> Result<Option<ConsoleLink>, DatabaseError> {
    let taken = database.operate(move |transaction| {
        Box::pin(async move {
            let statement = prepared::<TakeConsoleLink>().bind::<Binary, _>(secret.0.to_vec());
            statement.get_result::<Row>(transaction).await
        })
    });
    let Row { login, sealed } = taken.await?;
    Ok(login.zip(sealed).map(|(login, sealed)| ConsoleLink { login, sealed }))
}
