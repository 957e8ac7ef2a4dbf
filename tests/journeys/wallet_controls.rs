//! The sandbox's controls over wallets: any balance by request, moved as an operator moves money.

use reqwest::header::CONTENT_TYPE;
use sandbox::http_client;
use serde_json::{Value, json};

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    simulator::SimulatorClient,
};

impl Merchant {
    /// Asks the controls for something about this merchant's wallet. Returns the status and the body.
    async fn controls(&self, what: &str, body: &Value) -> (u16, Value) {
        control(&format!("/wallets/{}/{what}", self.account), body).await
    }
}

async fn control(path: &str, body: &Value) -> (u16, Value) {
    let url = format!("{}{path}", env().info().control_url);
    let request = http_client().unwrap().post(url).header(CONTENT_TYPE, "application/json");
    let response = request.body(body.to_string()).send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or(Value::Null))
}

#[tokio::test]
async fn a_tester_sets_a_balance_and_sees_a_refusal_for_lack_of_money_and_a_low_wallet() {
    let merchant = env().open_merchant().await;
    assert_eq!(
        merchant.controls("low-balance", &json!({ "low_balance": "50.00" })).await,
        (204, Value::Null)
    );
    let (status, wallet) = merchant.controls("balance", &json!({ "balance": 100.00 })).await;
    assert_eq!(
        (status, &wallet["balance"], &wallet["available"]),
        (200, &"BWP 100.00".into(), &"BWP 100.00".into())
    );
    let order = merchant.order(&env().meter()).amount("100.00");
    assert_eq!(merchant.confirm(&order).await.refusal().1, "insufficient_balance");

    let (status, wallet) = merchant.controls("balance", &json!({ "balance": "0" })).await;
    assert_eq!((status, &wallet["balance"]), (200, &"BWP 0.00".into()));
    eventually("the wallet is reported low", async || {
        let told = merchant.get("/public/v1/events?types=wallet.low").await.expect(200);
        told.body["data"].as_array().unwrap().len() == 1
    })
    .await;
    merchant.controls("balance", &json!({ "balance": "150.00" })).await;
    merchant.confirm(&order.reference("enough")).await.expect(200);
    assert_eq!(merchant.balance().await, "BWP 48.50");

    // Each change is a posting, so the statement explains the balance.
    let posted = env().asks_the_database(&format!(
        "SELECT string_agg(e.kind || ' ' || p.amount, ', ' ORDER BY p.entry_id) FROM postings p JOIN journal_entries e ON e.id = p.entry_id
         WHERE {0} IN (p.debit_account_id, p.credit_account_id) AND e.kind <> 'SETTLE'",
        merchant.account
    ));
    assert_eq!(posted, "TOP_UP 100000000, ADJUST 99990000, ADJUST 10000, TOP_UP 15000");
}

#[tokio::test]
async fn what_is_held_is_not_taken_from_a_wallet_and_a_wrong_request_changes_nothing() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    SimulatorClient::new().will(&meter, &json!({ "fault": "drop_after" })).await;
    merchant.confirm(&merchant.order(&meter).amount("100.00").reference("open-1")).await.expect(504);
    let (status, refused) = merchant.controls("balance", &json!({ "balance": "101.49" })).await;
    let why = refused["error"].as_str().unwrap();
    assert_eq!(status, 409, "{why}");
    assert!(why.contains("BWP 101.50 is held for open purchases"), "{why}");

    for (body, status, says) in [
        (json!({ "balance": "-5" }), 400, "balance: the amount is not a plain decimal number"),
        (json!({ "balance": 0.001 }), 400, "balance: the amount is finer"),
        (json!({}), 400, "missing field `balance`"),
        (json!({ "balance": 1, "currency": "BWP" }), 400, "unknown field `currency`"),
    ] {
        let (answered, refused) = merchant.controls("balance", &body).await;
        assert!(answered == status && refused["error"].as_str().unwrap().contains(says), "{body}: {refused}");
    }
    for number in ["999999999", "x"] {
        let (status, refused) =
            control(&format!("/wallets/{number}/balance"), &json!({ "balance": 1 })).await;
        assert_eq!(status, 404, "{refused}");
    }
    assert_eq!(merchant.balance().await, "BWP 999898.50");

    let (status, wallet) = merchant.controls("balance", &json!({ "balance": "101.50" })).await;
    assert_eq!(
        (status, &wallet["available"], &wallet["held"]),
        (200, &"BWP 0.00".into(), &"BWP 101.50".into())
    );
    merchant.retry_until_settled(&meter, "open-1").await.expect(200);
    assert_eq!(merchant.balance().await, "BWP 0.00");
}
