//! Bodies of requests (specification, sections 4.2 and 5).

use identity::LoginCredentials;
use purchase::{PurchaseRequest, SourceChannel};
use vend::Product;
use vending::{RetryQuestion, RetryScope};
use web::{
    ApiError, Fields, requests,
    requests::{Vocabulary, lengths::SHORT_TEXT_MAX},
};

pub use web::requests::refresh_request;

/// The channels of this surface.
pub const CHANNELS: [SourceChannel; 5] = [
    SourceChannel::Web,
    SourceChannel::SmartApp,
    SourceChannel::Ussd,
    SourceChannel::SmsMo,
    SourceChannel::Batch,
];

/// The field with the subscriber identifier.
pub const SUBSCRIBER: &str = "meter_number";

const VOCABULARY: Vocabulary = Vocabulary { channels: &CHANNELS, subscriber: SUBSCRIBER };

/// The request of validate and confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopUp {
    /// Without a provider code yet.
    request: PurchaseRequest,
    /// Whether a quote must go through the whole sale, with a token that is not valid. A confirm always does.
    pub hard_validate: bool,
}

impl TopUp {
    /// The purchase from the provider with this code. The request itself does not name a provider.
    pub fn from(self, provider_code: String) -> PurchaseRequest {
        PurchaseRequest { provider_code, ..self.request }
    }
}

/// The body of login.
pub fn login_request(fields: &Fields) -> Result<LoginCredentials, ApiError> {
    requests::login_request(fields, &CHANNELS)
}

/// The body of validate and confirm.
pub fn top_up(fields: &Fields) -> Result<TopUp, ApiError> {
    let request = VOCABULARY.purchase_request(fields, |_fields| Ok((Product::Electricity, String::new())))?;
    let source_tag = source_tag(fields)?;
    let hard_validate = fields.optional_flag("hard_validate")?.unwrap_or(false);
    Ok(TopUp { request: PurchaseRequest { source_tag, ..request }, hard_validate })
}

/// The body of retry.
pub fn retry_question(fields: &Fields) -> Result<RetryQuestion, ApiError> {
    let question = VOCABULARY.retry_question(fields, RetryScope::ElectricityOnly)?;
    source_tag(fields)?;
    Ok(question)
}

/// Reads the tag. The sender's date is checked and not used, because only our clock counts.
fn source_tag(fields: &Fields) -> Result<Option<String>, ApiError> {
    fields.optional_date_time("date")?;
    fields.optional_name("source_tag", SHORT_TEXT_MAX)
}
