//! One run of a reconciliation. The lines are taken in parts, so that memory holds one part, the set of purchases that were listed,
//! and the first discrepancies.

use std::{collections::BTreeMap, sync::Arc};

use database::{Database, DatabaseError};
use directory::AuditContext;
use store::SealingKeys;
use vend::Product;

use crate::{
    booked::{Booked, Found, find_booked},
    coverage::{Edges, StatementPeriod},
    judge::{Aspect, Verdict, judge},
    list::{DiscrepancyRecord, InTheBooks, InTheStatement},
    listed::ListedVend,
    open::{OpenLine, StillOpen, list_open},
    purchase_set::PurchaseSet,
    shift::{TimeShift, find_shift},
    unlisted,
    write::{self, Counts, DiscrepancyKind},
};

/// The greatest number of discrepancies that a run returns. All of them are counted and written.
const SHOWN_MAX: usize = 1_000;

/// A statement, before its lines are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPlan {
    pub provider_code: String,
    pub file_name: String,
    /// The SHA-256 of the whole file.
    pub file_sha256: [u8; 32],
    pub period: StatementPeriod,
}

/// A line of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLine {
    /// Its number in the file, from 1.
    pub number: i64,
    pub vend: ListedVend,
}

/// A run that is under way.
#[derive(Debug)]
pub struct Reconciler {
    database: Database,
    sealing: Option<Arc<SealingKeys>>,
    plan: StatementPlan,
    /// Its number, and who runs it. `None`: it is a rehearsal, which writes nothing.
    kept: Option<(i64, AuditContext)>,
    listed: PurchaseSet,
    /// The first line about each purchase that was open when it was read, and what differs. Open purchases are few.
    of_open: BTreeMap<i64, OpenLine>,
    counts: Counts,
    shown: Vec<DiscrepancyRecord>,
}

/// What a run has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconciled {
    /// The number of the run. `None` for a rehearsal.
    pub run: Option<i64>,
    pub counts: Counts,
    /// Which of our purchases were judged.
    pub edges: Edges,
    /// Our purchases of the period that have not ended, the oldest first. None of them was judged.
    pub open: Vec<StillOpen>,
    /// The first 1,000 discrepancies.
    pub discrepancies: Vec<DiscrepancyRecord>,
}

impl Reconciler {
    /// Begins a run that is kept. Without `sealing`, tokens are not compared.
    ///
    /// # Errors
    /// If the provider does not exist, or the database does not answer.
    pub async fn begin(
        database: Database,
        sealing: Option<Arc<SealingKeys>>,
        plan: StatementPlan,
        act: AuditContext,
    ) -> Result<Self, DatabaseError> {
        let run = write::begin(&database, plan.clone(), act.clone()).await?;
        Ok(Self { kept: Some((run, act)), ..Self::rehearse(database, sealing, plan) })
    }

    /// Begins a run that writes nothing.
    pub fn rehearse(database: Database, sealing: Option<Arc<SealingKeys>>, plan: StatementPlan) -> Self {
        let (listed, counts) = (PurchaseSet::default(), Counts::default());
        let of_open = BTreeMap::new();
        Self { database, sealing, plan, kept: None, listed, of_open, counts, shown: Vec::new() }
    }

    /// Holds some lines of the statement against the books.
    ///
    /// # Errors
    /// If the database fails. The run cannot go on then.
    pub async fn take(&mut self, lines: Vec<ListedLine>) -> Result<(), DatabaseError> {
        let (lines, found) = find(&self.database, &self.plan, lines).await?;
        let (mut discrepancies, mut sighted) = (Vec::new(), Vec::new());
        for (line, found) in lines.iter().zip(found) {
            let verdict = judge(&line.vend, &found, &self.plan.period, self.sealing.as_deref());
            let verdict = self.note_listed(line, &found, verdict, &mut sighted);
            discrepancies.extend(self.count(line, &found, &verdict));
        }
        self.keep(discrepancies, sighted).await
    }

    /// Looks for purchases that the statement does not have, and ends the run.
    ///
    /// # Errors
    /// If the database fails. The run stays unfinished then.
    pub async fn finish(mut self) -> Result<Reconciled, DatabaseError> {
        // First, so that a purchase that ends meanwhile is told once more rather than not at all.
        let open = list_open(&self.database, &self.plan, &self.of_open, &self.listed).await?;
        let mut pages = unlisted::Pages::open(&self.database, &self.plan, self.run()).await?;
        while let Some(page) = pages.next(&self.database, &self.listed).await? {
            let missing = i64::try_from(page.len()).unwrap_or(i64::MAX);
            self.counts.only_ours = self.counts.only_ours.saturating_add(missing);
            self.keep(page, Vec::new()).await?;
        }
        if let Some((run, act)) = &self.kept {
            write::finish(&self.database, *run, self.plan.clone(), self.counts, act.clone()).await?;
        }
        let edges = pages.edges;
        Ok(Reconciled { run: self.run(), counts: self.counts, edges, open, discrepancies: self.shown })
    }

    fn run(&self) -> Option<i64> {
        self.kept.as_ref().map(|(run, _act)| *run)
    }

    /// Notes that the purchase is listed, so that it is not looked for. A second line about the same vend is a discrepancy.
    fn note_listed(
        &mut self,
        line: &ListedLine,
        found: &Found,
        verdict: Verdict,
        sighted: &mut Vec<i64>,
    ) -> Verdict {
        let Found::Booked(booked) = found else { return verdict };
        let id = booked.purchase.0;
        if booked.state.is_open() {
            self.listed.insert(id);
            sighted.push(id);
            self.of_open.entry(id).or_insert_with(|| OpenLine {
                number: line.number,
                theirs: InTheStatement::from(&line.vend),
                differs: verdict.differs(),
            });
            return verdict;
        }
        match verdict {
            Verdict::Matched | Verdict::Different(_) if !booked.is_the_vend_of_its_end() => verdict,
            Verdict::Matched | Verdict::Different(_) | Verdict::Open | Verdict::OnlyTheirs => {
                if booked.span().is_some_and(|span| !self.plan.period.holds(span)) {
                    sighted.push(id);
                }
                if self.listed.insert(id) { verdict } else { verdict.repeated() }
            }
        }
    }

    fn count(&mut self, line: &ListedLine, found: &Found, verdict: &Verdict) -> Option<DiscrepancyRecord> {
        let Counts { lines, matched, still_open, only_theirs, different, only_ours: _ } = &mut self.counts;
        let (kind, count) = match verdict {
            Verdict::Matched => (None, matched),
            Verdict::Open => (None, still_open),
            Verdict::OnlyTheirs => (Some(DiscrepancyKind::OnlyTheirs), only_theirs),
            Verdict::Different(_) => (Some(DiscrepancyKind::Different), different),
        };
        *lines = lines.saturating_add(1);
        *count = count.saturating_add(1);
        Some(discrepancy(kind?, &self.plan.provider_code, line, found, verdict))
    }

    async fn keep(&mut self, found: Vec<DiscrepancyRecord>, sighted: Vec<i64>) -> Result<(), DatabaseError> {
        let room = SHOWN_MAX.saturating_sub(self.shown.len());
        self.shown.extend(found.iter().take(room).cloned());
        match self.run() {
            Some(run) => {
                write::found(&self.database, run, self.plan.provider_code.clone(), found, sighted).await
            }
            None => Ok(()),
        }
    }
}

/// Whether the times of these lines are of another time zone than they were read in.
///
/// # Errors
/// If the database does not answer.
pub async fn find_time_shift(
    database: &Database,
    plan: &StatementPlan,
    lines: Vec<ListedLine>,
) -> Result<Option<TimeShift>, DatabaseError> {
    let (lines, found) = find(database, plan, lines).await?;
    Ok(find_shift(lines.iter().map(|line| &line.vend).zip(&found), &plan.period))
}

/// The lines, and what the books have about each.
async fn find(
    database: &Database,
    plan: &StatementPlan,
    lines: Vec<ListedLine>,
) -> Result<(Vec<ListedLine>, Vec<Found>), DatabaseError> {
    let provider_code = plan.provider_code.clone();
    let found = database.read(move |connection| {
        Box::pin(async move {
            let listed: Vec<&ListedVend> = lines.iter().map(|line| &line.vend).collect();
            let found = find_booked(connection, &provider_code, &listed).await?;
            Ok((lines, found))
        })
    });
    found.await
}

impl Booked {
    /// Whether the line is about the vend that ended the purchase, and not about a vend under another name or one that came later.
    const fn is_the_vend_of_its_end(&self) -> bool {
        self.is_current && self.incident_at.is_none() && self.provider_transaction.is_some()
    }
}

impl Verdict {
    /// What differs, separated by commas.
    fn differs(&self) -> String {
        match self {
            Self::Different(aspects) => {
                aspects.iter().map(|aspect| aspect.as_str()).collect::<Vec<_>>().join(",")
            }
            Self::Matched | Self::Open | Self::OnlyTheirs => String::new(),
        }
    }

    fn repeated(self) -> Self {
        let mut aspects = match self {
            Self::Different(aspects) => aspects,
            Self::Matched | Self::Open | Self::OnlyTheirs => Vec::new(),
        };
        aspects.push(Aspect::Repeated);
        Self::Different(aspects)
    }
}

fn discrepancy(
    kind: DiscrepancyKind,
    provider_code: &str,
    line: &ListedLine,
    found: &Found,
    verdict: &Verdict,
) -> DiscrepancyRecord {
    let vend = &line.vend;
    let (ours, unmatched_vend) = match found {
        Found::Nothing => (None, None),
        Found::Entered(id) => (None, Some(*id)),
        Found::Booked(booked) => (Some(InTheBooks::from(booked.as_ref())), None),
    };
    DiscrepancyRecord {
        id: None,
        kind,
        provider_code: provider_code.to_owned(),
        provider_reference: vend.provider_reference.clone(),
        provider_transaction: vend.provider_transaction.clone(),
        differs: verdict.differs(),
        line: Some(line.number),
        theirs: Some(InTheStatement::from(vend)),
        ours,
        is_by_person: false,
        first_found_in: None,
        unmatched_vend,
        decided: None,
    }
}

impl From<&ListedVend> for InTheStatement {
    fn from(vend: &ListedVend) -> Self {
        Self {
            vended_at: vend.vended_at,
            product: vend.product,
            meter: (vend.product != Product::Airtime).then(|| vend.subscriber_identifier.clone()),
            net: vend.net,
        }
    }
}

impl From<&Booked> for InTheBooks {
    fn from(booked: &Booked) -> Self {
        let meter = booked.subscriber_identifier.clone().filter(|_meter| booked.product != Product::Airtime);
        Self {
            purchase: booked.purchase,
            state: booked.state,
            created_at: booked.created_at,
            provider_transaction: booked.provider_transaction.clone(),
            product: booked.product,
            meter,
            net: booked.net,
        }
    }
}
