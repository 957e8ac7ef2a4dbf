//! The pairs of endpoint and code that were answered.

use std::{collections::BTreeSet, sync::Mutex};

use error_codes::{Action, Decision, ErrorCode, Money};
use http_v1::{BatchCall, Endpoint, WebhookCall};

use crate::{
    batches,
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
        if let Some(decision) = endpoint.decision(code) {
            assert_eq!(answer.next_step(), step_after(decision, answer), "{decision:?}: {}", answer.text);
            assert_money(endpoint, decision.money, answer);
        }
        self.0.lock().unwrap().insert((endpoint, code));
    }

    pub fn has(&self, pair: (Endpoint, ErrorCode)) -> bool {
        self.0.lock().unwrap().contains(&pair)
    }
}

/// What the answer must say about the next step: whether it has `recovery`, and whether it has `failure`.
fn step_after(decision: Decision, answer: &Answer) -> (bool, Option<bool>) {
    let (_, failure) = answer.next_step();
    match decision.action {
        Action::BuyAnew if failure.is_some() => (false, Some(true)),
        Action::CallRetry if decision.money != Money::Unsaid => (true, None),
        Action::SendAgain | Action::SendAgainIfRetryable | Action::BuyAnewIfAllowed => {
            let retryable = answer.body["error"]["retryable"].as_bool();
            let again = if decision.action == Action::BuyAnewIfAllowed { failure } else { retryable };
            (false, failure.and(again))
        }
        Action::RemoveReason | Action::CallOperator => (false, failure.and(Some(false))),
        Action::Deliver | Action::CallRetry | Action::BuyAnew | Action::FixRequest | Action::ReadPurchase => {
            (false, None)
        }
    }
}

/// Compares what the decision table says about the money with the purchase that the request made, if it made one.
/// Retry makes none: of a failure and of an open purchase it is known from the answer.
fn assert_money(endpoint: Endpoint, money: Money, answer: &Answer) {
    let request = answer.header("x-request-id").unwrap();
    let made = env().asks_the_database(&format!(
        "SELECT coalesce(string_agg(DISTINCT state, ','), 'none') FROM purchases WHERE request_id = '{request}'"
    ));
    let expected: &[&str] = match (endpoint, money) {
        (Endpoint::Confirm, Money::NotCharged) => &["none", "FAILED"],
        (Endpoint::Confirm, Money::HeldOrCharged) => &["IN_FLIGHT", "IN_DOUBT", "SUCCESSFUL"],
        _no_purchase_of_its_own => &["none"],
    };
    assert!(expected.contains(&made.trim()), "{made} beside {money:?}: {}", answer.text);
}

/// Calls an endpoint with a valid body.
pub async fn call_endpoint(merchant: &Merchant, endpoint: Endpoint) -> Answer {
    let body = match endpoint {
        Endpoint::Login => Some(merchant.login_body()),
        Endpoint::Refresh => Some(merchant.refresh_body()),
        Endpoint::Validate | Endpoint::Confirm => Some(merchant.order(&env().meter()).body()),
        Endpoint::Retry => Some(RequestBody::retry("09000000000", "nobody-1").body()),
        Endpoint::Webhooks(WebhookCall::Create) => Some(r#"{"url":"https://till.example/"}"#.to_owned()),
        Endpoint::Message | Endpoint::Webhooks(WebhookCall::Update | WebhookCall::RotateSecret) => {
            Some("{}".to_owned())
        }
        Endpoint::Webhooks(WebhookCall::Redeliver) => Some(r#"{"event_id":"evt_1_1"}"#.to_owned()),
        Endpoint::Batches(BatchCall::Create) => {
            Some(batches::batch(merchant, "a batch", &[env().meter()]).to_string())
        }
        Endpoint::Batches(_)
        | Endpoint::Webhooks(
            WebhookCall::List
            | WebhookCall::One
            | WebhookCall::Delete
            | WebhookCall::Test
            | WebhookCall::Attempts,
        )
        | Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Purchases
        | Endpoint::Purchase
        | Endpoint::Statement
        | Endpoint::Sales
        | Endpoint::Receipt
        | Endpoint::Certificate
        | Endpoint::LookUp
        | Endpoint::Events => None,
    };
    merchant.send(method(endpoint), &path(merchant, endpoint), body.as_deref(), &[]).await
}

/// The path of the endpoint. If it has an id, it is one that this merchant may read or 0.
pub fn path(merchant: &Merchant, endpoint: Endpoint) -> String {
    let names_account = matches!(endpoint, Endpoint::Account | Endpoint::Statement);
    let id = if names_account { merchant.account } else { 0 };
    endpoint.path().replace("{id}", &id.to_string())
}
