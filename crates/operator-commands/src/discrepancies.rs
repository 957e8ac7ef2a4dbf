//! `vendctl discrepancies`: what statements of providers and the books do not agree about, and how each was closed.

use clap::Subcommand;
use reconciliation::DiscrepancyScope;

use crate::{
    arguments::Why, care::Care, error::VendctlError, found::View, parse, report::Report, session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the discrepancies that are not closed, the oldest first
    #[command(
        after_help = "Examples:\n  vendctl discrepancies list\n  vendctl discrepancies list --provider BPC --all --after 50"
    )]
    List {
        /// Only of this provider
        #[arg(long, value_name = "CODE", value_parser = parse::provider_code)]
        provider: Option<String>,
        /// Closed ones too
        #[arg(long)]
        all: bool,
        /// The greatest number of discrepancies to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Only discrepancies after this one, for the next page
        #[arg(long, value_name = "ID", default_value_t = 0)]
        after: i64,
    },
    /// Close discrepancies that you have dealt with: all, or none of them
    #[command(
        after_help = "Closing moves no money. A vend that only the provider has is closed by itself when it is decided as an \
                      unmatched vend: `vendctl recover enter`, then `charge` or `waive`.\n\nExample:\n  vendctl discrepancies \
                      close 3 4 --reason \"BPC's mail of 2 May: their list was wrong\""
    )]
    Close {
        /// Their numbers
        #[arg(required = true, num_args = 1..=1000)]
        discrepancies: Vec<i64>,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
}

const REHEARSED: &str = "This was a rehearsal. Nothing was closed. Above are those that would be.";

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { provider, all, limit, after } => {
            let scope = DiscrepancyScope {
                provider_code: provider.clone(),
                with_decided: *all,
                after: *after,
                limit: *limit,
                ..DiscrepancyScope::default()
            };
            let found = reconciliation::list_discrepancies(session.database(), scope).await?;
            let is_full = found.len() >= usize::from(*limit);
            let last = found.last().and_then(|last| last.id).filter(|_| is_full);
            let more = last.map(|last| format!("There may be more: --after {last} shows the next ones."));
            let views: Vec<View> = found.iter().map(View::from).collect();
            Ok(Report::list(&views).noting_any(more.as_deref()))
        }
        Verb::Close { discrepancies, care, why } => {
            let close = |is_rehearsal| {
                let (ids, act) = (discrepancies.clone(), session.act(why));
                reconciliation::close_discrepancies(session.database(), ids, is_rehearsal, act)
            };
            close(true).await?;
            if care.dry_run {
                let ids = Some(discrepancies.clone());
                let scope = DiscrepancyScope { ids, limit: 1_000, ..DiscrepancyScope::default() };
                return Ok(Report::list(&listed(session, scope).await?).noting(REHEARSED));
            }
            care.ask(&format!("{} discrepancies are closed. This cannot be undone.", discrepancies.len()))?;
            close(false).await?;
            let open = listed(session, DiscrepancyScope { limit: 1_000, ..DiscrepancyScope::default() });
            let note = format!("{} closed. Above are those that are not.", discrepancies.len());
            Ok(Report::list(&open.await?).noting(&note))
        }
    }
}

async fn listed(session: &Session, scope: DiscrepancyScope) -> Result<Vec<View>, VendctlError> {
    let found = reconciliation::list_discrepancies(session.database(), scope).await?;
    Ok(found.iter().map(View::from).collect())
}
