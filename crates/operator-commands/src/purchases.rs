//! `vendctl purchases`: finds purchases, shows the history of one, and enters an operator's decision.

mod read_token;
mod resend;
mod resolve;

use clap::Subcommand;

use crate::{
    error::VendctlError,
    parse::{self, PurchaseName},
    report::Report,
    session::Session,
};

pub(crate) use operator_reports::purchases::find;
use operator_reports::purchases::{list::Filter, search::Search, story, token};
use purchase::StateName;

use read_token::ReadToken;
use resend::Resend;
use resolve::Resolve;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List purchases: open ones with the oldest first, all others with the newest first
    #[command(
        after_help = "Examples:\n  vendctl purchases list --review\n  vendctl purchases list --in-doubt --older-than 10m\n  \
                      vendctl purchases list --subscriber 04257670465\n  vendctl purchases list -o KGALE --request-id \
                      7b1c… --limit 5"
    )]
    List(Filter),
    /// Find what a caller can name: purchases and refused confirms, the newest first
    #[command(
        after_help = "Moments are in the time zone of the settings, unless they have an offset. `purchases show` tells the history of \
                      what is found.\n\nExamples:\n  vendctl purchases search 04257670465\n  vendctl purchases search 9911 \
                      --provider BPC\n  vendctl purchases search --phone 26771234567 --amount 100.00 --since 2026-11-20\n  \
                      vendctl purchases search -o KGALE --since 2026-11-20 --until 2026-11-21 --all --csv"
    )]
    Search(Search),
    /// Show the complete history of a purchase; never its token
    #[command(
        after_help = "Examples:\n  vendctl purchases show 4217\n  vendctl purchases show TOP/2026/11/0000004217 --json"
    )]
    Show {
        /// Its number or its reference
        #[arg(value_parser = parse::purchase)]
        purchase: PurchaseName,
    },
    /// Decide a purchase in review, after the provider has confirmed the outcome
    #[command(
        after_help = "A decision cannot be undone. A vend is paid for, and the customer is notified. If nothing was vended, the \
                      money is released. The token is read from standard input or from a file, so that the shell's \
                      history does not contain it. It is sealed with the servers' key, so the settings need the servers' \
                      [sealing] section.\n\nExamples:\n  vendctl \
                      purchases resolve 4217 --as vended --provider-transaction 9911 --units \"45.2 kWh\" --token-stdin \
                      --reason \"BPC's letter of 20 May\"\n  vendctl purchases resolve 4217 --as not-vended --reason \
                      \"BPC has no sale to this meter that day\""
    )]
    Resolve(Resolve),
    /// Send the customer's message of a sold purchase again, as an SMS, also to a corrected number
    #[command(
        after_help = "As often within a day as the integrators may, and counted together with them. The purchase itself does not \
                      change. The audit log says that it was done, without the number.\n\nExamples:\n  vendctl purchases resend \
                      4217 --reason \"the customer has deleted it\"\n  vendctl purchases resend 4217 --to 26771500002 --reason \
                      \"a digit was wrong; called from the right phone\""
    )]
    Resend(Resend),
    /// Show the token of a sold purchase, to be read to a customer who has lost the message
    #[command(
        after_help = "You need the role vendgate_token_reader in addition to your own, and the servers' [sealing] section. The audit log \
                      says that you were shown it and why, and never the token. Be sure who calls before you read it \
                      aloud. `purchases resend` sends the message again instead.\n\nExample:\n  vendctl purchases token 4217 \
                      --reason \"lost the SMS; knows the meter, the amount and the till\""
    )]
    Token(ReadToken),
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List(filter) => filter.run(session).await,
        Verb::Search(search) => search.run(session).await,
        Verb::Show { purchase } => {
            let story = find(session, purchase).await?;
            let report = story::report(&story, session.zone());
            let of = story.purchase;
            let listing = if of.state == StateName::Review {
                reconciliation::find_listing(session.database(), of.id).await?
            } else {
                None
            };
            Ok(match listing {
                Some(listing) => report.noting(&format!(
                    "The statement {} of {} has a vend of it (reconciliation {}).",
                    listing.file_name, of.provider_code, listing.run
                )),
                None => report,
            })
        }
        Verb::Resolve(resolve) => resolve.run(session).await,
        Verb::Resend(resend) => resend.run(session).await,
        Verb::Token(token) => token.run(session).await,
    }
}
