//! Validate, confirm, retry (specification, section 4.2).

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Payload},
};

use identity::{Caller, Identity, Permission};
use purchase::Record;
use vend::Product;
use vending::{ConfirmError, Rejection, Vending};
use web::{
    ApiError, Asked, Confirming, RequestContext, authorised, authority, not_confirmed, not_resolved,
    read_fields, rejected,
};

use crate::{requests, surface, wire};

/// `POST /api/topup/validate`
pub async fn validate(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesValidate).await?;
    let top_up = requests::top_up(&read_fields(&request, payload).await?)?;
    let (hard, authority) = (top_up.hard_validate, authority(&caller));
    let provider = default_provider(&caller, &vending).await;
    let wanted = top_up.from(provider.map_err(|rejection| refused(&rejection, Asked::ForAQuote))?);
    let quote = if hard {
        vending.trial(&authority, &wanted).await
    } else {
        vending.quote(&authority, &wanted).await
    };
    let quote = quote.map_err(|rejection| refused(&rejection, Asked::ForAQuote))?;
    Ok(HttpResponse::Ok().json(wire::Transaction::quoted(&wanted, quote, &caller)))
}

/// `POST /api/topup/confirm`
pub async fn confirm(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesConfirm).await?;
    let fields = read_fields(&request, payload).await?;
    let confirming = Confirming {
        request: &request,
        vending: vending.as_ref(),
        authority: authority(&caller),
        fields: &fields,
        subscriber: requests::SUBSCRIBER,
        product: Some(Product::Electricity),
    };
    let top_up = requests::top_up(&fields).map_err(|error| confirming.queue_refused(error))?;
    let provider = default_provider(&caller, &vending).await.map_err(|rejection| {
        let answer = refused(&rejection, Asked::ForAQuote);
        if ConfirmError::from(rejection).is_refusal() { confirming.queue_refused(answer) } else { answer }
    })?;
    let context = RequestContext::of(&request);
    context.mark_money_may_move();
    let confirmed = vending.confirm(authority(&caller), top_up.from(provider), context.arrival()).await;
    let record = confirmed.map_err(|error| {
        let answer = why_not_confirmed(&error);
        if error.is_refusal() { confirming.queue_refused(answer) } else { answer }
    })?;
    Ok(made(&record, &caller))
}

/// `POST /api/topup/retry`
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
    Ok(made(&record, &caller))
}

fn made(record: &Record, caller: &Caller) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    if let Some(recovery) = &record.recovery {
        response.insert_header(surface::recovery(recovery));
    }
    response.json(wire::Transaction::made(record, caller))
}

fn why_not_confirmed(error: &ConfirmError) -> ApiError {
    match error {
        ConfirmError::Rejected(rejection) => refused(rejection, Asked::BeforeAPurchase),
        ConfirmError::Failed(_)
        | ConfirmError::FailedBefore(_)
        | ConfirmError::Unknown(_)
        | ConfirmError::TokenUnreadable(_) => not_confirmed(error, Product::Electricity),
    }
}

async fn default_provider(caller: &Caller, vending: &Vending) -> Result<String, Rejection> {
    vending.default_provider(authority(caller).organisation, Product::Electricity).await
}

/// The caller cannot choose a provider, so one that is no longer offered is reported as a missing default provider.
fn refused(rejection: &Rejection, asked: Asked) -> ApiError {
    let is_choice = matches!(
        rejection,
        Rejection::UnknownProduct | Rejection::UnknownProvider | Rejection::OfferRemoved { .. }
    );
    let reported = if is_choice { &Rejection::NoDefaultProvider } else { rejection };
    rejected(reported, Product::Electricity, asked)
}
