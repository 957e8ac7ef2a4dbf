//! The signed proof of how a purchase ended, and the keys that verify it.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use certificate::Issued;
use error_codes::ErrorCode;
use identity::{Identity, Permission};
use purchase::{OrganisationId, PurchaseId};
use vending::{CertificateKeys, Vending};
use web::{ApiError, Document, SharedState, authorised, authority, found, not_read};

use crate::{requests, wire};

/// Where verifiers look for keys (RFC 8615).
pub const KEYS_PATH: &str = "/.well-known/jwks.json";

/// `GET /public/v1/purchases/{id}/certificate`: the purchase of another organisation is answered as one that does not exist. What was
/// issued once is the answer for ever, whichever key signs today.
pub async fn certificate(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
    keys: Data<CertificateKeys>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let (id, organisation) = (requests::purchase_in_path(&id)?, authority(&caller).organisation);
    let kept = vending.certificate(organisation, id).await.map_err(not_read)?;
    let issued = if let Some(kept) = kept {
        kept
    } else {
        issue(&vending, &keys, organisation, id, SharedState::of(&request).public_url()).await?
    };
    Ok(HttpResponse::Ok().json(wire::Certificate::new(id, &issued)))
}

/// The first certificate of a purchase. If another request was faster, its certificate.
async fn issue(
    vending: &Vending,
    keys: &CertificateKeys,
    organisation: OrganisationId,
    id: PurchaseId,
    issuer: &str,
) -> Result<Issued, ApiError> {
    let record = found(vending.purchase(organisation, id).await.map_err(not_read)?)?.record;
    let key = keys.signing().ok_or_else(|| ApiError::new(ErrorCode::CertificatesDisabled))?;
    let new = wire::certify(&record, issuer, key)?;
    found(vending.keep_certificate(organisation, id, new).await.map_err(not_read)?)
}

/// `GET /.well-known/jwks.json`: for everybody.
pub async fn keys(
    request: HttpRequest,
    vending: Data<Vending>,
    keys: Data<CertificateKeys>,
) -> Result<HttpResponse, ApiError> {
    let trusted = vending.certificate_keys(&keys).await.map_err(not_read)?;
    Ok(Document::new("application/jwk-set+json", certificate::key_set(&trusted)).answer(&request))
}
