//! What the adapter tells the log, and what it keeps to itself. Alone in its process: what
//! another thread does first decides whether `tracing` asks this thread's subscriber at all.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "transport/connection.rs"]
mod connection;
#[path = "utility/town.rs"]
mod town;

use std::fs::{self, File};

use provider::Provider;
use provider_xmlvend::SoapVersion;
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;
use utility_sim::{SimulatorSettings, scenario};
use vend::VendOutcome;

use town::{Town, open};

#[tokio::test]
async fn the_log_names_the_order_and_never_the_token_the_password_or_a_body() {
    let page = concat!(env!("CARGO_TARGET_TMPDIR"), "/xmlvend.log");
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(File::create(page).unwrap())
        .with_ansi(false)
        .finish();
    let _while_this_lives = tracing::subscriber::set_default(log);

    let town = Town::open(&SimulatorSettings::default(), SoapVersion::V1_1);
    let order = town.order_for(scenario("active_11_digit").unwrap().number, "BWP 100.00");
    let outcome = town.provider.vend(&order, &open()).await;
    town.script(json!({"fault": "garbage", "operation": "enquiry"})).await;
    town.provider.enquire(town.call(), &order).await;

    let VendOutcome::Vended(vend) = outcome else { panic!("not vended") };
    let written = fs::read_to_string(page).unwrap();
    for told in [
        r#"vend reference=20261120093000-000001 outcome="vended""#,
        "outcome=\"unanswered\" why=\"unreadable\"",
    ] {
        assert!(written.contains(told), "no {told} in {written}");
    }
    let token = vend.tokens.unwrap().wire_form();
    assert_eq!(town.vends().await[0]["tokens"], json!([token]));
    for kept in [token.as_str(), "sandbox1", "creditVendReq", "Envelope"] {
        assert!(!written.contains(kept), "{kept} in the log");
    }
}
