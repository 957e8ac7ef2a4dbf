//! An operator's decision about a purchase in review. The values that are entered must fit the purchase.

use back_office::StoryPurchase;
use clap::Args;
use purchase::StateName;
use store::{Decision, DecisionError};
use vend::{Product, RawReply, Units, Vend};

use super::{find, story, token::TokenFrom};
use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    parse::{self, Amount, PurchaseName},
    report::Report,
    session::Session,
    words::{self, Finding},
};

/// The unit of electricity.
const KILOWATT_HOURS: &str = "kWh";

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Its number or its reference
    #[arg(value_parser = parse::purchase)]
    purchase: PurchaseName,
    /// The outcome that the provider has confirmed
    #[arg(long = "as", value_name = "FINDING", value_parser = words::finding())]
    finding: Finding,
    /// The provider's transaction id of the vend
    #[arg(long, value_name = "ID", value_parser = parse::label, required_if_eq("finding", "vended"))]
    provider_transaction: Option<String>,
    /// The units that were vended, such as "45.2 kWh"; airtime has none
    #[arg(long, value_name = "QUANTITY UNIT", value_parser = parse::units)]
    units: Option<Units>,
    /// The amount that the provider vended; refused unless it is the amount that was requested
    #[arg(long, value_parser = parse::amount)]
    amount: Option<Amount>,
    #[command(flatten)]
    token: TokenFrom,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

impl Resolve {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let purchase = find(session, &self.purchase).await?.purchase;
        let decision = match self.finding {
            Finding::Vended => Decision::Vended(Box::new(self.vend(session, &purchase)?)),
            Finding::NotVended if self.has_details_of_a_vend() => {
                return Err(VendctlError::NotVendedHasNoDetails);
            }
            Finding::NotVended => Decision::NotVended,
        };
        let (id, state) = (purchase.id, purchase.state);
        if state != StateName::Review {
            return Err(DecisionError::NotInReview { id, state }.into());
        }
        if self.care.dry_run {
            let story = story::report(&find(session, &self.purchase).await?);
            return Ok(story.noting("This was a rehearsal. Nothing was decided."));
        }
        self.care.ask(&self.consequence(&purchase))?;
        session.store.decide(purchase.id, decision, session.act(&self.why)).await?;
        Ok(story::report(&find(session, &self.purchase).await?))
    }

    /// What will have happened, for the person who is asked.
    fn consequence(&self, of: &StoryPurchase) -> String {
        let (total, organisation, subscriber) = (of.amounts.total, &of.organisation.0, &of.subscriber);
        let what = match self.finding {
            Finding::Vended => "is paid as vended",
            Finding::NotVended => "is released as not vended",
        };
        format!("{total} of {organisation} for {subscriber} {what}. This cannot be undone.")
    }

    const fn has_details_of_a_vend(&self) -> bool {
        self.provider_transaction.is_some()
            || self.units.is_some()
            || self.amount.is_some()
            || self.token.is_given()
    }

    /// The vend that the operator enters.
    fn vend(&self, session: &Session, of: &StoryPurchase) -> Result<Vend, VendctlError> {
        if let Some(amount) = self.amount.map(|amount| amount.of(of.amounts.net.currency()))
            && amount != of.amounts.net
        {
            return Err(VendctlError::OtherAmount { given: amount, net: of.amounts.net });
        }
        self.check_details(of)?;
        let tokens = self.token.read(of.product)?;
        if tokens.is_some() && !session.can_seal {
            return Err(VendctlError::NoSealingKey);
        }
        Ok(Vend {
            tokens,
            units: self.units.clone(),
            provider_transaction: self.provider_transaction.clone().unwrap_or_default(),
            breakdown: None,
            subscriber_details: None,
            raw_reply: RawReply::default(),
        })
    }

    /// Checks that exactly the values of a vend of this product are given.
    fn check_details(&self, of: &StoryPurchase) -> Result<(), VendctlError> {
        let product = of.product;
        let unit = self.units.as_ref().map(|units| units.unit.as_str());
        match (product, self.token.is_given(), unit) {
            (Product::Airtime, false, None)
            | (Product::Electricity, true, Some(KILOWATT_HOURS))
            | (Product::Water, _, Some(_)) => Ok(()),
            (Product::Airtime, _, _) => Err(VendctlError::AirtimeHasNone),
            (Product::Electricity, true, Some(_)) => Err(VendctlError::NotKilowattHours),
            (Product::Electricity, false, _) => Err(VendctlError::TokenMissing),
            (Product::Electricity | Product::Water, _, None) => Err(VendctlError::UnitsMissing(product)),
        }
    }
}
