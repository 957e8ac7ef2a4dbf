//! The table of retry's answers, for the rows that apply to self-managed accounts.

use std::time::Duration;

use serde_json::json;

use crate::{env::env, simulator::SimulatorClient};

#[tokio::test]
async fn retry_finds_a_reference_only_for_its_own_subscriber_and_organisation() {
    let (merchant, neighbour) = (env().open_merchant().await, env().open_merchant().await);
    let (meter, other) = (env().meter(), env().meter());
    merchant.confirm(&merchant.order(&meter).reference("mine-1")).await.expect(200);
    for (asking, meter, reference) in
        [(&merchant, &meter, "mine-2"), (&merchant, &other, "mine-1"), (&neighbour, &meter, "mine-1")]
    {
        let answer = asking.retry(meter, reference).await;
        assert_eq!(answer.refusal(), (404, "transaction_not_found", None));
    }
    merchant.retry(&meter, "mine-1").await.expect(200);
}

#[tokio::test]
async fn a_successful_purchase_is_told_again_word_for_word_and_nothing_is_bought() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let bought = merchant.confirm(&merchant.order(&meter).reference("again-1")).await.expect(200);
    for _ in 0..3 {
        let told = merchant.retry(&meter, "again-1").await.expect(200);
        assert_eq!(told.text, bought.text);
    }
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[bought.str("/total")]).await;
}

#[tokio::test]
async fn confirm_sent_again_after_a_success_buys_again_and_retry_tells_of_the_newest() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let order = merchant.order(&meter).reference("twice-1");
    let first = merchant.confirm(&order).await.expect(200);
    let second = merchant.confirm(&order).await.expect(200);
    assert_ne!(first.str("/product/token"), second.str("/product/token"));
    assert_eq!(merchant.retry(&meter, "twice-1").await.expect(200).id(), second.id());
    merchant.has_spent(&[first.str("/total"), second.str("/total")]).await;
}

#[tokio::test]
async fn a_failed_purchase_is_reported_as_final_with_4xx_and_may_be_confirmed_again() {
    let failures = [
        ("busy", (422, "provider_busy"), (422, "provider_busy")),
        ("account_blocked", (422, "meter_blocked"), (422, "meter_blocked")),
        ("credit_exhausted", (502, "merchant_credit_exhausted"), (422, "merchant_credit_exhausted")),
        ("duplicate", (409, "duplicate_request"), (409, "duplicate_request")),
    ];
    let merchant = env().open_merchant().await;
    for (scenario, at_first, later) in failures {
        let meter = env().scenario(scenario);
        let order = merchant.order(meter).reference("failed-1");
        let confirmed = merchant.confirm(&order).await;
        assert_eq!((confirmed.refusal().0, confirmed.refusal().1), at_first);
        for _ in 0..2 {
            let told = merchant.retry(meter, "failed-1").await;
            assert_eq!((told.refusal().0, told.refusal().1), later, "{}", told.text);
            assert_eq!(told.body["error"]["retryable"], false);
        }
        let fresh = merchant.confirm_afresh(&order).await;
        assert_eq!((fresh.refusal().0, fresh.refusal().1), at_first);
    }
    assert_eq!(merchant.balance().await, "BWP 1000000.00");
    assert!(merchant.rows().starts_with("8|8|0|0|"), "{}", merchant.rows());
}

#[tokio::test]
async fn a_lost_reply_is_enquired_about_and_the_meter_takes_what_was_vended() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let meter = env().scenario("lost_reply");
    let before = simulator.vended(meter).await;
    let lost = merchant.confirm(&merchant.order(meter).reference("lost-reply-1")).await;
    assert_eq!(lost.refusal(), (504, "provider_timeout", None));
    let found = merchant.retry(meter, "lost-reply-1").await.expect(200);
    let again = merchant.retry(meter, "lost-reply-1").await.expect(200);
    assert_eq!(found.text, again.text);
    assert_eq!(simulator.enters(meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert!(simulator.vended(meter).await > before);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn a_request_that_never_arrived_is_sent_again_under_its_own_reference() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_before" })).await;
    merchant.confirm(&merchant.order(&meter).reference("lost-1")).await.expect(504);
    assert_eq!(simulator.vends(&meter).await.len(), 0);
    let attempts = |merchant: &crate::merchant::Merchant| {
        env().asks_the_database(&format!(
            "SELECT t.number, t.provider_reference FROM attempts t JOIN purchases p ON p.id = t.purchase_id
             WHERE p.organisation_id = {}",
            merchant.organisation
        ))
    };
    let sent_at_first = attempts(&merchant);

    let found = merchant.retry_until_settled(&meter, "lost-1").await.expect(200);
    assert_eq!(simulator.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(
        attempts(&merchant),
        sent_at_first,
        "a new reference was used while the old one was unresolved"
    );
    let vends = simulator.vends(&meter).await;
    assert_eq!(vends.len(), 1);
    assert_eq!(format!("1|{}", vends[0]["reference"].as_str().unwrap()), sent_at_first);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn a_request_that_is_lost_every_time_stays_open_with_its_money_held() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let meter = env().scenario("lost_request");
    merchant.confirm(&merchant.order(meter).reference("always-lost-1")).await.expect(504);
    for _ in 0..2 {
        let told = merchant.retry(meter, "always-lost-1").await;
        assert!(
            matches!(told.refusal(), (409, "transaction_pending", None) | (504, "provider_timeout", None)),
            "{}",
            told.text
        );
        assert_eq!(merchant.newest_state(), "IN_DOUBT");
    }
    assert_eq!(simulator.vended(meter).await, 0);
    assert_eq!(merchant.balance().await, "BWP 999898.50");
    assert_eq!(merchant.rows(), "1|1|0|10150|0");
}

#[tokio::test]
async fn a_provider_that_cannot_be_asked_leaves_the_question_open() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    merchant.confirm(&merchant.order(&meter).reference("deaf-1")).await.expect(504);
    simulator.will(&meter, &json!({ "fault": "drop_before", "operation": "enquiry" })).await;

    let unreachable = merchant.retry(&meter, "deaf-1").await;
    assert_eq!(unreachable.refusal(), (504, "provider_timeout", None));
    assert_eq!(merchant.newest_state(), "IN_DOUBT");
    let found = merchant.retry_until_settled(&meter, "deaf-1").await.expect(200);
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn an_answer_about_something_else_is_doubt_and_the_truth_is_asked_for() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    for fault in [
        "wrong_meter",
        "wrong_amount",
        "wrong_currency",
        "wrong_reference",
        "no_token",
        "garbage",
        "http_500_after",
        "truncated",
    ] {
        let meter = env().meter();
        simulator.will(&meter, &json!({ "fault": fault })).await;
        let order = merchant.order(&meter).reference("strange-1");
        let strange = merchant.confirm(&order).await;
        assert_eq!(strange.refusal(), (504, "provider_timeout", None), "{fault}");
        let found = merchant.retry(&meter, "strange-1").await.expect(200);
        assert_eq!(
            simulator.enters(&meter, found.str("/product/token")).await,
            Ok("credit".to_owned()),
            "{fault}"
        );
        assert_eq!(simulator.vended(&meter).await, 1, "{fault}");
    }
    merchant.has_spent(&["BWP 101.50"; 8]).await;
}

#[tokio::test]
async fn not_found_stays_true_for_a_confirm_that_was_on_its_way_when_it_was_said() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator
        .will(&meter, &json!({ "fault": "delay_before", "operation": "check", "delay_ms": 2_000 }))
        .await;
    let order = merchant.order(&meter).reference("overtaken-1");
    // Retries that go on after the confirm was received get the same answer.
    let asking = async {
        loop {
            let told = merchant.retry(&meter, "overtaken-1").await;
            assert_eq!(told.refusal(), (404, "transaction_not_found", None));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let overtaken = tokio::select! {
        answer = merchant.confirm(&order) => answer,
        never = asking => never,
    };
    assert_eq!(overtaken.refusal(), (409, "transaction_pending", None));
    assert_eq!(simulator.vends(&meter).await.len(), 0);
    assert_eq!(merchant.rows(), "0|0|0|0|1");

    let afresh = merchant.confirm_afresh(&order).await.expect(200);
    assert_eq!(merchant.retry(&meter, "overtaken-1").await.expect(200).text, afresh.text);
}

#[tokio::test]
async fn nothing_is_sold_or_stored_if_the_provider_cannot_check_the_customer() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let order = merchant.order(&meter).reference("unasked-1");
    for endpoint in ["validate", "confirm"] {
        simulator.will(&meter, &json!({ "fault": "drop_before", "operation": "check" })).await;
        let answer = merchant.post(&format!("/public/v1/purchases/{endpoint}"), &order.body()).await;
        assert_eq!(answer.refusal(), (502, "provider_unavailable", None), "{endpoint}");
        assert_eq!(answer.body["error"]["retryable"], true);
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
    merchant.confirm(&order).await.expect(200);
}
