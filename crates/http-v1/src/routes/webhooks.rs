//! The webhook endpoints of an organisation.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, Payload},
};

use identity::{Identity, Permission};
use vending::{Vending, WebhookError};
use web::{ApiError, Detail, SharedState, authorised, authority, found, not_read, read_fields};
use webhook::{DestinationRules, ENDPOINTS_MAX};

use crate::{requests, wire};

/// `GET /public/v1/webhook-endpoints`
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksRead).await?;
    let shared = SharedState::of(&request);
    let endpoints = vending.webhook_endpoints(authority(&caller).organisation).await.map_err(not_read)?;
    let endpoints = endpoints.into_iter().map(|endpoint| wire::WebhookEndpoint::new(endpoint, &shared));
    Ok(HttpResponse::Ok().json(endpoints.collect::<Vec<_>>()))
}

/// `GET /public/v1/webhook-endpoints/{id}`: the endpoint of another organisation is answered as one that does not exist.
pub async fn one(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksRead).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let endpoint = vending.webhook_endpoint(authority(&caller).organisation, id).await.map_err(not_read)?;
    let endpoint = found(endpoint)?;
    Ok(HttpResponse::Ok().json(wire::WebhookEndpoint::new(endpoint, &SharedState::of(&request))))
}

/// `POST /public/v1/webhook-endpoints/create`
pub async fn create(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
    rules: Data<DestinationRules>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksManage).await?;
    let fields = read_fields(&request, payload).await?;
    let wanted = requests::new_webhook_endpoint(&fields, &rules)?;
    let added = vending.add_webhook_endpoint(&authority(&caller), wanted).await.map_err(not_written)?;
    Ok(HttpResponse::Ok().json(wire::WebhookEndpointWithSecret::new(added, &SharedState::of(&request))))
}

/// `POST /public/v1/webhook-endpoints/{id}/update`
pub async fn update(
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
    rules: Data<DestinationRules>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksManage).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let fields = read_fields(&request, payload).await?;
    let change = requests::webhook_endpoint_change(&fields, &rules)?;
    let changed = vending.change_webhook_endpoint(&authority(&caller), id, change).await.map_err(not_read)?;
    let endpoint = found(changed)?;
    Ok(HttpResponse::Ok().json(wire::WebhookEndpoint::new(endpoint, &SharedState::of(&request))))
}

/// `POST /public/v1/webhook-endpoints/{id}/rotate-secret`
pub async fn rotate_secret(
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksManage).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let overlap = requests::key_overlap(&read_fields(&request, payload).await?)?;
    let rotated = vending.rotate_webhook_keys(&authority(&caller), id, overlap).await.map_err(not_written)?;
    let rotated = found(rotated)?;
    Ok(HttpResponse::Ok().json(wire::WebhookEndpointWithSecret::new(rotated, &SharedState::of(&request))))
}

/// `POST /public/v1/webhook-endpoints/{id}/delete`
pub async fn delete(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::WebhooksManage).await?;
    let id = requests::webhook_endpoint_in_path(&id)?;
    let is_deleted = vending.delete_webhook_endpoint(&authority(&caller), id).await.map_err(not_read)?;
    let deleted = found(is_deleted.then_some(id))?;
    Ok(HttpResponse::Ok().json(wire::DeletedWebhookEndpoint::new(deleted)))
}

fn not_written(error: WebhookError) -> ApiError {
    match error {
        WebhookError::TooMany => ApiError::new(Detail::TooManyEndpoints).with("limit", ENDPOINTS_MAX),
        WebhookError::Failed(error) => not_read(error),
    }
}
