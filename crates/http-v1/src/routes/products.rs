//! What the caller can buy (specification, section 4.1).

use actix_web::{HttpRequest, HttpResponse, web::Data};

use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, RequestContext, SharedState, authorised, authority, not_read};

use crate::wire;

/// `GET /public/v1/vas-products`
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::ProductsRead).await?;
    let listings = vending.products(authority(&caller).organisation).await.map_err(not_read)?;
    let (shared, language) = (SharedState::of(&request), RequestContext::of(&request).language());
    let products: Vec<wire::Product> =
        listings.into_iter().map(|listing| wire::Product::listed(listing, language, &shared)).collect();
    Ok(HttpResponse::Ok().json(products))
}
