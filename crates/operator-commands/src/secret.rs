//! `vendctl secret`: replaces a client's secret without an interruption, or ends one at once.

use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;

use crate::{
    arguments::Why,
    client,
    error::VendctlError,
    parse,
    report::{Report, Row, instant},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Give a client a new secret; the old ones stay valid for the overlap
    #[command(
        after_help = "Example:\n  vendctl secret rotate vg_test_0123456789abcdef01234567 --overlap 24h \
                      --reason \"yearly change\""
    )]
    Rotate {
        /// The client id
        #[arg(value_parser = parse::client_id)]
        client_id: String,
        /// How long the old secrets stay valid, such as 30m or 24h
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse::overlap)]
        overlap: Duration,
        #[command(flatten)]
        why: Why,
    },
    /// End a secret and every token that was obtained with it, at once
    #[command(
        after_help = "Example:\n  vendctl secret revoke vg_test_0123456789abcdef01234567 12 --reason \"it was mailed\""
    )]
    Revoke {
        /// The client id
        #[arg(value_parser = parse::client_id)]
        client_id: String,
        /// The secret's number, as `vendctl client show` prints it
        secret: i64,
        #[command(flatten)]
        why: Why,
    },
}

/// Not `Debug`: it holds a secret.
#[derive(Serialize)]
struct Rotated {
    client_id: String,
    secret_id: i64,
    client_secret: String,
    old_secret_ids: Vec<i64>,
    old_secrets_end_at: String,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Rotate { client_id, overlap, why } => {
            let made = session.onboarding.rotate_secret(client_id, *overlap, session.act(why)).await?;
            let rotated = Rotated {
                client_id: client_id.clone(),
                secret_id: made.secret_id,
                client_secret: session.shown_once(made.secret.expose()),
                old_secret_ids: made.ending,
                old_secrets_end_at: instant(made.old_end_at),
            };
            Ok(session.handing_over(Report::one(&rotated), client::NEVER_AGAIN))
        }
        Verb::Revoke { client_id, secret, why } => {
            let of_this_client = session.onboarding.client(client_id).await?;
            if !of_this_client.secrets.iter().any(|known| known.id == *secret) {
                return Err(VendctlError::NoSecret { client_id: client_id.clone(), secret: *secret });
            }
            session.onboarding.revoke_secret(*secret, session.act(why)).await?;
            client::show(session, client_id).await
        }
    }
}

impl Row for Rotated {
    const COLUMNS: &'static [&'static str] =
        &["client id", "secret id", "client secret", "old secrets", "old secrets end at"];
    const MOMENTS: &'static [&'static str] = &["old secrets end at"];

    fn cells(&self) -> Vec<String> {
        let old: Vec<String> = self.old_secret_ids.iter().map(|id| format!("#{id}")).collect();
        vec![
            self.client_id.clone(),
            self.secret_id.to_string(),
            self.client_secret.clone(),
            if old.is_empty() { "none".to_owned() } else { old.join(", ") },
            self.old_secrets_end_at.clone(),
        ]
    }
}
