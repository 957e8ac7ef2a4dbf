//! Statements of wallets, read between two cut-offs.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::{DatabaseError, Run, Statement as Sql, prepared};
use diesel::sql_types::{BigInt, Text, Timestamptz};
use ledger::AccountId;
use money::{Currency, Money};
use purchase::{AfterLine, Extent, OrganisationId, Period, Statement, StatementLine, StatementPage};

use crate::{
    Store,
    cutoffs::{Division, not_yet},
};

mod line;
#[cfg(test)]
mod plans;

/// The postings that an entry has on one side of one wallet, at most: net and charge.
const SIDE_OF_ENTRY: i64 = 2;

struct FindWallet;

impl Sql for FindWallet {
    const SQL: &str = "-- find_wallet
SELECT name, currency FROM accounts WHERE id = $1 AND organisation_id = $2";
}

#[derive(diesel::QueryableByName)]
struct WalletRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    currency: String,
}

/// The wallet as it is now: its balance and its last entry, in one snapshot.
struct FindEnd;

impl Sql for FindEnd {
    const SQL: &str = include_str!("sql/find_end.sql");
}

struct ListMovements;

impl Sql for ListMovements {
    const SQL: &str = include_str!("sql/list_movements.sql");
}

#[derive(diesel::QueryableByName)]
struct EndRow {
    #[diesel(sql_type = BigInt)]
    entry_id: i64,
    #[diesel(sql_type = BigInt)]
    posted: i64,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
}

impl Store {
    /// A statement of one of the organisation's wallets, whatever its status, and what it covers. `None` if the
    /// organisation has no such wallet.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] if so many postings are not carried forward yet that the caller should come back.
    pub async fn open_statement(
        &self,
        organisation: OrganisationId,
        account: AccountId,
        period: Period,
    ) -> Result<Option<Statement>, DatabaseError> {
        let Some((name, currency)) = self.find_wallet(organisation, account).await? else { return Ok(None) };
        let [opening, closing] = self.divide(account, [period.from, period.to]).await?;
        let opening = opening.ok_or_else(not_yet)?;
        let extent = if let Some(closing) = closing {
            extent(opening, closing, period.to, true)
        } else {
            let (now, at) = self.end_of(account).await?;
            extent(opening, now, at, false)
        };
        Ok(Some(Statement { account, name, currency, extent }))
    }

    /// The same statement again, for a further page of it.
    pub async fn reopen_statement(
        &self,
        organisation: OrganisationId,
        account: AccountId,
        extent: Extent,
    ) -> Result<Option<Statement>, DatabaseError> {
        let wallet = self.find_wallet(organisation, account).await?;
        Ok(wallet.map(|(name, currency)| Statement { account, name, currency, extent }))
    }

    /// At most `limit` lines of a statement after a line, or from its beginning.
    pub async fn list_movements(
        &self,
        statement: Statement,
        after: Option<AfterLine>,
        limit: u16,
    ) -> Result<StatementPage, DatabaseError> {
        let extent = statement.extent;
        let begin =
            AfterLine { entry: extent.after_entry, other: AccountId(i64::MAX), balance: extent.opening };
        let after = after.unwrap_or(begin);
        let rows = self.database.read(move |connection| {
            let lines = prepared::<ListMovements>()
                .bind::<BigInt, _>(statement.account.0)
                .bind::<BigInt, _>(after.entry)
                .bind::<BigInt, _>(after.other.0)
                .bind::<BigInt, _>(extent.until_entry)
                .bind::<BigInt, _>(i64::from(limit).saturating_add(1))
                .bind::<BigInt, _>(2 * SIDE_OF_ENTRY);
            Box::pin(async move { Ok((statement, lines.load::<line::Row>(connection).await?)) })
        });
        let (statement, rows) = rows.await?;
        page(statement, after, rows, limit)
    }

    async fn find_wallet(
        &self,
        organisation: OrganisationId,
        account: AccountId,
    ) -> Result<Option<(String, Currency)>, DatabaseError> {
        let found = self.database.read(move |connection| {
            let wallet =
                prepared::<FindWallet>().bind::<BigInt, _>(account.0).bind::<BigInt, _>(organisation.0);
            Box::pin(async move { wallet.optional::<WalletRow>(connection).await })
        });
        let Some(row) = found.await? else { return Ok(None) };
        Ok(Some((row.name, read_currency("accounts", account.0, &row.currency)?)))
    }

    /// The wallet's last entry and its balance, and the moment at which they were read.
    pub(crate) async fn end_of(
        &self,
        account: AccountId,
    ) -> Result<(Division, DateTime<Utc>), DatabaseError> {
        let end = self.database.read(move |connection| {
            let end = prepared::<FindEnd>().bind::<BigInt, _>(account.0);
            Box::pin(async move { end.get_result::<EndRow>(connection).await })
        });
        let row = end.await?;
        Ok((Division { entry: row.entry_id, balance: row.posted }, row.at))
    }
}

/// An extent between two divisions. The wallet only moves forward, so the second is never before the first.
const fn extent(from: Division, to: Division, as_of: DateTime<Utc>, is_complete: bool) -> Extent {
    Extent {
        after_entry: from.entry,
        opening: from.balance,
        until_entry: to.entry,
        closing: to.balance,
        as_of,
        is_complete,
    }
}

/// One more line than the limit was requested, to know whether there is another page.
fn page(
    statement: Statement,
    after: AfterLine,
    mut rows: Vec<line::Row>,
    limit: u16,
) -> Result<StatementPage, DatabaseError> {
    let is_last = rows.len() <= usize::from(limit);
    rows.truncate(usize::from(limit));
    let opening = Money::from_minor(after.balance, statement.currency);
    let mut balance = opening;
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let line: StatementLine = row.read(balance)?;
        balance = line.balance;
        lines.push(line);
    }
    let last = lines.last().filter(|_| !is_last);
    let next = last.map(|line| AfterLine { entry: line.entry, other: line.other, balance: balance.minor() });
    Ok(StatementPage { statement, opening, lines, next })
}
