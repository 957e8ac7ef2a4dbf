//! Managed accounts, whose doubt the service resolves itself: the answer of confirm, and the answers of retry
//! meanwhile. Tests with a worker show how such purchases end. This environment has no worker, so open purchases stay
//! open.

use purchase::Handling;
use reqwest::Method;
use sandbox::WalletPlan;
use serde_json::json;

use crate::{env::env, merchant::Merchant, simulator::SimulatorClient, wire::Answer};

async fn managed_merchant() -> Merchant {
    env().open_merchant_with(WalletPlan::loaded("Wallet", Handling::Managed)).await
}

/// Checks the transaction envelope with `PENDING`: all fields of the request, and no field of a vend.
#[track_caller]
fn is_pending(answer: &Answer, merchant: &Merchant, meter: &str) {
    let body = &answer.body;
    assert_eq!((answer.str("/status"), answer.str("/type")), ("PENDING", "TOPUP"), "{}", answer.text);
    assert_eq!((answer.str("/entry"), answer.str("/net")), ("BWP 100.00", "BWP 100.00"));
    assert_eq!(answer.str("/subscriber_identifier"), meter);
    assert_eq!(body["product"], json!({ "type": "ELECTRICITY", "provider": "BPC" }), "no token, no units");
    assert_eq!(body["metadata"], json!({}), "nothing was vended");
    assert_eq!(body["payer"]["id"], merchant.organisation);
    assert!(answer.str("/reference").starts_with("TOP/"));
    assert!(answer.id() > 0);
}

#[tokio::test]
async fn a_passing_failure_is_answered_pending_and_retry_waits_for_the_next_attempt() {
    let (merchant, simulator, meter) =
        (managed_merchant().await, SimulatorClient::new(), env().scenario("busy"));
    let sent = simulator.vends(meter).await.len();
    let pending = merchant.confirm(&merchant.order(meter).reference("managed-1")).await.expect(200);
    is_pending(&pending, &merchant, meter);
    let wait: u64 = pending.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3).contains(&wait), "the next attempt is due two seconds after the first: {wait}");
    assert_eq!(merchant.newest_state(), "RETRY_DUE");

    for _ in 0..2 {
        let told = merchant.retry(meter, "managed-1").await;
        assert_eq!(told.refusal(), (409, "transaction_pending", None));
        assert_eq!(told.body["error"]["retryable"], true);
        assert!(told.str("/error/message").starts_with("This purchase is still open"), "{}", told.text);
        let wait: u64 = told.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=3).contains(&wait), "the attempt is due two seconds after the first: {wait}");
    }
    let fresh = merchant.confirm(&merchant.order(meter).reference("managed-2")).await;
    assert_eq!(fresh.refusal(), (409, "transaction_pending", None), "the subscriber has an open purchase");
    assert!(fresh.str("/error/message").starts_with("An earlier purchase"), "{}", fresh.text);

    let read = merchant.get(&format!("/public/v1/purchases/{}", pending.id())).await.expect(200);
    assert_eq!(read.str("/status"), "PENDING");
    merchant.has_spent(&[pending.str("/total")]).await;
    assert_eq!(simulator.vends(meter).await.len(), sent + 1, "only the worker attempts it again");
}

#[tokio::test]
async fn a_lost_reply_is_answered_pending_and_retry_tells_what_became_of_it() {
    let (merchant, simulator, meter) = (managed_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let pending = merchant.confirm(&merchant.order(&meter).reference("managed-1")).await.expect(200);
    is_pending(&pending, &merchant, &meter);
    assert_eq!(merchant.newest_state(), "IN_DOUBT");

    let found = merchant.retry_until_settled(&meter, "managed-1").await.expect(200);
    assert_eq!(found.str("/status"), "SUCCESSFUL");
    for kept in ["/reference", "/date", "/total"] {
        assert_eq!(found.str(kept), pending.str(kept));
    }
    assert_eq!(found.id(), pending.id());
    assert_eq!(merchant.retry(&meter, "managed-1").await.expect(200).text, found.text);
    assert_eq!(simulator.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn a_definite_refusal_is_answered_as_on_any_other_account() {
    let (merchant, meter) = (managed_merchant().await, env().scenario("account_blocked"));
    let refused = merchant.confirm(&merchant.order(meter).reference("managed-1")).await;
    assert_eq!(refused.refusal(), (422, "meter_blocked", None));
    assert_eq!(merchant.newest_state(), "FAILED");
    let told = merchant.retry(meter, "managed-1").await;
    assert_eq!(
        (told.refusal(), &told.body["error"]["retryable"]),
        ((422, "meter_blocked", None), &json!(false))
    );
    assert_eq!(merchant.balance().await, "BWP 1000000.00");
}

#[tokio::test]
async fn where_retries_are_switched_off_an_open_purchase_is_left_to_the_service() {
    let (merchant, simulator, meter) = (managed_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let switched =
        |on: bool| format!("UPDATE accounts SET retries_enabled = {on} WHERE id = {}", merchant.account);
    env().asks_the_database(&switched(false));
    let pending = merchant.confirm(&merchant.order(&meter).reference("managed-1")).await.expect(200);
    is_pending(&pending, &merchant, &meter);
    let told = merchant.retry(&meter, "managed-1").await;
    assert_eq!(
        (told.refusal(), &told.body["error"]["retryable"]),
        ((403, "retries_disabled", None), &json!(false))
    );
    assert_eq!(merchant.newest_state(), "IN_DOUBT", "the provider was not asked");
    env().asks_the_database(&switched(true));
    merchant.retry_until_settled(&meter, "managed-1").await.expect(200);
}

#[tokio::test]
async fn under_an_idempotency_key_an_open_purchase_is_pending_and_then_told_again() {
    let (merchant, simulator, meter) = (managed_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let order = merchant.order(&meter).reference("managed-1").body();
    let confirm = async || {
        let headers = [("Idempotency-Key", "managed-1")];
        merchant.send(Method::POST, "/public/v1/purchases/confirm", Some(&order), &headers).await
    };
    is_pending(&confirm().await.expect(200), &merchant, &meter);
    assert_eq!(confirm().await.refusal(), (409, "transaction_pending", None));
    let found = merchant.retry_until_settled(&meter, "managed-1").await.expect(200);
    let again = confirm().await.expect(200);
    assert_eq!((again.text, simulator.vended(&meter).await), (found.text, 1));
}

#[tokio::test]
async fn a_purchase_remembers_the_request_that_made_it() {
    let (merchant, meter) = (managed_merchant().await, env().meter());
    let headers = [("X-Request-Id", "till-7/order-31")];
    let order = merchant.order(&meter).body();
    let bought =
        merchant.send(Method::POST, "/public/v1/purchases/confirm", Some(&order), &headers).await.expect(200);
    let kept = format!("SELECT request_id FROM purchases WHERE id = {}", bought.id());
    assert_eq!(env().asks_the_database(&kept), "till-7/order-31");
}
