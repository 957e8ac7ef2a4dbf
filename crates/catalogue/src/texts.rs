//! Product texts: names of products that differ from the default, by language.

use database::{Database, DatabaseError, Statement, prepared};
use diesel::sql_types::{Nullable, Text};
use directory::AuditContext;
use purchase::ProductText;
use serde_json::json;
use vend::Product;

use super::change::{Line, change};

struct PutText;

impl Statement for PutText {
    const SQL: &str = "-- put_product_text
INSERT INTO product_texts (product, language, display_name, subscriber_id_label) VALUES ($1, $2, $3, $4)
ON CONFLICT (product, language) DO UPDATE SET display_name = excluded.display_name,
    subscriber_id_label = excluded.subscriber_id_label";
}

struct RemoveText;

impl Statement for RemoveText {
    const SQL: &str = "-- remove_product_text
DELETE FROM product_texts WHERE product = $1 AND language = $2";
}

/// Sets the texts of a product in a language. An absent text keeps the default.
pub async fn put_product_text(
    database: &Database,
    product: Product,
    text: ProductText,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let details =
        json!({ "display_name": text.display_name, "subscriber_id_label": text.subscriber_id_label });
    let line = Line::new("product_text.changed", subject(product, &text.language), details);
    let put = prepared::<PutText>()
        .bind::<Text, _>(product.as_str())
        .bind::<Text, _>(text.language)
        .bind::<Nullable<Text>, _>(text.display_name)
        .bind::<Nullable<Text>, _>(text.subscriber_id_label);
    change(database, put, line, act).await
}

/// Removes the texts of a product in a language, so that the default applies.
///
/// # Errors
/// [`DatabaseError::Absent`] if there were none.
pub async fn remove_product_text(
    database: &Database,
    product: Product,
    language: String,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let line = Line::new("product_text.removed", subject(product, &language), json!({}));
    let removal = prepared::<RemoveText>().bind::<Text, _>(product.as_str()).bind::<Text, _>(language);
    change(database, removal, line, act).await
}

fn subject(product: Product, language: &str) -> String {
    format!("product_text:{product}/{language}")
}
