//! What was delivered to a webhook endpoint, and what its owner wants delivered.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, Payload},
};

use identity::{Identity, Permission};
use vending::{Asked, Vending};
use web::{ApiError, Detail, SharedState, authorised, authority, found, not_read, read_fields};

use crate::{requests, wire};

/// `POST /public/v1/webhook-endpoints/{id}/test`
pub async fn test(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksManage).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let asked = vending.test_webhook(authority(&caller).organisation, id).await.map_err(not_read)?;
    Ok(HttpResponse::Ok().json(wire::WebhookTest::new(granted(asked)?)))
}

/// `POST /public/v1/webhook-endpoints/{id}/redeliver`
pub async fn redeliver(
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksManage).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let (first, last) = requests::events_again(&read_fields(&request, payload).await?)?;
    let asked = vending.send_events_again(authority(&caller).organisation, id, first, last).await;
    Ok(HttpResponse::Ok().json(wire::Redelivery::new(granted(asked.map_err(not_read)?)?)))
}

/// `GET /public/v1/webhook-endpoints/{id}/attempts`
pub async fn attempts(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksRead).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let (before, limit) = requests::attempts_query(&request)?;
    let organisation = authority(&caller).organisation;
    let attempts = vending.webhook_attempts(organisation, id, before, limit).await.map_err(not_read)?;
    let attempts = found(attempts)?;
    Ok(HttpResponse::Ok().json(wire::WebhookAttemptPage::new(attempts, limit, &SharedState::of(&request))))
}

fn granted<T>(asked: Asked<T>) -> Result<T, ApiError> {
    match asked {
        Asked::Granted(granted) => Ok(granted),
        Asked::NotActive => Err(ApiError::new(Detail::EndpointNotActive)),
        Asked::Absent => found(None),
    }
}
