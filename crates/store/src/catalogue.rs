//! The catalogue: what an organisation can buy, from whom, and on what terms.

use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt, Text};
use diesel_async::RunQueryDsl;
use ledger::{AccountId, Category};
use money::{Currency, Money, Rate};
use purchase::{FeeSchedule, Offer, OrganisationId, SubscriberFormat, Terms};
use vend::Product;

use crate::row::read_currency;
use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

mod put;

pub use put::NewProvider;

/// All that pricing a purchase of one organisation needs.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// What it can buy.
    pub products: Vec<CatalogueProduct>,
    /// Its accounts, as far as they bear on a purchase.
    pub accounts: Vec<CatalogueAccount>,
}

/// An account as far as it bears on a purchase.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueAccount {
    /// Its number.
    pub id: AccountId,
    /// Of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Whether it is neither suspended nor closed.
    pub is_active: bool,
}

/// A product with everybody who offers it.
#[derive(Clone, Debug)]
pub struct CatalogueProduct {
    /// What.
    pub product: Product,
    /// What its subscriber identifiers look like.
    pub format: SubscriberFormat,
    /// A hint for people, which overrides one derived from the format.
    pub hint: Option<String>,
    /// By whom and on what terms.
    pub offers: Vec<Offer>,
}

struct ListOffers;

impl Statement for ListOffers {
    const SQL: &str = "-- list_offers
SELECT o.product, p.length_min, p.length_max, p.pattern, p.hint, o.provider_code, v.name AS provider_name, o.currency,
    o.fee_fixed, o.fee_rate::text AS fee_rate, o.fee_floor, o.fee_cap, o.commission_rate::text AS commission_rate,
    o.amount_min, o.amount_max
FROM offers o
JOIN products p ON p.product = o.product
JOIN providers v ON v.code = o.provider_code
WHERE o.organisation_id = $1
ORDER BY o.product, o.provider_code";
}

struct ListAccounts;

impl Statement for ListAccounts {
    const SQL: &str = "-- list_catalogue_accounts
SELECT id, currency, category, status = 'ACTIVE' AS is_active FROM accounts WHERE organisation_id = $1";
}

#[derive(diesel::QueryableByName)]
struct OfferRow {
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(sql_type = Nullable<SmallInt>)]
    length_min: Option<i16>,
    #[diesel(sql_type = Nullable<SmallInt>)]
    length_max: Option<i16>,
    #[diesel(sql_type = Nullable<Text>)]
    pattern: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    hint: Option<String>,
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
}

#[derive(diesel::QueryableByName)]
struct AccountRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    currency: String,
    #[diesel(sql_type = Nullable<Text>)]
    category: Option<String>,
    #[diesel(sql_type = Bool)]
    is_active: bool,
}

impl Store {
    /// The catalogue of one organisation.
    pub async fn catalogue(&self, organisation: OrganisationId) -> Result<Catalogue, StoreError> {
        let store = self.clone();
        self.on_engine(async move {
            let mut connection = store.general.get().await?;
            let offers: Vec<OfferRow> =
                prepared::<ListOffers>().bind::<BigInt, _>(organisation.0).load(&mut *connection).await?;
            let accounts: Vec<AccountRow> =
                prepared::<ListAccounts>().bind::<BigInt, _>(organisation.0).load(&mut *connection).await?;
            Ok(Catalogue {
                products: by_product(offers)?,
                accounts: accounts.into_iter().map(CatalogueAccount::try_from).collect::<Result<_, _>>()?,
            })
        })
        .await
    }
}

/// The rows come sorted by product.
fn by_product(rows: Vec<OfferRow>) -> Result<Vec<CatalogueProduct>, StoreError> {
    let mut products: Vec<CatalogueProduct> = Vec::new();
    for row in rows {
        let offer = row.offer()?;
        match products.last_mut() {
            Some(last) if last.product == offer.product => last.offers.push(offer),
            Some(_) | None => products.push(CatalogueProduct {
                product: offer.product,
                format: row.format()?,
                hint: row.hint,
                offers: vec![offer],
            }),
        }
    }
    Ok(products)
}

impl OfferRow {
    fn offer(&self) -> Result<Offer, StoreError> {
        let corrupt = |column| StoreError::corrupt("offers", column, &self.provider_code);
        let currency = Currency::parse(&self.currency).map_err(|_malformed| corrupt("currency"))?;
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

    fn format(&self) -> Result<SubscriberFormat, StoreError> {
        let length = |length: Option<i16>| length.and_then(|length| u16::try_from(length).ok());
        SubscriberFormat::new(length(self.length_min), length(self.length_max), self.pattern.as_deref())
            .map_err(|_unusable| StoreError::corrupt("products", "pattern", &self.product))
    }
}

impl TryFrom<AccountRow> for CatalogueAccount {
    type Error = StoreError;

    fn try_from(row: AccountRow) -> Result<Self, StoreError> {
        let category = row.category.as_deref().and_then(Category::parse);
        Ok(Self {
            id: AccountId(row.id),
            currency: read_currency("accounts", row.id, &row.currency)?,
            category: category.ok_or_else(|| StoreError::corrupt("accounts", "category", row.id))?,
            is_active: row.is_active,
        })
    }
}
