//! What a receipt is made from.

use meter_token::TokenSet;
use money::Money;
use vend::{Breakdown, Product, Units};

/// The integrator that sold, as the customer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seller<'a> {
    /// Its name.
    pub name: &'a str,
    /// The end of its receipts, in lines.
    pub footer: Option<&'a str>,
}

/// A sale that was made. Texts may come from other parties and need not be harmless.
#[derive(Clone, Copy, Debug)]
pub struct Sale<'a> {
    /// The product.
    pub product: Product,
    /// Its name, where it differs from the usual one in the language of the receipt.
    pub product_name: Option<&'a str>,
    /// The provider's name.
    pub provider: &'a str,
    /// The meter, phone or account. `None` if it was erased.
    pub subscriber: Option<&'a str>,
    /// The consumer's name at the provider.
    pub customer: Option<&'a str>,
    /// When it was sold: date, time and zone.
    pub sold_at: &'a str,
    /// Our reference.
    pub reference: &'a str,
    /// The integrator's own reference.
    pub external_reference: Option<&'a str>,
    /// The provider's reference of the vend.
    pub provider_transaction: &'a str,
    /// The tokens in the order of entry. A product that always has one and is without here has had it erased.
    pub tokens: Option<&'a TokenSet>,
    /// The units that the tokens give.
    pub units: Option<&'a Units>,
    /// The provider's split of `net`.
    pub breakdown: Option<Breakdown>,
    /// What was vended.
    pub net: Money,
    /// The service charge.
    pub charge: Money,
    /// `net` and `charge` together.
    pub total: Money,
}
