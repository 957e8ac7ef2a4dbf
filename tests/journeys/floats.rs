//! Our credit at the utility: no call asks for it, and each vend mentions it.

use serde_json::Value;

use crate::env::{env, eventually, vendctl};

#[tokio::test]
async fn an_operator_sees_the_credit_that_the_utility_has_mentioned_in_a_vend() {
    let merchant = env().open_merchant().await;
    let before = env().asks_the_database("SELECT clock_timestamp()");
    merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    let told =
        format!("SELECT count(*) FROM provider_floats WHERE provider_code = 'BPC' AND told_at > '{before}'");
    eventually("the server has stored it", async || env().asks_the_database(&told) == "1").await;
    let output = vendctl(&env().info().operator_settings)
        .args(["--json", "provider", "show", "BPC"])
        .output()
        .unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let float = &shown["floats"][0];
    assert_eq!((&float["currency"], &float["is_low"]), (&Value::from("BWP"), &Value::from(false)), "{shown}");
    // The simulated utility began with a thousand million.
    assert!(float["amount"].as_str().unwrap().starts_with("BWP 9999"), "{shown}");
}
