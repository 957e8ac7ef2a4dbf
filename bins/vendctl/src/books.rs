//! `vendctl report payable`, `fees` and `commission`: what was owed at the begin of a period, what moved it, and what is owed at its
//! end.

use std::collections::{BTreeMap, BTreeSet};

use back_office::{BookCause, BookMove, BookPart, BookReport};
use chrono::NaiveDate;
use clap::Args;
use money::{Currency, Money, MoneyError};
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
pub(crate) struct BookDays {
    #[command(flatten)]
    days: Days,
    /// What each line is of, in any combination [default: what the balances are of]
    #[arg(long, value_delimiter = ',')]
    by: Option<Vec<By>>,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

/// A line before it is shown.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Absent if nothing of this kind has a balance.
    opening: Option<Money>,
    count: i64,
    sales: Money,
    late_vends: Money,
    unmatched_vends: Money,
    corrected: Money,
    /// Negative.
    paid: Money,
}

/// What a report is of, and how its lines are divided.
struct Books<'a> {
    part: BookPart,
    by: &'a [By],
    codes: BTreeMap<OrganisationId, String>,
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
        view: impl Fn(Key, Line) -> Result<V, MoneyError>,
    ) -> Result<Report, VendctlError> {
        let days = self.days.reported(session)?;
        let report = back_office::report_books(&session.store, part, &days).await?;
        let organisations = session.onboarding.organisations().await?;
        let codes = organisations.into_iter().map(|found| (OrganisationId(found.id), found.code)).collect();
        let by = self.by.as_deref().unwrap_or(match part {
            BookPart::Payable => &[By::Provider],
            BookPart::Fees => &[],
            BookPart::Commission => &[By::Organisation],
        });
        let lines = Books { part, by, codes }.lines(&report)?;
        let views = lines.into_iter().map(|(key, line)| view(key, line)).collect::<Result<Vec<V>, _>>()?;
        show(&views, self.csv, report.is_complete)
    }
}

impl Books<'_> {
    /// Whether each line has a balance: it is not divided further than balances and payouts are.
    fn has_balances(&self) -> bool {
        let divides = |part| match (part, self.part) {
            (By::Day, _) | (By::Provider, BookPart::Payable) | (By::Organisation, BookPart::Commission) => {
                false
            }
            (By::Organisation | By::Provider | By::Product, _) => true,
        };
        !self.by.iter().copied().any(divides)
    }

    fn key(
        &self,
        day: NaiveDate,
        organisation: Option<OrganisationId>,
        provider: Option<&str>,
        product: Option<&'static str>,
        currency: Currency,
    ) -> Key {
        let code = |id: OrganisationId| self.codes.get(&id).cloned().unwrap_or_else(|| id.0.to_string());
        let key = Key {
            day: Some(day),
            organisation: organisation.map(code),
            provider: provider.map(str::to_owned),
            product,
            currency: currency.to_string(),
        };
        key.divided(self.by)
    }

    fn lines(&self, report: &BookReport) -> Result<BTreeMap<Key, Line>, MoneyError> {
        let mut lines: BTreeMap<Key, Line> = BTreeMap::new();
        if self.has_balances()
            && let Some(first) = report.days.first()
        {
            for opening in &report.openings {
                let (owed, provider) = (opening.balance, opening.provider_code.as_deref());
                let key = self.key(*first, opening.organisation, provider, None, owed.currency());
                lines.entry(key).or_insert_with(|| self.nothing(owed.currency())).open(owed)?;
            }
        }
        for moved in &report.moves {
            let product = moved.product.map(Product::as_str);
            let provider = moved.provider_code.as_deref();
            let key = self.key(moved.date, moved.organisation, provider, product, moved.amount.currency());
            if !self.has_balances() && matches!(moved.cause, BookCause::Payout | BookCause::Correction) {
                continue;
            }
            lines.entry(key).or_insert_with(|| self.nothing(moved.amount.currency())).add(moved)?;
        }
        if self.has_balances() && self.by.contains(&By::Day) {
            self.carry(&mut lines, &report.days)?;
        }
        lines.retain(|_, line| !line.is_empty());
        Ok(lines)
    }

    fn nothing(&self, currency: Currency) -> Line {
        let zero = Money::zero(currency);
        Line {
            opening: self.has_balances().then_some(zero),
            count: 0,
            sales: zero,
            late_vends: zero,
            unmatched_vends: zero,
            corrected: zero,
            paid: zero,
        }
    }

    /// Opens each day with what was owed at the end of the day before it, also if nothing moved on it.
    fn carry(&self, lines: &mut BTreeMap<Key, Line>, days: &[NaiveDate]) -> Result<(), MoneyError> {
        let kinds: BTreeSet<Key> = lines.keys().map(|key| Key { day: None, ..key.clone() }).collect();
        for kind in kinds {
            let mut owed: Option<Money> = None;
            for day in days {
                let key = Key { day: Some(*day), ..kind.clone() };
                if let Some(before) = owed {
                    lines
                        .entry(key.clone())
                        .or_insert_with(|| self.nothing(before.currency()))
                        .open(before)?;
                }
                if let Some(line) = lines.get(&key) {
                    owed = line.closing()?;
                }
            }
        }
        Ok(())
    }
}

impl Line {
    fn open(&mut self, owed: Money) -> Result<(), MoneyError> {
        self.opening = Some(self.opening.map_or(Ok(owed), |before| before.plus(owed))?);
        Ok(())
    }

    fn add(&mut self, moved: &BookMove) -> Result<(), MoneyError> {
        let sum = match moved.cause {
            BookCause::Sale => &mut self.sales,
            BookCause::LateVend => &mut self.late_vends,
            BookCause::UnmatchedVend => &mut self.unmatched_vends,
            BookCause::Payout => &mut self.paid,
            BookCause::Correction => &mut self.corrected,
        };
        *sum = sum.plus(moved.amount)?;
        if moved.cause == BookCause::Sale {
            self.count += moved.count;
        }
        Ok(())
    }

    fn closing(&self) -> Result<Option<Money>, MoneyError> {
        let moved = [self.sales, self.late_vends, self.unmatched_vends, self.corrected, self.paid];
        let close = |opening: Money| moved.into_iter().try_fold(opening, Money::plus);
        self.opening.map(close).transpose()
    }

    fn is_empty(&self) -> bool {
        let sums = [self.sales, self.late_vends, self.unmatched_vends, self.corrected, self.paid];
        sums.iter().all(|sum| sum.is_zero()) && self.opening.is_none_or(Money::is_zero)
    }

    /// What was paid out, if the lines are not divided further than that.
    fn paid(&self) -> Option<i64> {
        self.opening.map(|_| -self.paid.minor())
    }
}

impl PayableView {
    fn of(key: Key, line: Line) -> Result<Self, MoneyError> {
        Ok(Self {
            head: Head::of(key, line.count),
            opening_hundredths: line.opening.map(Money::minor),
            sales_hundredths: line.sales.minor(),
            late_vends_hundredths: line.late_vends.minor(),
            unmatched_vends_hundredths: line.unmatched_vends.minor(),
            paid_hundredths: line.paid(),
            closing_hundredths: line.closing()?.map(Money::minor),
        })
    }
}

impl EarnedView {
    fn of(key: Key, line: Line) -> Result<Self, MoneyError> {
        Ok(Self {
            head: Head::of(key, line.count),
            opening_hundredths: line.opening.map(Money::minor),
            earned_hundredths: line.sales.minor(),
            corrected_hundredths: line.opening.map(|_| line.corrected.minor()),
            paid_hundredths: line.paid(),
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
