//! The purchases that a statement must have and does not have, page by page.

use std::collections::VecDeque;

use chrono::{DateTime, TimeDelta, Utc};
use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz},
};

use crate::{
    coverage::{Edges, Span, StatementPeriod},
    list::DiscrepancyRecord,
    ours::OurRow,
    purchase_set::PurchaseSet,
    run::StatementPlan,
    write::DiscrepancyKind,
};

/// Purchases of a page.
const PAGE: i64 = 10_000;

/// How long a purchase may have been open before its provider's answer ended it. One that a person ended is found however old it is.
const OPEN_MAX: TimeDelta = TimeDelta::days(1);

struct ListOrganisations;

impl Statement for ListOrganisations {
    const SQL: &str = "-- list_organisation_ids
SELECT id FROM organisations ORDER BY id";
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

struct FindCoverage;

impl Statement for FindCoverage {
    const SQL: &str = include_str!("find_coverage.sql");
}

#[derive(QueryableByName)]
struct CoverageRow {
    #[diesel(sql_type = Timestamptz)]
    covers_from: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    covers_until: DateTime<Utc>,
}

/// Along the index of an organisation's purchases by time. Those of one moment are sorted by their number.
struct ListSuccesses;

impl Statement for ListSuccesses {
    const SQL: &str = "-- list_successes
SELECT p.id, p.created_at, p.ended_at
FROM purchases p
WHERE p.organisation_id = $1 AND (p.created_at, p.id) > ($2, $3) AND p.created_at < $4
    AND p.provider_code = $5 AND p.state = 'SUCCESSFUL' AND p.ended_at >= $6
ORDER BY p.created_at, p.id LIMIT $7";
}

struct ListLateSuccesses;

impl Statement for ListLateSuccesses {
    const SQL: &str = include_str!("list_late_successes.sql");
}

#[derive(Clone, Debug, QueryableByName)]
struct Success {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Timestamptz)]
    ended_at: DateTime<Utc>,
}

struct FindUnlisted;

impl Statement for FindUnlisted {
    const SQL: &str = include_str!("find_unlisted.sql");
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(embed)]
    ours: OurRow,
    #[diesel(sql_type = Text)]
    provider_transaction: String,
    #[diesel(sql_type = Bool)]
    is_by_person: bool,
}

/// Where the walk through the purchases is.
#[derive(Debug)]
pub(crate) struct Pages {
    provider_code: String,
    period: StatementPeriod,
    /// The period, and those of the statements that adjoin it.
    coverage: StatementPeriod,
    pub(crate) edges: Edges,
    run: Option<i64>,
    /// Organisations that are still to be looked at. The first one is under way.
    organisations: VecDeque<i64>,
    after: (DateTime<Utc>, i64),
    are_late_ones_done: bool,
}

impl Pages {
    pub(crate) async fn open(
        database: &Database,
        plan: &StatementPlan,
        run: Option<i64>,
    ) -> Result<Self, DatabaseError> {
        let (provider_code, period) = (plan.provider_code.clone(), plan.period);
        let read = database.read(move |connection| {
            Box::pin(async move {
                let organisations: Vec<IdRow> = prepared::<ListOrganisations>().load(connection).await?;
                let coverage: CoverageRow = prepared::<FindCoverage>()
                    .bind::<Text, _>(provider_code)
                    .bind::<Timestamptz, _>(period.from)
                    .bind::<Timestamptz, _>(period.until)
                    .get_result(connection)
                    .await?;
                Ok((organisations, coverage))
            })
        });
        let (organisations, coverage) = read.await?;
        let coverage = StatementPeriod { from: coverage.covers_from, until: coverage.covers_until, ..period };
        Ok(Self {
            provider_code: plan.provider_code.clone(),
            period,
            coverage,
            edges: Edges::of(&period, &coverage),
            run,
            organisations: organisations.into_iter().map(|row| row.id).collect(),
            after: (begin(&period), 0),
            are_late_ones_done: false,
        })
    }

    /// The unlisted purchases of the next page, which may be none. `None` after the last page.
    pub(crate) async fn next(
        &mut self,
        database: &Database,
        listed: &PurchaseSet,
    ) -> Result<Option<Vec<DiscrepancyRecord>>, DatabaseError> {
        let page = match self.organisations.front() {
            Some(organisation) => {
                let page = self.page(database, *organisation).await?;
                self.turn(&page);
                page
            }
            None if self.are_late_ones_done => return Ok(None),
            None => {
                self.are_late_ones_done = true;
                self.late_ones(database).await?
            }
        };
        self.unlisted(database, &page, listed).await.map(Some)
    }

    fn turn(&mut self, page: &[Success]) {
        let is_full = i64::try_from(page.len()).is_ok_and(|len| len >= PAGE);
        self.after = if let Some(last) = page.last().filter(|_last| is_full) {
            (last.created_at, last.id)
        } else {
            self.organisations.pop_front();
            (begin(&self.period), 0)
        };
    }

    async fn page(&self, database: &Database, organisation: i64) -> Result<Vec<Success>, DatabaseError> {
        let (provider_code, period, after) = (self.provider_code.clone(), self.period, self.after);
        let read = database.read(move |connection| {
            Box::pin(async move {
                let page = prepared::<ListSuccesses>()
                    .bind::<BigInt, _>(organisation)
                    .bind::<Timestamptz, _>(after.0)
                    .bind::<BigInt, _>(after.1)
                    .bind::<Timestamptz, _>(period.latest())
                    .bind::<Text, _>(provider_code)
                    .bind::<Timestamptz, _>(period.earliest())
                    .bind::<BigInt, _>(PAGE);
                page.load(connection).await
            })
        });
        read.await
    }

    async fn late_ones(&self, database: &Database) -> Result<Vec<Success>, DatabaseError> {
        let (provider_code, period) = (self.provider_code.clone(), self.period);
        let read = database.read(move |connection| {
            Box::pin(async move {
                let late = prepared::<ListLateSuccesses>()
                    .bind::<Timestamptz, _>(period.earliest())
                    .bind::<Text, _>(provider_code)
                    .bind::<Timestamptz, _>(begin(&period));
                late.load(connection).await
            })
        });
        read.await
    }

    async fn unlisted(
        &mut self,
        database: &Database,
        page: &[Success],
        listed: &PurchaseSet,
    ) -> Result<Vec<DiscrepancyRecord>, DatabaseError> {
        let (mut ids, mut at_edges): (Vec<i64>, Vec<bool>) = (Vec::new(), Vec::new());
        for success in page.iter().filter(|success| !listed.contains(success.id)) {
            let span = Span { from: success.created_at, until: success.ended_at };
            match self.is_at_an_edge(span) {
                Some(is_at_an_edge) => {
                    ids.push(success.id);
                    at_edges.push(is_at_an_edge);
                }
                None => self.edges.leave_out(span),
            }
        }
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let run = self.run;
        let found = database.read(move |connection| {
            Box::pin(async move {
                let found = prepared::<FindUnlisted>()
                    .bind::<Array<BigInt>, _>(ids)
                    .bind::<Array<Bool>, _>(at_edges)
                    .bind::<Nullable<BigInt>, _>(run);
                found.load::<Row>(connection).await
            })
        });
        found.await?.into_iter().map(|row| row.discrepancy(&self.provider_code)).collect()
    }

    /// `None` if statements that were not reconciled yet may have it.
    fn is_at_an_edge(&self, span: Span) -> Option<bool> {
        if self.period.holds(span) {
            return Some(false);
        }
        self.coverage.holds(span).then_some(true)
    }
}

/// The begin of the purchases that may have been vended in the period.
fn begin(period: &StatementPeriod) -> DateTime<Utc> {
    period.earliest().checked_sub_signed(OPEN_MAX).unwrap_or(DateTime::<Utc>::MIN_UTC)
}

impl Row {
    fn discrepancy(self, provider_code: &str) -> Result<DiscrepancyRecord, DatabaseError> {
        let ours = self.ours.read(Some(self.provider_transaction.clone()))?;
        Ok(DiscrepancyRecord {
            id: None,
            kind: DiscrepancyKind::OnlyOurs,
            provider_code: provider_code.to_owned(),
            provider_reference: self.ours.provider_reference,
            provider_transaction: self.provider_transaction,
            differs: String::new(),
            line: None,
            theirs: None,
            ours: Some(ours),
            is_by_person: self.is_by_person,
            first_found_in: None,
            unmatched_vend: None,
            decided: None,
        })
    }
}
