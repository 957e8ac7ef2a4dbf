//! `vendctl default-provider`: the provider of a request that names none.

use back_office::Rule;
use clap::Subcommand;
use serde::Serialize;
use vend::Product;

use crate::{
    arguments::{Whose, Why},
    error::VendctlError,
    parse,
    report::{Report, Row, or_dash},
    session::Session,
    words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Set the default provider; the organisation must have an offer by it
    #[command(
        after_help = "Example:\n  vendctl default-provider set -o KGALE electricity BPC --reason \"contract 17\""
    )]
    Set {
        #[command(flatten)]
        whose: Whose,
        /// The product
        #[arg(value_parser = words::product())]
        product: Product,
        /// The code of the provider
        #[arg(value_parser = parse::provider_code)]
        provider: String,
        #[command(flatten)]
        why: Why,
    },
    /// Remove the default of a product
    #[command(
        after_help = "Example:\n  vendctl default-provider remove -o KGALE electricity --reason \"contract 17 has ended\""
    )]
    Remove {
        #[command(flatten)]
        whose: Whose,
        /// The product
        #[arg(value_parser = words::product())]
        product: Product,
        #[command(flatten)]
        why: Why,
    },
    /// Show the default of every product
    #[command(after_help = "Example:\n  vendctl default-provider show -o KGALE")]
    Show {
        #[command(flatten)]
        whose: Whose,
    },
}

#[derive(Serialize)]
struct View {
    product: &'static str,
    provider: Option<String>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Set { whose, product, provider, why } => {
            let organisation = session.organisation_id(&whose.organisation).await?;
            let act = session.act(why);
            let put = catalogue::put_default_provider(
                session.database(),
                organisation,
                *product,
                provider.clone(),
                act,
            )
            .await;
            let no_offer = VendctlError::NoOffer {
                organisation: whose.organisation.clone(),
                product: *product,
                provider: provider.clone(),
            };
            put.map_err(|error| no_offer.if_broken(Rule::DefaultNeedsOffer, error))?;
            show(session, whose).await
        }
        Verb::Remove { whose, product, why } => {
            let organisation = session.organisation_id(&whose.organisation).await?;
            let removed = catalogue::remove_default_provider(
                session.database(),
                organisation,
                *product,
                session.act(why),
            )
            .await;
            let no_default =
                VendctlError::NoDefault { organisation: whose.organisation.clone(), product: *product };
            removed.map_err(|error| no_default.if_absent(error))?;
            show(session, whose).await
        }
        Verb::Show { whose } => show(session, whose).await,
    }
}

async fn show(session: &Session, whose: &Whose) -> Result<Report, VendctlError> {
    let organisation = session.organisation_id(&whose.organisation).await?;
    let mut views = Vec::new();
    for product in Product::ALL {
        let provider = catalogue::find_default_provider(session.database(), organisation, product).await?;
        views.push(View { product: product.as_str(), provider });
    }
    Ok(Report::list(&views))
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["product", "provider"];

    fn cells(&self) -> Vec<String> {
        vec![self.product.to_owned(), or_dash(self.provider.as_deref())]
    }
}
