//! Product texts: names of products that differ from the default, by language.

use database::{Database, DatabaseError};
use diesel::{ExpressionMethods, QueryDsl, upsert::excluded};
use directory::AuditContext;
use purchase::ProductText;
use serde_json::json;
use vend::Product;

use super::change::{Line, change};
use crate::schema::product_texts;

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
    let put = diesel::insert_into(product_texts::table)
        .values((
            product_texts::product.eq(product.as_str()),
            product_texts::language.eq(text.language),
            product_texts::display_name.eq(text.display_name),
            product_texts::subscriber_id_label.eq(text.subscriber_id_label),
        ))
        .on_conflict((product_texts::product, product_texts::language))
        .do_update()
        .set((
            product_texts::display_name.eq(excluded(product_texts::display_name)),
            product_texts::subscriber_id_label.eq(excluded(product_texts::subscriber_id_label)),
        ));
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
    let removal = diesel::delete(product_texts::table.find((product.as_str(), language)));
    change(database, removal, line, act).await
}

fn subject(product: Product, language: &str) -> String {
    format!("product_text:{product}/{language}")
}
