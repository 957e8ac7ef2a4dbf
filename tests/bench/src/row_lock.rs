//! The yardstick of the money path: a purchase as a textbook writes it. Two transactions lock the row of the wallet, and
//! each statement is a round trip of its own. Every caller has its own connection, and every statement is prepared.

use std::time::Duration;

use clock::{Clock, SystemClock};
use local_postgres::{LocalDatabase, LocalPostgres};
use tokio_postgres::{Client, Statement};

use crate::{
    Failure,
    measurement::{Measurement, together},
    postgres::{connect, fresh_database},
};

const NET: i64 = 10_000;
const CHARGE: i64 = 150;
const TOTAL: i64 = NET + CHARGE;
/// What each wallet has at first, in the same unit.
const LOADED: i64 = 1_000_000_000_000;
/// Runs before each measurement, so that statements are prepared and pages are in memory.
const WARM_UP: Duration = Duration::from_secs(1);

/// Without the further indexes and the triggers of the service: the yardstick does less than what is compared with it.
const SCHEMA: &str = "
    CREATE TABLE wallets (id bigint PRIMARY KEY, posted bigint NOT NULL, held bigint NOT NULL);
    CREATE TABLE purchases (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        wallet_id bigint NOT NULL,
        state text NOT NULL,
        total bigint NOT NULL,
        created_at timestamptz NOT NULL,
        ended_at timestamptz
    );
    CREATE TABLE postings (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        purchase_id bigint NOT NULL,
        debit text NOT NULL,
        credit text NOT NULL,
        amount bigint NOT NULL
    );";
const LOCK: &str = "SELECT posted, held FROM wallets WHERE id = $1 FOR UPDATE";
const HOLD: &str = "UPDATE wallets SET held = held + $2 WHERE id = $1";
const INSERT: &str = "INSERT INTO purchases (wallet_id, state, total, created_at)
    VALUES ($1, 'IN_FLIGHT', $2, now()) RETURNING id";
const END: &str =
    "UPDATE purchases SET state = 'SUCCESSFUL', ended_at = now() WHERE id = $1 AND state = 'IN_FLIGHT'";
const POST: &str = "INSERT INTO postings (purchase_id, debit, credit, amount)
    VALUES ($1, 'WALLET', 'PROVIDER', $2), ($1, 'WALLET', 'FEES', $3)";
const PAY: &str = "UPDATE wallets SET posted = posted - $2, held = held - $2 WHERE id = $1";

/// So many callers that buy from so many wallets.
#[derive(Clone, Copy, Debug)]
pub struct RowLock {
    pub name: &'static str,
    wallets: i64,
    callers: i64,
}

/// All callers wait for the same row.
pub const ONE_WALLET: RowLock =
    RowLock { name: "row lock in bare SQL, one wallet, 16 callers", wallets: 1, callers: 16 };

/// Two callers seldom wait for the same row.
pub const MANY_WALLETS: RowLock =
    RowLock { name: "row lock in bare SQL, 1,000 wallets, 64 callers", wallets: 1_000, callers: 64 };

impl RowLock {
    /// Buys in a fresh database for a while, and checks the sums.
    pub async fn measure(self, postgres: &LocalPostgres, length: Duration) -> Result<Measurement, Failure> {
        let database = fresh_database(postgres)?;
        database.run_sql(SCHEMA)?;
        let wallets = self.wallets;
        database.run_sql(&format!(
            "INSERT INTO wallets SELECT n, {LOADED}, 0 FROM generate_series(1, {wallets}) n"
        ))?;
        database.run_sql("CHECKPOINT")?;
        let mut callers = Vec::new();
        for number in 0..self.callers {
            // Each caller cycles through all wallets from its own start position.
            let place = number.saturating_mul(wallets).div_euclid(self.callers);
            callers.push(Caller::connect(&database, place, wallets).await?);
        }
        let (callers, warm_up) = together(callers, |caller| caller.buy_for(WARM_UP)).await?;
        let (_callers, measured) = together(callers, |caller| caller.buy_for(length)).await?;
        check(&database, warm_up.count().saturating_add(measured.count()))?;
        Ok(measured)
    }
}

struct Caller {
    client: Client,
    statements: Statements,
    place: i64,
    wallets: i64,
}

struct Statements {
    lock: Statement,
    hold: Statement,
    insert: Statement,
    end: Statement,
    post: Statement,
    pay: Statement,
}

impl Caller {
    async fn connect(database: &LocalDatabase, place: i64, wallets: i64) -> Result<Self, Failure> {
        let client = connect(database).await?;
        let statements = Statements {
            lock: client.prepare(LOCK).await?,
            hold: client.prepare(HOLD).await?,
            insert: client.prepare(INSERT).await?,
            end: client.prepare(END).await?,
            post: client.prepare(POST).await?,
            pay: client.prepare(PAY).await?,
        };
        Ok(Self { client, statements, place, wallets })
    }

    /// Returns the latency of each purchase.
    async fn buy_for(mut self, length: Duration) -> Result<(Self, Vec<Duration>), Failure> {
        let began = SystemClock.monotonic();
        let mut latencies = Vec::new();
        while SystemClock.monotonic().elapsed_since(began) < length {
            let wallet = self.place.rem_euclid(self.wallets).saturating_add(1);
            let started = SystemClock.monotonic();
            let purchase = self.reserve(wallet).await?;
            self.settle(wallet, purchase).await?;
            latencies.push(SystemClock.monotonic().elapsed_since(started));
            self.place = self.place.wrapping_add(1);
        }
        Ok((self, latencies))
    }

    async fn reserve(&mut self, wallet: i64) -> Result<i64, Failure> {
        let Self { client, statements, .. } = self;
        let transaction = client.transaction().await?;
        let locked = transaction.query_one(&statements.lock, &[&wallet]).await?;
        let (posted, held): (i64, i64) = (locked.try_get(0)?, locked.try_get(1)?);
        if posted.saturating_sub(held) < TOTAL {
            return Err("a wallet of the yardstick is empty".into());
        }
        transaction.execute(&statements.hold, &[&wallet, &TOTAL]).await?;
        let inserted = transaction.query_one(&statements.insert, &[&wallet, &TOTAL]).await?;
        let purchase: i64 = inserted.try_get(0)?;
        transaction.commit().await?;
        Ok(purchase)
    }

    async fn settle(&mut self, wallet: i64, purchase: i64) -> Result<(), Failure> {
        let Self { client, statements, .. } = self;
        let transaction = client.transaction().await?;
        transaction.query_one(&statements.lock, &[&wallet]).await?;
        transaction.execute(&statements.end, &[&purchase]).await?;
        transaction.execute(&statements.post, &[&purchase, &NET, &CHARGE]).await?;
        transaction.execute(&statements.pay, &[&wallet, &TOTAL]).await?;
        Ok(transaction.commit().await?)
    }
}

/// Fails unless the wallets paid for exactly these purchases and hold nothing.
fn check(database: &LocalDatabase, purchases: usize) -> Result<(), Failure> {
    let found = database.run_sql(&format!(
        "SELECT sum(held), sum({LOADED} - posted), (SELECT sum(amount) FROM postings),
            (SELECT count(*) FROM purchases WHERE state = 'SUCCESSFUL') FROM wallets"
    ))?;
    let paid = i64::try_from(purchases)?.saturating_mul(TOTAL);
    let expected = format!("0|{paid}|{paid}|{purchases}");
    if found == expected {
        Ok(())
    } else {
        Err(format!("the yardstick's sums are {found}, but should be {expected}").into())
    }
}
