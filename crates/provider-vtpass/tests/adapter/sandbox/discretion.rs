//! What the adapter writes to the log, and what it never writes.

use provider::Provider;
use serde_json::json;
use test_kit::{log::Log, simulator::open};
use tracing::Level;
use utility_sim::scenario;
use vend::VendOutcome;

use super::env::{simulator, start_env};

#[tokio::test]
async fn the_log_never_has_the_meter_the_keys_the_token_or_a_body() {
    let (log, _while_this_lives) = Log::of_this_thread(Level::TRACE);

    let settings = simulator();
    let env = start_env(&settings);
    let meter = scenario("active_11_digit").expect("a meter of the sandbox").number;
    let order = env.order_for(meter, "NGN 100.00");
    let outcome = env.provider.vend(&order, &open()).await;
    env.script(json!({"fault": "garbage", "operation": "enquiry"})).await;
    env.provider.enquire(env.call(), &order).await;

    let VendOutcome::Vended(vend) = outcome else { panic!("{outcome:?}") };
    let token = vend.tokens.expect("electricity has a token").wire_form();
    let written = log.text();
    assert!(!written.is_empty(), "nothing was captured");
    let keys = [settings.vtpass.api_key.expose(), settings.vtpass.secret_key.expose()];
    for hidden in [meter, token.as_str(), keys[0], keys[1], "requestId", "billersCode"] {
        assert!(!written.contains(hidden), "{hidden} in the log");
    }
}
