//! Confirms with an idempotency key. A repeated confirm gets the same answer and buys once.

use futures_util::future::{join, join_all};
use reqwest::Method;
use serde_json::json;

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    request_body::RequestBody,
    simulator::SimulatorClient,
    wire::Answer,
};

const REPLAYED: &str = "idempotent-replayed";

impl Merchant {
    /// Confirms under a key.
    async fn confirm_under(&self, key: &str, order: &RequestBody) -> Answer {
        let headers = [("Idempotency-Key", key)];
        self.send(Method::POST, "/public/v1/purchases/confirm", Some(&order.body()), &headers).await
    }

    /// The same after a refusal under the key. For a moment after a refusal, the server rejects every confirm that
    /// may have begun before it.
    async fn confirm_afresh_under(&self, key: &str, order: &RequestBody) -> Answer {
        let mut last = self.confirm_under(key, order).await;
        eventually("the key is free again", async || {
            if last.status == 409 {
                last = self.confirm_under(key, order).await;
                return false;
            }
            true
        })
        .await;
        last
    }
}

#[tokio::test]
async fn a_confirm_repeated_under_its_key_gets_the_same_answer_and_buys_nothing() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let order = merchant.order(&meter).reference("key-1");
    let bought = merchant.confirm_under("key-1", &order).await.expect(200);
    assert_eq!(bought.header(REPLAYED), None);
    // The same request in another spelling.
    for body in [order.clone(), order.clone().amount("100"), order.clone().with("comment", "null")] {
        let again = merchant.confirm_under("key-1", &body).await.expect(200);
        assert_eq!((again.text.as_str(), again.header(REPLAYED)), (bought.text.as_str(), Some("true")));
    }
    assert_eq!(simulator.vended(&meter).await, 1);
    let another = merchant.confirm_under("key-2", &order).await.expect(200);
    assert_ne!(another.id(), bought.id());
    merchant.has_spent(&["BWP 101.50", "BWP 101.50"]).await;
}

#[tokio::test]
async fn another_body_under_the_key_is_refused_by_name_and_changes_nothing() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let order = merchant.order(&meter);
    merchant.confirm_under("key-1", &order).await.expect(200);
    for other in [order.clone().amount("100.01"), order.clone().with("send_requester_sms", "false")] {
        let refused = merchant.confirm_under("key-1", &other).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some("idempotency_key")));
        assert_eq!(refused.header(REPLAYED), None);
    }
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_by_name_before_anything_is_bought() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let too_long = "k".repeat(129);
    for key in ["", "two words", &too_long] {
        let refused = merchant.confirm_under(key, &merchant.order(&meter)).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some("idempotency_key")), "{key:?}");
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    merchant.confirm_under(&"k".repeat(128), &merchant.order(&meter)).await.expect(200);
}

#[tokio::test]
async fn a_refusal_without_money_uses_up_no_key() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let too_dear = merchant.order(&meter).amount("5000000.00");
    assert_eq!(merchant.confirm_under("key-1", &too_dear).await.refusal().1, "insufficient_balance");
    merchant.confirm_afresh_under("key-1", &merchant.order(&meter)).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_copies_of_which_one_is_refused_the_other_buys_nothing_afterwards() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let other_server = env().another_api_server("server-of-the-copy");
    let across = merchant.calling(other_server.url());
    assert_eq!(across.balance().await, "BWP 1000000.00");
    let unknown =
        json!({ "fault": "refuse", "operation": "check", "exception": "UnknownMeterEx", "text": "?" });
    simulator
        .will(&meter, &json!({ "fault": "delay_before", "operation": "check", "delay_ms": 3_000 }))
        .await;
    simulator.will(&meter, &unknown).await;
    let order = merchant.order(&meter);
    let (here, there) =
        join(merchant.confirm_under("key-1", &order), across.confirm_under("key-1", &order)).await;
    let mut told = [here.refusal(), there.refusal()];
    told.sort_unstable();
    assert_eq!(
        told.map(|refusal| (refusal.0, refusal.1)),
        [(404, "meter_not_found"), (409, "transaction_pending")]
    );
    assert_eq!((simulator.vended(&meter).await, merchant.balance().await.as_str()), (0, "BWP 1000000.00"));

    merchant.confirm_afresh_under("key-1", &order).await.expect(200);
    assert_eq!(simulator.vended(&meter).await, 1);
}

#[tokio::test]
async fn a_neighbour_with_the_same_key_buys_for_itself() {
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    let (meter, other) = (env().meter(), env().meter());
    let bought = merchant.confirm_under("key-1", &merchant.order(&meter)).await.expect(200);
    let theirs = neighbour.confirm_under("key-1", &neighbour.order(&other)).await.expect(200);
    assert_ne!(bought.id(), theirs.id());
    assert_eq!(theirs.header(REPLAYED), None);
}

#[tokio::test]
async fn a_final_failure_is_told_again_as_the_confirm_told_it_whatever_retry_says() {
    let merchant = env().open_merchant().await;
    for (scenario, told, by_retry) in [
        ("account_blocked", (422, "meter_blocked"), (422, "meter_blocked")),
        ("credit_exhausted", (502, "merchant_credit_exhausted"), (422, "merchant_credit_exhausted")),
    ] {
        let meter = env().scenario(scenario);
        let order = merchant.order(meter).reference("failed-1");
        let failed = merchant.confirm_under(scenario, &order).await;
        assert_eq!((failed.refusal().0, failed.refusal().1), told);
        assert_eq!(failed.header(REPLAYED), None);
        let retried = merchant.retry(meter, "failed-1").await;
        assert_eq!((retried.refusal().0, retried.refusal().1), by_retry);
        let again = merchant.confirm_under(scenario, &order).await;
        assert_eq!((again.refusal().0, again.refusal().1), told);
        assert_eq!(again.header(REPLAYED), Some("true"));
        for member in ["type", "message", "param", "retryable", "doc_url"] {
            assert_eq!(again.body["error"][member], failed.body["error"][member], "{scenario}: {member}");
        }
    }
    assert!(merchant.rows().starts_with("2|2|0|0|"), "{}", merchant.rows());
}

#[tokio::test]
async fn a_passing_failure_frees_the_key_and_the_very_same_request_buys() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "busy", "operation": "vend" })).await;
    let order = merchant.order(&meter);
    let busy = merchant.confirm_under("key-1", &order).await;
    assert_eq!(busy.refusal(), (422, "provider_busy", None));
    assert_eq!(busy.body["error"]["retryable"], true);
    let bought = merchant.confirm_afresh_under("key-1", &order).await.expect(200);
    assert_eq!(bought.header(REPLAYED), None);
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test]
async fn a_lost_reply_is_pending_under_its_key_until_retry_has_settled_it() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let order = merchant.order(&meter).reference("lost-1");
    merchant.confirm_under("key-1", &order).await.expect(504);
    let pending = merchant.confirm_under("key-1", &order).await;
    assert_eq!(pending.refusal(), (409, "transaction_pending", None));
    assert_eq!((pending.header("retry-after"), pending.header(REPLAYED)), (Some("1"), None));
    assert_eq!(pending.body["error"]["retryable"], true);
    let settled = merchant.retry_until_settled(&meter, "lost-1").await.expect(200);
    let again = merchant.confirm_under("key-1", &order).await.expect(200);
    assert_eq!((again.text.as_str(), again.header(REPLAYED)), (settled.text.as_str(), Some("true")));
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_confirms_under_one_key_through_two_servers_are_one_vend_and_one_story() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let other_server = env().another_api_server("server-of-the-keys");
    let across = merchant.calling(other_server.url());
    assert_eq!(across.balance().await, "BWP 1000000.00");
    simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 1_000 })).await;
    let order = merchant.order(&meter);
    let crowd =
        async |merchant: &Merchant| join_all((0..25).map(|_| merchant.confirm_under("key-1", &order))).await;
    let (here, there) = join(crowd(&merchant), crowd(&across)).await;
    let (bought, others): (Vec<_>, Vec<_>) =
        here.into_iter().chain(there).partition(|answer| answer.status == 200);
    assert_eq!(bought.iter().filter(|answer| answer.header(REPLAYED).is_none()).count(), 1);
    assert!(bought.iter().all(|answer| answer.text == bought[0].text));
    for answer in &others {
        assert_eq!(answer.refusal(), (409, "transaction_pending", None));
    }
    eventually("both servers tell it again", async || {
        let told =
            [merchant.confirm_under("key-1", &order).await, across.confirm_under("key-1", &order).await];
        told.iter().all(|answer| answer.text == bought[0].text && answer.header(REPLAYED) == Some("true"))
    })
    .await;
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}
