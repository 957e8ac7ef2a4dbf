//! Checks that a token which an operator enters is not that of another purchase.
//!
//! An operator copies a token from the provider's list of vends, and may take the line above. The customer would pay for a token that the
//! meter has accepted before, or that is for another meter. Tokens are sealed, so no index finds one: those of the same meter and the
//! newest of all are opened and compared.

use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Integer},
};
use meter_token::TokenSet;
use purchase::PurchaseId;

use crate::{Sealed, Store, open_tokens};

struct ListIssuedTokens;

impl Statement for ListIssuedTokens {
    const SQL: &str = "-- list_issued_tokens
SELECT of_meter.id, of_meter.token_key_id, of_meter.sealed_token
FROM purchases p CROSS JOIN organisations o CROSS JOIN LATERAL (
    SELECT q.id, q.token_key_id, q.sealed_token FROM purchases q
    WHERE q.organisation_id = o.id AND q.subscriber_identifier = p.subscriber_identifier AND q.id <> p.id
        AND q.sealed_token IS NOT NULL
    ORDER BY q.id DESC LIMIT 100
) AS of_meter
WHERE p.id = $1
UNION
SELECT q.id, q.token_key_id, q.sealed_token FROM purchases q
WHERE q.id > (SELECT max(id) - 5000 FROM purchases) AND q.id <> $1 AND q.sealed_token IS NOT NULL";
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Integer)]
    token_key_id: i32,
    #[diesel(sql_type = Bytea)]
    sealed_token: Vec<u8>,
}

impl Store {
    /// Which other purchase has the same credit token, if one has: of the newest hundred for the meter in each organisation, and of the
    /// newest five thousand. A token whose key is not at hand is not compared.
    pub(crate) async fn find_purchase_with_token(
        &self,
        id: PurchaseId,
        tokens: &TokenSet,
    ) -> Result<Option<PurchaseId>, DatabaseError> {
        let listed = self.database.read(move |connection| {
            Box::pin(async move {
                prepared::<ListIssuedTokens>().bind::<BigInt, _>(id.0).load::<Row>(connection).await
            })
        });
        // The last one carries the credit. Those before it change a key, and several vends may have the same.
        let entered = tokens.ungrouped().pop();
        let is_the_same =
            |row: &Row| self.opened(row).is_some_and(|of_row| of_row.ungrouped().pop() == entered);
        Ok(listed.await?.iter().find(|row| is_the_same(row)).map(|row| PurchaseId(row.id)))
    }

    fn opened(&self, row: &Row) -> Option<TokenSet> {
        let sealed = Sealed { key_id: row.token_key_id, bytes: row.sealed_token.clone() };
        open_tokens(&self.sealing, row.id, &sealed).ok()
    }
}
