//! What the adapter writes to the log, and what it never writes.

use provider::Provider;
use provider_xmlvend::SoapVersion;
use serde_json::json;
use test_kit::{log::Log, simulator::open};
use tracing::Level;
use utility_sim::{SimulatorSettings, scenario};
use vend::VendOutcome;

use super::env::start_env;

#[tokio::test]
async fn the_log_never_has_the_token_the_password_or_a_body() {
    let (log, _while_this_lives) = Log::of_this_thread(Level::TRACE);

    let env = start_env(&SimulatorSettings::default(), SoapVersion::V1_1);
    let order = env.order_for(scenario("active_11_digit").unwrap().number, "BWP 100.00");
    let outcome = env.provider.vend(&order, &open()).await;
    env.script(json!({"fault": "garbage", "operation": "enquiry"})).await;
    env.provider.enquire(env.call(), &order).await;

    let VendOutcome::Vended(vend) = outcome else { panic!("not vended") };
    let written = log.text();
    assert!(!written.is_empty(), "nothing was captured");
    let token = vend.tokens.unwrap().wire_form();
    assert_eq!(env.vends().await[0]["tokens"], json!([token]));
    for kept in [token.as_str(), "sandbox1", "creditVendReq", "Envelope"] {
        assert!(!written.contains(kept), "{kept} in the log");
    }
}
