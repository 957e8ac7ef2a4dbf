//! Login, refresh, and the caller's identity (specification, section 5).

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Payload},
};

use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, ClientHeader, UnauthenticatedCaller, authorised, authority, not_read, read_fields};

use crate::{requests, wire};

/// `POST /auth/login`
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

/// `POST /auth/refresh`
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

/// `GET /auth/me`: the only endpoint of this surface that shows accounts.
pub async fn me(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::AccountsRead).await?;
    let accounts = vending.accounts(authority(&caller).organisation).await.map_err(not_read)?;
    Ok(HttpResponse::Ok().json(wire::Me::new(&caller, accounts)))
}
