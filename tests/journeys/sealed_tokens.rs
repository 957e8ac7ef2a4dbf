//! A token that was sealed under a key that this deployment does not have. Every call answers the same error until
//! the key is available again.

use acceptance::surface::Surface;
use reqwest::Method;
use tokio::sync::{Mutex, MutexGuard};

use crate::{env::env, merchant::Merchant, simulator::SimulatorClient, wire::Answer};

/// Held while some token of the shared environment cannot be opened. What opens the tokens of all merchants waits for it.
static OPENED: Mutex<()> = Mutex::const_new(());

/// The purchases of one merchant, whose tokens cannot be opened.
pub struct Unreadable<'a> {
    merchant: &'a Merchant,
    _other_tests_wait: MutexGuard<'static, ()>,
}

impl<'a> Unreadable<'a> {
    pub async fn tokens_of(merchant: &'a Merchant) -> Self {
        let unreadable = Self { merchant, _other_tests_wait: OPENED.lock().await };
        seal_under(merchant, 9);
        unreadable
    }

    /// The key is available again.
    pub fn end(self) {
        seal_under(self.merchant, 1);
    }
}

/// As long as this is held, every token of the shared environment can be opened.
pub async fn all_are_readable() -> MutexGuard<'static, ()> {
    OPENED.lock().await
}

/// Changes the stored key id of the merchant's purchases. The replica role disables the trigger that forbids this
/// change.
fn seal_under(merchant: &Merchant, key: i32) {
    env().asks_the_database(&format!(
        "SET session_replication_role = replica;
         UPDATE purchases SET token_key_id = {key} WHERE organisation_id = {}",
        merchant.organisation
    ));
}

/// The parts of an error that a caller acts on: the code, the message, and the next step.
fn told(answer: &Answer) -> (u16, &str, &str, bool, &str, bool) {
    let error = &answer.body["error"];
    assert!(answer.header("retry-after").is_some(), "{}", answer.text);
    (
        answer.status,
        error["code"].as_str().unwrap(),
        error["message"].as_str().unwrap(),
        error["retryable"].as_bool().unwrap(),
        error["recovery"]["call"].as_str().unwrap(),
        error["recovery"]["resolved_by"].is_null(),
    )
}

#[tokio::test]
async fn a_token_that_cannot_be_opened_is_one_error_on_every_call() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let order = merchant.order(&meter).reference("sealed-1");
    let keyed = async || {
        let headers = [("Idempotency-Key", "sealed-1")];
        merchant.send(Method::POST, "/public/v1/purchases/confirm", Some(&order.body()), &headers).await
    };
    let bought = keyed().await.expect(200);
    let unreadable = Unreadable::tokens_of(&merchant).await;

    let confirmed = keyed().await;
    let retried = merchant.retry(&meter, "sealed-1").await;
    let read = merchant.get(&format!("/public/v1/purchases/{}", bought.id())).await;
    let (status, code, sentence, retryable, call, ends_by_a_person) = told(&confirmed);
    assert_eq!(
        (status, code, retryable, call, ends_by_a_person),
        (504, "provider_timeout", true, "retry", true)
    );
    assert!(sentence.contains("succeeded") && sentence.contains("Do not buy again"), "{sentence}");
    assert_eq!(told(&retried), told(&confirmed));
    assert_eq!(told(&read), told(&confirmed));

    let current = merchant.on(Surface::Current).retry(&meter, "sealed-1").await;
    assert_eq!(current.refusal().1, "provider_timeout");
    assert_eq!(current.body["response_message"], sentence);

    unreadable.end();
    for answer in [keyed().await, merchant.retry(&meter, "sealed-1").await] {
        assert_eq!(answer.expect(200).str("/product/token"), bought.str("/product/token"));
    }
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[bought.str("/total")]).await;
}

#[tokio::test]
async fn a_list_tells_of_a_purchase_whose_token_cannot_be_opened() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let bought = merchant.confirm(&merchant.order(&meter)).await.expect(200);
    let unreadable = Unreadable::tokens_of(&merchant).await;
    let page = merchant.get("/public/v1/purchases").await.expect(200);
    unreadable.end();
    let listed = &page.body["data"][0];
    assert_eq!(
        (&listed["id"], &listed["status"]),
        (&bought.id().into(), &"SUCCESSFUL".into()),
        "{}",
        page.text
    );
    assert!(listed["product"]["token"].is_null(), "{}", page.text);
}
