//! Login, refresh, and the caller's identity (specification, section 5).

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Payload},
};

use identity::Identity;
use web::{ApiError, ClientHeader, UnauthenticatedCaller, authenticated, read_fields};

use crate::{requests, wire};

/// `POST /public/v1/auth/login`
pub async fn login(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
) -> Result<HttpResponse, ApiError> {
    let anonymous = UnauthenticatedCaller::at_login(&request)?;
    let credentials = requests::login_request(&read_fields(&request, payload).await?)?;
    let issued = anonymous.logs_in(&identity, credentials).await?;
    Ok(HttpResponse::Ok().json(wire::Session::from(issued)))
}

/// `POST /public/v1/auth/refresh`
pub async fn refresh(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
) -> Result<HttpResponse, ApiError> {
    let anonymous = UnauthenticatedCaller::at_refresh(&request)?;
    let header = ClientHeader::of(&request);
    let credentials = requests::refresh_request(&read_fields(&request, payload).await?, &header)?;
    let issued = anonymous.refreshes(&identity, credentials).await?;
    Ok(HttpResponse::Ok().json(wire::Session::from(issued)))
}

/// `GET /public/v1/auth/me`
pub async fn me(request: HttpRequest, identity: Data<Identity>) -> Result<HttpResponse, ApiError> {
    let caller = authenticated(&request, &identity).await?;
    Ok(HttpResponse::Ok().json(wire::Me::from(caller.as_ref())))
}
