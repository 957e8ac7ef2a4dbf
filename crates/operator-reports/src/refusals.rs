//! `vendctl refusals`: confirms that were refused before a purchase was created.

use clap::Subcommand;
use serde::Serialize;
use store::{RefusedQuery, RefusedRecord};

use crate::{
    error::VendctlError,
    parse,
    report::{Report, Row, instant, or_dash},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the confirms of the last 30 days that were refused before a purchase was created, the newest first
    #[command(
        after_help = "The code is that of the answer, but provider_paused for a provider_unavailable because of a pause.\n\nExamples:\n  vendctl refusals list --reference till-7-0001\n  vendctl refusals list -o KGALE \
                      --subscriber 04257670465\n  vendctl refusals list --request-id till-7/31"
    )]
    List {
        /// Only refusals with this external reference of the integrator
        #[arg(long, visible_alias = "external-reference", value_name = "TEXT")]
        reference: Option<String>,
        /// Only refusals for this meter, phone or account, as the integrator wrote it
        #[arg(long, value_name = "TEXT")]
        subscriber: Option<String>,
        /// Only refusals of this organisation
        #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
        organisation: Option<String>,
        /// Only the refusal of the request with this `X-Request-Id`
        #[arg(long, value_name = "ID")]
        request_id: Option<String>,
        /// The greatest number of lines to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only lines before this one, for the next page
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
}

#[derive(Serialize)]
struct View {
    id: i64,
    refused_at: String,
    organisation: Option<String>,
    client: Option<String>,
    user: Option<String>,
    subscriber: Option<String>,
    external_reference: Option<String>,
    product: Option<String>,
    provider: Option<String>,
    amount: Option<String>,
    code: String,
    param: Option<String>,
    request_id: String,
}

pub async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { reference, subscriber, organisation, request_id, limit, before } => {
            let organisation = match organisation {
                Some(code) => Some(session.organisation_id(code).await?),
                None => None,
            };
            let query = RefusedQuery {
                organisation,
                subscriber: subscriber.clone(),
                external_reference: reference.clone(),
                request_id: request_id.clone(),
                before: *before,
                limit: *limit,
                ..RefusedQuery::default()
            };
            let found = session.store.list_refused_confirms(query).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
    }
}

impl From<RefusedRecord> for View {
    fn from(record: RefusedRecord) -> Self {
        Self {
            id: record.id,
            refused_at: instant(record.refused_at),
            organisation: record.organisation,
            client: record.client,
            user: record.user,
            subscriber: record.subscriber,
            external_reference: record.external_reference,
            product: record.product,
            provider: record.provider_code,
            amount: record.amount.map(|amount| amount.to_string()),
            code: record.code,
            param: record.param,
            request_id: record.request_id,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "refused at",
        "organisation",
        "subscriber",
        "external reference",
        "product",
        "provider",
        "amount",
        "code",
        "param",
        "request id",
    ];
    const MOMENTS: &'static [&'static str] = &["refused at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.refused_at.clone(),
            or_dash(self.organisation.as_deref()),
            or_dash(self.subscriber.as_deref()),
            or_dash(self.external_reference.as_deref()),
            or_dash(self.product.as_deref()),
            or_dash(self.provider.as_deref()),
            or_dash(self.amount.as_deref()),
            self.code.clone(),
            or_dash(self.param.as_deref()),
            self.request_id.clone(),
        ]
    }
}
