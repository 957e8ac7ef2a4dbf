//! A purchase's whole row, and the record that it is read into.

use catalogue::DeclaredRow;
use chrono::{DateTime, Utc};
use database::DatabaseError;
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Bool, Bytea, Integer, Nullable, Text, Timestamptz},
};
use ledger::AccountId;
use meter_token::TokenSet;
use money::{Currency, Money};
use purchase::{
    ClientId, NotificationFlags, OrganisationId, Price, PurchaseId, Record, Recovery, Reference, Rules,
    SourceChannel, StateName, Success, Timing, UserId,
};
use rust_decimal::Decimal;
use vend::{Breakdown, Product, ProviderReference, SubscriberIdentifier, Units};

use super::ForRetry;
use crate::{
    Sealed, SealingKeys,
    named::Named,
    row::{FailureRow, LifecycleRow},
    shown_tokens::open_tokens,
};

#[derive(QueryableByName)]
pub(crate) struct Row {
    #[diesel(sql_type = BigInt)]
    pub(crate) id: i64,
    #[diesel(sql_type = Text)]
    reference: String,
    #[diesel(sql_type = BigInt)]
    organisation_id: i64,
    #[diesel(sql_type = BigInt)]
    client_id: i64,
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = BigInt)]
    account_id: i64,
    #[diesel(sql_type = Text)]
    source_channel: Named<SourceChannel>,
    #[diesel(sql_type = Text)]
    language: String,
    #[diesel(sql_type = Text)]
    product: Named<Product>,
    #[diesel(sql_type = Text)]
    provider_code: String,
    #[diesel(sql_type = Text)]
    subscriber_identifier: Named<SubscriberIdentifier>,
    #[diesel(sql_type = Text)]
    beneficiary_phone_number: String,
    #[diesel(sql_type = Text)]
    currency: Named<Currency>,
    #[diesel(sql_type = BigInt)]
    entry: i64,
    #[diesel(sql_type = BigInt)]
    charge: i64,
    #[diesel(sql_type = BigInt)]
    net: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    commission: i64,
    #[diesel(sql_type = Nullable<Text>)]
    external_reference: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    comment: Option<String>,
    #[diesel(sql_type = Bool)]
    requester_sms: bool,
    #[diesel(sql_type = Bool)]
    beneficiary_sms: bool,
    #[diesel(sql_type = Bool)]
    requester_email: bool,
    #[diesel(sql_type = Bool)]
    beneficiary_email: bool,
    #[diesel(sql_type = Nullable<Text>)]
    subscriber_details: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    request_id: Option<String>,
    #[diesel(sql_type = Timestamptz)]
    created_at: DateTime<Utc>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    ended_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Text)]
    provider_reference: Named<ProviderReference>,
    #[diesel(sql_type = Nullable<Integer>)]
    token_key_id: Option<i32>,
    #[diesel(sql_type = Nullable<Bytea>)]
    sealed_token: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Text>)]
    units_quantity: Option<Named<Decimal>>,
    #[diesel(sql_type = Nullable<Text>)]
    units_unit: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    vend_subscriber_details: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    cost: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    vat: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    levy: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    regulatory_fee: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    provider_charge: Option<i64>,
    #[diesel(sql_type = Bool)]
    retries_enabled: bool,
    #[diesel(sql_type = Timestamptz)]
    at: DateTime<Utc>,
    #[diesel(embed)]
    lifecycle: LifecycleRow,
    #[diesel(embed)]
    failure: FailureRow,
    #[diesel(embed)]
    declared: DeclaredRow,
}

impl Row {
    pub(crate) fn read(mut self, keys: &SealingKeys, timing: &Timing) -> Result<ForRetry, DatabaseError> {
        let tokens = self.tokens(keys)?;
        self.with(tokens, timing)
    }

    /// Reads the row for a list. A row whose tokens cannot be opened must not block the list for ever, so it is
    /// returned without them.
    pub(crate) fn read_in_list(
        mut self,
        keys: &SealingKeys,
        timing: &Timing,
    ) -> Result<ForRetry, DatabaseError> {
        let tokens = self.tokens(keys).unwrap_or_else(|error| {
            let cause: &dyn std::error::Error = &error;
            tracing::error!(cause, purchase = self.id, "a token cannot be opened and is missing from a list");
            None
        });
        self.with(tokens, timing)
    }

    /// Moves the texts of the row into the record: a list reads many rows.
    fn with(mut self, tokens: Option<TokenSet>, timing: &Timing) -> Result<ForRetry, DatabaseError> {
        let id = self.id;
        let corrupt = |column| DatabaseError::corrupt("purchases", column, id);
        let currency = self.currency.0.ok_or_else(|| corrupt("currency"))?;
        let failure = self.failure.failure(id)?;
        let lifecycle = self.lifecycle.lifecycle(id)?;
        let declared = self.declared.capabilities();
        let record = Record {
            id: PurchaseId(id),
            price: self.price(currency),
            success: self.success(tokens, currency)?,
            reference: Reference::from_record(self.reference),
            organisation: OrganisationId(self.organisation_id),
            client: ClientId(self.client_id),
            user: UserId(self.user_id),
            account: AccountId(self.account_id),
            source_channel: self.source_channel.0.ok_or_else(|| corrupt("source_channel"))?,
            language: self.language,
            product: self.product.0.ok_or_else(|| corrupt("product"))?,
            provider_code: self.provider_code,
            subscriber: self.subscriber_identifier.0.ok_or_else(|| corrupt("subscriber_identifier"))?,
            beneficiary_phone_number: self.beneficiary_phone_number,
            external_reference: self.external_reference,
            comment: self.comment,
            notifications: NotificationFlags {
                requester_sms: self.requester_sms,
                beneficiary_sms: self.beneficiary_sms,
                requester_email: self.requester_email,
                beneficiary_email: self.beneficiary_email,
            },
            request_id: self.request_id,
            created_at: self.created_at,
            settled_at: self.ended_at,
            subscriber_details: self.subscriber_details,
            provider_reference: self.provider_reference.0.ok_or_else(|| corrupt("provider_reference"))?,
            failure: failure.filter(|_| lifecycle.state.name() == StateName::Failed),
            recovery: Recovery::of(&lifecycle, self.at, &Rules { declared, timing: *timing }),
            lifecycle,
        };
        Ok(ForRetry { record, declared, retries_enabled: self.retries_enabled, at: self.at })
    }

    fn price(&self, currency: Currency) -> Price {
        let amount = |minor| Money::from_minor(minor, currency);
        Price {
            entry: amount(self.entry),
            charge: amount(self.charge),
            net: amount(self.net),
            total: amount(self.total),
            commission: amount(self.commission),
        }
    }

    fn success(
        &mut self,
        tokens: Option<TokenSet>,
        currency: Currency,
    ) -> Result<Option<Success>, DatabaseError> {
        let Some(provider_transaction) = self.lifecycle.provider_transaction.take() else { return Ok(None) };
        Ok(Some(Success {
            tokens,
            units: self.units()?,
            provider_transaction,
            breakdown: self.breakdown(currency)?,
            subscriber_details: self.vend_subscriber_details.take(),
        }))
    }

    fn tokens(&mut self, keys: &SealingKeys) -> Result<Option<TokenSet>, DatabaseError> {
        let (Some(key_id), Some(bytes)) = (self.token_key_id, self.sealed_token.take()) else {
            return Ok(None);
        };
        open_tokens(keys, self.id, &Sealed { key_id, bytes }).map(Some)
    }

    fn units(&mut self) -> Result<Option<Units>, DatabaseError> {
        let (Some(quantity), Some(unit)) = (&self.units_quantity, self.units_unit.take()) else {
            return Ok(None);
        };
        let corrupt = || DatabaseError::corrupt("purchases", "units_quantity", self.id);
        Ok(Some(Units { quantity: quantity.0.ok_or_else(corrupt)?, unit }))
    }

    fn breakdown(&self, currency: Currency) -> Result<Option<Breakdown>, DatabaseError> {
        let part = |minor: Option<i64>| minor.map(|minor| Money::from_minor(minor, currency));
        let parts = (
            part(self.cost),
            part(self.vat),
            part(self.levy),
            part(self.regulatory_fee),
            part(self.provider_charge),
        );
        match parts {
            (Some(cost), Some(vat), Some(levy), Some(regulatory_fee), Some(charge)) => {
                Ok(Some(Breakdown { cost, vat, levy, regulatory_fee, charge }))
            }
            (None, None, None, None, None) => Ok(None),
            _ => Err(DatabaseError::corrupt("purchases", "cost", self.id)),
        }
    }
}
