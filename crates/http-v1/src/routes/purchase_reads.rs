//! The caller's purchases as they stand. Nobody is asked about them, and nothing moves.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use error_codes::ErrorCode;
use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, Front, Visit, authorised, authority, not_read};

use crate::{requests, wire};

/// `GET /public/v1/purchases`
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let (front, language) = (Front::of(&request), Visit::of(&request).language());
    let wanted = requests::purchase_list(request.query_string(), &front.zone())?;
    let page = vending
        .purchases(authority(&caller).organisation, wanted.selection.clone(), wanted.after, wanted.limit)
        .await
        .map_err(not_read)?;
    let read = page.purchases.iter().map(|filed| wire::FiledPurchase::read(filed, &caller, &front, language));
    let page = wire::PurchasePage::new(
        read.collect(),
        page.next.map(|next| wanted.cursor_after(next, &front.zone())),
    );
    Ok(HttpResponse::Ok().json(page))
}

/// `GET /public/v1/purchases/{id}`: another organisation's is as absent as one that never was.
pub async fn one(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let id = requests::purchase_in_path(&id)?;
    let filed = vending.purchase(authority(&caller).organisation, id).await.map_err(not_read)?;
    let filed = filed.ok_or_else(|| ApiError::new(ErrorCode::ResourceNotFound))?;
    let (front, language) = (Front::of(&request), Visit::of(&request).language());
    Ok(HttpResponse::Ok().json(wire::FiledPurchase::read(&filed, &caller, &front, language)))
}
