//! Shows the token of a sold purchase to an operator who reads it to the customer. The database has the line of the audit log
//! committed before it gives the sealed token.

use clap::Args;
use oversight::StoryPurchase;
use purchase::StateName;
use serde::Serialize;

use super::find;
use crate::{
    arguments::Why,
    error::VendctlError,
    parse::{self, PurchaseName},
    report::{Part, Report, or_dash},
    session::Session,
};

#[derive(Debug, Args)]
pub(crate) struct ReadToken {
    /// Its number or its reference
    #[arg(value_parser = parse::purchase)]
    purchase: PurchaseName,
    #[command(flatten)]
    why: Why,
}

/// It is printed and nothing else: it has no `Debug`.
#[derive(Serialize)]
struct View {
    purchase: i64,
    product: &'static str,
    subscriber: String,
    units: Option<String>,
    /// In the order of entry.
    tokens: Vec<TokenView>,
    remaining_today: u8,
}

#[derive(Serialize)]
struct TokenView {
    /// In the provider's words, if it gives any.
    description: Option<String>,
    /// In groups of four.
    token: String,
}

impl ReadToken {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        if !session.operator.reads_tokens {
            return Err(VendctlError::NoTokenReader(session.operator.login.clone()));
        }
        let purchase = find(session, &self.purchase).await?.purchase;
        check(&purchase)?;
        if !session.can_seal {
            return Err(VendctlError::NoSealingKey);
        }
        let (id, limit) = (purchase.id, session.tokens_per_day);
        let shown = session.store.show_token(id, limit, session.act(&self.why)).await?;
        let shown = shown.ok_or(VendctlError::TokensOfTheDay { limit })?;
        let tokens = shown.tokens.described().into_iter().map(|(description, token)| TokenView {
            description: description.map(str::to_owned),
            token: token.grouped(),
        });
        let view = View {
            purchase: id.0,
            product: purchase.product.as_str(),
            subscriber: purchase.subscriber,
            units: purchase.units,
            tokens: tokens.collect(),
            remaining_today: shown.remaining,
        };
        Ok(view.report())
    }
}

/// Only a sale has a token, and perhaps not any more.
fn check(of: &StoryPurchase) -> Result<(), VendctlError> {
    if of.state != StateName::Successful {
        return Err(VendctlError::NothingVended { purchase: of.id.0, state: of.state });
    }
    match (of.has_token, of.product.always_has_a_token()) {
        (true, _) => Ok(()),
        (false, true) => Err(VendctlError::NoTokenAnyMore(of.id.0)),
        (false, false) => Err(VendctlError::NeverHadAToken { purchase: of.id.0, product: of.product }),
    }
}

impl View {
    fn report(&self) -> Report {
        let mut fields = vec![
            ("purchase".to_owned(), self.purchase.to_string()),
            ("product".to_owned(), self.product.to_owned()),
            ("subscriber".to_owned(), self.subscriber.clone()),
            ("units".to_owned(), or_dash(self.units.as_deref())),
        ];
        let name = |token: &TokenView| token.description.clone().unwrap_or_else(|| "token".to_owned());
        fields.extend(self.tokens.iter().map(|token| (name(token), token.token.clone())));
        fields.push(("remaining today".to_owned(), self.remaining_today.to_string()));
        let report = Report::of(self, vec![Part::Fields(fields)]);
        if self.tokens.len() < 2 {
            return report;
        }
        report.noting("The customer enters all of them, in this order.")
    }
}
