//! Coming in, staying in, and who one is (specification, section 5).

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Payload},
};

use identity::Identity;
use web::{ApiError, Detail, authenticated, not_issued, read_fields};

use crate::{requests, wire};

/// `POST /public/v1/auth/login`
pub async fn login(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
) -> Result<HttpResponse, ApiError> {
    let fields = read_fields(&request, payload).await?;
    let credentials = requests::login_request(&fields)?;
    let issued = identity.login(credentials).await.map_err(|error| not_issued(error, Detail::Login))?;
    Ok(HttpResponse::Ok().json(wire::Session::from(issued)))
}

/// `POST /public/v1/auth/refresh`
pub async fn refresh(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
) -> Result<HttpResponse, ApiError> {
    let fields = read_fields(&request, payload).await?;
    let credentials = requests::refresh_request(&fields)?;
    let issued = identity.refresh(credentials).await.map_err(|error| not_issued(error, Detail::Refresh))?;
    Ok(HttpResponse::Ok().json(wire::Session::from(issued)))
}

/// `GET /public/v1/auth/me`
pub async fn me(request: HttpRequest, identity: Data<Identity>) -> Result<HttpResponse, ApiError> {
    let caller = authenticated(&request, &identity).await?;
    Ok(HttpResponse::Ok().json(wire::Me::from(caller.as_ref())))
}
