//! `vendctl report`: what all organisations bought, by day, organisation, product and provider.
//!
//! Each line is the sum of the reports that the organisations read over the API, so the operator's day and theirs agree.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use database::DatabaseError;
use identity::OrganisationRecord;
use money::{Currency, Money, MoneyError};
use purchase::DaySales;
use serde::Serialize;

use crate::{
    books::{AccountDays, BookDays},
    days::{By, Days, Head, Key, show},
    error::VendctlError,
    parse,
    report::{Report, Row, plain},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Add up what was bought: what is owed to providers, fees and commission
    #[command(
        after_help = "A day is one of the time zone of the settings, and a purchase belongs to the day on which it was paid. The \
                      report of days that have ended never changes. TOTAL left the wallets; NET of it is owed to the provider, \
                      CHARGE is the fee of the service; COMMISSION was credited to organisations. Vends without a purchase \
                      (`incidents list`, `recover list`) are not in it.\n\nExamples:\n  vendctl report sales --date 2026-11-20\n  \
                      vendctl report sales --date 2026-11-01 --to 2026-11-30 --by provider,day --csv"
    )]
    Sales(Sales),
    /// Show what providers are owed: at the begin, what moved it, and at the end
    #[command(
        after_help = "SALES were paid by wallets. LATE VENDS were found after their purchase had ended, UNMATCHED VENDS were entered \
                      from a provider's statement. PAID is what was paid to the provider. A negative balance was paid in advance. \
                      The balances and what was paid are of a whole provider, so they are left out --by organisation or \
                      product.\n\nExamples:\n  vendctl report payable --date 2026-11-20\n  vendctl report payable --date \
                      2026-11-01 --to 2026-11-30 --by provider,day --csv"
    )]
    Payable(BookDays),
    /// Show the fees that were earned and taken out
    #[command(
        after_help = "The balances and what was taken out are left out --by organisation, provider or product.\n\nExamples:\n  \
                      vendctl report fees --date 2026-11-20\n  vendctl report fees --date 2026-11-20 --by \
                      organisation,product --csv"
    )]
    Fees(BookDays),
    /// Show what organisations are owed as commission: earned, corrected and paid out
    #[command(
        after_help = "The balances are those of the wallets that collect commission. They are left out --by provider or \
                      product.\n\nExamples:\n  vendctl report commission --date 2026-11-20 --by organisation\n  vendctl report \
                      commission --date 2026-11-01 --to 2026-11-30 --by organisation,day --csv"
    )]
    Commission(BookDays),
    /// Show all accounts: what each had at the begin, what moved it, and what it has at the end
    #[command(
        after_help = "FUNDING of PRODUCTION is the money that should be in the bank, with a minus because it is yours: compare its OPENING \
                      and CLOSING with the bank's statement. WALLETS are all wallets of an organisation together, also those for \
                      commission. TOTAL is the sum of all lines of a currency and an environment: it is zero in each column, or the \
                      books are wrong.\n\nExamples:\n  vendctl report \
                      accounts --date yesterday\n  vendctl report accounts --date 2026-11-01 --to 2026-11-30 --csv"
    )]
    Accounts(AccountDays),
}

#[derive(Debug, Args)]
pub struct Sales {
    #[command(flatten)]
    days: Days,
    /// What each line is of, in any combination
    #[arg(long, value_delimiter = ',', default_value = "provider,product")]
    by: Vec<By>,
    /// Only of this organisation
    #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
    organisation: Option<String>,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

/// Amounts are texts with two decimals and without the currency, and in hundredths for programs.
#[derive(Serialize)]
struct View {
    #[serde(flatten)]
    head: Head,
    total_hundredths: i64,
    net_hundredths: i64,
    charge_hundredths: i64,
    commission_hundredths: i64,
}

#[derive(Clone, Copy, Debug)]
struct Sums {
    count: i64,
    total: Money,
    net: Money,
    charge: Money,
    commission: Money,
}

pub async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Sales(sales) => sales.run(session).await,
        Verb::Payable(days) => days.payable(session).await,
        Verb::Fees(days) => days.fees(session).await,
        Verb::Commission(days) => days.commission(session).await,
        Verb::Accounts(days) => days.run(session).await,
    }
}

impl Sales {
    async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let days = self.days.reported(session)?;
        let only = match &self.organisation {
            Some(code) => Some(session.organisation_id(code).await?),
            None => None,
        };
        let report = back_office::report_sales(&session.store, only, &days).await?;
        let organisations: BTreeMap<i64, OrganisationRecord> =
            session.onboarding.organisations().await?.into_iter().map(|one| (one.id, one)).collect();
        let mut sums: BTreeMap<Key, Sums> = BTreeMap::new();
        for (organisation, sold) in &report.rows {
            let id = organisation.0;
            let organisation = organisations
                .get(&id)
                .ok_or_else(|| DatabaseError::corrupt("purchases", "organisation_id", id))?;
            self.add(&mut sums, organisation, sold)?;
        }
        let lines: Vec<View> = sums.into_iter().map(View::from).collect();
        show(&lines, &days, session.zone(), self.csv, report.is_complete)
    }

    fn add(
        &self,
        sums: &mut BTreeMap<Key, Sums>,
        organisation: &OrganisationRecord,
        sold: &DaySales,
    ) -> Result<(), MoneyError> {
        let key = Key {
            day: Some(sold.date),
            organisation: Some(organisation.code.clone()),
            provider: Some(sold.provider_code.clone()),
            product: Some(sold.product.as_str()),
            environment: organisation.environment.code().to_owned(),
            currency: sold.total.currency().to_string(),
        };
        let key = key.divided(&self.by);
        let line = sums.entry(key).or_insert_with(|| Sums::none(sold.total.currency()));
        line.count += sold.count;
        line.total = line.total.plus(sold.total)?;
        line.net = line.net.plus(sold.net)?;
        line.charge = line.charge.plus(sold.charge)?;
        line.commission = line.commission.plus(sold.commission)?;
        Ok(())
    }
}

impl Sums {
    const fn none(currency: Currency) -> Self {
        let zero = Money::from_minor(0, currency);
        Self { count: 0, total: zero, net: zero, charge: zero, commission: zero }
    }
}

impl From<(Key, Sums)> for View {
    fn from((key, sums): (Key, Sums)) -> Self {
        Self {
            head: Head::of(key, sums.count),
            total_hundredths: sums.total.minor(),
            net_hundredths: sums.net.minor(),
            charge_hundredths: sums.charge.minor(),
            commission_hundredths: sums.commission.minor(),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "day",
        "organisation",
        "provider",
        "product",
        "environment",
        "currency",
        "count",
        "total",
        "net",
        "charge",
        "commission",
    ];

    fn cells(&self) -> Vec<String> {
        let sums =
            [self.total_hundredths, self.net_hundredths, self.charge_hundredths, self.commission_hundredths];
        self.head.cells().into_iter().chain(sums.map(plain)).collect()
    }
}
