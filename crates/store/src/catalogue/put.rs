//! Entering and changing the catalogue, each act with its line in the audit log.

use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt, Text};
use money::Money;
use purchase::{OrganisationId, SubscriberFormat, Terms};
use serde_json::json;
use vend::{Capabilities, Product};

use super::change::Line;
use crate::identity::Act;
use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

/// A provider to be entered or changed.
#[derive(Clone, Debug)]
pub struct NewProvider {
    /// Its code on the wire, and the name of its connection in the settings.
    pub code: String,
    /// Its name for people.
    pub name: String,
    /// What its connection is declared to do in doubt.
    pub declared: Capabilities,
}

impl Store {
    /// Enters a provider, or changes its name and what its connection is declared to do.
    pub async fn put_provider(&self, provider: NewProvider, act: Act) -> Result<(), StoreError> {
        let declared = provider.declared;
        let details = json!({
            "repeat_is_safe": declared.repeat_is_safe,
            "remembers_refusals": declared.remembers_refusals,
            "not_found_counts": declared.not_found_counts,
        });
        let line = Line::new("provider.declared", format!("provider:{}", provider.code), details);
        let put = prepared::<PutProvider>()
            .bind::<Text, _>(provider.code)
            .bind::<Text, _>(provider.name)
            .bind::<Bool, _>(declared.repeat_is_safe)
            .bind::<Bool, _>(declared.remembers_refusals)
            .bind::<Bool, _>(declared.not_found_counts);
        self.change(put, line, act).await
    }

    /// Enters a product's format, or changes it.
    pub async fn put_product(
        &self,
        product: Product,
        format: SubscriberFormat,
        hint: Option<String>,
        act: Act,
    ) -> Result<(), StoreError> {
        let details = json!({
            "length_min": format.length_min(),
            "length_max": format.length_max(),
            "pattern": format.pattern(),
            "hint": hint,
        });
        let line = Line::new("product.changed", format!("product:{product}"), details);
        let length = |length: Option<u16>| length.map(|length| i16::try_from(length).unwrap_or(i16::MAX));
        let put = prepared::<PutProduct>()
            .bind::<Text, _>(product.as_str())
            .bind::<Nullable<SmallInt>, _>(length(format.length_min()))
            .bind::<Nullable<SmallInt>, _>(length(format.length_max()))
            .bind::<Nullable<Text>, _>(format.pattern().map(str::to_owned))
            .bind::<Nullable<Text>, _>(hint);
        self.change(put, line, act).await
    }

    /// Lets an organisation buy a product of a provider, or changes its terms.
    pub async fn put_offer(
        &self,
        organisation: OrganisationId,
        product: Product,
        provider_code: String,
        terms: Terms,
        act: Act,
    ) -> Result<(), StoreError> {
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
        let subject = format!("offer:{product}/{provider_code}");
        let line = Line::new("offer.changed", subject, details).of(organisation);
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
        self.change(put, line, act).await
    }
}

struct PutProvider;

impl Statement for PutProvider {
    const SQL: &str = "-- put_provider
INSERT INTO providers (code, name, repeat_is_safe, remembers_refusals, not_found_counts) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (code) DO UPDATE SET name = excluded.name, repeat_is_safe = excluded.repeat_is_safe,
    remembers_refusals = excluded.remembers_refusals, not_found_counts = excluded.not_found_counts";
}

struct PutProduct;

impl Statement for PutProduct {
    const SQL: &str = "-- put_product
INSERT INTO products (product, length_min, length_max, pattern, hint) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (product) DO UPDATE SET length_min = excluded.length_min, length_max = excluded.length_max,
    pattern = excluded.pattern, hint = excluded.hint";
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
