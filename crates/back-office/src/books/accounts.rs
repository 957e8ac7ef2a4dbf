//! All accounts in a period: what each had at the begin, what moved it, and what it has at the end. All lines of a currency and an
//! environment add up to zero, in each column: so the money in the bank is what wallets, providers and the operator have a claim to.

use std::collections::BTreeMap;

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use money::{Currency, Money, MoneyError};
use purchase::{OrganisationId, ReportedDay};
use store::Store;

use super::intervals::stops;

/// What a line is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountKey {
    pub currency: Currency,
    /// The role of a system account, or `WALLETS`.
    pub account: String,
    /// `STAGING` or `PRODUCTION`. Money of staging is not real.
    pub environment: String,
    /// Whose wallets.
    pub organisation: Option<OrganisationId>,
    /// Which provider is owed it.
    pub provider_code: Option<String>,
}

/// What an account had, and what moved it: what was credited less what was debited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountLine {
    pub opening: Money,
    /// Payments into wallets, whether they were reversed later or not.
    pub paid_in: Money,
    /// Payments into wallets that were reversed, now or earlier. Together with `paid_in` it is what was really paid in.
    pub reversed: Money,
    pub sales: Money,
    pub corrected: Money,
    /// Vends that no wallet had paid for.
    pub vends: Money,
    pub paid_out: Money,
}

/// All accounts in a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountReport {
    pub lines: BTreeMap<AccountKey, AccountLine>,
    /// Whether all its days have ended, so that it never changes.
    pub is_complete: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AccountReportError {
    /// A sum exceeds what an amount can hold.
    #[error("the amounts are too large to be added up")]
    Sum(#[from] MoneyError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

struct AccountOpenings;

impl Statement for AccountOpenings {
    const SQL: &str = include_str!("read_openings.sql");
}

struct AccountMoves;

impl Statement for AccountMoves {
    const SQL: &str = include_str!("read_accounts.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    account: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    organisation_id: Option<i64>,
    #[diesel(sql_type = Text)]
    environment: String,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = Text)]
    cause: String,
    #[diesel(sql_type = BigInt)]
    amount: i64,
}

/// Reads all accounts on these days, which follow each other. Makes the trial balances at their begin and their end.
///
/// # Errors
/// [`DatabaseError::Busy`] if a long history is not added up yet and the caller should come back.
pub async fn report_accounts(
    store: &Store,
    days: &[ReportedDay],
) -> Result<AccountReport, AccountReportError> {
    let mut report = AccountReport { lines: BTreeMap::new(), is_complete: false };
    let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(report) };
    let (from, to) = (first.period.from, last.period.to);
    if !store.strike_trial_balance(from).await? {
        return Ok(report);
    }
    report.add(openings(store, from).await?)?;
    let (mut since, mut until) = (from, None);
    // One after the other, so that none of them adds up more than a day.
    for day in days {
        until = store.strike_trial_balance(day.period.to).await?.then_some(to);
        if until.is_none() {
            break;
        }
    }
    for stop in stops(store, from, to).await? {
        report.add(moves(store, since, Some(stop)).await?)?;
        since = stop;
    }
    report.add(moves(store, since, until).await?)?;
    report.lines.retain(|_, line| !line.is_empty());
    report.is_complete = until.is_some();
    Ok(report)
}

async fn openings(store: &Store, at: DateTime<Utc>) -> Result<Vec<Row>, DatabaseError> {
    let rows = store.database().read(move |connection| {
        let openings = prepared::<AccountOpenings>().bind::<Timestamptz, _>(at);
        Box::pin(async move { openings.load::<Row>(connection).await })
    });
    rows.await
}

async fn moves(
    store: &Store,
    since: DateTime<Utc>,
    until: Option<DateTime<Utc>>,
) -> Result<Vec<Row>, DatabaseError> {
    let rows = store.database().read(move |connection| {
        let moves =
            prepared::<AccountMoves>().bind::<Timestamptz, _>(since).bind::<Nullable<Timestamptz>, _>(until);
        Box::pin(async move { moves.load::<Row>(connection).await })
    });
    rows.await
}

/// The name of no account: of the sum of all.
const TOTAL: &str = "TOTAL";

impl AccountReport {
    /// The sum of all lines of each currency and environment, under the name `TOTAL`. Each is zero, unless the books are wrong.
    ///
    /// # Errors
    /// [`MoneyError`] if a sum exceeds what an amount can hold.
    pub fn totals(&self) -> Result<BTreeMap<AccountKey, AccountLine>, MoneyError> {
        let mut totals: BTreeMap<AccountKey, AccountLine> = BTreeMap::new();
        for (key, line) in &self.lines {
            let of = AccountKey {
                currency: key.currency,
                account: TOTAL.to_owned(),
                environment: key.environment.clone(),
                organisation: None,
                provider_code: None,
            };
            let total = totals.entry(of).or_insert_with(|| AccountLine::nothing(key.currency));
            *total = total.plus(line)?;
        }
        Ok(totals)
    }

    fn add(&mut self, rows: Vec<Row>) -> Result<(), AccountReportError> {
        for row in rows {
            let currency = read_currency("accounts", 0, &row.currency)?;
            let key = AccountKey {
                currency,
                account: row.account,
                environment: row.environment,
                organisation: row.organisation_id.map(OrganisationId),
                provider_code: row.provider_code,
            };
            let line = self.lines.entry(key).or_insert_with(|| AccountLine::nothing(currency));
            let sum = line.sum_of(&row.cause);
            *sum = sum.plus(Money::from_minor(row.amount, currency))?;
        }
        Ok(())
    }
}

impl AccountLine {
    const fn nothing(currency: Currency) -> Self {
        let zero = Money::from_minor(0, currency);
        Self {
            opening: zero,
            paid_in: zero,
            reversed: zero,
            sales: zero,
            corrected: zero,
            vends: zero,
            paid_out: zero,
        }
    }

    fn sum_of(&mut self, cause: &str) -> &mut Money {
        match cause {
            "OPENING" => &mut self.opening,
            "TOP_UP" => &mut self.paid_in,
            "REVERSED" => &mut self.reversed,
            "SETTLE" => &mut self.sales,
            "PAYOUT" => &mut self.paid_out,
            "INCIDENT" | "UNMATCHED_VEND" => &mut self.vends,
            _adjust => &mut self.corrected,
        }
    }

    fn plus(&self, other: &Self) -> Result<Self, MoneyError> {
        Ok(Self {
            opening: self.opening.plus(other.opening)?,
            paid_in: self.paid_in.plus(other.paid_in)?,
            reversed: self.reversed.plus(other.reversed)?,
            sales: self.sales.plus(other.sales)?,
            corrected: self.corrected.plus(other.corrected)?,
            vends: self.vends.plus(other.vends)?,
            paid_out: self.paid_out.plus(other.paid_out)?,
        })
    }

    fn all(&self) -> [Money; 7] {
        [self.opening, self.paid_in, self.reversed, self.sales, self.corrected, self.vends, self.paid_out]
    }

    fn is_empty(&self) -> bool {
        self.all().iter().all(|sum| sum.minor() == 0)
    }

    /// What it has at the end.
    ///
    /// # Errors
    /// [`MoneyError`] if the sum exceeds what an amount can hold.
    pub fn closing(&self) -> Result<Money, MoneyError> {
        let none = Money::from_minor(0, self.opening.currency());
        self.all().into_iter().try_fold(none, Money::plus)
    }
}
