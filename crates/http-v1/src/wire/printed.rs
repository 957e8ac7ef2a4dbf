//! A purchase as it is printed for its customer.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use purchase::{PrintedPurchase, PurchaseStatus, Record, Success};
use receipt::Sale;
use web::{ApiError, Detail, Language};

/// What an erased phone number has become.
const ERASED: &str = "erased";

/// How the identifier of erased airtime begins: the phone number has been replaced by a pseudonym.
const PSEUDONYM: &str = "erased.";

/// The phone number that gets the message with the token, unless it was erased.
pub fn beneficiary_number(record: &Record) -> Option<&str> {
    Some(record.beneficiary_phone_number.as_str()).filter(|number| *number != ERASED)
}

/// What was sold in a purchase. A purchase that has failed, or is still open, has neither a receipt nor a message with a
/// token.
pub fn sold(record: &Record) -> Result<&Success, ApiError> {
    match (PurchaseStatus::of(record.lifecycle.state.name()), &record.success) {
        (PurchaseStatus::Successful, Some(success)) => Ok(success),
        (PurchaseStatus::Pending, _) => {
            let error = ApiError::new(Detail::NotSoldYet);
            Err(match record.recovery {
                Some(recovery) => error.recovered_by(recovery),
                None => error,
            })
        }
        (PurchaseStatus::Successful | PurchaseStatus::Failed, _) => Err(ApiError::new(Detail::NotSold)),
    }
}

/// Date and time for people, with their zone.
pub fn printed_date(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).format("%Y-%m-%d %H:%M %Z").to_string()
}

/// The sale of a purchase.
pub fn sale<'a>(
    printed: &'a PrintedPurchase,
    success: &'a Success,
    language: Language,
    sold_at: &'a str,
) -> Sale<'a> {
    let record = &printed.record;
    let own_name = printed.product_names.iter().find(|(of, _)| of == language.as_str());
    let customer = success.subscriber_details.as_deref().or(record.subscriber_details.as_deref());
    Sale {
        product: record.product,
        product_name: own_name.map(|(_, name)| name.as_str()),
        provider: &printed.provider_name,
        subscriber: Some(record.subscriber.as_str()).filter(|subscriber| !subscriber.starts_with(PSEUDONYM)),
        customer,
        sold_at,
        reference: record.reference.as_str(),
        external_reference: record.external_reference.as_deref(),
        provider_transaction: &success.provider_transaction,
        tokens: success.tokens.as_ref(),
        units: success.units.as_ref(),
        breakdown: success.breakdown,
        net: record.price.net,
        charge: record.price.charge,
        total: record.price.total,
    }
}
