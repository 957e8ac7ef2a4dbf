//! The bodies of validate, confirm and retry (specification, section 4.1).

use error_codes::ErrorCode;
use ledger::AccountId;
use purchase::{NotificationFlags, PurchaseRequest, SourceChannel};
use vend::{Product, SubscriberIdentifier};
use web::{ApiError, Detail, Fields, impossible_subscriber};

use super::limits::{CHANNELS, COMMENT_MAX, EXTERNAL_REFERENCE_MAX, PROVIDER_CODE_MAX, SHORT_TEXT_MAX};

/// What is asked about: a purchase by its subscriber and the integrator's own reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryRequest {
    /// Same as in the original.
    pub subscriber: SubscriberIdentifier,
    /// Same as in the original.
    pub external_reference: String,
}

/// The body of validate and confirm.
pub fn purchase_request(fields: &Fields) -> Result<PurchaseRequest, ApiError> {
    let source_channel = fields.one_of("source_channel", &CHANNELS, SourceChannel::as_str)?;
    let (language, locale) = fields.required_locale("language")?;
    let product = fields.one_of("product_type", &Product::ALL, Product::as_str)?;
    let provider_code = fields.required_text("provider_code", PROVIDER_CODE_MAX)?;
    let debited_account = AccountId(fields.required_integer("debited_account_id")?);
    let beneficiary_phone_number = fields.required_phone_number("beneficiary_phone_number", &locale)?;
    let subscriber = fields.required_text("subscriber_identifier", SHORT_TEXT_MAX)?;
    let subscriber = SubscriberIdentifier::parse(&subscriber)
        .map_err(|cause| impossible_subscriber(product).because(cause))?;
    // An amount means nothing without its currency, so that is read first.
    let currency = fields.required_currency("currency")?;
    Ok(PurchaseRequest {
        source_channel,
        language,
        product,
        provider_code,
        debited_account,
        beneficiary_phone_number,
        subscriber,
        amount: fields.required_amount("amount", currency)?,
        charges_on_top: fields.optional_flag("charges_on_top_flag")?.unwrap_or(true),
        comment: fields.optional_text("comment", COMMENT_MAX)?,
        external_reference: fields.optional_text("external_reference", EXTERNAL_REFERENCE_MAX)?,
        notifications: notifications(fields)?,
    })
}

/// The body of retry.
pub fn retry_request(fields: &Fields) -> Result<RetryRequest, ApiError> {
    fields.one_of("source_channel", &CHANNELS, SourceChannel::as_str)?;
    fields.required_locale("language")?;
    let subscriber = fields.required_text("subscriber_identifier", SHORT_TEXT_MAX)?;
    let subscriber = SubscriberIdentifier::parse(&subscriber).map_err(|cause| {
        ApiError::new(Detail::BadIdentifier).about("subscriber_identifier").because(cause)
    })?;
    let external_reference = fields.required_text("external_reference", EXTERNAL_REFERENCE_MAX)?;
    Ok(RetryRequest { subscriber, external_reference })
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

/// The account named in a path, or nothing at all.
pub fn account_in_path(segment: &str) -> Result<AccountId, ApiError> {
    segment.parse().map(AccountId).map_err(|_no_number| ApiError::new(ErrorCode::ResourceNotFound))
}
