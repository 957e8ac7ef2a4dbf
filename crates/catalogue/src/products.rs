//! Products and the formats of their subscriber identifiers: entered, changed and listed.

use database::{Database, DatabaseError, Run};
use diesel::{ExpressionMethods, QueryDsl, SelectableHelper, upsert::excluded};
use directory::AuditContext;
use purchase::{ProductText, SubscriberFormat};
use serde_json::json;
use vend::Product;

use super::{
    change::{Line, change},
    row::{FormatRow, TextRow},
    texts,
};
use crate::schema::products;

/// A product as entered.
#[derive(Clone, Debug)]
pub struct ListedProduct {
    /// The product.
    pub product: Product,
    /// The format of its subscriber identifiers.
    pub format: SubscriberFormat,
    /// A hint for people.
    pub hint: Option<String>,
    /// Its texts in the languages where they differ from the default.
    pub texts: Vec<ProductText>,
}

/// Enters the format of a product, or changes it.
pub async fn put_product(
    database: &Database,
    product: Product,
    format: SubscriberFormat,
    hint: Option<String>,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let details = json!({
        "length_min": format.length_min(),
        "length_max": format.length_max(),
        "pattern": format.pattern(),
        "hint": hint,
    });
    let line = Line::new("product.changed", format!("product:{product}"), details);
    let length = |length: Option<u16>| length.map(|length| i16::try_from(length).unwrap_or(i16::MAX));
    let put = diesel::insert_into(products::table)
        .values((
            products::product.eq(product.as_str()),
            products::length_min.eq(length(format.length_min())),
            products::length_max.eq(length(format.length_max())),
            products::pattern.eq(format.pattern().map(str::to_owned)),
            products::hint.eq(hint),
        ))
        .on_conflict(products::product)
        .do_update()
        .set((
            products::length_min.eq(excluded(products::length_min)),
            products::length_max.eq(excluded(products::length_max)),
            products::pattern.eq(excluded(products::pattern)),
            products::hint.eq(excluded(products::hint)),
        ));
    change(database, put, line, act).await
}

/// All products.
pub async fn list_products(database: &Database) -> Result<Vec<ListedProduct>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let listed = products::table.order(products::product).select(ProductRow::as_select());
                let rows: Vec<ProductRow> = listed.load(connection).await?;
                let texts = texts(connection).await?;
                rows.into_iter().map(|row| row.read(&texts)).collect()
            })
        })
        .await
}

#[derive(diesel::Queryable, diesel::Selectable)]
#[diesel(table_name = products, check_for_backend(diesel::pg::Pg))]
struct ProductRow {
    product: String,
    #[diesel(embed)]
    format: FormatRow,
}

impl ProductRow {
    fn read(self, texts: &[TextRow]) -> Result<ListedProduct, DatabaseError> {
        let product = Product::parse(&self.product)
            .ok_or_else(|| DatabaseError::corrupt("products", "product", &self.product))?;
        Ok(ListedProduct {
            product,
            format: self.format.read(&self.product)?,
            hint: self.format.hint,
            texts: TextRow::of(texts, product),
        })
    }
}
