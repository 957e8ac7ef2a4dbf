//! The provider that an organisation buys from if it names none.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{BigInt, Text};
use directory::AuditContext;
use purchase::OrganisationId;
use serde_json::json;
use vend::Product;

use super::change::{Line, change};

struct PutDefault;

impl Statement for PutDefault {
    const SQL: &str = "-- put_default_provider
INSERT INTO default_providers (organisation_id, product, provider_code) VALUES ($1, $2, $3)
ON CONFLICT (organisation_id, product) DO UPDATE SET provider_code = excluded.provider_code";
}

struct RemoveDefault;

impl Statement for RemoveDefault {
    const SQL: &str = "-- remove_default_provider
DELETE FROM default_providers WHERE organisation_id = $1 AND product = $2";
}

struct FindDefault;

impl Statement for FindDefault {
    const SQL: &str = "-- find_default_provider
SELECT provider_code FROM default_providers WHERE organisation_id = $1 AND product = $2";
}

#[derive(diesel::QueryableByName)]
struct DefaultRow {
    #[diesel(sql_type = Text)]
    provider_code: String,
}

/// Sets the provider that an organisation buys a product from if it names none.
///
/// # Errors
/// [`DatabaseError::Rejected`] if the provider does not offer the product to the organisation.
pub async fn put_default_provider(
    database: &Database,
    organisation: OrganisationId,
    product: Product,
    provider_code: String,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let details = json!({ "provider_code": provider_code });
    let line = Line::new("default_provider.changed", subject(product), details).of(organisation);
    let put = prepared::<PutDefault>()
        .bind::<BigInt, _>(organisation.0)
        .bind::<Text, _>(product.as_str())
        .bind::<Text, _>(provider_code);
    change(database, put, line, act).await
}

/// Removes an organisation's default provider of a product.
///
/// # Errors
/// [`DatabaseError::Absent`] if it had none.
pub async fn remove_default_provider(
    database: &Database,
    organisation: OrganisationId,
    product: Product,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let line = Line::new("default_provider.removed", subject(product), json!({})).of(organisation);
    let removal =
        prepared::<RemoveDefault>().bind::<BigInt, _>(organisation.0).bind::<Text, _>(product.as_str());
    change(database, removal, line, act).await
}

/// The provider that an organisation buys a product from if it names none.
pub async fn find_default_provider(
    database: &Database,
    organisation: OrganisationId,
    product: Product,
) -> Result<Option<String>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let find = prepared::<FindDefault>().bind::<BigInt, _>(organisation.0);
                let rows: Vec<DefaultRow> = find.bind::<Text, _>(product.as_str()).load(connection).await?;
                Ok(rows.into_iter().next().map(|row| row.provider_code))
            })
        })
        .await
}

fn subject(product: Product) -> String {
    format!("default_provider:{product}")
}
