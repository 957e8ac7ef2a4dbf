//! The catalogue as the operator sees it: everything that is entered, whether anybody can buy it or not.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel_async::RunQueryDsl;
use purchase::{Offer, OrganisationId, ProductText, SubscriberFormat};
use serde_json::json;
use vend::{Capabilities, Product};

use super::change::Line;
use super::row::{FormatRow, TextRow};
use super::{offers, texts};
use crate::identity::Act;
use crate::row::DeclaredRow;
use crate::statement::{Statement, prepared};
use crate::{Store, StoreError};

/// A product as it is entered.
#[derive(Clone, Debug)]
pub struct ListedProduct {
    /// What.
    pub product: Product,
    /// What its subscriber identifiers look like.
    pub format: SubscriberFormat,
    /// A hint for people.
    pub hint: Option<String>,
    /// What it is called in languages in which it is not called as usual.
    pub texts: Vec<ProductText>,
}

/// A provider as it is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProvider {
    /// Its code on the wire, and the name of its connection in the settings.
    pub code: String,
    /// Its name for people.
    pub name: String,
    /// Whether purchases from it may be retried.
    pub retries_enabled: bool,
    /// What its connection is declared to do in doubt.
    pub declared: Capabilities,
}

/// An offer to one organisation.
#[derive(Clone, Debug)]
pub struct ListedOffer {
    /// What, from whom, on what terms.
    pub offer: Offer,
    /// Whether the organisation buys from this provider when it does not say.
    pub is_default: bool,
}

struct ListProducts;

impl Statement for ListProducts {
    const SQL: &str = "-- list_products
SELECT product, length_min, length_max, pattern, hint FROM products ORDER BY product";
}

struct ListProviders;

impl Statement for ListProviders {
    const SQL: &str = "-- list_providers
SELECT code, name, retries_enabled, repeat_is_safe, remembers_refusals, not_found_counts FROM providers ORDER BY code";
}

struct RemoveOffer;

impl Statement for RemoveOffer {
    const SQL: &str = "-- remove_offer
DELETE FROM offers WHERE organisation_id = $1 AND product = $2 AND provider_code = $3";
}

#[derive(QueryableByName)]
struct ProductRow {
    #[diesel(sql_type = Text)]
    product: String,
    #[diesel(embed)]
    format: FormatRow,
}

#[derive(QueryableByName)]
struct ProviderRow {
    #[diesel(sql_type = Text)]
    code: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Bool)]
    retries_enabled: bool,
    #[diesel(embed)]
    declared: DeclaredRow,
}

impl Store {
    /// Every product that is entered.
    pub async fn list_products(&self) -> Result<Vec<ListedProduct>, StoreError> {
        self.read(move |connection| {
            Box::pin(async move {
                let rows: Vec<ProductRow> = prepared::<ListProducts>().load(connection).await?;
                let texts = texts(connection).await?;
                rows.into_iter().map(|row| row.read(&texts)).collect()
            })
        })
        .await
    }

    /// Every provider that is entered.
    pub async fn list_providers(&self) -> Result<Vec<ListedProvider>, StoreError> {
        self.read(move |connection| {
            Box::pin(async move {
                let rows: Vec<ProviderRow> = prepared::<ListProviders>().load(connection).await?;
                Ok(rows.into_iter().map(ListedProvider::from).collect())
            })
        })
        .await
    }

    /// Everything that an organisation can buy, in the order of product and provider.
    pub async fn list_offers(&self, organisation: OrganisationId) -> Result<Vec<ListedOffer>, StoreError> {
        self.read(move |connection| {
            Box::pin(async move {
                let rows = offers(connection, organisation).await?;
                let listed = |row: super::OfferRow| {
                    Ok(ListedOffer { offer: row.offer()?, is_default: row.is_default })
                };
                rows.into_iter().map(listed).collect()
            })
        })
        .await
    }

    /// Has an organisation no longer buy a product of a provider. Servers notice within seconds; open purchases go on.
    ///
    /// # Errors
    /// [`StoreError::Absent`] when it could not anyway, [`StoreError::Rejected`] by
    /// `default_provider_needs_its_offer` while the provider is its default.
    pub async fn remove_offer(
        &self,
        organisation: OrganisationId,
        product: Product,
        provider_code: String,
        act: Act,
    ) -> Result<(), StoreError> {
        let subject = format!("offer:{product}/{provider_code}");
        let line = Line::new("offer.removed", subject, json!({})).of(organisation);
        let removal = prepared::<RemoveOffer>()
            .bind::<BigInt, _>(organisation.0)
            .bind::<Text, _>(product.as_str())
            .bind::<Text, _>(provider_code);
        self.change(removal, line, act).await
    }
}

impl ProductRow {
    fn read(self, texts: &[TextRow]) -> Result<ListedProduct, StoreError> {
        let product = Product::parse(&self.product)
            .ok_or_else(|| StoreError::corrupt("products", "product", &self.product))?;
        Ok(ListedProduct {
            product,
            format: self.format.read(&self.product)?,
            hint: self.format.hint,
            texts: TextRow::of(texts, product),
        })
    }
}

impl From<ProviderRow> for ListedProvider {
    fn from(row: ProviderRow) -> Self {
        Self {
            code: row.code,
            name: row.name,
            retries_enabled: row.retries_enabled,
            declared: row.declared.capabilities(),
        }
    }
}
