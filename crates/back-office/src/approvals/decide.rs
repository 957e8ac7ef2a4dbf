//! A request is turned down, or taken back.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Text};

struct Reject;

impl Statement for Reject {
    const SQL: &str = "-- reject_request\nSELECT reject_request($1, $2)";
}

/// Turns a request down. Who made it may take it back.
pub async fn reject_request(database: &Database, id: i64, reason: String) -> Result<(), DatabaseError> {
    let rejected = database.operate(move |transaction| {
        Box::pin(async move {
            let reject = prepared::<Reject>().bind::<BigInt, _>(id).bind::<Text, _>(reason);
            reject.execute(transaction).await.map(drop)
        })
    });
    rejected.await
}
