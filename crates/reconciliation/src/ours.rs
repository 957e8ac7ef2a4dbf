//! The columns of a purchase that is held against a statement.

use catalogue::read_currency;
use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Nullable, Text, Timestamptz},
};
use money::Money;
use purchase::{PurchaseId, StateName};
use vend::Product;

use crate::list::InTheBooks;

/// A purchase. Its meter is that of electricity or water: a telephone is not compared.
#[derive(QueryableByName)]
pub(crate) struct OurRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    state: String,
    #[diesel(sql_type = Text)]
    pub(crate) provider_reference: String,
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Text>)]
    meter: Option<String>,
}

impl OurRow {
    pub(crate) fn read(&self, provider_transaction: Option<String>) -> Result<InTheBooks, DatabaseError> {
        let corrupt = |name| DatabaseError::corrupt("purchases", name, self.id);
        let currency = read_currency("purchases", self.id, &self.currency)?;
        Ok(InTheBooks {
            purchase: PurchaseId(self.id),
            state: StateName::parse(&self.state).ok_or_else(|| corrupt("state"))?,
            created_at: self.created_at,
            provider_transaction,
            product: Product::parse(&self.product).ok_or_else(|| corrupt("product"))?,
            meter: self.meter.clone(),
            net: Money::from_minor(self.net, currency),
        })
    }
}
