//! `vendctl purchases search`: finds what a caller can name, among purchases and refused confirms.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use clap::Args;
use money::Currency;
use oversight::{FoundPurchase, PurchaseSearch};
use purchase::{Position, StateName};
use serde::Serialize;
use store::{RefusedQuery, RefusedRecord};

use crate::{
    error::VendctlError,
    moment::Moment,
    parse::{self, Amount},
    report::{Report, Row, instant, or_dash, yes},
    said,
    session::Session,
    words::{self, SearchedState},
};

/// The digits of a token (IEC 62055-41, 5.2).
const TOKEN_DIGITS: usize = 20;

/// How many lines one statement reads.
const PAGE: u16 = 1_000;

const BY_PHONE: &str = "No meter, receipt or reference is exactly this. A phone that gets a token is searched with --phone, and --since a day.";

const NO_TOKEN: &str = "A token finds nothing, because it is sealed: search the meter or the phone.";

const BY_LETTER: &str =
    "Nothing has exactly this name. Capitals, hyphens and dots of an integrator's reference count.";

const BY_COUNTRY: &str = "A phone is found with its country code, such as 26771234567.";

#[derive(Debug, Args)]
pub struct Search {
    /// A meter, a phone that was bought for, a receipt or its number, the integrator's reference, our reference at the
    /// provider, or the provider's transaction
    #[arg(value_name = "NAME", value_parser = said::said_name)]
    name: Option<String>,
    /// Only purchases whose token goes to this phone, or that were bought for it
    #[arg(long, value_parser = said::said_phone)]
    phone: Option<String>,
    /// Only this amount: what was asked for, sent to the provider or paid
    #[arg(long, value_parser = parse::amount)]
    amount: Option<Amount>,
    /// Only since this moment or day; without a NAME it is required
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
    since: Option<Moment>,
    /// Only before this moment or day
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
    until: Option<Moment>,
    /// Only in this state
    #[arg(long, value_parser = words::searched_state())]
    state: Option<SearchedState>,
    /// Only from this provider
    #[arg(long, value_name = "CODE", value_parser = parse::provider_code)]
    provider: Option<String>,
    /// Only of this organisation
    #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
    organisation: Option<String>,
    /// The greatest number of lines to show
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Show every line
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
}

/// A purchase, or a confirm that made none.
#[derive(Serialize)]
struct View {
    kind: &'static str,
    id: i64,
    at: String,
    state: &'static str,
    code: Option<String>,
    organisation: Option<String>,
    product: Option<String>,
    provider: Option<String>,
    subscriber: Option<String>,
    phone: Option<String>,
    amount: Option<String>,
    reference: Option<String>,
    external_reference: Option<String>,
    provider_transaction: Option<String>,
    has_token: bool,
    #[serde(skip)]
    moment: DateTime<Utc>,
}

impl Search {
    pub async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        // No index has the phone of a token, the amount or the state, so a start bounds what is read.
        if self.name.is_none() && self.since.is_none() {
            return Err(VendctlError::SearchForNothing);
        }
        let organisation = match &self.organisation {
            Some(code) => Some(session.organisation_id(code).await?),
            None => None,
        };
        let search = PurchaseSearch {
            name: self.name.clone(),
            number: self.name.as_deref().and_then(|name| parse::purchase(name).ok()).map(|name| name.id),
            organisation,
            states: self.state.map_or_else(|| StateName::ALL.to_vec(), SearchedState::states),
            provider_code: self.provider.clone(),
            amount: self.amount.map(minor),
            phone: self.phone.clone(),
            since: self.since.map_or(Ok(DateTime::UNIX_EPOCH), |since| session.moment(since))?,
            until: session.optional_moment(self.until)?,
        };
        let limit = if self.all { usize::MAX } else { usize::from(self.limit) };
        let refused = self.refused(session, &search, limit).await?;
        let found = self.purchases(session, search, limit).await?;
        let mut lines: Vec<View> = found.into_iter().map(View::of).collect();
        lines.extend(refused.into_iter().map(View::of_refused));
        lines.sort_by_key(|line| Reverse((line.moment, line.id)));
        lines.truncate(limit);
        if self.csv {
            return Report::csv(&lines);
        }
        let report = Report::list(&lines);
        if !lines.is_empty() {
            return Ok(report);
        }
        Ok(match &self.phone {
            Some(phone) if parse::international_number(phone).is_err() => report.noting(BY_COUNTRY),
            None if self.may_name_a_phone() => report.noting(BY_PHONE),
            None if self.may_name_a_token() => report.noting(NO_TOKEN),
            None if self.name.is_some() => report.noting(BY_LETTER),
            Some(_) | None => report,
        })
    }

    /// A caller often names the phone that should have got the token. That is no name of a purchase.
    fn may_name_a_phone(&self) -> bool {
        let name = self.name.as_deref().unwrap_or_default();
        parse::phone_number(name.strip_prefix('+').unwrap_or(name)).is_ok()
    }

    fn may_name_a_token(&self) -> bool {
        let name = self.name.as_deref().unwrap_or_default();
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        digits == TOKEN_DIGITS && name.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
    }

    async fn purchases(
        &self,
        session: &Session,
        search: PurchaseSearch,
        limit: usize,
    ) -> Result<Vec<FoundPurchase>, VendctlError> {
        let mut found: Vec<FoundPurchase> = Vec::new();
        loop {
            let after = found.last().map(|last| Position { at: last.created_at, id: last.id });
            let page = oversight::search_purchases(session.database(), search.clone(), after, PAGE).await?;
            let is_last = page.len() < usize::from(PAGE);
            found.extend(page.into_iter().filter(|purchase| self.is_meant(purchase)));
            if is_last || found.len() >= limit {
                return Ok(found);
            }
        }
    }

    /// A whole reference that was named means the purchase with this reference, and not only with its number.
    fn is_meant(&self, found: &FoundPurchase) -> bool {
        self.name.as_ref().is_none_or(|name| !name.starts_with("TOP/") || *name == found.reference)
    }

    /// The refused confirms that fit. None of them has a phone that gets a token.
    async fn refused(
        &self,
        session: &Session,
        search: &PurchaseSearch,
        limit: usize,
    ) -> Result<Vec<RefusedRecord>, VendctlError> {
        if self.state.is_some_and(|state| state != SearchedState::Refused) {
            return Ok(Vec::new());
        }
        let mut query = RefusedQuery {
            organisation: search.organisation,
            subscriber: search.phone.clone(),
            any_name: search.name.clone(),
            provider_code: search.provider_code.clone(),
            amount: search.amount,
            since: Some(search.since),
            until: search.until,
            limit: PAGE,
            ..RefusedQuery::default()
        };
        let mut found: Vec<RefusedRecord> = Vec::new();
        loop {
            let page = session.store.list_refused_confirms(query.clone()).await?;
            let is_last = page.len() < usize::from(PAGE);
            found.extend(page);
            query.before = found.last().map(|last| last.id);
            if is_last || found.len() >= limit {
                return Ok(found);
            }
        }
    }
}

fn minor(amount: Amount) -> i64 {
    let none = Currency::in_hundredths("XXX").expect("three upper-case letters are a currency");
    amount.of(none).minor()
}

impl View {
    fn of(found: FoundPurchase) -> Self {
        Self {
            kind: "purchase",
            id: found.id.0,
            at: instant(found.created_at),
            state: found.state.as_str(),
            code: None,
            organisation: Some(found.organisation),
            product: Some(found.product),
            provider: Some(found.provider_code),
            subscriber: Some(found.subscriber),
            phone: Some(found.phone),
            amount: Some(found.total.to_string()),
            reference: Some(found.reference),
            external_reference: found.external_reference,
            provider_transaction: found.provider_transaction,
            has_token: found.has_token,
            moment: found.created_at,
        }
    }

    fn of_refused(refused: RefusedRecord) -> Self {
        Self {
            kind: "refused confirm",
            id: refused.id,
            at: instant(refused.refused_at),
            state: "REFUSED",
            code: Some(refused.code),
            organisation: refused.organisation,
            product: refused.product,
            provider: refused.provider_code,
            subscriber: refused.subscriber,
            phone: None,
            amount: refused.amount.map(|amount| amount.to_string()),
            reference: None,
            external_reference: refused.external_reference,
            provider_transaction: None,
            has_token: false,
            moment: refused.refused_at,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "kind",
        "id",
        "at",
        "state",
        "code",
        "organisation",
        "product",
        "provider",
        "subscriber",
        "phone",
        "amount",
        "external reference",
        "provider transaction",
        "token stored",
    ];
    const MOMENTS: &'static [&'static str] = &["at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.kind.to_owned(),
            self.id.to_string(),
            self.at.clone(),
            self.state.to_owned(),
            or_dash(self.code.as_deref()),
            or_dash(self.organisation.as_deref()),
            or_dash(self.product.as_deref()),
            or_dash(self.provider.as_deref()),
            or_dash(self.subscriber.as_deref()),
            or_dash(self.phone.as_deref()),
            or_dash(self.amount.as_deref()),
            or_dash(self.external_reference.as_deref()),
            or_dash(self.provider_transaction.as_deref()),
            yes(self.has_token),
        ]
    }
}
