//! What the adapter tells the log, and what it keeps to itself. Alone in its process: what
//! another thread does first decides whether `tracing` asks this thread's subscriber at all.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "transport/connection.rs"]
mod connection;
#[path = "utility/town.rs"]
mod town;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use provider::Provider;
use provider_xmlvend::SoapVersion;
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use utility_sim::{SimulatorSettings, scenario};
use vend::VendOutcome;

use town::{Town, open};

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Page {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn the_log_names_the_order_and_never_the_token_the_password_or_a_body() {
    let page = Page::default();
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(page.clone())
        .with_ansi(false)
        .finish();
    let _while_this_lives = tracing::subscriber::set_default(log);

    let town = Town::open(&SimulatorSettings::default(), SoapVersion::V1_1);
    let order = town.order_for(scenario("active_11_digit").unwrap().number, "BWP 100.00");
    let outcome = town.provider.vend(&order, &open()).await;
    town.script(json!({"fault": "garbage", "operation": "enquiry"})).await;
    town.provider.enquire(town.call(), &order).await;

    let VendOutcome::Vended(vend) = outcome else { panic!("not vended") };
    let written = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
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
