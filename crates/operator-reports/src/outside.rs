//! The lines of a statement that are outside its period. A few are compared like all others, and named; many mean another period.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use reconciliation::{ListedLine, StatementPeriod};
use serde::Serialize;

use crate::{
    error::VendctlError,
    report::{Part, instant, local},
    session::Session,
    statement::StatementFileError,
};

/// Of so many lines one may be outside.
const ONE_OF: u64 = 10;

/// The lines that are named.
const NAMED: usize = 20;

#[derive(Debug, Default)]
pub struct Outside {
    count: u64,
    /// The first of them: the number of the line, the reference and the time.
    first: Vec<(i64, String, DateTime<Utc>)>,
    /// The first and the last time of the whole statement.
    covers: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

/// Many lines are outside of the period.
#[derive(Debug, thiserror::Error)]
#[error(
    "{count} of the {lines} lines are outside the period and its --tolerance, such as line {line}, the vend {reference} of {at} ({zone}); \
     more than one line in ten is refused. The statement covers {from} to {until}: give that as --from and --until, or as its --date. Nothing was kept"
)]
pub struct OutsidePeriod {
    reference: String,
    at: String,
    line: i64,
    count: u64,
    lines: u64,
    from: String,
    until: String,
    zone: Tz,
}

#[derive(Serialize)]
pub struct OutsideView {
    line: i64,
    reference: String,
    at: String,
}

impl Outside {
    pub fn look(
        &mut self,
        period: &StatementPeriod,
        ListedLine { number, vend }: &ListedLine,
    ) -> Result<(), StatementFileError> {
        let at = vend.vended_at;
        self.covers = Some(self.covers.map_or((at, at), |(from, until)| (from.min(at), until.max(at))));
        if !period.admits(at) {
            self.count = self.count.saturating_add(1);
            if self.first.len() < NAMED {
                self.first.push((*number, vend.provider_reference.clone(), at));
            }
        }
        Ok(())
    }

    /// Refuses a statement of which more than one line of ten is outside, and says what it covers.
    pub fn refuse_many(&self, lines: u64, session: &Session) -> Result<(), VendctlError> {
        let (Some((line, reference, at)), Some((from, until))) = (self.first.first(), self.covers) else {
            return Ok(());
        };
        if self.count.saturating_mul(ONE_OF) <= lines {
            return Ok(());
        }
        let zone = session.zone();
        Err(VendctlError::OutsidePeriod(Box::new(OutsidePeriod {
            reference: reference.clone(),
            at: local(*at, zone),
            line: *line,
            count: self.count,
            lines,
            from: local(from, zone),
            // The end of a period is not in it.
            until: local(until.checked_add_signed(TimeDelta::seconds(1)).unwrap_or(until), zone),
            zone,
        })))
    }

    /// A sentence, if there are any.
    pub fn told(&self, session: &Session) -> Vec<Part> {
        if self.first.is_empty() {
            return Vec::new();
        }
        let named = self.first.iter().map(|(line, reference, at)| {
            format!("line {line} ({reference}) of {}", local(*at, session.zone()))
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if u64::try_from(self.first.len()).is_ok_and(|named| named < self.count) {
            ", and others"
        } else {
            ""
        };
        vec![Part::Text(format!(
            "Outside the period and its --tolerance, and compared all the same: {named}{more}. Ask the provider whether the times are \
             right.\n"
        ))]
    }

    pub fn views(&self) -> Vec<OutsideView> {
        let view = |(line, reference, at): &(i64, String, DateTime<Utc>)| OutsideView {
            line: *line,
            reference: reference.clone(),
            at: instant(*at),
        };
        self.first.iter().map(view).collect()
    }
}
