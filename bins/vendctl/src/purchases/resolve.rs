//! A person's decision about a purchase in review: what is entered must be what the purchase could have yielded.

use clap::Args;
use store::{Decision, StoryPurchase};
use vend::{Product, RawReply, Units, Vend};

use super::{find, story, token::TokenFrom};
use crate::{
    arguments::Why,
    desk::Desk,
    error::VendctlError,
    parse::{self, Amount, PurchaseName},
    report::Report,
    words::{self, Finding},
};

/// What a meter for electricity counts in.
const KILOWATT_HOURS: &str = "kWh";

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Its number or its reference
    #[arg(value_parser = parse::purchase)]
    purchase: PurchaseName,
    /// What became of it
    #[arg(long = "as", value_name = "FINDING", value_parser = words::finding())]
    finding: Finding,
    /// The provider's own name for the vend
    #[arg(long, value_name = "NAME", value_parser = parse::label, required_if_eq("finding", "vended"))]
    provider_transaction: Option<String>,
    /// What the token is worth, such as "45.2 kWh"; airtime has none
    #[arg(long, value_name = "QUANTITY UNIT", value_parser = parse::units)]
    units: Option<Units>,
    /// For how much the provider vended: refused unless that is what the purchase asked of it
    #[arg(long, value_parser = parse::amount)]
    amount: Option<Amount>,
    #[command(flatten)]
    token: TokenFrom,
    #[command(flatten)]
    why: Why,
}

impl Resolve {
    pub(super) async fn run(&self, desk: &Desk) -> Result<Report, VendctlError> {
        let purchase = find(desk, &self.purchase).await?.purchase;
        let decision = match self.finding {
            Finding::Vended => Decision::Vended(Box::new(self.vend(desk, &purchase)?)),
            Finding::NotVended if self.says_what_was_vended() => return Err(VendctlError::NothingCameOfIt),
            Finding::NotVended => Decision::NotVended,
        };
        desk.store.decide(purchase.id, decision, desk.act(&self.why)).await?;
        Ok(story::report(&find(desk, &self.purchase).await?))
    }

    const fn says_what_was_vended(&self) -> bool {
        self.provider_transaction.is_some()
            || self.units.is_some()
            || self.amount.is_some()
            || self.token.is_given()
    }

    /// The vend that is vouched for.
    fn vend(&self, desk: &Desk, of: &StoryPurchase) -> Result<Vend, VendctlError> {
        if let Some(amount) = self.amount.map(|amount| amount.of(of.amounts.net.currency()))
            && amount != of.amounts.net
        {
            return Err(VendctlError::OtherAmount { given: amount, net: of.amounts.net });
        }
        self.fits(of)?;
        let tokens = self.token.read(of.product)?;
        if tokens.is_some() && !desk.can_seal {
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

    /// Whether there is exactly what a vend of this product yields.
    fn fits(&self, of: &StoryPurchase) -> Result<(), VendctlError> {
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
