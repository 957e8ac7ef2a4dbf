//! Reads of the caller's purchases in their current state. No provider is asked, and no money moves.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::ContentType,
    web::{Data, Path},
};

use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, RequestContext, SharedState, authorised, authority, found, not_read};

use crate::{requests, wire};

/// More than most listed purchases have. A list is written into one buffer, which would otherwise be copied each time it
/// grows.
const LISTED_BYTES: usize = 1_280;

/// `GET /public/v1/purchases`
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let (shared, language) = (SharedState::of(&request), RequestContext::of(&request).language());
    let wanted = requests::purchase_list(request.query_string(), &shared.zone())?;
    let found = vending
        .purchases(authority(&caller).organisation, wanted.selection.clone(), wanted.after, wanted.limit)
        .await
        .map_err(not_read)?;
    let read = found
        .purchases
        .iter()
        .map(|with_buyer| wire::ListedPurchase::read(with_buyer, &caller, &shared, language));
    let page = wire::PurchasePage::new(
        read.collect(),
        found.next.map(|next| wanted.cursor_after(next, &shared.zone())),
    );
    let mut body = Vec::with_capacity(LISTED_BYTES.saturating_mul(found.purchases.len().saturating_add(1)));
    serde_json::to_writer(&mut body, &page).expect("texts and numbers always serialise");
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(body))
}

/// `GET /public/v1/purchases/{id}`: the purchase of another organisation is answered as one that does not exist.
pub async fn one(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let id = requests::purchase_in_path(&id)?;
    let with_buyer = vending.purchase(authority(&caller).organisation, id).await.map_err(not_read)?;
    let with_buyer = found(with_buyer)?;
    let (shared, language) = (SharedState::of(&request), RequestContext::of(&request).language());
    Ok(HttpResponse::Ok().json(wire::ListedPurchase::read(&with_buyer, &caller, &shared, language)))
}
