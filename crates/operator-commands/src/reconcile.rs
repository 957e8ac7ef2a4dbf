//! `vendctl reconcile`: holds a provider's statement against the books.

use std::path::PathBuf;

use back_office::Standing;
use chrono::TimeDelta;
use clap::Args;
use clock::{Clock as _, SystemClock};
use reconciliation::{
    DiscrepancyRecord, DiscrepancyScope, Edges, ListedLine, Reconciled, Reconciler, StatementPeriod,
    StatementPlan, StillOpen,
};
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    found::beside,
    outside::{Outside, OutsideView},
    parse, provider,
    reconciliations::{CountsView, SHOWN},
    report::{Outcome, Part, Report, instant, local},
    session::Session,
    statement::{self, Lines, StatementDays, StatementFileError, StatementForm},
    still_open::OpenView,
};

#[derive(Debug, Args)]
pub(crate) struct Reconcile {
    /// The provider's code
    #[arg(value_parser = parse::provider_code)]
    provider: String,
    /// The statement, a CSV file with a line of headings
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    days: StatementDays,
    /// How far the provider's clock may be from ours, such as 5m; at most 12h
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = parse::tolerance)]
    tolerance: TimeDelta,
    /// Accept a statement without a line, although our books have purchases in its period or at its edges
    #[arg(long)]
    empty: bool,
    #[command(flatten)]
    form: StatementForm,
    /// Compare, and keep nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    why: Why,
}

const REHEARSED: &str = "This was a rehearsal. Nothing was kept.";
const WITHOUT_TOKENS: &str =
    "Tokens were not compared: vendctl has no [sealing] section, with which it could open ours.";

impl Reconcile {
    pub(crate) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        // Of a provider that does not exist, every vend would be unmatched.
        provider::find(session, &self.provider).await?;
        let (from, until) = self.days.bounds(session.zone(), SystemClock.now())?;
        let period = StatementPeriod { from, until, tolerance: self.tolerance };
        let form = self.form.reading(session.zone());
        let mut outside = Outside::default();
        let checked = statement::check(&self.file, form.clone(), |line| outside.look(&period, line))?;
        let plan = StatementPlan {
            provider_code: self.provider.clone(),
            file_name: self.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            file_sha256: checked.sha256,
            period,
        };
        let mut lines = Lines::open(&self.file, form)?;
        let mut batch = lines.batch()?;
        self.refuse_another_providers(session, &batch).await?;
        refuse_shifted(session, &plan, &batch).await?;
        outside.refuse_many(checked.lines, session)?;
        if checked.lines == 0 && !self.empty {
            refuse_cut_off(session, &plan).await?;
        }
        if checked.has_tokens && session.can_seal {
            session.store.refuse_another_key().await?;
        }
        let sealing = session.can_seal.then(|| session.store.sealing().clone());
        let database = session.database().clone();
        let mut run = if self.dry_run {
            Reconciler::rehearse(database, sealing, plan)
        } else {
            Reconciler::begin(database, sealing, plan, session.act(&self.why)).await?
        };
        while !batch.is_empty() {
            run.take(batch).await?;
            batch = lines.batch()?;
        }
        if lines.into_sha256() != checked.sha256 {
            return Err(StatementFileError::Changed.into());
        }
        let report = self.report(session, run.finish().await?, &outside).await?;
        let is_blind = checked.has_tokens && !session.can_seal;
        Ok(report.noting_any(is_blind.then_some(WITHOUT_TOKENS)))
    }

    /// Of another provider's statement every vend would be unmatched. Its first lines tell: most of them name orders that the other one
    /// was sent. A few do not, because a vendor that serves two providers may list both in one file.
    async fn refuse_another_providers(
        &self,
        session: &Session,
        lines: &[ListedLine],
    ) -> Result<(), VendctlError> {
        let vends = lines.iter().map(|line| line.vend.clone()).collect();
        let standings = back_office::find_standings(session.database(), self.provider.clone(), vends).await?;
        let of_others: Vec<_> = lines
            .iter()
            .zip(standings)
            .filter_map(|(line, standing)| {
                let Standing::OfAnotherProvider { provider_code, purchase } = standing else { return None };
                Some((line, provider_code, purchase))
            })
            .collect();
        match of_others.first() {
            Some((line, of, purchase)) if of_others.len() > lines.len() / 2 => {
                Err(VendctlError::StatementOfAnother {
                    line: line.number,
                    reference: line.vend.provider_reference.clone(),
                    purchase: purchase.0,
                    of: of.clone(),
                    provider: self.provider.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    fn edges_in_words(&self, edges: Edges, session: &Session) -> String {
        if edges.judged_from >= edges.judged_until {
            return "None of our purchases was judged, because the period is not longer than twice the --tolerance. What the statement \
                    lacks was not looked for.\n"
                .to_owned();
        }
        let zone = session.zone();
        let (from, until) = (local(edges.judged_from, zone), local(edges.judged_until, zone));
        let judged = format!("Our purchases from {from} to {until} were judged.");
        let (begin, end) = (edges.left_out_at_begin, edges.left_out_at_end);
        if begin == 0 && end == 0 {
            return format!("{judged} None was left out at its edges.\n");
        }
        let tolerance = humantime::format_duration(self.tolerance.to_std().unwrap_or_default());
        format!(
            "{judged} Purchases that the statement does not have were left out: {begin} at its begin, {end} at its end. They were \
             vended within {tolerance} of that edge, or were open over it, so the statement beside it may have them. They are \
             judged when that is reconciled.\n"
        )
    }

    async fn report(
        &self,
        session: &Session,
        found: Reconciled,
        outside: &Outside,
    ) -> Result<Report, VendctlError> {
        let Reconciled { run, counts, edges, open, discrepancies } = found;
        // Those that are kept have numbers, and decisions of earlier runs.
        let shown: Vec<DiscrepancyRecord> = if run.is_some() {
            let scope =
                DiscrepancyScope { run, with_decided: true, limit: SHOWN, ..DiscrepancyScope::default() };
            reconciliation::list_discrepancies(session.database(), scope).await?
        } else {
            discrepancies
        };
        let view = ComparedView::new(CountsView::new(run, &counts), edges, &open, outside);
        let told = [Part::Text(view.counts.sentence()), Part::Text(self.edges_in_words(edges, session))];
        let told = [&told[..], &outside.told(session), &OpenView::told(&view.open_purchases)].concat();
        let report = beside(&view, &told, &shown).told_in(session.zone());
        let is_open = match run {
            Some(run) => {
                let undecided = DiscrepancyScope { run: Some(run), limit: 1, ..DiscrepancyScope::default() };
                !reconciliation::list_discrepancies(session.database(), undecided).await?.is_empty()
            }
            None => !shown.is_empty(),
        };
        let report = report.with_outcome(if is_open { Outcome::Differs } else { Outcome::Done });
        Ok(match run {
            None => report.noting(REHEARSED),
            Some(run) => report.noting(&format!("`vendctl reconciliations show {run}` shows this again.")),
        })
    }
}

/// Of a file whose times are of another time zone every line would differ.
async fn refuse_shifted(
    session: &Session,
    plan: &StatementPlan,
    lines: &[ListedLine],
) -> Result<(), VendctlError> {
    match reconciliation::find_time_shift(session.database(), plan, lines.to_vec()).await? {
        Some(shift) => Err(StatementFileError::Shifted(shift).into()),
        None => Ok(()),
    }
}

/// A file without lines is right only if nothing was vended: it may be cut off, or of another account.
async fn refuse_cut_off(session: &Session, plan: &StatementPlan) -> Result<(), VendctlError> {
    let rehearsed = Reconciler::rehearse(session.database().clone(), None, plan.clone()).finish().await?;
    let judged = rehearsed.counts.only_ours;
    let at_edges = rehearsed.edges.left_out_at_begin.saturating_add(rehearsed.edges.left_out_at_end);
    let ended = usize::try_from(judged.saturating_add(at_edges)).unwrap_or(usize::MAX);
    match ended.saturating_add(rehearsed.open.len()) {
        0 => Ok(()),
        ours => Err(StatementFileError::NoneOfOurs { ours }.into()),
    }
}

/// What a run counted, and which of our purchases it judged.
#[derive(Serialize)]
struct ComparedView {
    #[serde(flatten)]
    counts: CountsView,
    judged_from: String,
    judged_until: String,
    left_out_at_begin: i64,
    left_out_at_end: i64,
    left_out_open: usize,
    open_purchases: Vec<OpenView>,
    outside_period: Vec<OutsideView>,
}

impl ComparedView {
    fn new(counts: CountsView, edges: Edges, open: &[StillOpen], outside: &Outside) -> Self {
        Self {
            counts,
            outside_period: outside.views(),
            judged_from: instant(edges.judged_from),
            judged_until: instant(edges.judged_until),
            left_out_at_begin: edges.left_out_at_begin,
            left_out_at_end: edges.left_out_at_end,
            left_out_open: open.len(),
            open_purchases: OpenView::all(open),
        }
    }
}
