//! What a provider is asked for.

use money::Money;

use crate::{Product, ProviderReference, SubscriberIdentifier};

/// So much of a product for one subscriber.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sale {
    /// What is bought.
    pub product: Product,
    /// For whom.
    pub subscriber: SubscriberIdentifier,
    /// What the provider is asked for: the purchase's `net`.
    pub amount: Money,
}

/// One vend under one reference. Sending it again under the same reference asks for no second vend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendOrder {
    /// Our name for this attempt.
    pub reference: ProviderReference,
    /// What is to be vended.
    pub sale: Sale,
}
