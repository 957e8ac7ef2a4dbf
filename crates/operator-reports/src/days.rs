//! The days of a report, and what its lines are of.

use back_office::Division;
use chrono::NaiveDate;
use chrono_tz::Tz;
use clap::{Args, ValueEnum};
use purchase::{Period, ReportedDay};
use serde::Serialize;

use crate::{
    error::VendctlError,
    moment::Day,
    report::{Report, Row, csv_text, or_dash, yes},
    session::Session,
};

/// The greatest number of days of one report.
const DAYS_MAX: usize = 92;

#[derive(Debug, Args)]
pub(crate) struct Days {
    /// The day, such as 2026-11-20, today or yesterday, or the first of several
    #[arg(long, value_name = "DAY", value_parser = Day::parse)]
    date: Day,
    /// The last day; without it the report is of one day
    #[arg(long, value_name = "DAY", value_parser = Day::parse)]
    to: Option<Day>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Day,
    Organisation,
    Provider,
    Product,
}

/// What a line is of. An absent part is added up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) day: Option<NaiveDate>,
    pub(crate) organisation: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) product: Option<&'static str>,
    /// Never added up: money of staging is not real.
    pub(crate) environment: String,
    pub(crate) currency: String,
}

/// The first cells of a line.
#[derive(Serialize)]
pub(crate) struct Head {
    day: Option<String>,
    organisation: Option<String>,
    provider: Option<String>,
    product: Option<&'static str>,
    environment: String,
    currency: String,
    count: i64,
}

impl Days {
    /// These days in the time zone of the settings.
    pub(crate) fn reported(&self, session: &Session) -> Result<Vec<ReportedDay>, VendctlError> {
        let (first, last) = (session.date(self.date), session.date(self.to.unwrap_or(self.date)));
        let dates: Vec<NaiveDate> =
            first.iter_days().take_while(|day| *day <= last).take(DAYS_MAX + 1).collect();
        if dates.is_empty() || dates.len() > DAYS_MAX {
            return Err(VendctlError::NoPeriod { days_max: DAYS_MAX });
        }
        let day = |date: NaiveDate| {
            let (from, to) = session.bounds(Day::On(date))?;
            Ok(ReportedDay { date, period: Period { from, to } })
        };
        dates.into_iter().map(day).collect()
    }
}

impl By {
    pub(crate) const fn division(self) -> Division {
        match self {
            Self::Day => Division::Day,
            Self::Organisation => Division::Organisation,
            Self::Provider => Division::Provider,
            Self::Product => Division::Product,
        }
    }
}

impl Key {
    /// The key without the parts that are added up.
    pub(crate) fn divided(self, by: &[By]) -> Self {
        let is_by = |part| by.contains(&part);
        Self {
            day: self.day.filter(|_| is_by(By::Day)),
            organisation: self.organisation.filter(|_| is_by(By::Organisation)),
            provider: self.provider.filter(|_| is_by(By::Provider)),
            product: self.product.filter(|_| is_by(By::Product)),
            environment: self.environment,
            currency: self.currency,
        }
    }
}

impl Head {
    pub(crate) fn of(key: Key, count: i64) -> Self {
        Self {
            day: key.day.map(|day| day.to_string()),
            organisation: key.organisation,
            provider: key.provider,
            product: key.product,
            environment: key.environment,
            currency: key.currency,
            count,
        }
    }

    pub(crate) fn cells(&self) -> Vec<String> {
        vec![
            or_dash(self.day.as_deref()),
            or_dash(self.organisation.as_deref()),
            or_dash(self.provider.as_deref()),
            or_dash(self.product),
            self.environment.clone(),
            self.currency.clone(),
            self.count.to_string(),
        ]
    }
}

/// A line, with what the whole report is of. Printed or kept, it says so itself.
#[derive(Serialize)]
struct Dated<'a, V> {
    from: &'a str,
    to: &'a str,
    /// Whether all days have ended, so that the line never changes again.
    has_ended: bool,
    #[serde(flatten)]
    line: &'a V,
}

/// The lines, with the days that they are of and whether they may still grow.
pub(crate) fn show<V: Row>(
    lines: &[V],
    days: &[ReportedDay],
    zone: Tz,
    as_csv: bool,
    has_ended: bool,
) -> Result<Report, VendctlError> {
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return Err(VendctlError::NoPeriod { days_max: DAYS_MAX });
    };
    let (from, to) = (first.date.to_string(), last.date.to_string());
    let dated: Vec<_> = lines.iter().map(|line| Dated { from: &from, to: &to, has_ended, line }).collect();
    if as_csv {
        let last = [("from", from.clone()), ("to", to.clone()), ("has ended", yes(has_ended))];
        return Ok(Report::text_and_data(&dated, csv_text(lines, &last)?));
    }
    let period = if from == to { format!("The day {from}") } else { format!("The days from {from} to {to}") };
    let ended = match (has_ended, from == to) {
        (true, _) => "Nothing of it changes any more.",
        (false, true) => "It has not ended, so its lines still grow.",
        (false, false) => "A day has not ended, so its lines still grow.",
    };
    Ok(Report::of(&dated, Report::list(lines).parts().to_vec())
        .noting(&format!("{period} in {zone}. {ended}")))
}
