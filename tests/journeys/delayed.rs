//! Late answers, and clients that do not wait for them.

use std::time::Duration;

use serde_json::json;

use crate::{
    env::{env, eventually},
    simulator::SimulatorClient,
};

#[tokio::test]
async fn a_client_that_gives_up_gets_its_token_later_with_one_vend_and_one_charge() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let meter = env().scenario("delayed");
    let order = merchant.order(meter).reference("late-1");
    let gave_up = tokio::time::timeout(Duration::from_millis(700), merchant.confirm(&order)).await;
    assert!(gave_up.is_err(), "the delayed meter answered at once: {gave_up:?}");

    // The utility answers the confirm seconds later, but it has vended and says so when it is asked.
    let found = merchant.retry_until_settled(meter, "late-1").await.expect(200);
    assert_eq!(found.str("/status"), "SUCCESSFUL");
    assert_eq!(simulator.enters(meter, found.str("/product/token")).await, Ok("credit".to_owned()));

    assert_eq!(simulator.vended(meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn an_answer_that_comes_after_the_timeout_is_doubt_and_retry_finds_what_was_vended() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 30_000 })).await;
    let order = merchant.order(&meter).reference("timeout-1");

    let lost = merchant.confirm(&order).await;
    assert_eq!(lost.refusal(), (504, "provider_timeout", None));
    assert_eq!(lost.body["error"]["retryable"], true);
    assert_eq!(merchant.newest_state(), "IN_DOUBT");
    let again = merchant.confirm(&order).await;
    assert_eq!(again.refusal(), (409, "transaction_pending", None));

    let found = merchant.retry(&meter, "timeout-1").await.expect(200);
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn while_the_outcome_is_unknown_the_money_is_held_and_neither_spent_nor_free() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let order = merchant.order(&meter).reference("held-1");
    merchant.confirm(&order).await.expect(504);
    eventually("the purchase is in doubt", async || merchant.newest_state() == "IN_DOUBT").await;

    assert_eq!(merchant.balance().await, "BWP 999898.50");
    assert_eq!(merchant.rows(), "1|1|0|10150|0");
    merchant.retry(&meter, "held-1").await.expect(200);
    assert_eq!(merchant.balance().await, "BWP 999898.50");
    assert_eq!(merchant.rows().split('|').nth(3), Some("0"));
}
