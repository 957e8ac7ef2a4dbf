//! The bodies of validate, confirm and retry (specification, sections 4.1 and 4.2).

use ledger::AccountId;
use purchase::{NotificationFlags, PurchaseRequest, SourceChannel};
use vend::{Product, SubscriberIdentifier};
use vending::{RetryQuestion, RetryScope};

use super::lengths::{COMMENT_MAX, EXTERNAL_REFERENCE_MAX, SHORT_TEXT_MAX};
use crate::{ApiError, Detail, Fields, impossible_subscriber};

/// The names that one surface uses.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// The channels that its requests come from.
    pub channels: &'static [SourceChannel],
    /// The field with the subscriber identifier.
    pub subscriber: &'static str,
}

impl Vocabulary {
    /// Reads the body of validate and confirm. After channel and language have been read, `read_product` reads what is bought
    /// and the provider code.
    pub fn purchase_request(
        &self,
        fields: &Fields,
        read_product: impl FnOnce(&Fields) -> Result<(Product, String), ApiError>,
    ) -> Result<PurchaseRequest, ApiError> {
        let source_channel = fields.one_of("source_channel", self.channels, SourceChannel::as_str)?;
        let (language, locale) = fields.required_locale("language")?;
        let (product, provider_code) = read_product(fields)?;
        let debited_account = AccountId(fields.required_integer("debited_account_id")?);
        let beneficiary_phone_number = fields.required_phone_number("beneficiary_phone_number", &locale)?;
        let subscriber = fields.required_text(self.subscriber, SHORT_TEXT_MAX)?;
        let subscriber = SubscriberIdentifier::parse(&subscriber)
            .map_err(|cause| impossible_subscriber(product).because(cause))?;
        // An amount has no meaning without its currency, so the currency is read first.
        let currency = fields.required_currency("currency")?;
        Ok(PurchaseRequest {
            source_channel,
            source_tag: None,
            language,
            product,
            provider_code,
            debited_account,
            beneficiary_phone_number,
            subscriber,
            amount: fields.required_amount("amount", currency)?,
            charges_on_top: fields.optional_flag("charges_on_top_flag")?.unwrap_or(true),
            comment: fields.optional_prose("comment", COMMENT_MAX)?,
            external_reference: fields.optional_name("external_reference", EXTERNAL_REFERENCE_MAX)?,
            notifications: notifications(fields)?,
        })
    }

    /// Reads the body of retry: a purchase by its subscriber and the integrator's own reference.
    pub fn retry_question(&self, fields: &Fields, scope: RetryScope) -> Result<RetryQuestion, ApiError> {
        fields.one_of("source_channel", self.channels, SourceChannel::as_str)?;
        fields.required_locale("language")?;
        let subscriber = fields.required_text(self.subscriber, SHORT_TEXT_MAX)?;
        let subscriber = SubscriberIdentifier::parse(&subscriber)
            .map_err(|cause| ApiError::new(Detail::BadIdentifier).about(self.subscriber).because(cause))?;
        let external_reference = fields.required_name("external_reference", EXTERNAL_REFERENCE_MAX)?;
        Ok(RetryQuestion { subscriber, external_reference, scope })
    }
}

fn notifications(fields: &Fields) -> Result<NotificationFlags, ApiError> {
    let wanted = |name| fields.optional_flag(name).map(|flag| flag.unwrap_or(true));
    Ok(NotificationFlags {
        requester_sms: wanted("send_requester_sms")?,
        beneficiary_sms: wanted("send_beneficiary_sms")?,
        requester_email: wanted("send_requester_email")?,
        beneficiary_email: wanted("send_beneficiary_email")?,
    })
}
