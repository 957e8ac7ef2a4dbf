//! A product that the caller can buy (specification, section 2.4).

use serde::Serialize;
use utoipa::ToSchema;

use vending::{PauseListing, ProductListing, ProviderListing};
use web::{Language, SharedState};

use super::moment::rfc_3339;
use crate::schema::values::{AvailabilityStatus, ProductType};

/// A product with the form of its subscriber identifiers. What is null is not checked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VasProduct)]
pub struct Product {
    #[serde(rename = "product_type")]
    #[schema(value_type = ProductType)]
    kind: &'static str,
    /// The product's name in the language of the request.
    display_name: String,
    /// The label of the input.
    #[schema(required)]
    subscriber_id_label: Option<String>,
    /// The fewest characters.
    #[schema(required)]
    subscriber_id_min_length: Option<u16>,
    /// The most characters.
    #[schema(required)]
    subscriber_id_max_length: Option<u16>,
    /// A regular expression that JavaScript understands.
    #[schema(required)]
    subscriber_id_pattern: Option<String>,
    /// The hint for people beside the input: the operator's own hint, or one made from the lengths in the language of
    /// the request. Null only where neither is known.
    #[schema(required)]
    subscriber_id_hint: Option<String>,
    #[schema(inline)]
    providers: Vec<Provider>,
}

/// A provider that sells the product.
#[derive(Debug, Serialize, ToSchema)]
struct Provider {
    /// What a purchase calls `provider_code`.
    code: String,
    name: String,
    #[schema(inline)]
    availability: Availability,
}

/// Whether the provider sells the product at present. At most a few seconds old.
#[derive(Debug, Serialize, ToSchema)]
struct Availability {
    #[schema(value_type = AvailabilityStatus)]
    status: &'static str,
    /// When its sales go on. Null if it is available, or if that is not known.
    #[schema(required, format = DateTime)]
    resumes_at: Option<String>,
    /// What the operator tells about the pause, in the operator's own words.
    #[schema(required)]
    notice: Option<String>,
}

impl Product {
    /// The product with its names in the given language.
    pub fn listed(listing: ProductListing, language: Language, shared: &SharedState) -> Self {
        let (messages, kind) = (shared.messages(), listing.product.as_str());
        let own = listing.texts.into_iter().find(|text| text.language == language.as_str());
        let (own_name, own_label) =
            own.map(|text| (text.display_name, text.subscriber_id_label)).unwrap_or_default();
        let (least, most) = (listing.format.length_min(), listing.format.length_max());
        let usual_name = || messages.product_name(language, kind).unwrap_or_else(|| kind.to_owned());
        Self {
            kind,
            display_name: own_name.unwrap_or_else(usual_name),
            subscriber_id_label: own_label.or_else(|| messages.subscriber_label(language, kind)),
            subscriber_id_min_length: least,
            subscriber_id_max_length: most,
            subscriber_id_pattern: listing.format.pattern().map(ToOwned::to_owned),
            subscriber_id_hint: listing.hint.or_else(|| messages.length_hint(language, least, most)),
            providers: listing
                .providers
                .into_iter()
                .map(|provider| Provider::listed(provider, shared))
                .collect(),
        }
    }
}

impl Provider {
    fn listed(listing: ProviderListing, shared: &SharedState) -> Self {
        let availability = match listing.pause {
            None => Availability { status: "AVAILABLE", resumes_at: None, notice: None },
            Some(PauseListing { until, notice }) => Availability {
                status: "PAUSED",
                resumes_at: until.map(|until| rfc_3339(until, &shared.zone())),
                notice,
            },
        };
        Self { code: listing.code, name: listing.name, availability }
    }
}
