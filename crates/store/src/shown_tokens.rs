//! The token of a sold purchase, for an operator who reads it to the customer.

use std::error::Error;

use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bytea, Integer, Nullable, Text},
};
use directory::AuditContext;
use meter_token::TokenSet;
use purchase::PurchaseId;

use crate::{Aad, Sealed, SealingKeys, Store, TOKEN_COLUMN};

/// How many tokens an operator is shown within a day, unless the settings say otherwise.
pub const TOKENS_PER_DAY: u8 = 20;

/// The most that settings may allow. The database refuses more.
pub const TOKENS_PER_DAY_MAX: u8 = 100;

/// A token that is in the audit log as shown.
#[derive(Clone, Debug)]
pub struct ShownToken {
    pub tokens: TokenSet,
    /// How many more the operator may be shown within the day.
    pub remaining: u8,
}

struct AskForToken;

impl Statement for AskForToken {
    const SQL: &str = "-- ask_for_token\nSELECT showing, remaining FROM ask_for_token($1, $2, $3, $4)";
}

struct TakeToken;

impl Statement for TakeToken {
    const SQL: &str = "-- take_token\nSELECT token_key_id, sealed_token FROM take_token($1)";
}

#[derive(QueryableByName)]
struct ShowingRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    showing: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    remaining: Option<i64>,
}

#[derive(QueryableByName)]
struct SealedRow {
    #[diesel(sql_type = Integer)]
    token_key_id: i32,
    #[diesel(sql_type = Bytea)]
    sealed_token: Vec<u8>,
}

impl Store {
    /// Shows the tokens of a sold purchase. The line in the audit log is committed before the database gives the sealed token.
    /// `None` if the operator was shown `per_day` tokens within a day.
    ///
    /// # Errors
    /// The database refuses it to who is no token reader, and if the purchase has no token. A key that does not open the token is
    /// [`DatabaseError::TokenUnreadable`]; the line stays.
    pub async fn show_token(
        &self,
        purchase: PurchaseId,
        per_day: u8,
        act: AuditContext,
    ) -> Result<Option<ShownToken>, DatabaseError> {
        let asked = self.database.operate(move |transaction| {
            Box::pin(async move {
                let ask = prepared::<AskForToken>()
                    .bind::<BigInt, _>(purchase.0)
                    .bind::<Integer, _>(i32::from(per_day))
                    .bind::<Text, _>(act.actor.as_str())
                    .bind::<Text, _>(act.reason.as_str());
                ask.get_result::<ShowingRow>(transaction).await
            })
        });
        let asked = asked.await?;
        let Some(showing) = asked.showing else { return Ok(None) };
        let taken = self.database.read(move |connection| {
            Box::pin(async move {
                prepared::<TakeToken>().bind::<BigInt, _>(showing).get_result::<SealedRow>(connection).await
            })
        });
        let SealedRow { token_key_id, sealed_token } = taken.await?;
        let tokens =
            open_tokens(&self.sealing, purchase.0, &Sealed { key_id: token_key_id, bytes: sealed_token })?;
        let remaining = asked.remaining.and_then(|left| u8::try_from(left).ok()).unwrap_or_default();
        Ok(Some(ShownToken { tokens, remaining }))
    }
}

/// The tokens of a purchase.
///
/// # Errors
/// [`DatabaseError::TokenUnreadable`] names the purchase, and never a part of a token.
pub fn open_tokens(keys: &SealingKeys, purchase: i64, sealed: &Sealed) -> Result<TokenSet, DatabaseError> {
    let broken = |source: Box<dyn Error + Send + Sync>| DatabaseError::TokenUnreadable { purchase, source };
    let place = Aad { row_id: purchase, column: TOKEN_COLUMN };
    let wire = keys.open(sealed, place).map_err(|error| broken(error.into()))?;
    let wire = str::from_utf8(&wire).map_err(|error| broken(error.into()))?;
    TokenSet::parse(wire).map_err(|error| broken(error.into()))
}
