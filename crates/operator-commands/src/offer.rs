//! `vendctl offer`: what an organisation can buy, from which provider, and on which terms.

use back_office::Rule;
use catalogue::ListedOffer;
use clap::{Args, Subcommand};
use database::DatabaseError;
use money::{Currency, Rate};
use purchase::{FeeSchedule, Terms};
use serde::Serialize;
use vend::Product;

use crate::{
    arguments::{Whose, Why},
    error::VendctlError,
    parse::{self, Amount},
    report::{Report, Row, or_dash, yes},
    session::Session,
    words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Offer a product of a provider to an organisation, or replace the terms; a term that is not named does not apply
    #[command(
        after_help = "Example:\n  vendctl offer set -o KGALE electricity BPC --currency BWP --fee 1.50 --fee-rate 0.005 \
                      --commission-rate 0.01 --max 5000.00 --reason \"contract 17\""
    )]
    Set(Box<Set>),
    /// List what an organisation can buy
    #[command(after_help = "Example:\n  vendctl offer list -o KGALE")]
    List {
        #[command(flatten)]
        whose: Whose,
    },
    /// Remove the offer of a product by a provider
    #[command(
        after_help = "Example:\n  vendctl offer remove -o KGALE electricity BPC --reason \"contract 17 has ended\""
    )]
    Remove {
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
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    #[command(flatten)]
    whose: Whose,
    /// The product
    #[arg(value_parser = words::product())]
    product: Product,
    /// The code of the provider
    #[arg(value_parser = parse::provider_code)]
    provider: String,
    /// The currency of all amounts here
    #[arg(long, value_name = "CCY", value_parser = parse::currency)]
    currency: Currency,
    /// The fixed part of the charge on every purchase
    #[arg(long, value_name = "AMOUNT", default_value = "0", value_parser = parse::charge)]
    fee: Amount,
    /// The part of the charge that is a share of the amount: 0.015 is 1.5%
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = parse::rate)]
    fee_rate: Rate,
    /// The lowest charge
    #[arg(long, value_name = "AMOUNT", value_parser = parse::charge)]
    fee_floor: Option<Amount>,
    /// The highest charge
    #[arg(long, value_name = "AMOUNT", value_parser = parse::charge)]
    fee_cap: Option<Amount>,
    /// The commission, as a share of the amount that is vended
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = parse::rate)]
    commission_rate: Rate,
    /// The lowest amount of a purchase
    #[arg(long, value_name = "AMOUNT", value_parser = parse::amount)]
    min: Option<Amount>,
    /// The highest amount of a purchase
    #[arg(long, value_name = "AMOUNT", value_parser = parse::amount)]
    max: Option<Amount>,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct View {
    product: &'static str,
    provider: String,
    provider_name: String,
    is_default: bool,
    fee: String,
    fee_rate: String,
    fee_floor: Option<String>,
    fee_cap: Option<String>,
    commission_rate: String,
    amount_min: Option<String>,
    amount_max: Option<String>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::Set(set) => set.run(session).await,
        Verb::List { whose } => list(session, whose).await,
        Verb::Remove { whose, product, provider, why } => {
            let organisation = session.organisation_id(&whose.organisation).await?;
            let removed = catalogue::remove_offer(
                session.database(),
                organisation,
                *product,
                provider.clone(),
                session.act(why),
            )
            .await;
            removed.map_err(|error| removal_error(error, whose, *product, provider))?;
            list(session, whose).await
        }
    }
}

fn removal_error(error: DatabaseError, whose: &Whose, product: Product, provider: &str) -> VendctlError {
    let (organisation, provider) = (whose.organisation.clone(), provider.to_owned());
    if Rule::broken_by(&error) == Some(Rule::DefaultNeedsOffer) {
        return VendctlError::IsDefault { organisation, product, provider };
    }
    VendctlError::NoOffer { organisation, product, provider }.if_absent(error)
}

impl Set {
    async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let organisation = session.organisation_id(&self.whose.organisation).await?;
        let terms = self.terms()?;
        let act = session.act(&self.why);
        catalogue::put_offer(
            session.database(),
            organisation,
            self.product,
            self.provider.clone(),
            terms,
            act,
        )
        .await?;
        let offers = catalogue::list_offers(session.database(), organisation).await?;
        let set = offers.into_iter().map(View::from);
        let mut set =
            set.filter(|view| view.product == self.product.as_str() && view.provider == self.provider);
        Ok(set.next().map_or_else(|| Report::list::<View>(&[]), |view| Report::one(&view)))
    }

    fn terms(&self) -> Result<Terms, VendctlError> {
        let of = |amount: Option<Amount>| amount.map(|amount| amount.of(self.currency));
        let terms = Terms {
            fees: FeeSchedule {
                fixed: self.fee.of(self.currency),
                rate: self.fee_rate,
                floor: of(self.fee_floor),
                cap: of(self.fee_cap),
            },
            commission: self.commission_rate,
            minimum: of(self.min),
            maximum: of(self.max),
        };
        let crossed = |least: Option<money::Money>, most: Option<money::Money>| {
            least.zip(most).is_some_and(|(least, most)| least.minor() > most.minor())
        };
        if crossed(terms.fees.floor, terms.fees.cap) {
            return Err(VendctlError::LimitsCrossed { least: "--fee-floor", most: "--fee-cap" });
        }
        if crossed(terms.minimum, terms.maximum) {
            return Err(VendctlError::LimitsCrossed { least: "--min", most: "--max" });
        }
        Ok(terms)
    }
}

async fn list(session: &Session, whose: &Whose) -> Result<Report, VendctlError> {
    let organisation = session.organisation_id(&whose.organisation).await?;
    let offers = catalogue::list_offers(session.database(), organisation).await?;
    Ok(Report::list(&offers.into_iter().map(View::from).collect::<Vec<_>>()))
}

impl From<ListedOffer> for View {
    fn from(listed: ListedOffer) -> Self {
        let offer = listed.offer;
        let terms = offer.terms;
        let text = |amount: money::Money| amount.to_string();
        Self {
            product: offer.product.as_str(),
            provider: offer.provider_code,
            provider_name: offer.provider_name,
            is_default: listed.is_default,
            fee: text(terms.fees.fixed),
            fee_rate: terms.fees.rate.to_decimal().normalize().to_string(),
            fee_floor: terms.fees.floor.map(text),
            fee_cap: terms.fees.cap.map(text),
            commission_rate: terms.commission.to_decimal().normalize().to_string(),
            amount_min: terms.minimum.map(text),
            amount_max: terms.maximum.map(text),
        }
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &[
        "product",
        "provider",
        "default",
        "fee",
        "fee rate",
        "fee floor",
        "fee cap",
        "commission",
        "min",
        "max",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.product.to_owned(),
            self.provider.clone(),
            yes(self.is_default),
            self.fee.clone(),
            self.fee_rate.clone(),
            or_dash(self.fee_floor.as_deref()),
            or_dash(self.fee_cap.as_deref()),
            self.commission_rate.clone(),
            or_dash(self.amount_min.as_deref()),
            or_dash(self.amount_max.as_deref()),
        ]
    }
}
