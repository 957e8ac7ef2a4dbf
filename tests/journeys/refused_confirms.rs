//! A confirm that made no purchase. The operator finds it when the integrator asks about it.

use acceptance::surface::Surface;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    operator::Operator,
    request_body::RequestBody,
};

/// The lines of `vendctl refusals list`, once there are `number` of them.
async fn listed(operator: &Operator, number: usize, words: &str) -> Vec<Value> {
    let list = || operator.shows(&format!("refusals list {words}")).as_array().unwrap().clone();
    eventually("the refusals are stored", async || list().len() >= number).await;
    let lines = list();
    assert_eq!(lines.len(), number, "{lines:?}");
    lines
}

async fn confirm(merchant: &Merchant, order: &RequestBody, request_id: &str) {
    let headers = [("X-Request-Id", request_id)];
    let answer = merchant.send(Method::POST, merchant.surface.confirm(), Some(&order.body()), &headers).await;
    assert!((400..500).contains(&answer.status), "{}", answer.text);
}

#[tokio::test]
async fn the_operator_finds_a_refused_confirm_by_its_reference_and_its_subscriber() {
    let operator = Operator::at_the_prompt();
    for surface in Surface::ALL {
        let merchant = env().open_merchant_on(surface).await;
        let (unknown, meter, code) = (env().scenario("not_found"), env().meter(), merchant.code.clone());
        confirm(&merchant, &merchant.order(unknown).reference(&format!("lost-{code}")), "till 7, sale 1")
            .await;
        let too_much = merchant.order(&meter).reference(&format!("dear-{code}")).amount("2000000");
        confirm(&merchant, &too_much, "sale-2").await;
        confirm(&merchant, &merchant.order(&meter).reference(&format!("odd-{code}")).amount("-1"), "sale-3")
            .await;
        merchant.validate(&merchant.order(unknown)).await.expect(404);
        assert_eq!(merchant.rows(), "0|0|0|0|0");

        let [lost] = &listed(&operator, 1, &format!("--reference lost-{code}")).await[..] else { panic!() };
        let provider = match surface {
            Surface::V1 => json!("BPC"),
            Surface::Current => Value::Null,
        };
        let expected = [
            ("organisation", json!(code)),
            ("client", json!(merchant.credentials.client_id)),
            ("user", json!(merchant.credentials.identifier)),
            ("subscriber", json!(unknown)),
            ("product", json!("ELECTRICITY")),
            ("provider", provider),
            ("amount", json!("BWP 100.00")),
            ("code", json!("meter_not_found")),
            ("param", Value::Null),
            ("request_id", json!("till 7, sale 1")),
        ];
        for (name, value) in expected {
            assert_eq!(lost[name], value, "{name} of {lost}");
        }
        let told: Vec<Value> = listed(&operator, 2, &format!("-o {code} --subscriber {meter}")).await;
        let codes: Vec<&Value> = told.iter().map(|line| &line["code"]).collect();
        assert_eq!(codes, [&json!("invalid_amount"), &json!("insufficient_balance")]);
        assert_eq!((&told[0]["amount"], &told[0]["param"]), (&Value::Null, &json!("amount")));
    }
}

#[tokio::test]
async fn what_made_a_purchase_is_no_refused_confirm() {
    let (operator, merchant) = (Operator::at_the_prompt(), env().open_merchant().await);
    merchant.confirm(&merchant.order(&env().meter()).reference("bought")).await.expect(200);
    merchant
        .confirm(&merchant.order(env().scenario("account_blocked")).reference("failed"))
        .await
        .expect(422);
    confirm(&merchant, &merchant.order(env().scenario("not_found")).reference("refused"), "the last").await;
    let lines = listed(&operator, 1, &format!("-o {}", merchant.code)).await;
    assert_eq!(lines[0]["external_reference"], "refused");
}
