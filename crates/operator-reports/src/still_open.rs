//! The purchases that a reconciliation left out because they are still open.

use reconciliation::StillOpen;
use serde::Serialize;

use crate::{
    found::{Theirs, aspects},
    report::{Part, Report, Row, instant, or_dash, yes},
};

#[derive(Serialize)]
pub struct OpenView {
    purchase: i64,
    state: &'static str,
    reference: String,
    at: String,
    product: &'static str,
    meter: Option<String>,
    amount: String,
    in_statement: bool,
    line: Option<i64>,
    differs: Vec<String>,
    theirs: Option<Theirs>,
}

impl OpenView {
    pub fn all(open: &[StillOpen]) -> Vec<Self> {
        open.iter().map(Self::from).collect()
    }

    /// A sentence, and the list if there is one.
    pub fn told(open: &[Self]) -> Vec<Part> {
        if open.is_empty() {
            return vec![Part::Text("None of our purchases of this period is still open.\n".to_owned())];
        }
        let listed = open.iter().filter(|purchase| purchase.in_statement).count();
        let differing = open.iter().filter(|purchase| !purchase.differs.is_empty()).count();
        let warning = if differing == 0 {
            String::new()
        } else {
            format!(
                "{differing} of them differ from their lines: do not take such a line for an answer about the purchase before you have \
                 asked the provider.\n"
            )
        };
        let sentence = format!(
            "Left out because they are still open: {} of our purchases of this period, of which the statement has {listed}. They are \
             neither matched nor missing yet: reconcile again when they have ended.\n{warning}",
            open.len()
        );
        [&[Part::Text(sentence)], Report::list(open).parts()].concat()
    }
}

impl From<&StillOpen> for OpenView {
    fn from(open: &StillOpen) -> Self {
        let ours = &open.ours;
        Self {
            purchase: ours.purchase.0,
            state: ours.state.as_str(),
            reference: open.provider_reference.clone(),
            at: instant(ours.created_at),
            product: ours.product.as_str(),
            meter: ours.meter.clone(),
            amount: ours.net.to_string(),
            in_statement: open.is_listed,
            line: open.line.as_ref().map(|line| line.number),
            differs: open.line.as_ref().map(|line| aspects(&line.differs)).unwrap_or_default(),
            theirs: open.line.as_ref().map(|line| Theirs::from(&line.theirs)),
        }
    }
}

impl Row for OpenView {
    const COLUMNS: &'static [&'static str] = &[
        "purchase",
        "state",
        "reference",
        "our time",
        "product",
        "our amount",
        "our meter",
        "in statement",
        "differs",
        "line",
        "their amount",
        "their meter",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.purchase.to_string(),
            self.state.to_owned(),
            self.reference.clone(),
            self.at.clone(),
            self.product.to_owned(),
            self.amount.clone(),
            or_dash(self.meter.as_deref()),
            yes(self.in_statement),
            or_dash(Some(self.differs.join(", ").as_str()).filter(|differs| !differs.is_empty())),
            or_dash(self.line.map(|line| line.to_string()).as_deref()),
            or_dash(self.theirs.as_ref().map(|theirs| theirs.amount.as_str())),
            or_dash(self.theirs.as_ref().and_then(|theirs| theirs.meter.as_deref())),
        ]
    }
}
