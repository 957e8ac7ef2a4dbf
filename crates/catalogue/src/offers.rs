//! Offers: what one organisation can buy from which provider, and on what terms. They are entered, changed, listed and
//! removed here.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    ExpressionMethods, QueryDsl,
    sql_types::{BigInt, Nullable, Text},
};
use directory::AuditContext;
use money::Money;
use purchase::{Offer, OrganisationId, Terms};
use serde_json::json;
use vend::Product;

use super::{
    change::{Line, change},
    offers,
    row::OfferRow,
    schema,
};

/// An offer to one organisation.
#[derive(Clone, Debug)]
pub struct ListedOffer {
    /// The product, the provider and the terms.
    pub offer: Offer,
    /// Whether the organisation buys from this provider if it names none.
    pub is_default: bool,
}

/// Lets an organisation buy a product from a provider, or changes the terms.
pub async fn put_offer(
    database: &Database,
    organisation: OrganisationId,
    product: Product,
    provider_code: String,
    terms: Terms,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let fees = terms.fees;
    let details = json!({
        "fee_fixed": fees.fixed.to_string(),
        "fee_rate": fees.rate.to_string(),
        "fee_floor": fees.floor.map(|floor| floor.to_string()),
        "fee_cap": fees.cap.map(|cap| cap.to_string()),
        "amount_min": terms.minimum.map(|minimum| minimum.to_string()),
        "amount_max": terms.maximum.map(|maximum| maximum.to_string()),
        "commission_rate": terms.commission.to_string(),
    });
    let line = Line::new("offer.changed", subject(product, &provider_code), details).of(organisation);
    let put = prepared::<PutOffer>()
        .bind::<BigInt, _>(organisation.0)
        .bind::<Text, _>(product.as_str())
        .bind::<Text, _>(provider_code)
        .bind::<Text, _>(fees.fixed.currency().to_string())
        .bind::<BigInt, _>(fees.fixed.minor())
        .bind::<Text, _>(fees.rate.to_string())
        .bind::<Nullable<BigInt>, _>(fees.floor.map(Money::minor))
        .bind::<Nullable<BigInt>, _>(fees.cap.map(Money::minor))
        .bind::<Text, _>(terms.commission.to_string())
        .bind::<Nullable<BigInt>, _>(terms.minimum.map(Money::minor))
        .bind::<Nullable<BigInt>, _>(terms.maximum.map(Money::minor));
    change(database, put, line, act).await
}

/// All offers to an organisation, ordered by product and provider.
pub async fn list_offers(
    database: &Database,
    organisation: OrganisationId,
) -> Result<Vec<ListedOffer>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let rows = offers(connection, organisation).await?;
                let listed =
                    |row: OfferRow| Ok(ListedOffer { offer: row.offer()?, is_default: row.is_default });
                rows.into_iter().map(listed).collect()
            })
        })
        .await
}

/// Ends an offer to an organisation. No purchase of it is reserved from the commit on. Open purchases continue. The database
/// remembers that there was the offer, so that a request for it is not called wrong.
///
/// # Errors
/// [`DatabaseError::Absent`] if there is no such offer, and [`DatabaseError::Rejected`] while the provider is the
/// organisation's default for the product.
pub async fn remove_offer(
    database: &Database,
    organisation: OrganisationId,
    product: Product,
    provider_code: String,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let line = Line::new("offer.removed", subject(product, &provider_code), json!({})).of(organisation);
    let offer = schema::offers::table.find((organisation.0, product.as_str(), provider_code));
    change(database, diesel::delete(offer), line, act).await
}

/// Whether any organisation can buy this product from this provider.
pub async fn is_offered(
    database: &Database,
    product: Product,
    provider_code: String,
) -> Result<bool, DatabaseError> {
    use schema::offers as offered;
    let found = database.read(move |connection| {
        Box::pin(async move {
            let offers = offered::table
                .filter(offered::product.eq(product.as_str()))
                .filter(offered::provider_code.eq(provider_code));
            diesel::select(diesel::dsl::exists(offers)).get_result(connection).await
        })
    });
    found.await
}

struct PutOffer;

impl Statement for PutOffer {
    const SQL: &str = "-- put_offer
INSERT INTO offers (organisation_id, product, provider_code, currency, fee_fixed, fee_rate, fee_floor, fee_cap,
    commission_rate, amount_min, amount_max)
VALUES ($1, $2, $3, $4, $5, $6::numeric, $7, $8, $9::numeric, $10, $11)
ON CONFLICT (organisation_id, product, provider_code) DO UPDATE SET currency = excluded.currency,
    fee_fixed = excluded.fee_fixed, fee_rate = excluded.fee_rate, fee_floor = excluded.fee_floor,
    fee_cap = excluded.fee_cap, commission_rate = excluded.commission_rate, amount_min = excluded.amount_min,
    amount_max = excluded.amount_max";
}

fn subject(product: Product, provider_code: &str) -> String {
    format!("offer:{product}/{provider_code}")
}
