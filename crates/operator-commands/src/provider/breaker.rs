//! `vendctl provider breaker`: when the sales of a provider that answers nothing are paused without an operator.

use std::time::Duration;

use catalogue::{Breaker, ListedBreaker};
use clap::Args;
use humantime::format_duration;
use serde::Serialize;
use serde_json::Value;
use vend::{Product, SubscriberIdentifier};

use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse,
    report::{Report, Row, instant},
    session::Session,
    words,
};

#[derive(Debug, Args)]
pub(crate) struct Declare {
    /// Its code
    #[arg(value_parser = parse::provider_code)]
    code: String,
    /// Remove the breaker; a pause that it has made ends by itself, or by `provider resume`
    #[arg(long, conflicts_with_all = ["silent_percent", "calls", "within", "pause", "notice", "trial"])]
    off: bool,
    /// It opens when this share of the calls has no answer, in per cent
    #[arg(long, value_name = "NUMBER", default_value = "50", value_parser = clap::value_parser!(u8).range(1..=100))]
    silent_percent: u8,
    /// It opens when at least so many calls ended within --within
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    calls: u32,
    /// The time whose calls count, from 10s to 10m
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse::breaker_within)]
    within: Duration,
    /// How long the sales are paused before the provider is tried, from 1s to 1h
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse::breaker_pause)]
    pause: Duration,
    /// A sentence for integrators, shown in their list of products while the breaker is open
    #[arg(long, value_name = "TEXT", value_parser = parse::sentence)]
    notice: Option<String>,
    /// A meter or phone number, best one for tests, about which the provider is asked whether it is there again; nothing is bought
    /// for it. Without it the pause ends by itself
    #[arg(long, value_name = "SUBSCRIBER", value_parser = parse::subscriber)]
    trial: Option<SubscriberIdentifier>,
    /// The product of the number in --trial
    #[arg(long, value_name = "PRODUCT", default_value = "electricity", value_parser = words::product(), requires = "trial")]
    trial_product: Product,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

const REHEARSED: &str = "This was a rehearsal. Nothing was declared.";

/// What is declared, and what it has done.
#[derive(Serialize)]
pub(super) struct View {
    silent_percent: u8,
    calls: u32,
    within_s: u64,
    pause_s: u64,
    notice: Option<String>,
    trial: Option<String>,
    trial_product: Option<&'static str>,
    is_open: bool,
    openings: u32,
    opened_at: Option<String>,
}

impl Declare {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        super::find(session, &self.code).await?;
        let before = of(&catalogue::list_breakers(session.database()).await?, &self.code);
        let change = Change {
            provider: self.code.clone(),
            before: before.as_ref().map(View::declared),
            after: (!self.off).then(|| View::from(&self.listed()).declared()),
        };
        if self.care.dry_run {
            return self.rehearse(session, &change).await;
        }
        self.care.ask(&change.in_words())?;
        let act = session.act(&self.why);
        let done = if self.off {
            catalogue::remove_breaker(session.database(), self.code.clone(), act).await
        } else {
            catalogue::declare_breaker(session.database(), self.code.clone(), self.breaker(), act).await
        };
        done.map_err(|error| VendctlError::NoBreaker(self.code.clone()).if_absent(error))?;
        let shown = super::show(session, &self.code).await?;
        let parts = [Report::one(&change).parts(), shown.parts()].concat();
        Ok(Report::of(&Changed { change, provider: shown.data() }, parts).with_moments(super::View::MOMENTS))
    }

    async fn rehearse(&self, session: &Session, change: &Change) -> Result<Report, VendctlError> {
        if self.off && change.before.is_none() {
            return Err(VendctlError::NoBreaker(self.code.clone()));
        }
        if self.trial.is_some() {
            let products = catalogue::list_products(session.database()).await?;
            if products.iter().all(|listed| listed.product != self.trial_product) {
                return Err(VendctlError::NoProduct(self.trial_product));
            }
        }
        Ok(Report::one(change).noting(REHEARSED))
    }

    /// The breaker as it will be listed, before anything has happened.
    fn listed(&self) -> ListedBreaker {
        ListedBreaker {
            provider_code: self.code.clone(),
            breaker: self.breaker(),
            is_open: false,
            openings: 0,
            opened_at: None,
        }
    }

    fn breaker(&self) -> Breaker {
        Breaker {
            silent_percent: self.silent_percent,
            calls_min: self.calls,
            within: self.within,
            pause: self.pause,
            notice: self.notice.clone(),
            trial: self.trial.clone().map(|subscriber| (self.trial_product, subscriber)),
        }
    }
}

/// What was declared, and what is declared in its place. `None`: no breaker.
#[derive(Serialize)]
struct Change {
    provider: String,
    before: Option<String>,
    after: Option<String>,
}

/// The change, and all fields of the provider.
#[derive(Serialize)]
struct Changed<'a> {
    #[serde(flatten)]
    change: Change,
    #[serde(flatten)]
    provider: &'a Value,
}

impl Change {
    /// What is declared until now, and from now on.
    fn both(&self) -> [String; 2] {
        [&self.before, &self.after].map(|declared| declared.clone().unwrap_or_else(|| "none".to_owned()))
    }

    /// What will be declared, for the person who is asked.
    fn in_words(&self) -> String {
        let [before, after] = self.both();
        format!("The breaker of {}: {after}. Until now: {before}.", self.provider)
    }
}

impl Row for Change {
    const COLUMNS: &'static [&'static str] = &["provider", "before", "after"];

    fn cells(&self) -> Vec<String> {
        let [before, after] = self.both();
        vec![self.provider.clone(), before, after]
    }
}

/// The breaker of a provider, if it has one.
pub(super) fn of(breakers: &[ListedBreaker], code: &str) -> Option<View> {
    breakers.iter().find(|listed| listed.provider_code == code).map(View::from)
}

/// The breaker in one cell of a table: its state, and all that is declared. The notice of an open one has a column.
pub(super) fn cell(breaker: Option<&View>) -> String {
    breaker.map_or_else(|| "none".to_owned(), View::phrase)
}

impl View {
    /// Its notice, while it is open.
    pub(super) fn told(&self) -> Option<String> {
        self.notice.as_ref().filter(|_notice| self.is_open).map(|notice| format!("breaker: {notice}"))
    }

    fn phrase(&self) -> String {
        let state = match (self.is_open, &self.opened_at) {
            (true, Some(at)) => format!("OPEN since {at} (opening {} in a row)", self.openings),
            (true, None) => "OPEN".to_owned(),
            (false, Some(at)) => format!("closed, last opened {at}"),
            (false, None) => "closed".to_owned(),
        };
        format!("{state}; {}", if self.is_open { self.rule() } else { self.declared() })
    }

    /// What is declared, with its notice.
    fn declared(&self) -> String {
        let notice = self.notice.as_ref().map(|notice| format!(", notice: {notice}")).unwrap_or_default();
        self.rule() + &notice
    }

    /// What is declared, but the notice.
    fn rule(&self) -> String {
        let trial = self.trial_product.zip(self.trial.as_ref()).map_or_else(
            || "ends by itself".to_owned(),
            |(product, number)| format!("then tried with {product} {number} within 30s"),
        );
        format!(
            "opens at {} % of {} calls in {}, pauses for {}, {trial}",
            self.silent_percent,
            self.calls,
            format_duration(Duration::from_secs(self.within_s)),
            format_duration(Duration::from_secs(self.pause_s))
        )
    }
}

impl From<&ListedBreaker> for View {
    fn from(listed: &ListedBreaker) -> Self {
        let breaker = &listed.breaker;
        let trial = breaker.trial.as_ref();
        Self {
            silent_percent: breaker.silent_percent,
            calls: breaker.calls_min,
            within_s: breaker.within.as_secs(),
            pause_s: breaker.pause.as_secs(),
            notice: breaker.notice.clone(),
            trial: trial.map(|(_, subscriber)| subscriber.as_str().to_owned()),
            trial_product: trial.map(|(product, _)| product.as_str()),
            is_open: listed.is_open,
            openings: listed.openings,
            opened_at: listed.opened_at.map(instant),
        }
    }
}
