//! `vendctl allow-list`: the subscribers that an organisation in staging may buy for. Production ignores the list.

use clap::{Args, Subcommand};
use serde::Serialize;
use vend::SubscriberIdentifier;

use crate::{
    arguments::{Whose, Why},
    error::VendctlError,
    parse,
    report::{Report, Row},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Add subscribers that an organisation may buy for
    #[command(
        after_help = "Example:\n  vendctl allow-list add -o KGALE 04257670465 04257670473 --reason \"their test meters\""
    )]
    Add(Change),
    /// Remove subscribers from the list
    #[command(
        after_help = "Example:\n  vendctl allow-list remove -o KGALE 04257670465 --reason \"the meter is gone\""
    )]
    Remove(Change),
    /// Show the list
    #[command(after_help = "Example:\n  vendctl allow-list list -o KGALE")]
    List {
        #[command(flatten)]
        whose: Whose,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Change {
    #[command(flatten)]
    whose: Whose,
    /// Meter numbers, phone numbers or account numbers
    #[arg(required = true, value_name = "SUBSCRIBER", value_parser = parse::subscriber)]
    subscribers: Vec<SubscriberIdentifier>,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct View {
    subscriber: String,
}

/// The result of a change: how many subscribers were named, and how many of them were really added or removed.
#[derive(Serialize)]
struct Changed {
    named: usize,
    effective: usize,
    on_the_list: usize,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Add(change) => {
            let organisation = session.organisation_id(&change.whose.organisation).await?;
            let added = catalogue::allow(
                session.database(),
                organisation,
                change.subscribers.clone(),
                session.act(&change.why),
            );
            change.report(session, added.await?).await
        }
        Verb::Remove(change) => {
            let organisation = session.organisation_id(&change.whose.organisation).await?;
            let removed = catalogue::disallow(
                session.database(),
                organisation,
                change.subscribers.clone(),
                session.act(&change.why),
            );
            change.report(session, removed.await?).await
        }
        Verb::List { whose } => {
            let organisation = session.organisation_id(&whose.organisation).await?;
            let listed = catalogue::list_allowed(session.database(), organisation).await?;
            Ok(Report::list(&listed.into_iter().map(View::from).collect::<Vec<_>>()))
        }
    }
}

impl Change {
    async fn report(&self, session: &Session, effective: usize) -> Result<Report, VendctlError> {
        let organisation = session.organisation_id(&self.whose.organisation).await?;
        let on_the_list = catalogue::list_allowed(session.database(), organisation).await?.len();
        Ok(Report::one(&Changed { named: self.subscribers.len(), effective, on_the_list }))
    }
}

impl From<SubscriberIdentifier> for View {
    fn from(subscriber: SubscriberIdentifier) -> Self {
        Self { subscriber: subscriber.to_string() }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["subscriber"];

    fn cells(&self) -> Vec<String> {
        vec![self.subscriber.clone()]
    }
}

impl Row for Changed {
    const COLUMNS: &'static [&'static str] = &["named", "effective", "on the list"];

    fn cells(&self) -> Vec<String> {
        [self.named, self.effective, self.on_the_list].iter().map(ToString::to_string).collect()
    }
}
