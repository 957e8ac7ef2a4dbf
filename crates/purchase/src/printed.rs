//! A purchase with what its receipt says beside it.

use crate::Record;

/// A purchase as it is printed for the customer.
#[derive(Clone, Debug)]
pub struct PrintedPurchase {
    /// The purchase.
    pub record: Record,
    /// The end of the organisation's receipts, in lines, if it has one.
    pub footer: Option<String>,
    /// The provider's name.
    pub provider_name: String,
    /// The names of the product where they differ from the usual ones: language and name.
    pub product_names: Vec<(String, String)>,
}
