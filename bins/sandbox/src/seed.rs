//! The products, the providers and the terms in the sandbox.

use catalogue::NewProvider;
use money::{Money, Rate};
use purchase::{FeeSchedule, OrganisationId, SubscriberFormat, Terms};
use vend::{Capabilities, Product};

use crate::{
    Pace,
    office::{Office, OfficeError, act, pula},
};

/// A product, and its only provider in the sandbox.
pub(crate) struct Offering {
    pub(crate) product: Product,
    /// The provider's code on the wire, and the name of its connection in the settings.
    pub(crate) provider: &'static str,
    name: &'static str,
    length: (u16, u16),
    pattern: &'static str,
    /// Without it, the service makes a hint from the lengths, in the caller's language.
    hint: Option<&'static str>,
}

pub(crate) const ELECTRICITY: Offering = Offering {
    product: Product::Electricity,
    provider: "BPC",
    name: "Botswana Power Corporation",
    length: (11, 13),
    pattern: "^[0-9]{11,13}$",
    hint: None,
};

pub(crate) const WATER: Offering = Offering {
    product: Product::Water,
    provider: "WUC",
    name: "Water Utilities Corporation",
    length: (11, 13),
    pattern: "^[0-9]{11,13}$",
    hint: None,
};

pub(crate) const AIRTIME: Offering = Offering {
    product: Product::Airtime,
    provider: "RELOADLY",
    name: "Every mobile network",
    length: (11, 11),
    pattern: "^267[0-9]{8}$",
    hint: Some("The phone number as 11 digits, country code first and no plus sign: 26771234567"),
};

/// All offerings, in the order of the specification.
const OFFERINGS: [&Offering; 3] = [&ELECTRICITY, &AIRTIME, &WATER];

/// The charge on each purchase: BWP 1.50.
const FEE_MINOR: i64 = 150;
/// The integrator's commission on the vended amount: 1%.
const COMMISSION: &str = "0.01";

impl Office {
    /// Adds the providers and the products.
    pub(crate) async fn stock_catalogue(&self, pace: Pace) -> Result<(), OfficeError> {
        for offering in OFFERINGS {
            let provider = NewProvider {
                code: offering.provider.to_owned(),
                name: offering.name.to_owned(),
                declared: as_the_simulator_behaves(pace),
            };
            catalogue::put_provider(self.store.database(), provider, act()).await?;
            let (least, most) = offering.length;
            let format = SubscriberFormat::new(Some(least), Some(most), Some(offering.pattern))?;
            catalogue::put_product(
                self.store.database(),
                offering.product,
                format,
                offering.hint.map(str::to_owned),
                act(),
            )
            .await?;
        }
        Ok(())
    }

    pub(crate) async fn offer_everything_to(&self, organisation: OrganisationId) -> Result<(), OfficeError> {
        let currency = pula()?;
        let fees =
            FeeSchedule { fixed: Money::from_minor(FEE_MINOR, currency), ..FeeSchedule::free(currency) };
        let terms = Terms { fees, commission: Rate::parse(COMMISSION)?, minimum: None, maximum: None };
        for offering in OFFERINGS {
            let code = offering.provider.to_owned();
            catalogue::put_offer(self.store.database(), organisation, offering.product, code, terms, act())
                .await?;
        }
        Ok(())
    }

    /// Sets the provider for electricity on the Current surface, whose requests do not name one.
    pub(crate) async fn name_default_provider_for(
        &self,
        organisation: OrganisationId,
    ) -> Result<(), OfficeError> {
        let code = ELECTRICITY.provider.to_owned();
        Ok(catalogue::put_default_provider(
            self.store.database(),
            organisation,
            ELECTRICITY.product,
            code,
            act(),
        )
        .await?)
    }
}

/// The simulator refuses a repeated reference and keeps all answers.
const fn as_the_simulator_behaves(pace: Pace) -> Capabilities {
    Capabilities {
        repeat_is_safe: true,
        remembers_refusals: true,
        not_found_counts: true,
        settles_within: pace.settles_within(),
    }
}
