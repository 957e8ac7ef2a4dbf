//! The filter of `vendctl purchases list`, and its lines.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use clap::{ArgGroup, Args};
use oversight::{Overseen, OverseenStates, OversightQuery};
use purchase::PurchaseId;
use serde::Serialize;
use vend::SubscriberIdentifier;

use crate::{
    error::VendctlError,
    parse::{self, PurchaseName},
    report::{Report, Row, instant, or_dash},
    requests,
    session::Session,
};

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("state").args(["open", "in_doubt", "review"])),
    group(ArgGroup::new("narrow").args(["open", "in_doubt", "review", "organisation"]).multiple(true)),
)]
pub struct Filter {
    /// Only open purchases, for which money is held
    #[arg(long)]
    open: bool,
    /// Only purchases whose outcome is not known
    #[arg(long)]
    in_doubt: bool,
    /// Only purchases that wait for an operator's decision
    #[arg(long)]
    review: bool,
    /// Only purchases that are at least this old, such as 10m or 24h
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse::age)]
    older_than: Duration,
    /// Only purchases of this organisation
    #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
    organisation: Option<String>,
    /// Only purchases for this meter, phone or account
    #[arg(long, value_parser = parse::subscriber)]
    subscriber: Option<SubscriberIdentifier>,
    /// Only the purchase with this reference or number
    #[arg(long, value_parser = parse::purchase)]
    reference: Option<PurchaseName>,
    /// Only purchases with this external reference of the integrator
    #[arg(long, value_name = "TEXT")]
    external_reference: Option<String>,
    /// Only the purchase that the request with this `X-Request-Id` confirmed; needs -o, --open, --in-doubt or --review
    #[arg(long, value_name = "ID", requires = "narrow")]
    request_id: Option<String>,
    /// The greatest number of purchases to show
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Only purchases after this one in the list, for the next page
    #[arg(long, value_name = "ID")]
    after: Option<i64>,
}

#[derive(Serialize)]
struct View {
    id: i64,
    reference: String,
    state: &'static str,
    organisation: String,
    product: &'static str,
    provider: String,
    subscriber: String,
    total: String,
    handling: &'static str,
    attempt: u16,
    created_at: String,
    due_at: Option<String>,
    external_reference: Option<String>,
    request_id: Option<String>,
    age_s: i64,
    /// The request that waits about it.
    waiting_request: Option<i64>,
}

impl Filter {
    pub async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let organisation = match &self.organisation {
            Some(code) => Some(session.organisation_id(code).await?),
            None => None,
        };
        let query = OversightQuery {
            states: self.states(),
            organisation,
            id: self.reference.as_ref().map(|name| name.id),
            subscriber: self.subscriber.clone(),
            external_reference: self.external_reference.clone(),
            request_id: self.request_id.clone(),
            older_than: self.older_than,
            after: self.after.map(PurchaseId),
            limit: self.limit,
        };
        let found = oversight::oversee_purchases(session.database(), query).await;
        let nowhere =
            |error| VendctlError::NoPurchase(self.after.unwrap_or_default().to_string()).if_absent(error);
        let found = found.map_err(nowhere)?.into_iter().filter(|purchase| self.is_meant(purchase));
        let requests = waiting_requests(session).await?;
        let view =
            |seen: Overseen| View { waiting_request: requests.get(&seen.id.0).copied(), ..View::from(seen) };
        Ok(Report::list(&found.map(view).collect::<Vec<_>>()))
    }

    const fn states(&self) -> OverseenStates {
        if self.open {
            OverseenStates::Open
        } else if self.in_doubt {
            OverseenStates::InDoubt
        } else if self.review {
            OverseenStates::Review
        } else {
            OverseenStates::All
        }
    }

    /// Whether the purchase has the whole reference that was named, and not only its number.
    fn is_meant(&self, purchase: &Overseen) -> bool {
        let named = self.reference.as_ref().and_then(|name| name.reference.as_ref());
        named.is_none_or(|named| *named == purchase.reference)
    }
}

impl From<Overseen> for View {
    fn from(seen: Overseen) -> Self {
        Self {
            id: seen.id.0,
            reference: seen.reference,
            state: seen.state.as_str(),
            organisation: seen.organisation,
            product: seen.product.as_str(),
            provider: seen.provider_code,
            subscriber: seen.subscriber,
            total: seen.total.to_string(),
            handling: seen.handling.as_str(),
            attempt: seen.attempt,
            created_at: instant(seen.created_at),
            due_at: seen.due_at.map(instant),
            external_reference: seen.external_reference,
            request_id: seen.request_id,
            age_s: age(seen.created_at, seen.seen_at).num_seconds(),
            waiting_request: None,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "state",
        "age",
        "organisation",
        "product",
        "provider",
        "subscriber",
        "total",
        "due at",
        "external reference",
        "waiting request",
    ];
    const MOMENTS: &'static [&'static str] = &["due at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.state.to_owned(),
            in_words(self.age_s),
            self.organisation.clone(),
            self.product.to_owned(),
            self.provider.clone(),
            self.subscriber.clone(),
            self.total.clone(),
            or_dash(self.due_at.as_deref()),
            or_dash(self.external_reference.as_deref()),
            or_dash(self.waiting_request.map(|request| request.to_string()).as_deref()),
        ]
    }
}

/// The requests that wait, by the purchase that each would decide.
async fn waiting_requests(session: &Session) -> Result<BTreeMap<i64, i64>, VendctlError> {
    let waiting = requests::waiting(session).await?;
    Ok(waiting.iter().filter_map(|request| Some((requests::purchase_of(request)?.0, request.id))).collect())
}

fn age(since: DateTime<Utc>, now: DateTime<Utc>) -> TimeDelta {
    now.signed_duration_since(since).max(TimeDelta::zero())
}

fn in_words(seconds: i64) -> String {
    humantime::format_duration(Duration::from_secs(seconds.unsigned_abs())).to_string()
}
