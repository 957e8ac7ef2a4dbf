//! `vendctl report payable`, `fees` and `commission`: what was owed at the begin of a period, what moved it, and what is owed at its
//! end.

use std::collections::BTreeMap;

use back_office::{AccountKey, AccountLine, BookKey, BookLine, BookPart};
use clap::Args;
use money::{Money, MoneyError};
use purchase::OrganisationId;
use serde::Serialize;
use vend::Product;

use crate::{
    days::{By, Days, Head, Key, show},
    error::VendctlError,
    report::{Report, Row, or_dash, plain},
    session::Session,
};

#[derive(Debug, Args)]
pub struct BookDays {
    #[command(flatten)]
    days: Days,
    /// What each line is of, in any combination [default: what the balances are of]
    #[arg(long, value_delimiter = ',')]
    by: Option<Vec<By>>,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

/// Amounts are plain texts with two decimals in tables, and in hundredths for programs.
#[derive(Serialize)]
struct PayableView {
    #[serde(flatten)]
    head: Head,
    opening_hundredths: Option<i64>,
    sales_hundredths: i64,
    late_vends_hundredths: i64,
    unmatched_vends_hundredths: i64,
    paid_hundredths: Option<i64>,
    closing_hundredths: Option<i64>,
}

#[derive(Serialize)]
struct EarnedView {
    #[serde(flatten)]
    head: Head,
    opening_hundredths: Option<i64>,
    earned_hundredths: i64,
    corrected_hundredths: Option<i64>,
    paid_hundredths: Option<i64>,
    closing_hundredths: Option<i64>,
}

/// `vendctl report accounts`.
#[derive(Debug, Args)]
pub struct AccountDays {
    #[command(flatten)]
    days: Days,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

/// What was credited less what was debited.
#[derive(Serialize)]
struct AccountView {
    currency: String,
    account: String,
    environment: String,
    organisation: Option<String>,
    provider: Option<String>,
    opening_hundredths: i64,
    paid_in_hundredths: i64,
    reversed_hundredths: i64,
    sales_hundredths: i64,
    corrected_hundredths: i64,
    vends_without_wallet_hundredths: i64,
    paid_out_hundredths: i64,
    closing_hundredths: i64,
    /// Whether it is the sum of all accounts of its currency and environment, and no account.
    is_total: bool,
}

impl AccountDays {
    pub(crate) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let days = self.days.reported(session)?;
        let report = back_office::report_accounts(&session.store, &days).await?;
        let codes = codes(session).await?;
        let totals = report.totals()?.into_iter().map(|(key, line)| {
            Ok::<_, MoneyError>(AccountView { is_total: true, ..AccountView::of(key, line, &codes)? })
        });
        let totals = totals.collect::<Result<Vec<_>, _>>()?;
        let mut views = report
            .lines
            .into_iter()
            .map(|(key, line)| AccountView::of(key, line, &codes))
            .collect::<Result<Vec<_>, _>>()?;
        views.sort_by(|one, other| one.place().cmp(&other.place()));
        views.extend(totals);
        show(&views, &days, session.zone(), self.csv, report.is_complete)
    }
}

impl AccountView {
    fn of(
        key: AccountKey,
        line: AccountLine,
        codes: &BTreeMap<OrganisationId, String>,
    ) -> Result<Self, MoneyError> {
        Ok(Self {
            currency: key.currency.to_string(),
            account: key.account,
            environment: key.environment,
            organisation: key.organisation.map(|id| code_of(id, codes)),
            provider: key.provider_code,
            opening_hundredths: line.opening.minor(),
            paid_in_hundredths: line.paid_in.minor(),
            reversed_hundredths: line.reversed.minor(),
            sales_hundredths: line.sales.minor(),
            corrected_hundredths: line.corrected.minor(),
            vends_without_wallet_hundredths: line.vends.minor(),
            paid_out_hundredths: line.paid_out.minor(),
            closing_hundredths: line.closing()?.minor(),
            is_total: false,
        })
    }

    fn place(&self) -> ([&str; 3], [Option<&str>; 2]) {
        let parts = [&self.organisation, &self.provider].map(Option::as_deref);
        ([&self.currency, &self.account, &self.environment], parts)
    }
}

impl Row for AccountView {
    const COLUMNS: &'static [&'static str] = &[
        "currency",
        "account",
        "environment",
        "organisation",
        "provider",
        "opening",
        "paid in",
        "reversed",
        "sales",
        "corrected",
        "vends without a wallet",
        "paid out",
        "closing",
    ];

    fn cells(&self) -> Vec<String> {
        let sums = [
            self.opening_hundredths,
            self.paid_in_hundredths,
            self.reversed_hundredths,
            self.sales_hundredths,
            self.corrected_hundredths,
            self.vends_without_wallet_hundredths,
            self.paid_out_hundredths,
            self.closing_hundredths,
        ];
        let names = [
            self.currency.clone(),
            self.account.clone(),
            self.environment.clone(),
            or_dash(self.organisation.as_deref()),
            or_dash(self.provider.as_deref()),
        ];
        names.into_iter().chain(sums.map(plain)).collect()
    }
}

/// The code of each organisation.
async fn codes(session: &Session) -> Result<BTreeMap<OrganisationId, String>, VendctlError> {
    let organisations = session.onboarding.organisations().await?;
    Ok(organisations.into_iter().map(|found| (OrganisationId(found.id), found.code)).collect())
}

fn code_of(id: OrganisationId, codes: &BTreeMap<OrganisationId, String>) -> String {
    codes.get(&id).cloned().unwrap_or_else(|| id.0.to_string())
}

impl BookDays {
    pub(crate) async fn payable(&self, session: &Session) -> Result<Report, VendctlError> {
        self.run(session, BookPart::Payable, PayableView::of).await
    }

    pub(crate) async fn fees(&self, session: &Session) -> Result<Report, VendctlError> {
        self.run(session, BookPart::Fees, EarnedView::of).await
    }

    pub(crate) async fn commission(&self, session: &Session) -> Result<Report, VendctlError> {
        self.run(session, BookPart::Commission, EarnedView::of).await
    }

    async fn run<V: Row>(
        &self,
        session: &Session,
        part: BookPart,
        view: impl Fn(Head, BookLine) -> Result<V, MoneyError>,
    ) -> Result<Report, VendctlError> {
        let days = self.days.reported(session)?;
        let report = back_office::report_books(&session.store, part, &days).await?;
        let codes = codes(session).await?;
        let by = self.by.as_deref().unwrap_or(match part {
            BookPart::Payable => &[By::Provider],
            BookPart::Fees => &[],
            BookPart::Commission => &[By::Organisation],
        });
        let divisions: Vec<_> = by.iter().map(|by| by.division()).collect();
        let lines = report.lines(&divisions)?.into_iter().map(|(key, line)| (named(key, &codes), line));
        // A person looks for the code of an organisation, and the lines are in the order of its number.
        let lines: BTreeMap<Key, BookLine> = lines.collect();
        let view = |(key, line): (Key, BookLine)| view(Head::of(key, line.count), line);
        let views = lines.into_iter().map(view).collect::<Result<Vec<V>, _>>()?;
        show(&views, &days, session.zone(), self.csv, report.is_complete)
    }
}

fn named(key: BookKey, codes: &BTreeMap<OrganisationId, String>) -> Key {
    Key {
        day: key.day,
        organisation: key.organisation.map(|id| code_of(id, codes)),
        provider: key.provider_code,
        product: key.product.map(Product::as_str),
        environment: key.environment,
        currency: key.currency.to_string(),
    }
}

/// What was paid out, where it is known what was owed.
fn paid(line: &BookLine) -> Option<i64> {
    line.opening.map(|_| -line.paid.minor())
}

impl PayableView {
    fn of(head: Head, line: BookLine) -> Result<Self, MoneyError> {
        Ok(Self {
            head,
            opening_hundredths: line.opening.map(Money::minor),
            sales_hundredths: line.sales.minor(),
            late_vends_hundredths: line.late_vends.minor(),
            unmatched_vends_hundredths: line.unmatched_vends.minor(),
            paid_hundredths: paid(&line),
            closing_hundredths: line.closing()?.map(Money::minor),
        })
    }
}

impl EarnedView {
    fn of(head: Head, line: BookLine) -> Result<Self, MoneyError> {
        Ok(Self {
            head,
            opening_hundredths: line.opening.map(Money::minor),
            earned_hundredths: line.sales.minor(),
            corrected_hundredths: line.opening.map(|_| line.corrected.minor()),
            paid_hundredths: paid(&line),
            closing_hundredths: line.closing()?.map(Money::minor),
        })
    }
}

impl Row for PayableView {
    const COLUMNS: &'static [&'static str] = &[
        "day",
        "organisation",
        "provider",
        "product",
        "environment",
        "currency",
        "count",
        "opening",
        "sales",
        "late vends",
        "unmatched vends",
        "paid",
        "closing",
    ];

    fn cells(&self) -> Vec<String> {
        let sums = [
            self.opening_hundredths,
            Some(self.sales_hundredths),
            Some(self.late_vends_hundredths),
            Some(self.unmatched_vends_hundredths),
            self.paid_hundredths,
            self.closing_hundredths,
        ];
        self.head.cells().into_iter().chain(sums.into_iter().map(amount)).collect()
    }
}

impl Row for EarnedView {
    const COLUMNS: &'static [&'static str] = &[
        "day",
        "organisation",
        "provider",
        "product",
        "environment",
        "currency",
        "count",
        "opening",
        "earned",
        "corrected",
        "paid",
        "closing",
    ];

    fn cells(&self) -> Vec<String> {
        let sums = [
            self.opening_hundredths,
            Some(self.earned_hundredths),
            self.corrected_hundredths,
            self.paid_hundredths,
            self.closing_hundredths,
        ];
        self.head.cells().into_iter().chain(sums.into_iter().map(amount)).collect()
    }
}

fn amount(hundredths: Option<i64>) -> String {
    or_dash(hundredths.map(plain).as_deref())
}
