//! What a receipt says beside the purchase itself.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use purchase::{OrganisationId, PrintedPurchase, PurchaseId};

use crate::Store;

struct FindReceiptFacts;

impl Statement for FindReceiptFacts {
    const SQL: &str = "-- find_receipt_facts
SELECT o.receipt_footer AS footer, v.name AS provider_name,
    ARRAY (SELECT t.language FROM product_texts t
        WHERE t.product = $3 AND t.display_name IS NOT NULL ORDER BY t.language) AS languages,
    ARRAY (SELECT t.display_name FROM product_texts t
        WHERE t.product = $3 AND t.display_name IS NOT NULL ORDER BY t.language) AS display_names
FROM organisations o, providers v WHERE o.id = $1 AND v.code = $2";
}

#[derive(diesel::QueryableByName)]
struct FactsRow {
    #[diesel(sql_type = Nullable<Text>)]
    footer: Option<String>,
    #[diesel(sql_type = Text)]
    provider_name: String,
    #[diesel(sql_type = Array<Text>)]
    languages: Vec<String>,
    #[diesel(sql_type = Array<Text>)]
    display_names: Vec<String>,
}

impl Store {
    /// The purchase with this number and what its receipt says beside it, if it belongs to the organisation.
    pub async fn find_printed(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
    ) -> Result<Option<PrintedPurchase>, DatabaseError> {
        let Some(found) = self.find_with_buyer(organisation, id).await? else { return Ok(None) };
        let record = found.record;
        let (provider, product) = (record.provider_code.clone(), record.product);
        let facts = self.database.read(move |connection| {
            Box::pin(async move {
                let facts = prepared::<FindReceiptFacts>()
                    .bind::<BigInt, _>(organisation.0)
                    .bind::<Text, _>(&provider)
                    .bind::<Text, _>(product.as_str());
                facts.get_result::<FactsRow>(connection).await
            })
        });
        let facts = facts.await?;
        Ok(Some(PrintedPurchase {
            record,
            footer: facts.footer,
            provider_name: facts.provider_name,
            product_names: facts.languages.into_iter().zip(facts.display_names).collect(),
        }))
    }
}
