//! Sends the message with the token again for a customer who calls, by the rule of the integrators.

use clap::Args;
use oversight::StoryPurchase;
use purchase::StateName;
use serde::Serialize;
use store::ResendRequest;

use super::find;
use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse::{self, PurchaseName},
    report::{Report, Row, instant, or_dash, yes},
    said,
    session::Session,
};

#[derive(Debug, Args)]
pub(crate) struct Resend {
    /// Its number or its reference
    #[arg(value_parser = parse::purchase)]
    purchase: PurchaseName,
    /// The corrected phone number, with its country code; without it, the number of the purchase
    #[arg(long, value_name = "NUMBER", value_parser = said::said_international)]
    to: Option<String>,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

const REHEARSED: &str = "This was a rehearsal. Nothing was sent.";

#[derive(Serialize)]
struct View {
    purchase: i64,
    to: String,
    to_corrected_number: bool,
    written_at: Option<String>,
    remaining_today: u8,
}

impl Resend {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let purchase = find(session, &self.purchase).await?.purchase;
        self.check(&purchase)?;
        if self.care.dry_run {
            return self.rehearse(session, &purchase).await;
        }
        self.care.ask(&format!(
            "The message of purchase {} of {} goes to {}. This cannot be undone.",
            purchase.reference,
            purchase.organisation.0,
            self.number(&purchase)
        ))?;
        let request = ResendRequest {
            purchase: purchase.id,
            phone_number: self.to.clone(),
            per_day: session.messages_per_day,
        };
        let written = session.store.resend_message(request, session.act(&self.why)).await?;
        let written = written.ok_or(VendctlError::MessagesOfTheDay { limit: session.messages_per_day })?;
        Ok(Report::one(&View {
            purchase: purchase.id.0,
            to: self.number(&purchase).to_owned(),
            to_corrected_number: self.to.is_some(),
            written_at: Some(instant(written.at)),
            remaining_today: written.remaining,
        }))
    }

    /// The number to which the message goes.
    fn number<'a>(&'a self, of: &'a StoryPurchase) -> &'a str {
        self.to.as_deref().unwrap_or(&of.beneficiary_phone_number)
    }

    async fn rehearse(&self, session: &Session, of: &StoryPurchase) -> Result<Report, VendctlError> {
        let limit = session.messages_per_day;
        let asked = session.store.repeats_within_a_day(of.id).await?;
        let remaining = limit.checked_sub(asked).and_then(|left| left.checked_sub(1));
        Ok(Report::one(&View {
            purchase: of.id.0,
            to: self.number(of).to_owned(),
            to_corrected_number: self.to.is_some(),
            written_at: None,
            remaining_today: remaining.ok_or(VendctlError::MessagesOfTheDay { limit })?,
        })
        .noting(REHEARSED))
    }

    /// A message is worth something only with its token, and needs a number.
    fn check(&self, of: &StoryPurchase) -> Result<(), VendctlError> {
        if of.state != StateName::Successful {
            return Err(VendctlError::NothingSold { purchase: of.id.0, state: of.state });
        }
        if of.product.always_has_a_token() && !of.has_token {
            return Err(VendctlError::TokenErased(of.id.0));
        }
        if self.to.is_none() && parse::phone_number(&of.beneficiary_phone_number).is_err() {
            return Err(VendctlError::NumberErased(of.id.0));
        }
        Ok(())
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] =
        &["purchase", "phone", "to corrected number", "written at", "remaining today"];
    const MOMENTS: &'static [&'static str] = &["written at"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.purchase.to_string(),
            self.to.clone(),
            yes(self.to_corrected_number),
            or_dash(self.written_at.as_deref()),
            self.remaining_today.to_string(),
        ]
    }
}
