//! The caller's accounts (specification, section 4.1).

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use identity::{Identity, Permission};
use vending::Vending;
use web::{ApiError, authorised, authority, found, not_read};

use crate::{requests, wire};

/// `GET /public/v1/accounts`
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::AccountsRead).await?;
    let accounts = vending.accounts(authority(&caller).organisation).await.map_err(not_read)?;
    let accounts: Vec<wire::Account> = accounts.into_iter().map(wire::Account::from).collect();
    Ok(HttpResponse::Ok().json(accounts))
}

/// `GET /public/v1/accounts/{id}`: the account of another organisation is answered as one that does not exist.
pub async fn one(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::AccountsRead).await?;
    let id = requests::account_in_path(&id)?;
    let account = vending.account(authority(&caller).organisation, id).await.map_err(not_read)?;
    let account = found(account)?;
    Ok(HttpResponse::Ok().json(wire::Account::from(account)))
}
