//! `vendctl outbox`: the messages that are not sent, without their text and number, and a new attempt at those given up.

use clap::Subcommand;
use oversight::{MessageRecord, OverseenMessages};
use serde::Serialize;
use store::GivenUp;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse::{self, PurchaseName},
    purchases,
    report::{Report, Row, instant, or_dash},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the messages that are waiting to be sent, the oldest first
    #[command(
        after_help = "Examples:\n  vendctl outbox list --stuck\n  vendctl outbox list --given-up --limit 20"
    )]
    List {
        /// Only waiting messages that were tried three times or are five minutes overdue
        #[arg(long, conflicts_with = "given_up")]
        stuck: bool,
        /// The messages that will not be sent any more, the newest first
        #[arg(long)]
        given_up: bool,
        /// The greatest number of messages to show
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
    },
    /// Send the messages about a purchase that were given up after all, when the cause is repaired
    #[command(
        after_help = "Each waits again as if it were new; the list and the purchase still say that it was given up \
                      before. Nothing is sent about a purchase whose token or personal data was erased.\n\nExample:\n  vendctl outbox requeue 4217 --reason \"the gateway's list is corrected\""
    )]
    Requeue {
        /// The purchase, by its number or its reference
        #[arg(value_parser = parse::purchase)]
        purchase: PurchaseName,
        /// Show how many there are, and do nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Serialize)]
struct Requeued {
    purchase: i64,
    requeued: u64,
}

#[derive(Serialize)]
struct View {
    purchase: i64,
    kind: &'static str,
    recipient: &'static str,
    channel: &'static str,
    written_at: String,
    /// `None` for a message that will not be sent any more.
    due_at: Option<String>,
    attempts: u16,
    given_up_at: Option<String>,
    given_up_because: Option<&'static str>,
    first_written_at: Option<String>,
    earlier_given_up_at: Option<String>,
    earlier_given_up_because: Option<&'static str>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { stuck, given_up, limit } => {
            let which = match (stuck, given_up) {
                (true, _) => OverseenMessages::Stuck,
                (false, true) => OverseenMessages::GivenUp,
                (false, false) => OverseenMessages::Waiting,
            };
            let found = oversight::oversee_messages(session.database(), which, *limit).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Requeue { purchase, dry_run, why } => {
            let id = purchases::find(session, purchase).await?.purchase.id;
            if *dry_run {
                let requeued = session.store.count_given_up(id).await?;
                return Ok(Report::one(&Requeued { purchase: id.0, requeued }).noting(REHEARSED));
            }
            let requeued = session.store.requeue_messages(id, session.act(why)).await?;
            let report = Report::one(&Requeued { purchase: id.0, requeued });
            Ok(report.noting_any((requeued == 0).then_some(NONE_GIVEN_UP)))
        }
    }
}

const REHEARSED: &str = "This was a rehearsal. Nothing was sent.";
const NONE_GIVEN_UP: &str =
    "No message about it that could be sent was given up. `vendctl purchases resend` sends one again.";

impl Row for Requeued {
    const COLUMNS: &'static [&'static str] = &["purchase", "requeued"];

    fn cells(&self) -> Vec<String> {
        vec![self.purchase.to_string(), self.requeued.to_string()]
    }
}

impl From<MessageRecord> for View {
    fn from(record: MessageRecord) -> Self {
        let (given_up_at, given_up_because) = record.given_up.unzip();
        Self {
            purchase: record.purchase.0,
            kind: record.kind.as_str(),
            recipient: record.recipient.as_str(),
            channel: record.channel.as_str(),
            written_at: instant(record.written_at),
            due_at: given_up_at.is_none().then(|| instant(record.due_at)),
            attempts: record.attempts,
            given_up_at: given_up_at.map(instant),
            given_up_because: given_up_because.map(GivenUp::as_str),
            first_written_at: record.earlier.map(|earlier| instant(earlier.written_at)),
            earlier_given_up_at: record.earlier.map(|earlier| instant(earlier.given_up_at)),
            earlier_given_up_because: record.earlier.map(|earlier| earlier.because.as_str()),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "purchase",
        "kind",
        "recipient",
        "channel",
        "written at",
        "due at",
        "attempts",
        "given up because",
        "given up before at",
        "given up before because",
    ];
    const MOMENTS: &'static [&'static str] = &["written at", "due at", "given up before at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.purchase.to_string(),
            self.kind.to_owned(),
            self.recipient.to_owned(),
            self.channel.to_owned(),
            self.written_at.clone(),
            or_dash(self.due_at.as_deref()),
            self.attempts.to_string(),
            or_dash(self.given_up_because),
            or_dash(self.earlier_given_up_at.as_deref()),
            or_dash(self.earlier_given_up_because),
        ]
    }
}
