//! The catalogue: what an organisation can buy, for which subscribers, from which providers, and on what terms.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use database::{Connection, Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    ExpressionMethods, QueryDsl, SelectableHelper,
    sql_types::{BigInt, Text},
};
use ledger::{AccountId, Category};
use money::Currency;
use purchase::{AllowList, Offer, OrganisationId, ProductText, SubscriberFormat};
use vend::Product;

mod allow_list;
mod breakers;
mod change;
mod defaults;
mod floats;
mod offers;
mod pauses;
mod products;
mod providers;
mod row;
mod schema;
mod stored;
mod texts;

pub use allow_list::{AllowError, allow, disallow, list_allowed};
pub use breakers::{
    AnswerKind, Breaker, BreakerTrial, ListedBreaker, OpenedBreaker, ProviderAnswers, count_provider_answers,
    declare_breaker, end_breaker_pause, list_breakers, open_breakers, remove_breaker, take_breaker_trials,
};
pub use defaults::{find_default_provider, put_default_provider, remove_default_provider};
pub use floats::{ListedFloat, list_floats, record_float, set_float_limit};
pub use offers::{ListedOffer, is_offered, list_offers, put_offer, remove_offer};
pub use pauses::{ListedPause, NewPause, Pause, Resumed, list_pauses, pause_provider, resume_provider};
pub use products::{ListedProduct, list_products, put_product};
pub use providers::{
    Declaration, ListedProvider, NewProvider, declare_provider, list_providers, put_provider,
    set_provider_retries,
};
pub use stored::{DeclaredRow, read_currency};
pub use texts::{put_product_text, remove_product_text};

use row::{AccountRow, LockRow, OfferRow, TextRow};
use schema::{accounts, product_texts, removed_offers as removed};

/// Everything that is needed to price a purchase of one organisation.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The products that it can buy.
    pub products: Vec<CatalogueProduct>,
    /// Its accounts, as far as they matter for a purchase.
    pub accounts: Vec<CatalogueAccount>,
    /// The subscribers that it may buy for.
    pub allowed: AllowList,
    /// The pauses of providers that were in force when it was read.
    pub pauses: Vec<Pause>,
    /// The offers that it had: the product and the code of the provider.
    pub removed_offers: Vec<(Product, String)>,
}

impl Catalogue {
    /// The pause that forbids a sale of the product by the provider at this moment. Of several, the one that lasts longest.
    pub fn pause(&self, product: Product, provider_code: &str, at: DateTime<Utc>) -> Option<&Pause> {
        let covering = self.pauses.iter().filter(|pause| pause.covers(product, provider_code, at));
        covering.max_by_key(|pause| (pause.until.is_none(), pause.until))
    }

    /// Whether the organisation could buy the product from the provider and cannot any more.
    pub fn had_offer(&self, product: Product, provider_code: &str) -> bool {
        self.removed_offers.iter().any(|(removed, provider)| *removed == product && provider == provider_code)
    }
}

/// An account, as far as it matters for a purchase.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueAccount {
    /// Its number.
    pub id: AccountId,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// What it is for.
    pub category: Category,
    /// Whether it is neither suspended nor closed.
    pub is_active: bool,
}

/// A product with all its offers.
#[derive(Clone, Debug)]
pub struct CatalogueProduct {
    /// The product.
    pub product: Product,
    /// The format of its subscriber identifiers.
    pub format: SubscriberFormat,
    /// A hint for people. It overrides the hint that is derived from the format.
    pub hint: Option<String>,
    /// Its texts in the languages where they differ from the default.
    pub texts: Vec<ProductText>,
    /// Its providers and their terms.
    pub offers: Vec<Offer>,
    /// The provider if the organisation names none.
    pub default_provider: Option<String>,
}

struct ListOffers;

impl Statement for ListOffers {
    const SQL: &str = "-- list_offers
SELECT o.product, p.length_min, p.length_max, p.pattern, p.hint, o.provider_code, v.name AS provider_name, o.currency,
    o.fee_fixed, o.fee_rate::text AS fee_rate, o.fee_floor, o.fee_cap, o.commission_rate::text AS commission_rate,
    o.amount_min, o.amount_max, d.provider_code IS NOT NULL AS is_default
FROM offers o
JOIN products p ON p.product = o.product
JOIN providers v ON v.code = o.provider_code
LEFT JOIN default_providers d
    ON d.organisation_id = o.organisation_id AND d.product = o.product AND d.provider_code = o.provider_code
WHERE o.organisation_id = $1
ORDER BY o.product, o.provider_code";
}

struct ReadLock;

impl Statement for ReadLock {
    const SQL: &str = "-- read_lock
SELECT o.environment <> $2 AS is_locked,
    ARRAY (SELECT a.subscriber_identifier FROM allowed_subscribers a WHERE a.organisation_id = o.id) AS allowed
FROM organisations o
WHERE o.id = $1";
}

/// The catalogue of one organisation.
pub async fn read_catalogue(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Catalogue, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let accounts: Vec<AccountRow> = accounts::table
                    .filter(accounts::organisation_id.eq(organisation.0))
                    .select(AccountRow::as_select())
                    .load(connection)
                    .await?;
                Ok(Catalogue {
                    products: by_product(offers(connection, organisation).await?, &texts(connection).await?)?,
                    accounts: accounts
                        .into_iter()
                        .map(CatalogueAccount::try_from)
                        .collect::<Result<_, _>>()?,
                    allowed: lock(connection, organisation).await?,
                    pauses: pauses::in_force(connection).await?,
                    removed_offers: removed_offers(connection, organisation).await?,
                })
            })
        })
        .await
}

async fn offers(
    connection: &Connection,
    organisation: OrganisationId,
) -> Result<Vec<OfferRow>, DatabaseError> {
    prepared::<ListOffers>().bind::<BigInt, _>(organisation.0).load(connection).await
}

async fn removed_offers(
    connection: &Connection,
    organisation: OrganisationId,
) -> Result<Vec<(Product, String)>, DatabaseError> {
    let rows = removed::table
        .filter(removed::organisation_id.eq(organisation.0))
        .select((removed::product, removed::provider_code));
    let rows: Vec<(String, String)> = rows.load(connection).await?;
    let read = |(product, provider): (String, String)| match Product::parse(&product) {
        Some(product) => Ok((product, provider)),
        None => Err(DatabaseError::corrupt("removed_offers", "product", provider)),
    };
    rows.into_iter().map(read).collect()
}

async fn texts(connection: &Connection) -> Result<Vec<TextRow>, DatabaseError> {
    let rows = product_texts::table
        .order((product_texts::product, product_texts::language))
        .select(TextRow::as_select());
    rows.load(connection).await
}

/// An organisation that does not exist, or whose environment is not production, is locked to its allow-list.
async fn lock(connection: &Connection, organisation: OrganisationId) -> Result<AllowList, DatabaseError> {
    let read = prepared::<ReadLock>().bind::<BigInt, _>(organisation.0).bind::<Text, _>("PRODUCTION");
    let rows: Vec<LockRow> = read.load(connection).await?;
    rows.into_iter().next().map_or_else(|| Ok(AllowList::Only(HashSet::new())), LockRow::read)
}

/// Groups the rows by product. The rows are sorted by product.
fn by_product(rows: Vec<OfferRow>, texts: &[TextRow]) -> Result<Vec<CatalogueProduct>, DatabaseError> {
    let mut products: Vec<CatalogueProduct> = Vec::new();
    for row in rows {
        let offer = row.offer()?;
        let default_provider = row.is_default.then(|| offer.provider_code.clone());
        match products.last_mut() {
            Some(last) if last.product == offer.product => {
                last.default_provider = last.default_provider.take().or(default_provider);
                last.offers.push(offer);
            }
            Some(_) | None => products.push(CatalogueProduct {
                product: offer.product,
                format: row.format.read(&row.product)?,
                hint: row.format.hint,
                texts: TextRow::of(texts, offer.product),
                offers: vec![offer],
                default_provider,
            }),
        }
    }
    Ok(products)
}
