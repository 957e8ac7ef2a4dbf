//! Accounts whose doubt the service settles itself: what their confirm is answered at once, and what retry says meanwhile.
//! How such purchases end is seen in towns that have a worker; here is none, so what is open stays so.

use purchase::Handling;
use reqwest::Method;
use sandbox::WalletPlan;
use serde_json::json;

use crate::{shop::Shop, street::Street, town::town, wire::Answer};

async fn managed_shop() -> Shop {
    town().open_shop_with(WalletPlan::loaded("Wallet", Handling::Managed)).await
}

/// The transaction envelope with `PENDING`: everything that was asked, and nothing that a vend would have brought.
#[track_caller]
fn is_pending(answer: &Answer, shop: &Shop, meter: &str) {
    let body = &answer.body;
    assert_eq!((answer.str("/status"), answer.str("/type")), ("PENDING", "TOPUP"), "{}", answer.text);
    assert_eq!((answer.str("/entry"), answer.str("/net")), ("BWP 100.00", "BWP 100.00"));
    assert_eq!(answer.str("/subscriber_identifier"), meter);
    assert_eq!(body["product"], json!({ "type": "ELECTRICITY", "provider": "BPC" }), "no token, no units");
    assert_eq!(body["metadata"], json!({}), "nothing was vended");
    assert_eq!(body["payer"]["id"], shop.organisation);
    assert!(answer.str("/reference").starts_with("TOP/"));
    assert!(answer.id() > 0);
}

#[tokio::test]
async fn a_passing_failure_is_answered_pending_and_retry_waits_for_the_next_attempt() {
    let (shop, street, meter) = (managed_shop().await, Street::new(), town().scenario("busy"));
    let sent = street.vends(meter).await.len();
    let pending = shop.confirm(&shop.order(meter).reference("managed-1")).await.expect(200);
    is_pending(&pending, &shop, meter);
    assert_eq!(shop.newest_state(), "RETRY_DUE");

    for _ in 0..2 {
        let told = shop.retry(meter, "managed-1").await;
        assert_eq!(told.refusal(), (409, "transaction_pending", None));
        assert_eq!(told.body["error"]["retryable"], true);
        let wait: u64 = told.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=3).contains(&wait), "the attempt is due two seconds after the first: {wait}");
    }
    let fresh = shop.confirm(&shop.order(meter).reference("managed-2")).await;
    assert_eq!(fresh.refusal(), (409, "transaction_pending", None), "the subscriber has an open purchase");

    let read = shop.get(&format!("/public/v1/purchases/{}", pending.id())).await.expect(200);
    assert_eq!(read.str("/status"), "PENDING");
    shop.has_spent(&[pending.str("/total")]).await;
    assert_eq!(street.vends(meter).await.len(), sent + 1, "nobody but the worker attempts it again");
}

#[tokio::test]
async fn a_lost_reply_is_answered_pending_and_retry_tells_what_became_of_it() {
    let (shop, street, meter) = (managed_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "drop_after" })).await;
    let pending = shop.confirm(&shop.order(&meter).reference("managed-1")).await.expect(200);
    is_pending(&pending, &shop, &meter);
    assert_eq!(shop.newest_state(), "IN_DOUBT");

    let found = shop.retry_until_settled(&meter, "managed-1").await.expect(200);
    assert_eq!(found.str("/status"), "SUCCESSFUL");
    for kept in ["/reference", "/date", "/total"] {
        assert_eq!(found.str(kept), pending.str(kept));
    }
    assert_eq!(found.id(), pending.id());
    assert_eq!(shop.retry(&meter, "managed-1").await.expect(200).text, found.text);
    assert_eq!(street.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn a_definite_refusal_is_answered_as_on_any_other_account() {
    let (shop, meter) = (managed_shop().await, town().scenario("account_blocked"));
    let refused = shop.confirm(&shop.order(meter).reference("managed-1")).await;
    assert_eq!(refused.refusal(), (422, "meter_blocked", None));
    assert_eq!(shop.newest_state(), "FAILED");
    let told = shop.retry(meter, "managed-1").await;
    assert_eq!(
        (told.refusal(), &told.body["error"]["retryable"]),
        ((422, "meter_blocked", None), &json!(false))
    );
    assert_eq!(shop.balance().await, "BWP 1000000.00");
}

#[tokio::test]
async fn where_retries_are_switched_off_an_open_purchase_is_left_to_the_service() {
    let (shop, street, meter) = (managed_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "drop_after" })).await;
    let switched =
        |on: bool| format!("UPDATE accounts SET retries_enabled = {on} WHERE id = {}", shop.account);
    town().asks_the_database(&switched(false));
    let pending = shop.confirm(&shop.order(&meter).reference("managed-1")).await.expect(200);
    is_pending(&pending, &shop, &meter);
    let told = shop.retry(&meter, "managed-1").await;
    assert_eq!(
        (told.refusal(), &told.body["error"]["retryable"]),
        ((403, "retries_disabled", None), &json!(false))
    );
    assert_eq!(shop.newest_state(), "IN_DOUBT", "nobody has asked the provider");
    town().asks_the_database(&switched(true));
    shop.retry_until_settled(&meter, "managed-1").await.expect(200);
}

#[tokio::test]
async fn under_an_idempotency_key_an_open_purchase_is_pending_and_then_told_again() {
    let (shop, street, meter) = (managed_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "drop_after" })).await;
    let order = shop.order(&meter).reference("managed-1").body();
    let confirm = async || {
        let headers = [("Idempotency-Key", "managed-1")];
        shop.send(Method::POST, "/public/v1/purchases/confirm", Some(&order), &headers).await
    };
    is_pending(&confirm().await.expect(200), &shop, &meter);
    assert_eq!(confirm().await.refusal(), (409, "transaction_pending", None));
    let found = shop.retry_until_settled(&meter, "managed-1").await.expect(200);
    let again = confirm().await.expect(200);
    assert_eq!((again.text, street.vended(&meter).await), (found.text, 1));
}

#[tokio::test]
async fn a_purchase_remembers_the_request_that_made_it() {
    let (shop, meter) = (managed_shop().await, town().meter());
    let headers = [("X-Request-Id", "till-7/order-31")];
    let order = shop.order(&meter).body();
    let bought =
        shop.send(Method::POST, "/public/v1/purchases/confirm", Some(&order), &headers).await.expect(200);
    let kept = format!("SELECT request_id FROM purchases WHERE id = {}", bought.id());
    assert_eq!(town().asks_the_database(&kept), "till-7/order-31");
}
