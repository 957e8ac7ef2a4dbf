//! `vendctl audit`: who did what, to whom and why, and whether the log is as it was written.

use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;
use store::identity::{AuditLine, AuditMark, AuditQuery, audit_head, list_audit_log, verify_audit_log};

use crate::{
    desk::Desk,
    error::VendctlError,
    parse,
    report::{Report, Row, instant, or_dash},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the audit log, the newest first
    #[command(
        after_help = "Examples:\n  vendctl audit list -o KGALE --since 2026-11-01T00:00:00Z\n  vendctl audit list \
                      --subject account:17\n  vendctl audit list --before 4711 --limit 500"
    )]
    List {
        /// Only what concerns this organisation
        #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
        organisation: Option<String>,
        /// Only what was done to this: account:17, client:3, user:5, provider:BPC …
        #[arg(long, value_name = "NOUN:KEY", value_parser = parse::sentence)]
        subject: Option<String>,
        /// Only what was done since (RFC 3339)
        #[arg(long, value_name = "INSTANT", value_parser = parse::instant)]
        since: Option<DateTime<Utc>>,
        /// At most so many lines
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only lines before this one: the next page
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
    /// Check that no line was changed, added or taken out
    ///
    /// Every line carries the hash of its content and that of the line before it. Lines that were cut off the end show only
    /// against a --head that was kept elsewhere.
    #[command(
        after_help = "Examples:\n  vendctl audit verify\n  vendctl audit verify --head $(cat last-month.head)"
    )]
    Verify {
        /// A head that was printed before: the log must run through it
        #[arg(long, value_name = "LINE:HASH")]
        head: Option<AuditMark>,
    },
    /// Print the newest line's number and hash, to be kept elsewhere
    #[command(after_help = "Example:\n  vendctl audit head")]
    Head,
}

#[derive(Serialize)]
struct View {
    id: i64,
    at: String,
    login: Option<String>,
    actor: String,
    action: String,
    organisation: Option<String>,
    subject: String,
    reason: String,
    details: Value,
}

/// A log that is whole, or its end.
#[derive(Serialize)]
struct HeadView {
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    head: Option<String>,
}

pub(crate) async fn run(desk: &Desk, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { organisation, subject, since, limit, before } => {
            let organisation_id = match organisation {
                Some(code) => Some(desk.organisation(code).await?.id),
                None => None,
            };
            let (subject, since, before, limit) = (subject.clone(), *since, *before, *limit);
            let query = AuditQuery { organisation_id, subject, since, before, limit };
            let lines = list_audit_log(&desk.store, query).await?;
            Ok(Report::list(&lines.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Verify { head } => {
            let whole = verify_audit_log(&desk.store, *head).await??;
            let facts = HeadView { lines: Some(whole.lines), head: whole.head.map(|mark| mark.to_string()) };
            let head = or_dash(facts.head.as_deref());
            let text = format!("The audit log is whole: {} lines. Its head is\n{head}\n", whole.lines);
            Ok(Report::told(&facts, text))
        }
        Verb::Head => {
            let head = audit_head(&desk.store).await?.map(|mark| mark.to_string());
            let text = format!("{}\n", or_dash(head.as_deref()));
            Ok(Report::told(&HeadView { lines: None, head }, text))
        }
    }
}

impl From<AuditLine> for View {
    fn from(line: AuditLine) -> Self {
        Self {
            id: line.id,
            at: instant(line.at),
            login: line.login,
            actor: line.actor,
            action: line.action,
            organisation: line.organisation,
            subject: line.subject,
            reason: line.reason,
            details: line.details,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] =
        &["id", "at", "login", "actor", "action", "organisation", "subject", "reason", "details"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.at.clone(),
            or_dash(self.login.as_deref()),
            self.actor.clone(),
            self.action.clone(),
            or_dash(self.organisation.as_deref()),
            self.subject.clone(),
            self.reason.clone(),
            self.details.to_string(),
        ]
    }
}
