//! Finds purchases, and tells the history of one.

pub mod list;
pub mod search;
pub mod story;
mod telling;
pub mod token;
mod words;

use oversight::Story;
use purchase::PurchaseId;

use crate::{error::VendctlError, parse::PurchaseName, session::Session};

/// The history of the named purchase.
pub async fn find(session: &Session, name: &PurchaseName) -> Result<Story, VendctlError> {
    let found = oversight::oversee_purchase(session.database(), name.id).await?;
    let fits = |story: &Story| name.reference.as_ref().is_none_or(|named| *named == story.purchase.reference);
    found.filter(fits).ok_or_else(|| absent(name))
}

fn absent(PurchaseName { id: PurchaseId(id), reference }: &PurchaseName) -> VendctlError {
    VendctlError::NoPurchase(reference.clone().unwrap_or_else(|| id.to_string()))
}
