//! The period that a provider's statement covers, as an operator writes it.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use clap::Args;

use crate::{
    error::VendctlError,
    moment::{Day, Moment},
    report::local,
};

/// A day, or a begin and an end.
#[derive(Debug, Default, Args)]
pub struct StatementDays {
    /// The day that the statement covers, in the time zone of the settings
    #[arg(long, value_name = "DAY", value_parser = Day::parse, required_unless_present = "from", conflicts_with_all = ["from", "until"])]
    date: Option<Day>,
    /// When the period of the statement begins, if it is not a day
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse, requires = "until")]
    from: Option<Moment>,
    /// When the period of the statement ends
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse, requires = "from")]
    until: Option<Moment>,
}

impl StatementDays {
    /// The begin and the end of the period. It must be over.
    pub fn bounds(
        &self,
        zone: Tz,
        now: DateTime<Utc>,
    ) -> Result<(DateTime<Utc>, DateTime<Utc>), VendctlError> {
        let exact = match (self.date, self.from, self.until) {
            (Some(day), _, _) => day.bounds(zone, now),
            (None, Some(from), Some(until)) => from.in_zone(&zone, now).zip(until.in_zone(&zone, now)),
            (None, _, _) => return Err(VendctlError::NoStatementPeriod),
        };
        let (from, until) = exact.ok_or(VendctlError::NoSuchTime(zone))?;
        if from >= until {
            return Err(VendctlError::NoStatementPeriod);
        }
        if until > now {
            return Err(VendctlError::PeriodIsNotOver { until: local(until, zone), zone });
        }
        Ok((from, until))
    }
}
