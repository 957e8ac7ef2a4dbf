//! `vendctl approvals`: acts that need two people. One requests, another one of the same role approves, and the database does it.

mod approve;
mod threshold;

use back_office::{ApprovalRequest, NewRequest, RequestSubject};
use clap::Subcommand;
use directory::AuditContext;
use operator_reports::purchases::token::TokenFrom;

use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse::Amount,
    report::{Outcome, Report, local},
    requests::{
        View,
        about::{self, others_about_wallet},
        wallet_of,
    },
    rights,
    session::Session,
    words::{self, Guarded},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the requests that wait, the newest first
    #[command(after_help = "Examples:\n  vendctl approvals list\n  vendctl approvals list --all --before 12")]
    List {
        /// Decided and expired ones too
        #[arg(long)]
        all: bool,
        /// The greatest number of requests to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only requests before this one, for the next page
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
    /// Show one request: exactly what would be done
    #[command(after_help = "Example:\n  vendctl approvals show 12")]
    Show {
        /// Its number
        request: i64,
    },
    /// Approve the request of another person: it is done at once, and only once
    #[command(
        after_help = "You need the role of the act, and you cannot approve what you requested yourself. Everything is checked again. \
                      The decision about a vend with a token needs the servers' [sealing] section, as `purchases resolve` \
                      does, and the token once more, which you copy from the provider yourself: if it is another one, nothing is \
                      decided.\n\nExamples:\n  vendctl approvals approve 12 --reason \"seen on the bank's statement\"\n  vendctl \
                      approvals approve 13 --token-stdin --reason \"seen in the provider's list\""
    )]
    Approve {
        /// Its number
        request: i64,
        #[command(flatten)]
        token: TokenFrom,
        #[command(flatten)]
        care: Care,
        #[command(flatten)]
        why: Why,
    },
    /// Turn a request down, or take your own back
    #[command(
        after_help = "Example:\n  vendctl approvals reject 12 --reason \"the bank has no such payment\""
    )]
    Reject {
        /// Its number
        request: i64,
        #[command(flatten)]
        why: Why,
    },
    /// Show above what an act needs a second person
    #[command(after_help = "Example:\n  vendctl approvals thresholds")]
    Thresholds,
    /// Set above what an act needs a second person; to need fewer approvals than now needs an approval itself
    #[command(
        after_help = "Reversals and charges of unmatched vends count as corrections. `resolve` is about vends that a person vouches \
                      for, `release` about purchases that a person decides as not vended, `declare` about what a connection is declared to do in doubt.\n\nExamples:\n  vendctl approvals require \
                      top-up --above 50000.00 --reason \"rule 4\"\n  vendctl approvals require resolve --reason \"rule 4\"\n  vendctl \
                      approvals require declare --off --reason \"we are two this month\""
    )]
    Require {
        /// The kind of act
        #[arg(value_parser = words::guarded())]
        act: Guarded,
        /// Only acts of more than this amount, in any currency; without it every one
        #[arg(long, value_parser = crate::parse::amount, conflicts_with = "off")]
        above: Option<Amount>,
        /// No act needs a second person
        #[arg(long)]
        off: bool,
        #[command(flatten)]
        why: Why,
    },
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { all, limit, before } => {
            let found = back_office::list_requests(session.database(), *all, *before, *limit).await?;
            let listed = Report::list(&found.iter().map(View::from).collect::<Vec<_>>());
            Ok(listed.noting_any(threshold::what_is_off(session).await?.as_deref()))
        }
        Verb::Show { request } => shown(session, &find(session, *request).await?).await,
        Verb::Approve { request, token, care, why } => {
            approve::run(session, *request, token, *care, why).await
        }
        Verb::Reject { request, why } => {
            back_office::reject_request(session.database(), *request, why.reason.clone()).await?;
            Ok(Report::one(&View::from(&find(session, *request).await?)))
        }
        Verb::Thresholds => threshold::list(session).await,
        Verb::Require { act, above, off, why } => threshold::set(session, *act, *above, *off, why).await,
    }
}

/// Makes a request in place of the act, and says who can approve it.
pub(crate) async fn request(
    session: &Session,
    mut request: NewRequest,
    act: AuditContext,
) -> Result<Report, VendctlError> {
    name_the_owner(session, &mut request).await?;
    let role = request.kind.role();
    let before = back_office::list_requests(session.database(), false, None, 1).await?;
    let newest = before.first().map_or(0, |newest| newest.id);
    let made = back_office::request_approval(session.database(), request, act).await?;
    // The database gives the same request of the same person again, with its first reason.
    let was_there = made.id <= newest;
    let token = if made.token_sha256.is_some() { " --token-stdin" } else { "" };
    let note = format!(
        "Nothing was done yet: this needs the approval of another person with the role {}, by `vendctl approvals approve {}{token} \
         --reason …`.",
        rights::named(&[role], ""),
        made.id
    );
    let others = match wallet_of(&made.arguments) {
        Some(wallet) => others_about_wallet(session, wallet, Some(made.id)).await?,
        None => None,
    };
    let report = Report::one(&View::from(&made)).noting_any(others.as_deref());
    let again = format!(
        "You had made this request before, at {}, and it waits. Nothing of this one was stored, not its --reason either.",
        local(made.requested_at, session.zone())
    );
    Ok(report.noting_any(was_there.then_some(again.as_str())).noting(&note).with_outcome(Outcome::Waits))
}

/// Nothing else is done or requested about something while a request about it waits. The same request of the same person is not a second
/// one.
pub(crate) async fn refuse_past_another(
    session: &Session,
    about: RequestSubject,
    request: Option<&NewRequest>,
) -> Result<(), VendctlError> {
    let Some(first) = back_office::find_request_about(session.database(), &about).await? else {
        return Ok(());
    };
    if let Some(mut request) = request.cloned() {
        name_the_owner(session, &mut request).await?;
        if first.requested_by == session.operator.login
            && first.kind == request.kind
            && first.arguments == request.arguments
            && first.token_sha256 == request.token.map(|token| token.sha256)
        {
            return Ok(());
        }
    }
    Err(VendctlError::RequestWaits { request: first.id, by: first.requested_by, about })
}

/// A number of a wallet is easily mistyped, and says nothing to the person who approves.
async fn name_the_owner(session: &Session, request: &mut NewRequest) -> Result<(), VendctlError> {
    if let (Some(wallet), Some(arguments)) =
        (wallet_of(&request.arguments), request.arguments.as_object_mut())
    {
        arguments.insert("owner".to_owned(), session.owner_of_wallet(wallet).await?.into());
    }
    Ok(())
}

/// A request that waits, and whether its act needs it at all.
async fn shown(session: &Session, request: &ApprovalRequest) -> Result<Report, VendctlError> {
    let mut report = Report::one(&View::from(request));
    let about = about::in_words(session, request).await?;
    report = report.noting_any(Some(about.as_str()).filter(|about| !about.is_empty()));
    if request.decision.is_some() || request.has_expired || threshold::guards(session, request).await? {
        return Ok(report);
    }
    Ok(report.noting("No second person is needed for this any more: the threshold is off, or above it."))
}

/// The sentence of a rehearsal whose act needs an approval.
pub(crate) const WOULD_ASK: &str =
    "It needs the approval of another person: without --dry-run a request would be made.";

async fn find(session: &Session, id: i64) -> Result<ApprovalRequest, VendctlError> {
    let found = back_office::find_request(session.database(), id).await?;
    found.ok_or(VendctlError::NoRequest(id))
}
