//! What there is to buy, from whom, and on which terms.

use money::{Money, Rate};
use purchase::{FeeSchedule, OrganisationId, SubscriberFormat, Terms};
use store::NewProvider;
use vend::{Capabilities, Product};

use crate::office::{Office, OfficeError, act, pula};

/// The provider's code on the wire, and the name of its connection in the settings.
pub(crate) const PROVIDER: &str = "BPC";

/// The charge on each purchase: BWP 1.50.
const FEE_MINOR: i64 = 150;
/// The integrator's share of what is vended: 1%.
const COMMISSION: &str = "0.01";

impl Office {
    /// Enters the provider and the product.
    pub(crate) async fn stock_catalogue(&self) -> Result<(), OfficeError> {
        let provider = NewProvider {
            code: PROVIDER.to_owned(),
            name: "Botswana Power Corporation".to_owned(),
            declared: as_the_simulator_behaves(),
        };
        self.store.put_provider(provider, act()).await?;
        let format = SubscriberFormat::new(Some(11), Some(13), Some("^[0-9]{11,13}$"))?;
        let hint = Some("The 11 to 13 digits that are printed on the meter".to_owned());
        self.store.put_product(Product::Electricity, format, hint, act()).await?;
        Ok(())
    }

    pub(crate) async fn offer_electricity_to(&self, organisation: OrganisationId) -> Result<(), OfficeError> {
        let currency = pula()?;
        let fees =
            FeeSchedule { fixed: Money::from_minor(FEE_MINOR, currency), ..FeeSchedule::free(currency) };
        let terms = Terms { fees, commission: Rate::parse(COMMISSION)?, minimum: None, maximum: None };
        let code = PROVIDER.to_owned();
        self.store.put_offer(organisation, Product::Electricity, code, terms, act()).await?;
        Ok(())
    }
}

/// It refuses a repeated reference and forgets nothing, so long as it runs.
const fn as_the_simulator_behaves() -> Capabilities {
    Capabilities { repeat_is_safe: true, remembers_refusals: true, not_found_counts: true }
}
