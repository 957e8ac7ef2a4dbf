//! Fetches a statement from a provider whose protocol has a list of our orders, into a file of our own form. The file is what is
//! reconciled and kept as evidence.

use std::{
    cmp::Ordering,
    collections::HashSet,
    io::{self, BufWriter},
    num::NonZeroU32,
    path::Path,
    time::Duration,
};

use chrono::{DateTime, SubsecRound as _, Utc};
use provider::Provider;
use provider_registry::ProviderSettingsError;
use vend::{Doubt, ListedOrder, ListedState, StatementPage, StatementRequest, Unanswered};

use super::Field;
use crate::part_file::PartFile;

const COLUMNS: [Field; 7] = [
    Field::Reference,
    Field::Transaction,
    Field::Time,
    Field::Product,
    Field::Subscriber,
    Field::Amount,
    Field::Currency,
];
/// How often a page is asked for. The question moves no money.
const TRIES: u32 = 3;
/// How long to wait before a page is asked for again.
pub const BETWEEN_TRIES: Duration = Duration::from_secs(1);

/// Why no statement was fetched. There is no file then.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(
        "vendctl has no settings of {provider}; give it the section [providers.{}] of the servers' settings, or reconcile a file that the \
         provider sends, without --fetch",
        provider.to_lowercase()
    )]
    NoSettings { provider: String },
    #[error(
        "the section [providers.{}] of the settings of vendctl cannot be used: {why}; give it the whole section of the servers' settings",
        provider.to_lowercase()
    )]
    Unusable { provider: String, why: String },
    #[error(transparent)]
    Settings(#[from] ProviderSettingsError),
    #[error(
        "the protocol of {provider} has no list of orders; reconcile a file that the provider sends, without --fetch"
    )]
    NoList { provider: String },
    #[error(
        "{file} exists, or {file}.part of a try that was interrupted; name another file, remove the part, or reconcile the file there is, \
         without --fetch"
    )]
    Exists { file: String },
    #[error("{file} cannot be written; name a file in a directory that exists and that you may write to")]
    Unwritten { file: String, source: io::Error },
    #[error(
        "{provider} did not give its list: {why}; try again later, or reconcile a file that the provider sends, without --fetch"
    )]
    Unanswered { provider: String, why: &'static str },
    #[error("the list of {provider} changed while it was read; try again")]
    Changed { provider: String },
    #[error(
        "{provider} lists transaction {transaction} in a state that vendctl does not know; ask the provider what it means, and reconcile \
         a file that the provider sends, without --fetch"
    )]
    UnknownState { provider: String, transaction: String },
}

/// How many orders the provider listed for the period, by what became of them. Only those that were vended are in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    pub vended: u64,
    pub still_open: u64,
    pub not_vended: u64,
}

impl Fetched {
    /// What was fetched, in a sentence.
    pub fn sentence(&self, file: &Path) -> String {
        let Self { vended, still_open, not_vended } = self;
        let open = if *still_open == 0 {
            ""
        } else {
            " Fetch the statement again, into another file, when those that are open have ended."
        };
        format!(
            "The provider listed {vended} vended, {not_vended} not vended and {still_open} open. Those that were vended are in {}.{open}",
            file.display()
        )
    }
}

/// A provider whose statement is fetched.
pub struct Source<'a> {
    pub code: &'a str,
    pub provider: &'a dyn Provider,
    /// How long to wait before a page is asked for again.
    pub between_tries: Duration,
}

/// Fetches the statement of a period. `file` must not exist.
pub async fn fetch(
    source: &Source<'_>,
    period: (DateTime<Utc>, DateTime<Utc>),
    file: &Path,
) -> Result<Fetched, FetchError> {
    let mut part = PartFile::create(file).map_err(|error| unwritten(file, error))?;
    match source.write(period, &mut part).await {
        Ok(fetched) => part.finish().map(|()| fetched).map_err(|error| unwritten(file, error)),
        Err(why) => {
            part.remove().map_err(|error| unwritten(file, error))?;
            Err(match why {
                Unfetched::Unwritten(error) => unwritten(file, error),
                Unfetched::Because(error) => error,
            })
        }
    }
}

enum Unfetched {
    Unwritten(io::Error),
    Because(FetchError),
}

impl From<FetchError> for Unfetched {
    fn from(error: FetchError) -> Self {
        Self::Because(error)
    }
}

impl From<csv::Error> for Unfetched {
    fn from(error: csv::Error) -> Self {
        Self::Unwritten(error.into())
    }
}

impl Source<'_> {
    /// Each page must state the same number of orders, and together they must have as many, none of them twice. Otherwise orders were
    /// added while the pages were read, and moved others from page to page.
    async fn write(
        &self,
        (from, until): (DateTime<Utc>, DateTime<Utc>),
        part: &mut PartFile,
    ) -> Result<Fetched, Unfetched> {
        let mut lines = csv::Writer::from_writer(BufWriter::new(part));
        lines.write_record(COLUMNS.map(Field::as_str))?;
        let (mut fetched, mut transactions, mut in_all) = (Fetched::default(), HashSet::new(), None);
        // Vendors write whole seconds. So an order in the first second of the period can seem to be before it.
        let from = from.trunc_subsecs(0);
        let mut request = StatementRequest { from, until, page: NonZeroU32::MIN };
        loop {
            let StatementPage { orders, orders_in_all } = self.ask(&request).await?;
            let is_empty = orders.is_empty();
            if *in_all.get_or_insert(orders_in_all) != orders_in_all {
                return Err(self.changed().into());
            }
            for order in orders {
                if !transactions.insert(order.transaction.clone()) {
                    return Err(self.changed().into());
                }
                if from <= order.ordered_at && order.ordered_at < until {
                    self.add(&order, &mut fetched, &mut lines)?;
                }
            }
            match u64::try_from(transactions.len()).unwrap_or(u64::MAX).cmp(&orders_in_all) {
                Ordering::Equal => break,
                Ordering::Less if !is_empty => request.page = request.page.saturating_add(1),
                Ordering::Less | Ordering::Greater => return Err(self.changed().into()),
            }
        }
        lines.flush().map_err(Unfetched::Unwritten)?;
        Ok(fetched)
    }

    fn add<W: io::Write>(
        &self,
        order: &ListedOrder,
        fetched: &mut Fetched,
        lines: &mut csv::Writer<W>,
    ) -> Result<(), Unfetched> {
        let counter = match order.state {
            ListedState::Vended => {
                write_order(order, lines)?;
                &mut fetched.vended
            }
            ListedState::StillOpen => &mut fetched.still_open,
            ListedState::NotVended => &mut fetched.not_vended,
            ListedState::Unknown => {
                let transaction = order.transaction.clone();
                return Err(FetchError::UnknownState { provider: self.code.to_owned(), transaction }.into());
            }
        };
        *counter = counter.saturating_add(1);
        Ok(())
    }

    async fn ask(&self, request: &StatementRequest) -> Result<StatementPage, FetchError> {
        let provider = || self.code.to_owned();
        let mut tries = 1;
        loop {
            match self.provider.statement(request).await {
                Ok(Some(page)) => return Ok(page),
                Ok(None) => return Err(FetchError::NoList { provider: provider() }),
                Err(Unanswered::Unreachable | Unanswered::NoAnswer(_)) if tries < TRIES => {
                    tokio::time::sleep(self.between_tries).await;
                    tries += 1;
                }
                Err(unanswered) => {
                    return Err(FetchError::Unanswered { provider: provider(), why: why(&unanswered) });
                }
            }
        }
    }

    fn changed(&self) -> FetchError {
        FetchError::Changed { provider: self.code.to_owned() }
    }
}

fn write_order<W: io::Write>(order: &ListedOrder, lines: &mut csv::Writer<W>) -> Result<(), csv::Error> {
    // No order of ours has such a reference, so the line matches none.
    let none = || format!("no-reference-{}", order.transaction);
    lines.write_record([
        &order.reference.clone().unwrap_or_else(none),
        &order.transaction,
        &order.ordered_at.to_rfc3339(),
        order.product.as_str(),
        &order.subscriber,
        &order.amount,
        &order.currency,
    ])
}

const fn why(unanswered: &Unanswered) -> &'static str {
    match unanswered {
        Unanswered::Refused(_) => "it refused our credentials or settings",
        Unanswered::Unreachable => "it could not be reached",
        Unanswered::NoAnswer(Doubt::TimedOut) => "it did not answer in time",
        Unanswered::NoAnswer(Doubt::Unreadable | Doubt::Mismatched) => "its answer was not of its protocol",
        Unanswered::NoAnswer(_) => "it answered with an error, or its answer was lost",
    }
}

fn unwritten(file: &Path, source: io::Error) -> FetchError {
    let file = file.display().to_string();
    if source.kind() == io::ErrorKind::AlreadyExists {
        return FetchError::Exists { file };
    }
    FetchError::Unwritten { file, source }
}

#[cfg(test)]
mod tests;
