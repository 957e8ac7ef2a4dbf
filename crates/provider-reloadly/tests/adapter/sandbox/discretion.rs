//! What the adapter writes to the log, and what it never writes.

use provider::Provider;
use serde_json::json;
use test_kit::{log::Log, simulator::open};
use tracing::Level;
use utility_sim::SimulatorSettings;
use vend::{Product, SubscriberIdentifier, VendOutcome};

use super::env::start_env;

#[tokio::test]
async fn the_log_never_has_the_number_the_secret_the_token_or_a_body() {
    let (log, _while_this_lives) = Log::of_this_thread(Level::TRACE);

    let env = start_env(&SimulatorSettings::default());
    let order = env.order_for("26771000011", "BWP 10.00");
    env.script(json!({"fault": "http_500_after", "operation": "token"})).await;
    let subscriber = SubscriberIdentifier::parse("26771000011").unwrap();
    assert!(env.provider.check(env.call(), Product::Airtime, &subscriber).await.is_err());
    let outcome = env.provider.vend(&order, &open()).await;
    env.script(json!({"fault": "garbage", "operation": "enquiry"})).await;
    env.provider.enquire(env.call(), &order).await;

    assert!(matches!(outcome, VendOutcome::Vended(_)), "{outcome:?}");
    assert_eq!(env.vends().await.len(), 1);
    let written = log.text();
    assert!(written.contains("no new access token why=no access token came"), "{written}");
    let secret = SimulatorSettings::default().airtime.client_secret;
    for hidden in
        ["71000011", secret.expose(), "airtime-", "Bearer", "customIdentifier", "client_credentials"]
    {
        assert!(!written.contains(hidden), "{hidden} in the log");
    }
}
