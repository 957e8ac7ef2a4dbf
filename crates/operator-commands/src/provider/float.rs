//! Our float at a provider: what is left of the money that we have prepaid there, and below what an operator wants to know of it.

use std::time::Duration;

use catalogue::ListedFloat;
use clap::Args;
use humantime::format_duration;
use money::Currency;
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse::{self, Amount},
    report::{Report, instant},
    session::Session,
};

#[derive(Debug, Args)]
pub(crate) struct FloatLimit {
    /// Its code
    #[arg(value_parser = parse::provider_code)]
    code: String,
    /// An alert begins when less than this is left
    #[arg(value_parser = parse::amount, required_unless_present = "off", conflicts_with = "off")]
    amount: Option<Amount>,
    /// The currency of our account at the provider
    #[arg(long, value_name = "CODE", value_parser = parse::currency)]
    currency: Currency,
    /// No alert begins, whatever is left
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    why: Why,
}

/// What the provider last reported.
#[derive(Serialize)]
pub(super) struct View {
    currency: String,
    amount: Option<String>,
    told_at: Option<String>,
    age_s: Option<u64>,
    low_below: Option<String>,
    is_low: bool,
}

impl FloatLimit {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let limit = self.amount.map(|amount| amount.of(self.currency));
        let act = session.act(&self.why);
        let set =
            catalogue::set_float_limit(session.database(), self.code.clone(), self.currency, limit, act)
                .await;
        set.map_err(|error| VendctlError::NoProvider(self.code.clone()).if_absent(error))?;
        super::show(session, &self.code).await
    }
}

/// The floats at a provider.
pub(super) fn of(floats: &[ListedFloat], code: &str) -> Vec<View> {
    floats.iter().filter(|float| float.provider_code == code).map(View::from).collect()
}

/// The floats in one cell of a table.
pub(super) fn cell(floats: &[View]) -> String {
    if floats.is_empty() {
        return "not reported".to_owned();
    }
    floats.iter().map(View::phrase).collect::<Vec<_>>().join("; ")
}

impl View {
    fn phrase(&self) -> String {
        let reported = match (&self.amount, self.age_s) {
            (Some(amount), Some(age_s)) => {
                let age = format_duration(Duration::from_secs(age_s));
                format!("{amount}, {age} ago")
            }
            (Some(_) | None, _) => format!("{} never reported", self.currency),
        };
        let limit = self.low_below.as_ref().map(|limit| format!(" (low below {limit})")).unwrap_or_default();
        let low = if self.is_low { ", LOW" } else { "" };
        format!("{reported}{limit}{low}")
    }
}

impl From<&ListedFloat> for View {
    fn from(float: &ListedFloat) -> Self {
        Self {
            currency: float.currency.to_string(),
            amount: float.told.map(|(left, _)| left.to_string()),
            told_at: float.told.map(|(_, at)| instant(at)),
            age_s: float.age.map(|age| age.as_secs()),
            low_below: float.low_below.map(|limit| limit.to_string()),
            is_low: float.is_low(),
        }
    }
}
