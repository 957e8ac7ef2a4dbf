//! Validate, confirm, retry (specification, section 4.1).

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::RETRY_AFTER,
    web::{Data, Payload},
};

use identity::{Identity, Permission};
use vending::{Confirmed, Vending};
use web::{
    ApiError, Asked, Confirming, REPLAYED, RequestContext, SharedState, authorised, authority,
    idempotency_key, not_confirmed, not_resolved, read_fields, rejected, whole_seconds,
};

use crate::{requests, wire};

/// `POST /public/v1/purchases/validate`
pub async fn validate(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesValidate).await?;
    let wanted = requests::purchase_request(&read_fields(&request, payload).await?)?;
    let quote = vending
        .quote(&authority(&caller), &wanted)
        .await
        .map_err(|rejection| rejected(&rejection, wanted.product, Asked::ForAQuote))?;
    Ok(HttpResponse::Ok().json(wire::Purchase::quoted(&wanted, &quote, &caller, &SharedState::of(&request))))
}

/// `POST /public/v1/purchases/confirm`
pub async fn confirm(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesConfirm).await?;
    let key = idempotency_key(&request)?;
    let fields = read_fields(&request, payload).await?;
    let authority = authority(&caller);
    let (vending, subscriber) = (vending.as_ref(), requests::SUBSCRIBER);
    let confirming =
        Confirming { request: &request, vending, authority, fields: &fields, subscriber, product: None };
    let wanted = requests::purchase_request(&fields).map_err(|error| confirming.queue_refused(error))?;
    let (context, product) = (RequestContext::of(&request), wanted.product);
    context.mark_money_may_move();
    let arrival = context.arrival();
    let outcome = match key {
        None => vending.confirm(authority, wanted, arrival).await.map(Confirmed::Now),
        Some(key) => vending.confirm_once(authority, key, wanted, arrival).await,
    };
    let confirmed = outcome.map_err(|error| {
        let answer = not_confirmed(&error, product);
        if error.is_refusal() { confirming.queue_refused(answer) } else { answer }
    })?;
    let mut response = HttpResponse::Ok();
    let record = match confirmed {
        Confirmed::Now(record) => record,
        Confirmed::Before(record) => {
            response.insert_header((REPLAYED, "true"));
            record
        }
    };
    if let Some(recovery) = &record.recovery {
        response.insert_header((RETRY_AFTER, whole_seconds(recovery.wait())));
    }
    Ok(response.json(wire::Purchase::made(&record, &caller, &SharedState::of(&request))))
}

/// `POST /public/v1/purchases/retry`
pub async fn retry(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRetry).await?;
    let question = requests::retry_question(&read_fields(&request, payload).await?)?;
    let (context, among) = (RequestContext::of(&request), question.scope);
    context.mark_money_may_move();
    let resolved = vending.retry(authority(&caller), question, context.trace().clone()).await;
    let record = resolved.map_err(|error| not_resolved(&error, among))?;
    Ok(HttpResponse::Ok().json(wire::Purchase::made(&record, &caller, &SharedState::of(&request))))
}
