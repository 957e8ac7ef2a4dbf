//! The order that is sent to a provider.

use money::Money;

use crate::{Product, ProviderReference, SubscriberIdentifier};

/// An amount of a product for one subscriber.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sale {
    /// The product that is bought.
    pub product: Product,
    /// The subscriber that receives it.
    pub subscriber: SubscriberIdentifier,
    /// The amount that the provider is asked for: the purchase's `net`.
    pub amount: Money,
}

/// One vend under one reference. A second request under the same reference does not ask for a second vend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendOrder {
    /// Our reference of this attempt.
    pub reference: ProviderReference,
    /// The sale to be vended.
    pub sale: Sale,
}
