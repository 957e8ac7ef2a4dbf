//! `vendctl purchases`: looking for purchases, the story of one, and a person's decision where no provider can tell.

mod list;
mod resolve;
mod story;
mod telling;
mod token;
mod words;

use clap::Subcommand;
use purchase::PurchaseId;
use store::Story;

use crate::{
    desk::Desk,
    error::VendctlError,
    parse::{self, PurchaseName},
    report::Report,
};

pub(crate) use token::TokenFault;

use list::Filter;
use resolve::Resolve;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List purchases: what is open with the oldest first, all else with the newest first
    #[command(
        after_help = "Examples:\n  vendctl purchases list --review\n  vendctl purchases list --in-doubt --older-than 10m\n  \
                      vendctl purchases list --subscriber 04257670465\n  vendctl purchases list -o KGALE --request-id \
                      7b1c… --limit 5"
    )]
    List(Filter),
    /// Tell the whole story of a purchase; never its token
    #[command(
        after_help = "Examples:\n  vendctl purchases show 4217\n  vendctl purchases show TOP/2026/11/0000004217 --json"
    )]
    Show {
        /// Its number or its reference
        #[arg(value_parser = parse::purchase)]
        purchase: PurchaseName,
    },
    /// Decide about a purchase in review, when you have the provider's word for it
    #[command(
        after_help = "It cannot be undone. What was vended is paid for and told of; what was not vended is given back. \
                      The token is read from standard input or from a file, so that it stays out of the shell's history, \
                      and sealed with the servers' key: settings need their [sealing] section.\n\nExamples:\n  vendctl \
                      purchases resolve 4217 --as vended --provider-transaction 9911 --units \"45.2 kWh\" --token-stdin \
                      --reason \"BPC's letter of 20 May\"\n  vendctl purchases resolve 4217 --as not-vended --reason \
                      \"BPC has no sale to this meter that day\""
    )]
    Resolve(Resolve),
}

pub(crate) async fn run(desk: &Desk, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List(filter) => filter.run(desk).await,
        Verb::Show { purchase } => {
            let story = find(desk, purchase).await?;
            Ok(story::report(&story))
        }
        Verb::Resolve(resolve) => resolve.run(desk).await,
    }
}

/// The story of the purchase that is named.
async fn find(desk: &Desk, name: &PurchaseName) -> Result<Story, VendctlError> {
    let found = desk.store.oversee_purchase(name.id).await?;
    let fits = |story: &Story| name.reference.as_ref().is_none_or(|named| *named == story.purchase.reference);
    found.filter(fits).ok_or_else(|| absent(name))
}

fn absent(PurchaseName { id: PurchaseId(id), reference }: &PurchaseName) -> VendctlError {
    VendctlError::NoPurchase(reference.clone().unwrap_or_else(|| id.to_string()))
}
