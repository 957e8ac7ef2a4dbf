//! A product that the caller can buy (specification, section 2.4).

use serde::Serialize;

use vending::{ProductListing, ProviderListing};
use web::{Front, Language};

/// A product with the form of its subscriber identifiers. What is null is not checked.
#[derive(Debug, Serialize)]
pub struct Product {
    #[serde(rename = "product_type")]
    kind: &'static str,
    display_name: String,
    subscriber_id_label: Option<String>,
    subscriber_id_min_length: Option<u16>,
    subscriber_id_max_length: Option<u16>,
    subscriber_id_pattern: Option<String>,
    subscriber_id_hint: Option<String>,
    providers: Vec<Provider>,
}

/// One who sells it.
#[derive(Debug, Serialize)]
struct Provider {
    code: String,
    name: String,
}

impl Product {
    /// As people call it in their language.
    pub fn listed(listing: ProductListing, language: Language, front: &Front) -> Self {
        let (messages, kind) = (front.messages(), listing.product.as_str());
        Self {
            kind,
            display_name: messages.product_name(language, kind).unwrap_or_else(|| kind.to_owned()),
            subscriber_id_label: messages.subscriber_label(language, kind),
            subscriber_id_min_length: listing.format.length_min(),
            subscriber_id_max_length: listing.format.length_max(),
            subscriber_id_pattern: listing.format.pattern().map(ToOwned::to_owned),
            subscriber_id_hint: listing.hint,
            providers: listing.providers.into_iter().map(Provider::from).collect(),
        }
    }
}

impl From<ProviderListing> for Provider {
    fn from(listing: ProviderListing) -> Self {
        Self { code: listing.code, name: listing.name }
    }
}
