//! One of the two systems that are compared: its history, and a server.

use bench::{
    Failure,
    client::address_of,
    shop::{Shop, open_merchant},
    till::Till,
};
use clock::{Clock, SystemClock};
use local_postgres::LocalPostgres;
use sandbox::{Merchant, Pace, Process};
use store::Store;
use tokio::runtime::Runtime;

use crate::{
    fabrication::fabricate,
    history::{History, MERCHANTS},
    proof::prove,
    reports::{carry_forward, strike_midnights},
};

/// An allow-list has no room for more.
pub const METERS: u32 = 900;

/// What docs/operations/INSTALL.md advises, for a machine that has two databases. With the usual 128 MB of buffers the results would show
/// the small cache more than the long history.
const POSTGRES: [&str; 3] = ["shared_buffers=2GB", "max_wal_size=8GB", "checkpoint_timeout=15min"];

/// A system with a history that the checks have found sound.
pub struct Side {
    pub shop: Shop,
    pub server: Process,
    pub merchants: Vec<Merchant>,
    pub history: History,
    /// What was fabricated, for people.
    pub summary: String,
}

impl Side {
    /// Starts it, and fabricates and proves its history.
    pub fn open(
        engine: &Runtime,
        name: &str,
        purchases: u64,
        looks_max: Option<u64>,
    ) -> Result<Self, Failure> {
        let shop = Shop::open_with(&format!("growth-{name}"), Pace::Real, METERS, &POSTGRES)?;
        let (merchants, fabricated, struck, proof) = engine.block_on(async {
            let mut merchants = Vec::new();
            for number in 1..=MERCHANTS {
                merchants.push(open_merchant(&shop.sandbox, &format!("GROWTH{number}")).await?);
            }
            let (store, database) = (shop.sandbox.office().store(), shop.sandbox.database());
            let fabricated = fabricate(database, &merchants, store.sealing(), purchases).await?;
            let began = SystemClock.monotonic();
            strike_midnights(store).await?;
            let struck = SystemClock.monotonic().elapsed_since(began);
            carry_forward(store).await?;
            let proof = prove(store, database, looks_max).await?;
            Ok::<_, Failure>((merchants, fabricated, struck, proof))
        })?;
        let size =
            shop.sandbox.database().run_sql("SELECT pg_database_size(current_database()) / 1000000")?;
        let summary = format!(
            "{purchases} purchases ({size} MB, fabricated in {} s; the trial balances of its midnights were made in {} s; {proof})",
            fabricated.took.as_secs(),
            struck.as_secs()
        );
        println!("The {name} history has {summary}.");
        let server = shop.server("measured")?;
        Ok(Self { shop, server, merchants, history: fabricated.history, summary })
    }

    /// Its Postgres.
    pub fn postgres(&self) -> Result<&LocalPostgres, Failure> {
        Ok(self.shop.sandbox.postgres().ok_or("the sandbox has no Postgres of its own")?)
    }

    /// The operator's store.
    pub const fn store(&self) -> &Store {
        self.shop.sandbox.office().store()
    }

    /// The address of its server.
    pub fn address(&self) -> &str {
        address_of(self.server.url())
    }

    /// An organisation's user, logged in anew, because access tokens expire.
    pub async fn log_in(&self, place: usize) -> Result<Till, Failure> {
        Till::log_in(self.address(), self.merchants.get(place).ok_or("there is no such organisation")?).await
    }

    /// Runs SQL as the superuser.
    pub fn asks(&self, sql: &str) -> Result<String, Failure> {
        Ok(self.shop.sandbox.database().run_sql(sql)?)
    }

    /// Successful purchases of an organisation with a reference of their own, from all over its history.
    pub fn sample(&self, place: usize, count: usize) -> Result<Vec<Known>, Failure> {
        let organisation = self.merchants.get(place).ok_or("there is no such organisation")?.organisation.0;
        let History { before, purchases } = self.history;
        let step = purchases / u64::try_from(count)?;
        let rows = self.asks(&format!(
            "SELECT f.id, f.subscriber_identifier, f.external_reference, to_char(f.created_at, 'YYYY-MM-DD HH24:MI:SS')
             FROM generate_series({before}, {before} + {purchases} - {step}, {step}) AS place,
             LATERAL (SELECT * FROM purchases p WHERE p.id > place AND p.organisation_id = {organisation}
                 AND p.state = 'SUCCESSFUL' AND p.external_reference IS NOT NULL ORDER BY p.id LIMIT 1) AS f"
        ))?;
        rows.lines().map(|row| Known::read(row).ok_or_else(|| format!("no sample: {row}").into())).collect()
    }

    /// Ends it at once, and deletes its database.
    pub fn close(self) -> Result<(), Failure> {
        drop(self.server);
        self.shop.close()
    }
}

/// A purchase of the history.
pub struct Known {
    pub id: String,
    pub subscriber: String,
    pub reference: String,
    /// `YYYY-MM-DD HH:MM:SS`, in UTC.
    pub at: String,
}

impl Known {
    /// The day in UTC, `YYYY-MM-DD`.
    pub fn day(&self) -> &str {
        self.at.split_once(' ').map_or(&self.at, |(day, _time)| day)
    }

    fn read(row: &str) -> Option<Self> {
        let mut fields = row.split('|').map(str::to_owned);
        Some(Self {
            id: fields.next()?,
            subscriber: fields.next()?,
            reference: fields.next()?,
            at: fields.next()?,
        })
    }
}
