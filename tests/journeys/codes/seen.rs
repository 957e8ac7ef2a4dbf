//! The pairs of endpoint and code that were answered.

use std::{collections::BTreeSet, sync::Mutex};

use error_codes::ErrorCode;
use http_v1::Endpoint;

use crate::{
    env::env,
    merchant::Merchant,
    request_body::RequestBody,
    wire::{Answer, method},
};

/// The pairs that were seen so far.
#[derive(Default)]
pub struct Seen(Mutex<BTreeSet<(Endpoint, ErrorCode)>>);

impl Seen {
    /// Records an error. It must have this code and match the table of errors.
    #[track_caller]
    pub fn expect(&self, code: ErrorCode, endpoint: Endpoint, answer: &Answer) {
        let (status, told, _) = answer.refusal();
        assert_eq!(told, code.as_str(), "{}: {}", endpoint.path(), answer.text);
        assert_eq!(status, endpoint.status(code), "{}", answer.text);
        assert_eq!(answer.str("/error/type"), code.error_type().as_str(), "{}", answer.text);
        assert!(answer.str("/error/message").contains('.'), "no sentence: {}", answer.text);
        assert!(answer.str("/error/doc_url").ends_with(&format!("/docs/errors/{code}")), "{}", answer.text);
        assert!(endpoint.codes().contains(&code), "{} does not declare {code}", endpoint.path());
        self.0.lock().unwrap().insert((endpoint, code));
    }

    pub fn has(&self, pair: (Endpoint, ErrorCode)) -> bool {
        self.0.lock().unwrap().contains(&pair)
    }
}

/// Calls an endpoint with a valid body.
pub async fn call_endpoint(merchant: &Merchant, endpoint: Endpoint) -> Answer {
    let body = match endpoint {
        Endpoint::Login => Some(merchant.login_body()),
        Endpoint::Refresh => Some(merchant.refresh_body()),
        Endpoint::Validate | Endpoint::Confirm => Some(merchant.order(&env().meter()).body()),
        Endpoint::Retry => Some(RequestBody::retry("09000000000", "nobody-1").body()),
        Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Purchases
        | Endpoint::Purchase
        | Endpoint::Statement
        | Endpoint::Sales => None,
    };
    merchant.send(method(endpoint), &path(merchant, endpoint), body.as_deref(), &[]).await
}

/// The path of the endpoint. If it has an id, it is one that this merchant may read or 0.
pub fn path(merchant: &Merchant, endpoint: Endpoint) -> String {
    let names_account = matches!(endpoint, Endpoint::Account | Endpoint::Statement);
    let id = if names_account { merchant.account } else { 0 };
    endpoint.path().replace("{id}", &id.to_string())
}
