//! `vendctl outbox`: the messages that are owed to people, without what they say and to which number.

use clap::Subcommand;
use serde::Serialize;
use store::{MessageRecord, OverseenMessages};

use crate::{
    desk::Desk,
    error::VendctlError,
    report::{Report, Row, instant, or_dash},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the messages that wait to be sent, the oldest first
    #[command(
        after_help = "Examples:\n  vendctl outbox list --stuck\n  vendctl outbox list --given-up --limit 20"
    )]
    List {
        /// Of those that wait, only what was tried three times or waits five minutes beyond its time
        #[arg(long, conflicts_with = "given_up")]
        stuck: bool,
        /// Those that nobody will get, the newest first
        #[arg(long)]
        given_up: bool,
        /// At most so many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
    },
}

#[derive(Serialize)]
struct View {
    purchase: i64,
    kind: String,
    recipient: String,
    channel: String,
    written_at: String,
    due_at: String,
    attempts: u16,
    given_up_at: Option<String>,
    given_up_because: Option<String>,
}

pub(crate) async fn run(desk: &Desk, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List { stuck, given_up, limit } => {
            let which = match (stuck, given_up) {
                (true, _) => OverseenMessages::Stuck,
                (false, true) => OverseenMessages::GivenUp,
                (false, false) => OverseenMessages::Waiting,
            };
            let found = desk.store.oversee_messages(which, *limit).await?;
            Ok(Report::list(&found.into_iter().map(View::from).collect::<Vec<_>>()))
        }
    }
}

impl From<MessageRecord> for View {
    fn from(record: MessageRecord) -> Self {
        let (given_up_at, given_up_because) = record.given_up.unzip();
        Self {
            purchase: record.purchase.0,
            kind: record.kind,
            recipient: record.recipient,
            channel: record.channel,
            written_at: instant(record.written_at),
            due_at: instant(record.due_at),
            attempts: record.attempts,
            given_up_at: given_up_at.map(instant),
            given_up_because,
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] =
        &["purchase", "kind", "recipient", "channel", "written at", "due at", "attempts", "given up because"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.purchase.to_string(),
            self.kind.clone(),
            self.recipient.clone(),
            self.channel.clone(),
            self.written_at.clone(),
            self.due_at.clone(),
            self.attempts.to_string(),
            or_dash(self.given_up_because.as_deref()),
        ]
    }
}
