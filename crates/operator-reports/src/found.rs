//! Discrepancies as a person sees them: what a statement has beside what the books have.

use reconciliation::{DiscrepancyKind, DiscrepancyRecord, InTheStatement};
use serde::Serialize;

use crate::report::{Part, Report, Row, instant, or_dash};

/// A discrepancy, with what the statement has beside what the books have.
#[derive(Serialize)]
pub struct View {
    id: Option<i64>,
    finding: &'static str,
    differs: Vec<String>,
    by_a_person: bool,
    provider: String,
    reference: String,
    transaction: String,
    line: Option<i64>,
    theirs: Option<Theirs>,
    ours: Option<Ours>,
    unmatched_vend: Option<i64>,
    first_found_in: Option<i64>,
    decided_at: Option<String>,
    decided_by: Option<String>,
    decided_because: Option<String>,
}

#[derive(Serialize)]
pub struct Theirs {
    at: String,
    product: &'static str,
    pub meter: Option<String>,
    pub amount: String,
}

#[derive(Serialize)]
struct Ours {
    purchase: i64,
    state: &'static str,
    at: String,
    transaction: Option<String>,
    product: &'static str,
    meter: Option<String>,
    amount: String,
}

/// Something, and discrepancies beside it.
#[derive(Serialize)]
struct Beside<'a, T> {
    #[serde(flatten)]
    what: &'a T,
    discrepancies: Vec<View>,
}

/// A report about something: a table of discrepancies, then `parts` about it.
pub fn beside<T: Serialize>(what: &T, parts: &[Part], found: &[DiscrepancyRecord]) -> Report {
    let views: Vec<View> = found.iter().map(View::from).collect();
    let parts = [Report::list(&views).parts(), parts].concat();
    Report::of(&Beside { what, discrepancies: views }, parts).with_moments(&MOMENTS)
}

/// Of discrepancies, and of the reconciliation that found them.
const MOMENTS: [&str; 5] = ["their time", "our time", "from", "until", "finished"];

/// The aspects of a list that has commas between them.
pub fn aspects(list: &str) -> Vec<String> {
    list.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

impl From<&InTheStatement> for Theirs {
    fn from(theirs: &InTheStatement) -> Self {
        Self {
            at: instant(theirs.vended_at),
            product: theirs.product.as_str(),
            meter: theirs.meter.clone(),
            amount: theirs.net.to_string(),
        }
    }
}

impl From<&DiscrepancyRecord> for View {
    fn from(record: &DiscrepancyRecord) -> Self {
        let finding = match record.kind {
            DiscrepancyKind::OnlyTheirs => "only theirs",
            DiscrepancyKind::OnlyOurs => "only ours",
            DiscrepancyKind::Different => "different",
        };
        let theirs = record.theirs.as_ref().map(Theirs::from);
        let ours = record.ours.as_ref().map(|ours| Ours {
            purchase: ours.purchase.0,
            state: ours.state.as_str(),
            at: instant(ours.created_at),
            transaction: ours.provider_transaction.clone(),
            product: ours.product.as_str(),
            meter: ours.meter.clone(),
            amount: ours.net.to_string(),
        });
        let decided = record.decided.as_ref();
        Self {
            id: record.id,
            finding,
            differs: aspects(&record.differs),
            by_a_person: record.is_by_person,
            provider: record.provider_code.clone(),
            reference: record.provider_reference.clone(),
            transaction: record.provider_transaction.clone(),
            line: record.line,
            theirs,
            ours,
            unmatched_vend: record.unmatched_vend,
            first_found_in: record.first_found_in,
            decided_at: decided.map(|(at, _by, _because)| instant(*at)),
            decided_by: decided.map(|(_at, by, _because)| by.clone()),
            decided_because: decided.map(|(_at, _by, because)| because.clone()),
        }
    }
}

impl View {
    fn what(&self) -> String {
        match (self.differs.is_empty(), self.by_a_person) {
            (false, _) => format!("{}: {}", self.finding, self.differs.join(", ")),
            (true, true) => format!("{}, entered by a person", self.finding),
            (true, false) => self.finding.to_owned(),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "finding",
        "provider",
        "reference",
        "line",
        "their transaction",
        "their time",
        "their amount",
        "their meter",
        "purchase",
        "state",
        "our transaction",
        "our time",
        "our amount",
        "our meter",
        "unmatched vend",
        "closed by",
        "reason",
    ];
    const MOMENTS: &'static [&'static str] = &["their time", "our time"];

    fn cells(&self) -> Vec<String> {
        let number = |number: Option<i64>| or_dash(number.map(|number| number.to_string()).as_deref());
        let (theirs, ours) = (self.theirs.as_ref(), self.ours.as_ref());
        let transaction = theirs.map(|_theirs| self.transaction.as_str());
        vec![
            number(self.id),
            self.what(),
            self.provider.clone(),
            self.reference.clone(),
            number(self.line),
            or_dash(transaction),
            or_dash(theirs.map(|theirs| theirs.at.as_str())),
            or_dash(theirs.map(|theirs| theirs.amount.as_str())),
            or_dash(theirs.and_then(|theirs| theirs.meter.as_deref())),
            number(ours.map(|ours| ours.purchase)),
            or_dash(ours.map(|ours| ours.state)),
            or_dash(ours.and_then(|ours| ours.transaction.as_deref())),
            or_dash(ours.map(|ours| ours.at.as_str())),
            or_dash(ours.map(|ours| ours.amount.as_str())),
            or_dash(ours.and_then(|ours| ours.meter.as_deref())),
            number(self.unmatched_vend),
            or_dash(self.decided_by.as_deref()),
            or_dash(self.decided_because.as_deref()),
        ]
    }
}
