//! The table of what retry answers, as far as self-managed accounts reach it.

use std::time::Duration;

use serde_json::json;

use crate::{street::Street, town::town};

#[tokio::test]
async fn a_reference_that_nobody_used_is_not_found_for_that_subscriber_or_that_organisation() {
    let (shop, neighbour) = (town().open_shop().await, town().open_shop().await);
    let (meter, other) = (town().meter(), town().meter());
    shop.confirm(&shop.order(&meter).reference("mine-1")).await.expect(200);
    for (asking, meter, reference) in
        [(&shop, &meter, "mine-2"), (&shop, &other, "mine-1"), (&neighbour, &meter, "mine-1")]
    {
        let answer = asking.retry(meter, reference).await;
        assert_eq!(answer.refusal(), (404, "transaction_not_found", None));
    }
    shop.retry(&meter, "mine-1").await.expect(200);
}

#[tokio::test]
async fn a_successful_purchase_is_told_again_word_for_word_and_nothing_is_bought() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let bought = shop.confirm(&shop.order(&meter).reference("again-1")).await.expect(200);
    for _ in 0..3 {
        let told = shop.retry(&meter, "again-1").await.expect(200);
        assert_eq!(told.text, bought.text);
    }
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&[bought.str("/total")]).await;
}

#[tokio::test]
async fn confirm_sent_again_after_a_success_buys_again_and_retry_tells_of_the_newest() {
    let (shop, meter) = (town().open_shop().await, town().meter());
    let order = shop.order(&meter).reference("twice-1");
    let first = shop.confirm(&order).await.expect(200);
    let second = shop.confirm(&order).await.expect(200);
    assert_ne!(first.str("/product/token"), second.str("/product/token"));
    assert_eq!(shop.retry(&meter, "twice-1").await.expect(200).id(), second.id());
    shop.has_spent(&[first.str("/total"), second.str("/total")]).await;
}

#[tokio::test]
async fn a_failed_purchase_is_told_for_good_in_the_400_class_and_a_fresh_confirm_may_follow() {
    let failures = [
        ("busy", (422, "provider_busy"), (422, "provider_busy")),
        ("account_blocked", (422, "meter_blocked"), (422, "meter_blocked")),
        ("credit_exhausted", (502, "merchant_credit_exhausted"), (422, "merchant_credit_exhausted")),
        ("duplicate", (409, "duplicate_request"), (409, "duplicate_request")),
    ];
    let shop = town().open_shop().await;
    for (scenario, at_first, later) in failures {
        let meter = town().scenario(scenario);
        let order = shop.order(meter).reference("failed-1");
        let confirmed = shop.confirm(&order).await;
        assert_eq!((confirmed.refusal().0, confirmed.refusal().1), at_first);
        for _ in 0..2 {
            let told = shop.retry(meter, "failed-1").await;
            assert_eq!((told.refusal().0, told.refusal().1), later, "{}", told.text);
            assert_eq!(told.body["error"]["retryable"], false);
        }
        let fresh = shop.confirm_afresh(&order).await;
        assert_eq!((fresh.refusal().0, fresh.refusal().1), at_first);
    }
    assert_eq!(shop.balance().await, "BWP 1000000.00");
    assert!(shop.rows().starts_with("8|8|0|0|"), "{}", shop.rows());
}

#[tokio::test]
async fn a_lost_reply_is_enquired_about_and_the_meter_takes_what_was_vended() {
    let (shop, street) = (town().open_shop().await, Street::new());
    let meter = town().scenario("lost_reply");
    let before = street.vended(meter).await;
    let lost = shop.confirm(&shop.order(meter).reference("lost-reply-1")).await;
    assert_eq!(lost.refusal(), (504, "provider_timeout", None));
    let found = shop.retry(meter, "lost-reply-1").await.expect(200);
    let again = shop.retry(meter, "lost-reply-1").await.expect(200);
    assert_eq!(found.text, again.text);
    assert_eq!(street.enters(meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert!(street.vended(meter).await > before);
    shop.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn a_request_that_never_arrived_is_sent_again_under_its_own_reference() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "drop_before" })).await;
    shop.confirm(&shop.order(&meter).reference("lost-1")).await.expect(504);
    assert_eq!(street.vends(&meter).await.len(), 0);
    let attempts = |shop: &crate::shop::Shop| {
        town().asks_the_database(&format!(
            "SELECT t.number, t.provider_reference FROM attempts t JOIN purchases p ON p.id = t.purchase_id
             WHERE p.organisation_id = {}",
            shop.organisation
        ))
    };
    let sent_at_first = attempts(&shop);

    let found = shop.retry_until_settled(&meter, "lost-1").await.expect(200);
    assert_eq!(street.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(attempts(&shop), sent_at_first, "a new reference was used while the old one was unresolved");
    let vends = street.vends(&meter).await;
    assert_eq!(vends.len(), 1);
    assert_eq!(format!("1|{}", vends[0]["reference"].as_str().unwrap()), sent_at_first);
    shop.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn a_request_that_is_lost_every_time_stays_open_with_its_money_held() {
    let (shop, street) = (town().open_shop().await, Street::new());
    let meter = town().scenario("lost_request");
    shop.confirm(&shop.order(meter).reference("always-lost-1")).await.expect(504);
    for _ in 0..2 {
        let told = shop.retry(meter, "always-lost-1").await;
        assert!(
            matches!(told.refusal(), (409, "transaction_pending", None) | (504, "provider_timeout", None)),
            "{}",
            told.text
        );
        assert_eq!(shop.newest_state(), "IN_DOUBT");
    }
    assert_eq!(street.vended(meter).await, 0);
    assert_eq!(shop.balance().await, "BWP 999898.50");
    assert_eq!(shop.rows(), "1|1|0|10150|0");
}

#[tokio::test]
async fn a_provider_that_cannot_be_asked_leaves_the_question_open() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "drop_after" })).await;
    shop.confirm(&shop.order(&meter).reference("deaf-1")).await.expect(504);
    street.will(&meter, &json!({ "fault": "drop_before", "operation": "enquiry" })).await;

    let unreachable = shop.retry(&meter, "deaf-1").await;
    assert_eq!(unreachable.refusal(), (504, "provider_timeout", None));
    assert_eq!(shop.newest_state(), "IN_DOUBT");
    let found = shop.retry_until_settled(&meter, "deaf-1").await.expect(200);
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&[found.str("/total")]).await;
}

#[tokio::test]
async fn an_answer_about_something_else_is_doubt_and_the_truth_is_asked_for() {
    let (shop, street) = (town().open_shop().await, Street::new());
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
        let meter = town().meter();
        street.will(&meter, &json!({ "fault": fault })).await;
        let order = shop.order(&meter).reference("strange-1");
        let strange = shop.confirm(&order).await;
        assert_eq!(strange.refusal(), (504, "provider_timeout", None), "{fault}");
        let found = shop.retry(&meter, "strange-1").await.expect(200);
        assert_eq!(
            street.enters(&meter, found.str("/product/token")).await,
            Ok("credit".to_owned()),
            "{fault}"
        );
        assert_eq!(street.vended(&meter).await, 1, "{fault}");
    }
    shop.has_spent(&["BWP 101.50"; 8]).await;
}

#[tokio::test]
async fn not_found_stays_true_for_a_confirm_that_was_on_its_way_when_it_was_said() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    street.will(&meter, &json!({ "fault": "delay_before", "operation": "check", "delay_ms": 2_000 })).await;
    let order = shop.order(&meter).reference("overtaken-1");
    // Whoever asks all the while is also told so after the confirm has come in.
    let asking = async {
        loop {
            let told = shop.retry(&meter, "overtaken-1").await;
            assert_eq!(told.refusal(), (404, "transaction_not_found", None));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let overtaken = tokio::select! {
        answer = shop.confirm(&order) => answer,
        never = asking => never,
    };
    assert_eq!(overtaken.refusal(), (409, "transaction_pending", None));
    assert_eq!(street.vends(&meter).await.len(), 0);
    assert_eq!(shop.rows(), "0|0|0|0|1");

    let afresh = shop.confirm_afresh(&order).await.expect(200);
    assert_eq!(shop.retry(&meter, "overtaken-1").await.expect(200).text, afresh.text);
}

#[tokio::test]
async fn a_provider_that_cannot_be_asked_about_the_customer_sells_nothing_and_nothing_is_stored() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let order = shop.order(&meter).reference("unasked-1");
    for endpoint in ["validate", "confirm"] {
        street.will(&meter, &json!({ "fault": "drop_before", "operation": "check" })).await;
        let answer = shop.post(&format!("/public/v1/purchases/{endpoint}"), &order.body()).await;
        assert_eq!(answer.refusal(), (502, "provider_unavailable", None), "{endpoint}");
        assert_eq!(answer.body["error"]["retryable"], true);
    }
    assert_eq!(shop.rows(), "0|0|0|0|0");
    shop.confirm(&order).await.expect(200);
}
