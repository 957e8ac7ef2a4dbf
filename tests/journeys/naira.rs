//! Electricity in naira over VTpass: the same requests as over XMLVend, with a provider of another kind. Nothing is declared
//! about it, so only its own word about an order counts.

use sandbox::Process;
use serde_json::json;

use crate::{
    env::env, merchant::Merchant, operator::Operator, request_body::RequestBody, simulator::SimulatorClient,
};

const PROVIDER: &str = "IKEJA";

/// A server that has a connection to the provider, which is the simulated aggregator.
fn server() -> Process {
    let base_url = format!("{}/vtpass/api", env().info().simulator_url);
    env().another_api_server_with(
        "naira",
        &[
            ("VENDGATE__PROVIDERS__IKEJA__VTPASS__BASE_URL", &base_url),
            ("VENDGATE__PROVIDERS__IKEJA__VTPASS__API_KEY", "sandbox-vtpass-key"),
            ("VENDGATE__PROVIDERS__IKEJA__VTPASS__SECRET_KEY", "SK_sandbox-vtpass-secret"),
            ("VENDGATE__PROVIDERS__IKEJA__VTPASS__SERVICE_ID", "ikeja-electric"),
            ("VENDGATE__PROVIDERS__IKEJA__VTPASS__PHONE", "08011111111"),
        ],
    )
}

fn order(merchant: &Merchant, meter: &str) -> RequestBody {
    let order = merchant.order(meter).with("currency", "\"NGN\"");
    order.with("provider_code", &format!("\"{PROVIDER}\""))
}

#[tokio::test]
async fn a_lost_reply_of_an_aggregator_is_settled_by_retry_and_charged_once() {
    let (operator, simulator, meter) = (Operator::at_the_prompt(), SimulatorClient::new(), env().meter());
    operator.does(&format!("provider declare {PROVIDER} --name Ikeja"));
    let onboarded = operator.onboards_with("NAIRA1", &meter, PROVIDER, "NGN").await;
    let account = onboarded.account;
    operator.does(&format!("wallet top-up {account} 1000000.00 --currency NGN --id NAIRA-1"));
    let server = server();
    let merchant = onboarded.calling(server.url());
    assert_eq!(merchant.balance().await, "NGN 1000000.00");

    let quote = merchant.validate(&order(&merchant, &meter)).await.expect(200);
    assert_eq!(quote.str("/total"), "NGN 101.50");
    assert!(quote.body.pointer("/product/units").is_none(), "{}", quote.text);
    assert_eq!(simulator.vended(&meter).await, 0);

    simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    let lost = merchant.confirm(&order(&merchant, &meter).reference("naira-1")).await;
    assert_eq!(lost.refusal(), (504, "provider_timeout", None));
    let found = merchant.retry_until_settled(&meter, "naira-1").await.expect(200);
    assert_eq!(found.str("/status"), "SUCCESSFUL");
    assert_eq!(found.str("/product/provider"), PROVIDER);
    assert!(found.str("/product/units").ends_with(" kWh"), "{}", found.text);
    assert_eq!(merchant.retry(&meter, "naira-1").await.expect(200).text, found.text);
    assert_eq!(simulator.vended(&meter).await, 1);
    assert_eq!(simulator.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(merchant.balance().await, "NGN 999898.50");

    let bought = merchant.confirm(&order(&merchant, &meter)).await.expect(200);
    assert_eq!(bought.str("/total"), "NGN 101.50");
    assert_eq!(simulator.enters(&meter, bought.str("/product/token")).await, Ok("credit".to_owned()));

    simulator.will(&meter, &json!({ "fault": "refuse" })).await;
    let failed = merchant.confirm(&order(&merchant, &meter).reference("naira-2")).await;
    assert_eq!(failed.refusal().0, 422, "{}", failed.text);
    assert_eq!(merchant.balance().await, "NGN 999797.00");
}
