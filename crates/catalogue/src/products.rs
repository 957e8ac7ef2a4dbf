//! Products and the formats of their subscriber identifiers: entered, changed and listed.

use database::{Database, DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{Nullable, SmallInt, Text},
};
use directory::AuditContext;
use purchase::{ProductText, SubscriberFormat};
use serde_json::json;
use vend::Product;

use super::{
    change::{Line, change},
    row::{FormatRow, TextRow},
    texts,
};

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
    let put = prepared::<PutProduct>()
        .bind::<Text, _>(product.as_str())
        .bind::<Nullable<SmallInt>, _>(length(format.length_min()))
        .bind::<Nullable<SmallInt>, _>(length(format.length_max()))
        .bind::<Nullable<Text>, _>(format.pattern().map(str::to_owned))
        .bind::<Nullable<Text>, _>(hint);
    change(database, put, line, act).await
}

/// All products.
pub async fn list_products(database: &Database) -> Result<Vec<ListedProduct>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let rows: Vec<ProductRow> = prepared::<ListProducts>().load(connection).await?;
                let texts = texts(connection).await?;
                rows.into_iter().map(|row| row.read(&texts)).collect()
            })
        })
        .await
}

struct PutProduct;

impl Statement for PutProduct {
    const SQL: &str = "-- put_product
INSERT INTO products (product, length_min, length_max, pattern, hint) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (product) DO UPDATE SET length_min = excluded.length_min, length_max = excluded.length_max,
    pattern = excluded.pattern, hint = excluded.hint";
}

struct ListProducts;

impl Statement for ListProducts {
    const SQL: &str = "-- list_products
SELECT product, length_min, length_max, pattern, hint FROM products ORDER BY product";
}

#[derive(QueryableByName)]
struct ProductRow {
    #[diesel(sql_type = Text)]
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
