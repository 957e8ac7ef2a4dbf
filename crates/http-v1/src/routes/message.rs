//! The message with the token of a purchase, sent once more.

use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, Payload},
};

use identity::{Identity, Permission};
use purchase::{Record, Success, UserId};
use vending::Vending;
use web::{ApiError, Detail, SharedState, authorised, authority, found, not_read, read_fields};

use crate::{requests, wire};

/// When a caller that has asked too often within a day may come back at the earliest.
const TOO_MANY_MESSAGES_PAUSE: Duration = Duration::from_hours(1);

/// `POST /public/v1/purchases/{id}/messages`: the purchase of another organisation is answered as one that does not exist.
pub async fn again(
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::MessagesSend).await?;
    let id = requests::purchase_in_path(&id)?;
    let corrected = requests::corrected_number(&read_fields(&request, payload).await?)?;
    let organisation = authority(&caller).organisation;
    let record = found(vending.purchase(organisation, id).await.map_err(not_read)?)?.record;
    can_be_told(&record, wire::sold(&record)?)?;
    let to = recipient(&record, corrected.as_deref())?;
    let queued = vending
        .repeat_message(organisation, id, UserId(caller.user.id), corrected.clone())
        .await
        .map_err(not_read)?;
    let queued = queued.ok_or_else(|| {
        let often = vending.messages_per_day();
        ApiError::new(Detail::MessagesOfTheDay).with("limit", often).after(TOO_MANY_MESSAGES_PAUSE)
    })?;
    Ok(HttpResponse::Ok().json(wire::QueuedMessage::new(id, to, queued, &SharedState::of(&request))))
}

/// A message without its token is worth nothing to the customer.
fn can_be_told(record: &Record, success: &Success) -> Result<(), ApiError> {
    if record.product.always_has_a_token() && success.tokens.is_none() {
        return Err(ApiError::new(Detail::TokenErased));
    }
    Ok(())
}

fn recipient<'a>(record: &'a Record, corrected: Option<&'a str>) -> Result<&'a str, ApiError> {
    let number = corrected.or_else(|| wire::beneficiary_number(record));
    number.ok_or_else(|| ApiError::new(Detail::NumberErased).about(requests::PHONE_NUMBER))
}
