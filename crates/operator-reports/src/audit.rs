//! `vendctl audit`: shows the audit log, and verifies that it was not changed.

use clap::Subcommand;
use directory::{AuditLine, AuditMark, AuditQuery, audit_head, list_audit_log, verify_audit_log};
use serde::Serialize;
use serde_json::Value;

use crate::{
    error::VendctlError,
    moment::Moment,
    parse,
    report::{Report, Row, instant, or_dash},
    session::Session,
    subject,
};

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the audit log, the newest line first
    #[command(
        after_help = "Examples:\n  vendctl audit list -o KGALE --since 2026-11-01 --until 2026-11-08\n  vendctl audit list \
                      --subject TOP/2026/11/0000004217\n  vendctl audit list -o KGALE --subject user:till\n  vendctl audit \
                      list --before 4711 --limit 500"
    )]
    List {
        /// Only lines about this organisation
        #[arg(short, long, value_name = "CODE", value_parser = parse::organisation_code)]
        organisation: Option<String>,
        /// Only lines about this object: purchase:4217 or its reference, with its requests, incidents and discrepancies, account:17
        /// with the requests about it, organisation:KGALE, provider:BPC, a client by its id, and with -o a user by its name, user:till …
        #[arg(long, value_name = "NOUN:KEY", value_parser = parse::sentence)]
        subject: Option<String>,
        /// Only lines of this database login
        #[arg(long, value_name = "LOGIN", value_parser = parse::actor)]
        login: Option<String>,
        /// Only lines since this moment or day
        #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
        since: Option<Moment>,
        /// Only lines before this moment or day
        #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
        until: Option<Moment>,
        /// The greatest number of lines to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only lines before this one, for the next page
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
    /// Check that no line was changed, added or removed
    ///
    /// Every line has the hash of its content and of the line before it. Lines that were cut off the end are detected
    /// only with a --head that was stored elsewhere.
    #[command(
        after_help = "Examples:\n  vendctl audit verify\n  vendctl audit verify --head $(cat last-month.head)"
    )]
    Verify {
        /// A head that was printed earlier: the log must contain it
        #[arg(long, value_name = "LINE:HASH")]
        head: Option<AuditMark>,
    },
    /// Print the newest line's number and hash, to be stored elsewhere
    #[command(after_help = "Example:\n  vendctl audit head")]
    Head,
}

const NO_LINE: &str = "No line is about that. A subject is a noun and a key as the log has them: account:17 (or wallet:17), approval:12, client:3, \
                       discrepancy:4, incident:3, organisation:2, provider:BPC, purchase:4217, user:5; `vendctl audit list` shows some.";

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

/// The result of a verification, or the head alone.
#[derive(Serialize)]
struct HeadView {
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    head: Option<String>,
}

pub async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { organisation, subject, login, since, until, limit, before } => {
            let organisation_id = match organisation {
                Some(code) => Some(session.organisation(code).await?.id),
                None => None,
            };
            let subjects = match subject {
                Some(named) => Some(subject::as_logged(session, named, organisation.as_deref()).await?),
                None => None,
            };
            let (since, until) = (session.optional_moment(*since)?, session.optional_moment(*until)?);
            let (login, before, limit) = (login.clone(), *before, *limit);
            let query = AuditQuery { organisation_id, subjects, login, since, until, before, limit };
            let lines = list_audit_log(session.database(), query).await?;
            let is_empty = lines.is_empty();
            let report = Report::list(&lines.into_iter().map(View::from).collect::<Vec<_>>());
            Ok(report.noting_any((is_empty && subject.is_some()).then_some(NO_LINE)))
        }
        Verb::Verify { head } => {
            let whole = verify_audit_log(session.database(), *head).await??;
            let data = HeadView { lines: Some(whole.lines), head: whole.head.map(|mark| mark.to_string()) };
            let head = or_dash(data.head.as_deref());
            let text = format!("The audit log is intact: {} lines. Its head is\n{head}\n", whole.lines);
            Ok(Report::text_and_data(&data, text))
        }
        Verb::Head => {
            let head = audit_head(session.database()).await?.map(|mark| mark.to_string());
            let text = format!("{}\n", or_dash(head.as_deref()));
            Ok(Report::text_and_data(&HeadView { lines: None, head }, text))
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
    const MOMENTS: &'static [&'static str] = &["at"];

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
