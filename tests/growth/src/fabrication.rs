//! Inserts a history by sets, past the triggers, and the indexes afterwards. The standing checks judge the result.

use std::time::Duration;

use bench::{Failure, postgres::connect};
use clock::{Clock, SystemClock};
use local_postgres::LocalDatabase;
use sandbox::Merchant;
use store::SealingKeys;
use tokio_postgres::{Client, types::ToSql};

use crate::history::{History, Past};

/// Purchases of a statement.
const BATCH: u64 = 10_000;
/// Triggers are off. No other session commits in between, so nothing is lost that must not be.
const SESSION: &str = "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '512MB'";
const PREPARE: &str = include_str!("sql/prepare.sql");
const FILL: &str = include_str!("sql/fill.sql");
const WRITE: &str = include_str!("sql/write.sql");
const FINISH: &str = include_str!("sql/finish.sql");
/// Every index that is no constraint. They are made after the rows, which is faster and leaves them dense.
const INDEXES: &str = "
    SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
    WHERE t.relname IN ('purchases', 'attempts', 'provider_replies', 'journal_entries', 'postings', 'outbox')
        AND t.relnamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)";

/// What was made, and how long it took.
pub struct Fabricated {
    pub history: History,
    pub took: Duration,
}

/// Fabricates as many purchases of these organisations, over the year that ended an hour ago.
pub async fn fabricate(
    database: &LocalDatabase,
    merchants: &[Merchant],
    keys: &SealingKeys,
    purchases: u64,
) -> Result<Fabricated, Failure> {
    let began = SystemClock.monotonic();
    let client = connect(database).await?;
    client.batch_execute(SESSION).await?;
    client.batch_execute(PREPARE).await?;
    for (place, merchant) in (0_i32..).zip(merchants) {
        let wallet = merchant.wallets.first().ok_or("the merchant has no wallet")?.0;
        let add = "INSERT INTO merchants SELECT $1, o.id, c.id, u.id, $2, a.id
            FROM organisations o JOIN oauth_clients c ON c.organisation_id = o.id JOIN users u ON u.organisation_id = o.id
            JOIN accounts a ON a.organisation_id = o.id AND a.category = 'COMMISSION' WHERE o.id = $3";
        client.execute(add, &[&place, &wallet, &merchant.organisation.0]).await?;
    }
    let before = client.query_one("SELECT nextval('purchase_ids')", &[]).await?.get(0);
    let history = History { purchases, before };
    let definitions = drop_indexes(&client).await?;
    let mut from = 1;
    while from <= purchases {
        let until = from.saturating_add(BATCH).min(purchases.saturating_add(1));
        write(&client, &history, from..until, keys).await?;
        from = until;
    }
    for definition in definitions {
        client.batch_execute(&definition).await?;
    }
    client
        .execute("SELECT setval('purchase_ids', $1)", &[&before.saturating_add_unsigned(purchases)])
        .await?;
    client.batch_execute(FINISH).await?;
    client.batch_execute("RESET session_replication_role").await?;
    for maintenance in ["VACUUM (ANALYZE)", "CHECKPOINT"] {
        client.batch_execute(maintenance).await?;
    }
    Ok(Fabricated { history, took: SystemClock.monotonic().elapsed_since(began) })
}

async fn drop_indexes(client: &Client) -> Result<Vec<String>, Failure> {
    let mut definitions = Vec::new();
    for row in client.query(INDEXES, &[]).await? {
        let (name, definition): (String, String) = (row.get("name"), row.get("definition"));
        client.batch_execute(&format!("DROP INDEX {name}")).await?;
        definitions.push(definition);
    }
    Ok(definitions)
}

/// Writes a few thousand purchases and everything that belongs to them, in one transaction.
async fn write(
    client: &Client,
    history: &History,
    places: std::ops::Range<u64>,
    keys: &SealingKeys,
) -> Result<(), Failure> {
    let first = i64::try_from(places.start)?;
    let batch = places.map(|place| history.at(place, keys)).collect::<Result<Vec<Past>, _>>()?;
    let count = i64::try_from(history.purchases)?;
    let merchants = column(&batch, |past| i32::try_from(past.merchant).unwrap_or_default());
    let parameters: [&(dyn ToSql + Sync); 13] = [
        &count,
        &first,
        &column(&batch, |past| past.id),
        &merchants,
        &column(&batch, |past| past.product),
        &column(&batch, |past| past.provider),
        &column(&batch, |past| past.subscriber.as_str()),
        &column(&batch, |past| past.net),
        &column(&batch, |past| past.ending.name()),
        &column(&batch, |past| past.reference.as_deref()),
        &column(&batch, |past| past.key.as_deref()),
        &column(&batch, |past| past.token.as_deref()),
        &column(&batch, |past| past.reply.as_slice()),
    ];
    client.batch_execute("BEGIN; TRUNCATE batch").await?;
    client.execute(FILL, &parameters).await?;
    client.batch_execute(WRITE).await?;
    client.batch_execute("COMMIT").await?;
    Ok(())
}

fn column<'a, T>(batch: &'a [Past], of: impl Fn(&'a Past) -> T) -> Vec<T> {
    batch.iter().map(of).collect()
}
