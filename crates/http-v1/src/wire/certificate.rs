//! The signed proof of how a purchase ended.

use serde::Serialize;
use utoipa::ToSchema;

use certificate::{Facts, Issued, Outcome, SigningKey};
use error_codes::ErrorCode;
use meter_token::TokenSet;
use purchase::{PurchaseId, PurchaseStatus, Record};
use vend::Product;
use web::{ApiError, Detail, why_failed};

/// A certificate, and what its owner needs to show what its digests are of.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub struct Certificate<'a> {
    purchase_id: i64,
    /// A JWS in the compact form. It may be shown to anybody.
    #[schema(pattern = r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$")]
    certificate: &'a str,
    /// The key of the digests in the certificate: 32 bytes in base64url.
    #[schema(pattern = "^[A-Za-z0-9_-]{43}$")]
    salt: String,
}

impl<'a> Certificate<'a> {
    /// The answer to the organisation that bought.
    pub fn new(purchase: PurchaseId, issued: &'a Issued) -> Self {
        Self { purchase_id: purchase.0, certificate: &issued.certificate, salt: issued.salt.text() }
    }
}

/// Certifies how a purchase ended. A purchase that is open has not ended.
pub fn certify(record: &Record, issuer: &str, key: &SigningKey) -> Result<Issued, ApiError> {
    let tokens = record.success.as_ref().and_then(|success| success.tokens.as_ref()).map(TokenSet::wire_form);
    let outcome = outcome(record, tokens.as_deref())?;
    let impossible = || ApiError::new(ErrorCode::InternalError);
    let facts = Facts {
        issuer,
        organisation: record.organisation.0,
        purchase: record.id.0,
        reference: record.reference.as_str(),
        external_reference: record.external_reference.as_deref(),
        product: record.product.as_str(),
        provider: &record.provider_code,
        subscriber: match record.product {
            Product::Electricity | Product::Water => Some(record.subscriber.as_str()),
            Product::Airtime => None,
        },
        total: record.price.total,
        created_at: record.created_at,
        settled_at: record.settled_at.ok_or_else(impossible)?,
        outcome,
    };
    key.certify(&facts).map_err(|error| impossible().because(error))
}

fn outcome<'a>(record: &'a Record, tokens: Option<&'a str>) -> Result<Outcome<'a>, ApiError> {
    match (PurchaseStatus::of(record.lifecycle.state.name()), &record.success) {
        (PurchaseStatus::Successful, Some(success)) => {
            Ok(Outcome::Sold { provider_transaction: &success.provider_transaction, tokens })
        }
        (PurchaseStatus::Failed, _) => Ok(Outcome::NotSold { reason: why_failed(record).code().as_str() }),
        (PurchaseStatus::Successful | PurchaseStatus::Pending, _) => {
            let error = ApiError::new(Detail::NotFinalYet);
            Err(match record.recovery {
                Some(recovery) => error.recovered_by(recovery),
                None => error,
            })
        }
    }
}
