//! The provider that an organisation buys from if it names none.

use database::{Database, DatabaseError, Run};
use diesel::{ExpressionMethods, QueryDsl, upsert::excluded};
use directory::AuditContext;
use purchase::OrganisationId;
use serde_json::json;
use vend::Product;

use super::change::{Line, change};
use crate::schema::default_providers;

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
    let put = diesel::insert_into(default_providers::table)
        .values((
            default_providers::organisation_id.eq(organisation.0),
            default_providers::product.eq(product.as_str()),
            default_providers::provider_code.eq(provider_code),
        ))
        .on_conflict((default_providers::organisation_id, default_providers::product))
        .do_update()
        .set(default_providers::provider_code.eq(excluded(default_providers::provider_code)));
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
    let removal = diesel::delete(default_providers::table.find((organisation.0, product.as_str())));
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
                let found = default_providers::table
                    .find((organisation.0, product.as_str()))
                    .select(default_providers::provider_code);
                found.optional::<String>(connection).await
            })
        })
        .await
}

fn subject(product: Product) -> String {
    format!("default_provider:{product}")
}
