//! The pairs of endpoint and code that have been answered.

use std::{collections::BTreeSet, sync::Mutex};

use error_codes::ErrorCode;
use http_v1::Endpoint;

use crate::{
    order::Order,
    shop::Shop,
    town::town,
    wire::{Answer, method},
};

/// What was seen so far.
#[derive(Default)]
pub struct Seen(Mutex<BTreeSet<(Endpoint, ErrorCode)>>);

impl Seen {
    /// Notes an error, which must have this code, and read as the table of errors says.
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

/// Knocks at an endpoint with a body that is right in itself.
pub async fn knock(shop: &Shop, endpoint: Endpoint) -> Answer {
    let body = match endpoint {
        Endpoint::Login => Some(shop.login_body()),
        Endpoint::Refresh => Some(shop.refresh_body()),
        Endpoint::Validate | Endpoint::Confirm => Some(shop.order(&town().meter()).body()),
        Endpoint::Retry => Some(Order::retry("09000000000", "nobody-1").body()),
        Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Purchases
        | Endpoint::Purchase => None,
    };
    shop.send(method(endpoint), &path(shop, endpoint), body.as_deref(), &[]).await
}

/// Its path, with a number that this shop may ask for where there is one.
pub fn path(shop: &Shop, endpoint: Endpoint) -> String {
    let id = if endpoint == Endpoint::Account { shop.account } else { 0 };
    endpoint.path().replace("{id}", &id.to_string())
}
