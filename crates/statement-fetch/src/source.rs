//! Reads a provider's list of our orders, page by page, and writes what was vended as a statement.

use std::{
    cmp::Ordering,
    collections::HashSet,
    io::{self, BufWriter, ErrorKind},
    num::NonZeroU32,
    path::Path,
    time::Duration,
};

use chrono::{DateTime, SubsecRound as _, Utc};
use operator_reports::{error::FetchError, parse, part_file::PartFile};
use provider::Provider;
use serde::Serialize;
use vend::{
    Doubt, ListedOrder, ListedSale, ListedState, NoStatement, StatementPage, StatementRequest, Unanswered,
    UnreadableOrder,
};

/// The headings that `reconcile` expects where none are declared.
const HEADINGS: [&str; 7] =
    ["reference", "transaction", "time", "product", "subscriber", "amount", "currency"];
/// How often a page is asked for. The question moves no money.
const TRIES: u32 = 3;

/// A provider whose statement is fetched.
pub(crate) struct Source<'a> {
    /// Its code.
    pub(crate) code: &'a str,
    /// The connection to it.
    pub(crate) provider: &'a dyn Provider,
    /// How long to wait before a page is asked for again.
    pub(crate) between_tries: Duration,
}

/// What the provider listed, by what became of it. Only what was vended is in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Fetched {
    /// The customer has it, and we owe it.
    pub(crate) vended: u64,
    /// The customer has nothing.
    pub(crate) not_vended: u64,
    /// At the edges of the period, and not in it.
    pub(crate) outside_period: u64,
    /// The transactions of which the provider does not know yet whether they are vended.
    pub(crate) still_open: Vec<String>,
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
    /// Fetches the statement of a period. `file` must not exist. After an error there is no file of this try.
    pub(crate) async fn fetch(
        &self,
        period: (DateTime<Utc>, DateTime<Utc>),
        file: &Path,
    ) -> Result<Fetched, FetchError> {
        let mut part = PartFile::create(file).map_err(|error| unwritten(file, error))?;
        let fetched = self.write(period, &mut part).await.map_err(|why| match why {
            Unfetched::Unwritten(error) => unwritten(file, error),
            Unfetched::Because(error) => error,
        })?;
        part.finish().map_err(|error| unwritten(file, error))?;
        Ok(fetched)
    }

    /// Each page must state the same number of orders, and together they must have as many, none of them twice. Otherwise orders were
    /// added while the pages were read, and moved others from page to page.
    async fn write(
        &self,
        (from, until): (DateTime<Utc>, DateTime<Utc>),
        part: &mut PartFile,
    ) -> Result<Fetched, Unfetched> {
        let mut lines = csv::Writer::from_writer(BufWriter::new(part));
        lines.write_record(HEADINGS)?;
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
                let order = order.map_err(|order| self.unreadable(order))?;
                if !transactions.insert(order.transaction.clone()) {
                    return Err(self.changed().into());
                }
                if from <= order.ordered_at && order.ordered_at < until {
                    fetched.add(order, &mut lines)?;
                } else {
                    fetched.outside_period = fetched.outside_period.saturating_add(1);
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

    async fn ask(&self, request: &StatementRequest) -> Result<StatementPage, FetchError> {
        let provider = || self.code.to_owned();
        let mut tries = 1;
        loop {
            let why = match self.provider.statement(request).await {
                Ok(page) => return Ok(page),
                Err(NoStatement::NotInProtocol) => return Err(FetchError::NoList { provider: provider() }),
                Err(NoStatement::SettingMissing(setting)) => {
                    return Err(FetchError::SettingMissing { provider: provider(), setting });
                }
                Err(NoStatement::Unanswered(why)) => why,
            };
            match why {
                Unanswered::Unreachable | Unanswered::NoAnswer(_) if tries < TRIES => {
                    tokio::time::sleep(self.between_tries).await;
                    tries += 1;
                }
                Unanswered::Refused(_) => return Err(FetchError::Refused { provider: provider() }),
                Unanswered::Unreachable => {
                    let why = "it could not be reached";
                    return Err(FetchError::Unanswered { provider: provider(), why });
                }
                Unanswered::NoAnswer(doubt) => {
                    return Err(FetchError::Unanswered { provider: provider(), why: in_words(doubt) });
                }
            }
        }
    }

    fn changed(&self) -> FetchError {
        FetchError::Changed { provider: self.code.to_owned() }
    }

    fn unreadable(&self, UnreadableOrder { transaction, field }: UnreadableOrder) -> FetchError {
        let order = transaction.map_or_else(
            || "a transaction without a number".to_owned(),
            |number| format!("transaction {number}"),
        );
        FetchError::Unreadable { provider: self.code.to_owned(), order, field }
    }
}

impl Fetched {
    fn add<W: io::Write>(
        &mut self,
        order: ListedOrder,
        lines: &mut csv::Writer<W>,
    ) -> Result<(), csv::Error> {
        match order.state {
            ListedState::Vended(sale) => {
                self.vended = self.vended.saturating_add(1);
                return write_sale(&order.transaction, order.ordered_at, &sale, lines);
            }
            ListedState::NotVended => self.not_vended = self.not_vended.saturating_add(1),
            ListedState::StillOpen => self.still_open.push(order.transaction),
        }
        Ok(())
    }
}

fn write_sale<W: io::Write>(
    transaction: &str,
    ordered_at: DateTime<Utc>,
    sale: &ListedSale,
    lines: &mut csv::Writer<W>,
) -> Result<(), csv::Error> {
    // A person can enter any reference on the vendor's site. One that is not of the form of a reference cannot be ours.
    let reference = sale.reference.as_deref().and_then(|written| parse::label(written).ok());
    let reference = reference.unwrap_or_else(|| format!("no-reference-{transaction}"));
    lines.write_record([
        reference.as_str(),
        transaction,
        &ordered_at.to_rfc3339(),
        sale.product.as_str(),
        sale.subscriber.as_str(),
        &sale.amount.to_decimal().to_string(),
        sale.amount.currency().as_str(),
    ])
}

const fn in_words(doubt: Doubt) -> &'static str {
    if matches!(doubt, Doubt::TimedOut) {
        return "it did not answer in time";
    }
    if matches!(doubt, Doubt::Unreadable | Doubt::Mismatched) {
        return "its answer was not of its protocol";
    }
    "it answered with an error, or its answer was lost"
}

fn unwritten(file: &Path, source: io::Error) -> FetchError {
    let file = file.display().to_string();
    if source.kind() == ErrorKind::AlreadyExists {
        return FetchError::Exists { file };
    }
    FetchError::Unwritten { file, source }
}

#[cfg(test)]
mod tests;
