//! The operator's reports of the last million purchases, each compared with a count made in SQL.

use back_office::{BookMove, BookPart, report_accounts, report_books, report_sales};
use bench::{
    Failure,
    finding::{Finding, Goal, Sample, Unit},
};
use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use clock::{Clock, SystemClock};
use purchase::{Period, ReportedDay};
use store::Store;

use crate::side::Side;

/// A busy month.
const PURCHASES: u64 = 1_000_000;
const DAYS_OF_YEAR: u64 = 365;
/// In microseconds: while an operator waits.
const REPORT_WITHIN: u128 = 5_000_000;
const SHORT: &str = "a year of the short history";

/// How long each report takes, after the trial balances of its days were made as a worker makes them at each midnight.
pub async fn measure(short: &Side, long: &Side) -> Result<Vec<Finding>, Failure> {
    let (before, after) = (of_side(short).await?, of_side(long).await?);
    let findings = after.into_iter().zip(before).map(|((what, after), (_what, before))| {
        Finding::new(what, Unit::Time, after).beside(SHORT, before).must(Goal::Maximum(REPORT_WITHIN))
    });
    Ok(findings.collect())
}

/// Makes the trial balance of each midnight (UTC) of the fabricated year.
pub async fn strike_midnights(store: &Store) -> Result<(), Failure> {
    for day in days(DAYS_OF_YEAR) {
        if !store.strike_trial_balance(day.period.to).await? {
            return Err(format!("{} has not ended", day.date).into());
        }
    }
    Ok(())
}

/// Makes the cut-offs since the last midnight, as a worker does every ten minutes.
pub async fn carry_forward(store: &Store) -> Result<(), Failure> {
    let mut after = 0;
    while let Some(next) = store.carry_forward(after).await? {
        after = next;
    }
    Ok(())
}

async fn of_side(side: &Side) -> Result<Vec<(String, Sample)>, Failure> {
    let count = DAYS_OF_YEAR.saturating_mul(PURCHASES).div_ceil(side.history.purchases).min(DAYS_OF_YEAR);
    let days: Vec<_> = days(count).collect();
    let counted = Counted::of(side, &days)?;
    let title = |report: &str| format!("report {report}: {count} days, {} sales", counted.sales);

    let began = SystemClock.monotonic();
    let mut sold = Sums::default();
    for (_organisation, row) in report_sales(side.store(), None, &days).await?.rows {
        sold.add(row.count, row.net.minor());
    }
    let mut reports =
        vec![(title("sales"), Sample::of_times([SystemClock.monotonic().elapsed_since(began)]))];
    equal("sales", sold, Sums { count: counted.sales, amount: counted.net })?;

    for (part, name, earned) in [
        (BookPart::Payable, "payable", counted.net),
        (BookPart::Fees, "fees", counted.charge),
        (BookPart::Commission, "commission", counted.commission),
    ] {
        let began = SystemClock.monotonic();
        let report = report_books(side.store(), part, &days).await?;
        reports.push((title(name), Sample::of_times([SystemClock.monotonic().elapsed_since(began)])));
        let mut moved = Sums::default();
        for BookMove { count, amount, .. } in &report.moves {
            moved.add(*count, amount.minor());
        }
        equal(name, moved, Sums { count: counted.sales, amount: earned })?;
    }

    let began = SystemClock.monotonic();
    let accounts = report_accounts(side.store(), &days).await?;
    reports.push((title("accounts"), Sample::of_times([SystemClock.monotonic().elapsed_since(began)])));
    if let Some((account, _total)) = accounts.totals()?.iter().find(|(_, total)| total.sales.minor() != 0) {
        return Err(
            format!("the sales of all accounts of {} do not add up to nothing", account.currency).into()
        );
    }
    Ok(reports)
}

/// So many days (UTC) that have ended, up to the last one of the history.
fn days(count: u64) -> impl Iterator<Item = ReportedDay> {
    let today = SystemClock.now().date_naive();
    let back = (1..=i64::try_from(count).unwrap_or_default()).rev();
    back.filter_map(move |back| {
        let date = today.checked_sub_signed(TimeDelta::days(back))?;
        Some(ReportedDay { date, period: Period { from: midnight(date), to: midnight(date.succ_opt()?) } })
    })
}

fn midnight(date: NaiveDate) -> DateTime<Utc> {
    date.and_time(NaiveTime::MIN).and_utc()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    count: i64,
    /// In hundredths.
    amount: i64,
}

impl Sums {
    const fn add(&mut self, count: i64, amount: i64) {
        self.count = self.count.saturating_add(count);
        self.amount = self.amount.saturating_add(amount);
    }
}

fn equal(report: &str, reported: Sums, counted: Sums) -> Result<(), Failure> {
    if reported == counted {
        return Ok(());
    }
    Err(format!("the report {report} has {reported:?}, and the purchases come to {counted:?}").into())
}

/// What the purchases of some days come to, in hundredths.
struct Counted {
    sales: i64,
    net: i64,
    charge: i64,
    commission: i64,
}

impl Counted {
    fn of(side: &Side, days: &[ReportedDay]) -> Result<Self, Failure> {
        let (first, last) = days.first().zip(days.last()).ok_or("a report has no days")?;
        let counted = side.asks(&format!(
            "SELECT count(*), sum(p.net), sum(p.charge), sum(p.commission)
             FROM purchases p JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
             WHERE p.state = 'SUCCESSFUL' AND e.posted_at >= '{}' AND e.posted_at < '{}'",
            first.period.from, last.period.to
        ))?;
        let mut sums = counted.split('|');
        let mut next =
            || -> Result<i64, Failure> { Ok(sums.next().ok_or("the count lacks a column")?.parse()?) };
        Ok(Self { sales: next()?, net: next()?, charge: next()?, commission: next()? })
    }
}
