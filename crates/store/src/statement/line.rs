//! A line of a statement, as its row is read.

use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz};
use ledger::{AccountId, EntryKind, SystemAccount};
use money::Money;
use purchase::{MovementKind, MovementPart, PurchaseId, StatedPurchase, StatementLine};
use vend::Product;

#[derive(diesel::QueryableByName)]
pub(super) struct Row {
    #[diesel(sql_type = BigInt)]
    entry_id: i64,
    #[diesel(sql_type = BigInt)]
    other: i64,
    #[diesel(sql_type = Timestamptz)]
    posted_at: DateTime<Utc>,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Nullable<Text>)]
    counterpart: Option<String>,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = Nullable<Text>)]
    reference: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    purchase_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_identifier: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    product: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    provider_code: Option<String>,
}

impl Row {
    /// The line, after which the wallet's balance is `before` and its amount.
    pub(super) fn read(self, before: Money) -> Result<StatementLine, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("postings", column, self.entry_id);
        let amount = Money::from_minor(self.amount, before.currency());
        let kind = EntryKind::ALL.into_iter().find(|kind| kind.as_str() == self.kind);
        let counterpart = self.counterpart.as_deref();
        let part = match counterpart {
            Some(name) => {
                MovementPart::of(SystemAccount::parse(name).ok_or_else(|| corrupt("credit_account_id"))?)
            }
            None => MovementPart::Payment,
        };
        Ok(StatementLine {
            entry: self.entry_id,
            other: AccountId(self.other),
            posted_at: self.posted_at,
            kind: kind.and_then(MovementKind::of).ok_or_else(|| corrupt("entry_id"))?,
            part,
            amount,
            balance: before.plus(amount).map_err(|_overflow| corrupt("amount"))?,
            purchase: self.purchase()?,
            reference: self.reference,
        })
    }

    fn purchase(&self) -> Result<Option<StatedPurchase>, DatabaseError> {
        let Some(id) = self.purchase_id else { return Ok(None) };
        let corrupt = |column| DatabaseError::corrupt("purchases", column, id);
        let product = self.product.as_deref().and_then(Product::parse);
        Ok(Some(StatedPurchase {
            id: PurchaseId(id),
            external_reference: self.external_reference.clone(),
            subscriber: self.subscriber_identifier.clone().ok_or_else(|| corrupt("subscriber_identifier"))?,
            product: product.ok_or_else(|| corrupt("product"))?,
            provider_code: self.provider_code.clone().ok_or_else(|| corrupt("provider_code"))?,
        }))
    }
}
