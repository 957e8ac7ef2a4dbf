//! The purchases that a reconciliation left out because they are still open.

use reconciliation::StillOpen;
use serde::Serialize;

use crate::report::{Part, Report, Row, instant, or_dash, yes};

#[derive(Serialize)]
pub(crate) struct OpenView {
    purchase: i64,
    state: &'static str,
    reference: String,
    at: String,
    product: &'static str,
    meter: Option<String>,
    amount: String,
    in_statement: bool,
}

impl OpenView {
    pub(crate) fn all(open: &[StillOpen]) -> Vec<Self> {
        open.iter().map(Self::from).collect()
    }

    /// A sentence, and the list if there is one.
    pub(crate) fn told(open: &[Self]) -> Vec<Part> {
        if open.is_empty() {
            return vec![Part::Text("None of our purchases of this period is still open.\n".to_owned())];
        }
        let listed = open.iter().filter(|purchase| purchase.in_statement).count();
        let sentence = format!(
            "Left out because they are still open: {} of our purchases of this period, of which the statement has {listed}. They are \
             neither matched nor missing yet: reconcile again when they have ended.\n",
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
        }
    }
}

impl Row for OpenView {
    const COLUMNS: &'static [&'static str] =
        &["purchase", "state", "reference", "our time", "product", "our amount", "our meter", "in statement"];

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
        ]
    }
}
