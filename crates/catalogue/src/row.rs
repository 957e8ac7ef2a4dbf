//! The rows of the catalogue, and what they are read into.

use std::collections::HashSet;

use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{Array, BigInt, Bool, Nullable, Text},
};
use ledger::{AccountId, Category};
use money::{Currency, Money, Rate};
use purchase::{AllowList, FeeSchedule, Offer, ProductText, SubscriberFormat, Terms};
use vend::{Product, SubscriberIdentifier};

use super::CatalogueAccount;
use crate::{
    read_currency,
    schema::{accounts, product_texts, products},
};

#[derive(QueryableByName)]
pub(super) struct OfferRow {
    #[diesel(sql_type = Text)]
    pub(super) product: String,
    #[diesel(embed)]
    pub(super) format: FormatRow,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    provider_name: String,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = BigInt)]
    fee_fixed: i64,
    #[diesel(sql_type = Text)]
    fee_rate: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    fee_floor: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    fee_cap: Option<i64>,
    #[diesel(sql_type = Text)]
    commission_rate: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount_min: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount_max: Option<i64>,
    #[diesel(sql_type = Bool)]
    pub(super) is_default: bool,
}

/// The columns that define the format of a product's identifiers.
#[derive(diesel::Queryable, QueryableByName, diesel::Selectable)]
#[diesel(table_name = products, check_for_backend(diesel::pg::Pg))]
pub(super) struct FormatRow {
    length_min: Option<i16>,
    length_max: Option<i16>,
    pattern: Option<String>,
    pub(super) hint: Option<String>,
}

#[derive(diesel::Queryable, diesel::Selectable)]
#[diesel(table_name = product_texts, check_for_backend(diesel::pg::Pg))]
pub(super) struct TextRow {
    product: String,
    language: String,
    display_name: Option<String>,
    subscriber_id_label: Option<String>,
}

#[derive(diesel::Queryable, diesel::Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg))]
pub(super) struct AccountRow {
    id: i64,
    currency: String,
    category: Option<String>,
    status: String,
}

#[derive(QueryableByName)]
pub(super) struct LockRow {
    #[diesel(sql_type = Bool)]
    is_locked: bool,
    #[diesel(sql_type = Array<Text>)]
    allowed: Vec<String>,
}

impl OfferRow {
    pub(super) fn offer(&self) -> Result<Offer, DatabaseError> {
        let corrupt = |column| DatabaseError::corrupt("offers", column, &self.provider_code);
        let currency = Currency::in_hundredths(&self.currency).map_err(|_malformed| corrupt("currency"))?;
        let amount = |minor| Money::from_minor(minor, currency);
        let rate = |text: &str, column| Rate::parse(text).map_err(|_malformed| corrupt(column));
        Ok(Offer {
            product: Product::parse(&self.product).ok_or_else(|| corrupt("product"))?,
            provider_code: self.provider_code.clone(),
            provider_name: self.provider_name.clone(),
            terms: Terms {
                fees: FeeSchedule {
                    fixed: amount(self.fee_fixed),
                    rate: rate(&self.fee_rate, "fee_rate")?,
                    floor: self.fee_floor.map(amount),
                    cap: self.fee_cap.map(amount),
                },
                commission: rate(&self.commission_rate, "commission_rate")?,
                minimum: self.amount_min.map(amount),
                maximum: self.amount_max.map(amount),
            },
        })
    }
}

impl FormatRow {
    /// The format of this product.
    pub(super) fn read(&self, product: &str) -> Result<SubscriberFormat, DatabaseError> {
        let length = |length: Option<i16>| length.and_then(|length| u16::try_from(length).ok());
        SubscriberFormat::new(length(self.length_min), length(self.length_max), self.pattern.as_deref())
            .map_err(|_unusable| DatabaseError::corrupt("products", "pattern", product))
    }
}

impl TextRow {
    /// The texts of one product.
    pub(super) fn of(rows: &[Self], product: Product) -> Vec<ProductText> {
        let own = rows.iter().filter(|row| row.product == product.as_str());
        own.map(|row| ProductText {
            language: row.language.clone(),
            display_name: row.display_name.clone(),
            subscriber_id_label: row.subscriber_id_label.clone(),
        })
        .collect()
    }
}

impl LockRow {
    pub(super) fn read(self) -> Result<AllowList, DatabaseError> {
        if !self.is_locked {
            return Ok(AllowList::Unrestricted);
        }
        let read = |text: String| {
            SubscriberIdentifier::parse(&text).map_err(|_malformed| {
                DatabaseError::corrupt("allowed_subscribers", "subscriber_identifier", &text)
            })
        };
        Ok(AllowList::Only(self.allowed.into_iter().map(read).collect::<Result<HashSet<_>, _>>()?))
    }
}

impl TryFrom<AccountRow> for CatalogueAccount {
    type Error = DatabaseError;

    fn try_from(row: AccountRow) -> Result<Self, DatabaseError> {
        let category = row.category.as_deref().and_then(Category::parse);
        Ok(Self {
            id: AccountId(row.id),
            currency: read_currency("accounts", row.id, &row.currency)?,
            category: category.ok_or_else(|| DatabaseError::corrupt("accounts", "category", row.id))?,
            is_active: row.status == "ACTIVE",
        })
    }
}
