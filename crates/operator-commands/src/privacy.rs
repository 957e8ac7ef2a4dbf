//! `vendctl privacy`: what is stored about one person, and its erasure.

use back_office::{Person, PersonErased};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse,
    report::{Report, Row},
    session::Session,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Print everything that is stored about one person, as JSON
    #[command(
        after_help = "Sealed values, which are tokens and provider replies, are counted and not opened. Amounts are in \
                      hundredths. The audit log keeps that the data was exported, and names the person by a \
                      pseudonym.\n\nExample:\n  vendctl privacy export 26771234567 04257670465 --reason \"request of 3 \
                      March\""
    )]
    Export {
        #[command(flatten)]
        person: Identifiers,
        #[command(flatten)]
        why: Why,
    },
    /// Erase the personal data and sealed values of one person's purchases
    #[command(
        after_help = "Amounts, references and states stay. Nothing is erased while a purchase of the person is open or ended \
                      less than 7 days ago, or has an open incident. This cannot be undone.\n\nExample:\n  \
                      vendctl privacy erase 26771234567 --reason \"request of 3 March\""
    )]
    Erase {
        #[command(flatten)]
        person: Identifiers,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Identifiers {
    /// The person's phone numbers and meters, each as integrators wrote it
    #[arg(required = true, num_args = 1..=20, value_name = "IDENTIFIER", value_parser = identifier)]
    identifiers: Vec<String>,
}

#[derive(Serialize)]
struct View {
    purchases: usize,
    erased: u64,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Export { person, why } => {
            let person = Person::new(&person.identifiers);
            let export = back_office::export_person(session.database(), person, session.act(why)).await?;
            let text = format!("{:#}\n", export.data);
            Ok(Report::text_and_data(&export.data, text))
        }
        Verb::Erase { person, why } => {
            let person = Person::new(&person.identifiers);
            let erased = back_office::erase_person(session.database(), person, session.act(why)).await?;
            Ok(Report::one(&View::from(erased)))
        }
    }
}

fn identifier(text: &str) -> Result<String, String> {
    parse::subscriber(text).map(|identifier| identifier.as_str().to_owned())
}

impl From<PersonErased> for View {
    fn from(outcome: PersonErased) -> Self {
        Self { purchases: outcome.found, erased: outcome.erased }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["purchases of this person", "erased now"];

    fn cells(&self) -> Vec<String> {
        vec![self.purchases.to_string(), self.erased.to_string()]
    }
}
