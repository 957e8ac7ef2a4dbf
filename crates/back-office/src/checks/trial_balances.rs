//! Trial balances: the new ones, the old ones in turn, and those that were violated at the last look. Each is walked cut-off by
//! cut-off, in as many looks as needed. Then what has moved is compared with what it says, and all balances are added up.

use std::collections::BTreeMap;

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use money::Money;

use super::{Broken, Invariant, Violation};

/// The maximum number of cut-offs that are read at a time.
const CUTOFFS_MAX: i64 = 25;
/// How many times that is in a look, at most, and after how many postings it ends.
const PAGES_MAX: u32 = 4;
const POSTINGS_MAX: i64 = 20_000;

/// The progress through the trial balances, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The number up to which they were checked once.
    new: i64,
    /// The number up to which they were checked again.
    old: i64,
    walk: Option<Walk>,
}

/// The trial balance that is walked, and what was found so far.
#[derive(Clone, Debug)]
struct Walk {
    id: i64,
    at: DateTime<Utc>,
    /// The one before it.
    since: Option<DateTime<Utc>>,
    /// The last cut-off that was read: its wallet and its moment.
    wallet: i64,
    cut_at: DateTime<Utc>,
    /// What the entries of wallets have moved, by system account and provider.
    moved: BTreeMap<(i64, String), i64>,
    /// What the wallets have at the moment, by currency.
    balances: BTreeMap<String, i64>,
}

struct NextTrialBalance;

impl Statement for NextTrialBalance {
    const SQL: &str = "-- next_trial_balance
SELECT t.id, t.at, (SELECT max(b.at) FROM trial_balances b WHERE b.at < t.at) AS since
FROM trial_balances t WHERE t.id > $1 ORDER BY t.id LIMIT 1";
}

#[derive(QueryableByName)]
struct NextRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    since: Option<DateTime<Utc>>,
}

struct WalkTrialBalance;

impl Statement for WalkTrialBalance {
    const SQL: &str = include_str!("walk_trial_balance.sql");
}

#[derive(QueryableByName)]
struct PageRow {
    #[diesel(sql_type = BigInt)]
    cuts: i64,
    #[diesel(sql_type = BigInt)]
    postings: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    wallet: Option<i64>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    cut_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Array<BigInt>)]
    accounts: Vec<i64>,
    #[diesel(sql_type = Array<Text>)]
    providers: Vec<String>,
    #[diesel(sql_type = Array<BigInt>)]
    amounts: Vec<i64>,
    #[diesel(sql_type = Array<Text>)]
    currencies: Vec<String>,
    #[diesel(sql_type = Array<BigInt>)]
    balances: Vec<i64>,
}

struct CompareTrialBalance;

impl Statement for CompareTrialBalance {
    const SQL: &str = include_str!("compare_trial_balance.sql");
}

#[derive(QueryableByName)]
struct LineRow {
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    house: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    before: i64,
    #[diesel(sql_type = BigInt)]
    moved: i64,
    #[diesel(sql_type = BigInt)]
    balance: i64,
    #[diesel(sql_type = BigInt)]
    walked: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    kept: Option<i64>,
}

struct CompareKeptSales;

impl Statement for CompareKeptSales {
    const SQL: &str = "-- compare_kept_sales
-- What is kept of sales for the reports: the kinds of which the totals are not net and charges, or the charges not the fees.
SELECT count(*) AS crooked FROM (
    SELECT FROM trial_balance_moves m JOIN accounts a ON a.id = m.account_id
    WHERE m.at = $1 AND m.kind = 'SETTLE' AND a.house IN ('PROVIDER_PAYABLE', 'FEE_INCOME')
    GROUP BY m.organisation_id, m.provider_code, m.product, m.currency
    HAVING sum(m.total) FILTER (WHERE a.house = 'PROVIDER_PAYABLE') <> sum(m.amount)
        OR sum(m.charge) FILTER (WHERE a.house = 'PROVIDER_PAYABLE')
            <> coalesce(sum(m.amount) FILTER (WHERE a.house = 'FEE_INCOME'), 0)
) AS kinds";
}

#[derive(QueryableByName)]
struct KeptSalesRow {
    #[diesel(sql_type = BigInt)]
    crooked: i64,
}

impl Round {
    /// Continues until enough was read. The violated ones are walked whole: there should be none.
    pub(super) async fn look(
        &mut self,
        transaction: &Transaction,
        broken: &mut Broken,
    ) -> Result<(), DatabaseError> {
        for suspect in broken.suspects(Invariant::TrialBalancesCarryOn) {
            match next(transaction, suspect.saturating_sub(1)).await?.filter(|walk| walk.id == suspect) {
                Some(mut walk) => {
                    while walk.page(transaction).await? > 0 {}
                    walk.end(transaction, broken).await?;
                }
                None => drop(broken.0.remove(&(Invariant::TrialBalancesCarryOn, suspect))),
            }
        }
        let (mut left, mut has_wrapped) = (POSTINGS_MAX, false);
        for _ in 0..PAGES_MAX {
            let Some(mut walk) = self.current(transaction, &mut has_wrapped).await? else { return Ok(()) };
            let postings = walk.page(transaction).await?;
            if postings == 0 {
                walk.end(transaction, broken).await?;
            } else {
                self.walk = Some(walk);
            }
            left = left.saturating_sub(postings);
            if left <= 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The walk that was begun, or the next one: of a new trial balance, or else of an old one. `None` at the end of the old ones.
    async fn current(
        &mut self,
        transaction: &Transaction,
        has_wrapped: &mut bool,
    ) -> Result<Option<Walk>, DatabaseError> {
        if let Some(walk) = self.walk.take() {
            return Ok(Some(walk));
        }
        if let Some(walk) = next(transaction, self.new).await? {
            self.new = walk.id;
            return Ok(Some(walk));
        }
        if *has_wrapped {
            return Ok(None);
        }
        let walk = next(transaction, self.old).await?;
        self.old = walk.as_ref().map_or(0, |walk| walk.id);
        *has_wrapped = walk.is_none();
        Ok(walk)
    }
}

async fn next(transaction: &Transaction, after: i64) -> Result<Option<Walk>, DatabaseError> {
    let row = prepared::<NextTrialBalance>().bind::<BigInt, _>(after).optional::<NextRow>(transaction);
    Ok(row.await?.map(|NextRow { id, at, since }| Walk {
        id,
        at,
        since,
        wallet: 0,
        cut_at: at,
        moved: BTreeMap::new(),
        balances: BTreeMap::new(),
    }))
}

impl Walk {
    /// Reads the next cut-offs, and returns a measure of what was read. Zero at the end.
    async fn page(&mut self, transaction: &Transaction) -> Result<i64, DatabaseError> {
        let page: PageRow = prepared::<WalkTrialBalance>()
            .bind::<Timestamptz, _>(self.at)
            .bind::<Nullable<Timestamptz>, _>(self.since)
            .bind::<BigInt, _>(self.wallet)
            .bind::<Timestamptz, _>(self.cut_at)
            .bind::<BigInt, _>(CUTOFFS_MAX)
            .get_result(transaction)
            .await?;
        for ((account, provider), amount) in page.accounts.into_iter().zip(page.providers).zip(page.amounts) {
            *self.moved.entry((account, provider)).or_default() += amount;
        }
        for (currency, balance) in page.currencies.into_iter().zip(page.balances) {
            *self.balances.entry(currency).or_default() += balance;
        }
        if let Some((wallet, cut_at)) = page.wallet.zip(page.cut_at) {
            (self.wallet, self.cut_at) = (wallet, cut_at);
        }
        Ok(page.postings.saturating_add(page.cuts))
    }

    async fn end(self, transaction: &Transaction, broken: &mut Broken) -> Result<(), DatabaseError> {
        let (invariant, id) = (Invariant::TrialBalancesCarryOn, self.id);
        let Some(finding) = self.fault(transaction).await? else {
            broken.0.remove(&(invariant, id));
            return Ok(());
        };
        let subject = format!("trial_balance:{id}");
        broken.0.insert((invariant, id), Violation { invariant, subject, finding });
        Ok(())
    }

    /// What is wrong with it: a line that the one before it and the postings do not lead to, or a currency that does not add up.
    async fn fault(mut self, transaction: &Transaction) -> Result<Option<String>, DatabaseError> {
        let keys = self.moved.keys();
        let (accounts, providers): (Vec<i64>, Vec<&str>) =
            keys.map(|(account, provider)| (*account, provider.as_str())).unzip();
        let lines: Vec<LineRow> = prepared::<CompareTrialBalance>()
            .bind::<Timestamptz, _>(self.at)
            .bind::<Nullable<Timestamptz>, _>(self.since)
            .bind::<Array<BigInt>, _>(accounts)
            .bind::<Array<Text>, _>(providers)
            .bind::<Array<BigInt>, _>(self.moved.values().copied().collect::<Vec<_>>())
            .load(transaction)
            .await?;
        for line in lines {
            if let Some(finding) = line.finding()? {
                return Ok(Some(finding));
            }
            *self.balances.entry(line.currency).or_default() += line.balance;
        }
        let sales = prepared::<CompareKeptSales>().bind::<Timestamptz, _>(self.at);
        let sales: KeptSalesRow = sales.get_result(transaction).await?;
        if sales.crooked > 0 {
            return Ok(Some(format!(
                "of {} kinds of sales the reported totals, net amounts and charges do not fit",
                sales.crooked
            )));
        }
        let crooked = self.balances.into_iter().find(|(_, sum)| *sum != 0);
        let sentence = |(currency, sum): (String, i64)| {
            let sum = Money::from_minor(sum, read_currency("trial_balances", self.id, &currency)?);
            Ok(format!("the balances of all accounts add up to {sum}, and not to nothing"))
        };
        crooked.map(sentence).transpose()
    }
}

impl LineRow {
    /// What is wrong with the line, if anything is.
    fn finding(&self) -> Result<Option<String>, DatabaseError> {
        let is_reached = self.balance == self.before.saturating_add(self.moved);
        let kept = self.kept.unwrap_or(self.walked);
        if is_reached && kept == self.walked {
            return Ok(None);
        }
        let currency = read_currency("accounts", self.account_id, &self.currency)?;
        let [before, moved, balance, walked, kept] =
            [self.before, self.moved, self.balance, self.walked, kept]
                .map(|minor| Money::from_minor(minor, currency));
        let Self { house, provider_code, .. } = self;
        let account =
            if provider_code.is_empty() { house.clone() } else { format!("{house} of {provider_code}") };
        Ok(Some(if is_reached {
            format!(
                "{account} is reported to have been moved by {kept}, and the postings of wallets come to {walked}"
            )
        } else {
            format!("{account} has {balance}, and it had {before} and its postings come to {moved}")
        }))
    }
}
