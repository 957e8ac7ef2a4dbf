//! The last tokens of a subscriber, for a customer who has lost the slip.

use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use error_codes::ErrorCode;
use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, RequestContext, SharedState, authorised, not_read};

use crate::{requests, wire};

/// When a caller that has looked up too many subscribers may come back. Its looks of an hour ago are forgotten one by one.
const TOO_MANY_LOOKS_PAUSE: Duration = Duration::from_mins(5);

/// `GET /public/v1/subscribers/{id}/purchases`: a subscriber for whom the organisation sold nothing is answered like one
/// that does not exist, with an empty list.
pub async fn look_up(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::SubscribersRead).await?;
    let look = requests::look_up(&id, request.query_string(), &caller)?;
    let found = vending.look_up_purchases(look).await.map_err(not_read)?;
    let found = found.ok_or_else(|| ApiError::new(ErrorCode::RateLimited).after(TOO_MANY_LOOKS_PAUSE))?;
    let (shared, language) = (SharedState::of(&request), RequestContext::of(&request).language());
    let read =
        found.iter().map(|with_buyer| wire::ListedPurchase::read(with_buyer, &caller, &shared, language));
    Ok(HttpResponse::Ok().json(wire::SubscriberPurchases::new(read.collect())))
}
