//! What there is to buy, from whom, and on which terms.

use money::{Money, Rate};
use purchase::{FeeSchedule, OrganisationId, SubscriberFormat, Terms};
use store::NewProvider;
use vend::{Capabilities, Product};

use crate::Pace;
use crate::office::{Office, OfficeError, act, pula};

/// A product, and the one provider that sells it here.
pub(crate) struct Stall {
    pub(crate) product: Product,
    /// The provider's code on the wire, and the name of its connection in the settings.
    pub(crate) provider: &'static str,
    name: &'static str,
    length: (u16, u16),
    pattern: &'static str,
    /// Where there is none, the service makes one from the lengths, in the caller's language.
    hint: Option<&'static str>,
}

pub(crate) const ELECTRICITY: Stall = Stall {
    product: Product::Electricity,
    provider: "BPC",
    name: "Botswana Power Corporation",
    length: (11, 13),
    pattern: "^[0-9]{11,13}$",
    hint: None,
};

pub(crate) const WATER: Stall = Stall {
    product: Product::Water,
    provider: "WUC",
    name: "Water Utilities Corporation",
    length: (11, 13),
    pattern: "^[0-9]{11,13}$",
    hint: None,
};

pub(crate) const AIRTIME: Stall = Stall {
    product: Product::Airtime,
    provider: "RELOADLY",
    name: "Every mobile network",
    length: (11, 11),
    pattern: "^267[0-9]{8}$",
    hint: Some("The phone number as 11 digits, country code first and no plus sign: 26771234567"),
};

/// All of them, in the order of the specification.
const STALLS: [&Stall; 3] = [&ELECTRICITY, &AIRTIME, &WATER];

/// The charge on each purchase: BWP 1.50.
const FEE_MINOR: i64 = 150;
/// The integrator's share of what is vended: 1%.
const COMMISSION: &str = "0.01";

impl Office {
    /// Enters the providers and the products.
    pub(crate) async fn stock_catalogue(&self, pace: Pace) -> Result<(), OfficeError> {
        for stall in STALLS {
            let provider = NewProvider {
                code: stall.provider.to_owned(),
                name: stall.name.to_owned(),
                declared: as_the_simulator_behaves(pace),
            };
            self.store.put_provider(provider, act()).await?;
            let (least, most) = stall.length;
            let format = SubscriberFormat::new(Some(least), Some(most), Some(stall.pattern))?;
            self.store.put_product(stall.product, format, stall.hint.map(str::to_owned), act()).await?;
        }
        Ok(())
    }

    pub(crate) async fn offer_everything_to(&self, organisation: OrganisationId) -> Result<(), OfficeError> {
        let currency = pula()?;
        let fees =
            FeeSchedule { fixed: Money::from_minor(FEE_MINOR, currency), ..FeeSchedule::free(currency) };
        let terms = Terms { fees, commission: Rate::parse(COMMISSION)?, minimum: None, maximum: None };
        for stall in STALLS {
            let code = stall.provider.to_owned();
            self.store.put_offer(organisation, stall.product, code, terms, act()).await?;
        }
        Ok(())
    }

    /// Names whom an organisation buys electricity from on the Current surface, which does not ask.
    pub(crate) async fn name_default_provider_for(
        &self,
        organisation: OrganisationId,
    ) -> Result<(), OfficeError> {
        let code = ELECTRICITY.provider.to_owned();
        Ok(self.store.put_default_provider(organisation, ELECTRICITY.product, code, act()).await?)
    }
}

/// It refuses a repeated reference and forgets nothing, so long as it runs.
const fn as_the_simulator_behaves(pace: Pace) -> Capabilities {
    Capabilities {
        repeat_is_safe: true,
        remembers_refusals: true,
        not_found_counts: true,
        settles_within: pace.settles_within(),
    }
}
