//! The controls over wallets: what an operator does with `vendctl`, as requests, so that a test can bring a wallet into any
//! state. Only `cargo sandbox` and the acceptance tests have them. A balance changes by an ordinary payment or correction.

mod server;
mod wallet;

use actix_web::{
    HttpResponse,
    web::{Bytes, Data, Path, ServiceConfig, post},
};
use ledger::AccountId;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{json, value::RawValue};

use crate::Office;

pub(crate) use server::Controls;
use wallet::{ControlError, set_balance, set_low_balance};

fn configure(services: &mut ServiceConfig) {
    services
        .route("/wallets/{number}/balance", post().to(balance))
        .route("/wallets/{number}/low-balance", post().to(low_balance));
}

/// An amount in the wallet's currency, as a number (`50.00`) or as a text (`"50.00"`).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BalanceBody {
    balance: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LowBalanceBody {
    low_balance: Box<RawValue>,
}

/// `POST /wallets/{number}/balance`.
async fn balance(office: Data<Office>, number: Path<String>, body: Bytes) -> HttpResponse {
    let set = async {
        let wallet = account_of(&number)?;
        let BalanceBody { balance } = read(&body)?;
        set_balance(office.store().database(), wallet, balance.get()).await
    };
    match set.await {
        Ok(wallet) => HttpResponse::Ok().json(json!({
            "account_id": wallet.id.0,
            "balance": wallet.posted.to_string(),
            "held": wallet.held.to_string(),
            "available": wallet.available.to_string(),
        })),
        Err(error) => refusal(&error),
    }
}

/// `POST /wallets/{number}/low-balance`.
async fn low_balance(office: Data<Office>, number: Path<String>, body: Bytes) -> HttpResponse {
    let set = async {
        let wallet = account_of(&number)?;
        let LowBalanceBody { low_balance } = read(&body)?;
        set_low_balance(office.store().database(), wallet, low_balance.get()).await
    };
    match set.await {
        Ok(()) => HttpResponse::NoContent().finish(),
        Err(error) => refusal(&error),
    }
}

fn account_of(number: &str) -> Result<AccountId, ControlError> {
    number.parse().map(AccountId).map_err(|_not_a_number| ControlError::NoWallet(number.to_owned()))
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, ControlError> {
    serde_json::from_slice(body).map_err(ControlError::Body)
}

fn refusal(error: &ControlError) -> HttpResponse {
    HttpResponse::build(error.status()).json(json!({ "error": error.to_string() }))
}
