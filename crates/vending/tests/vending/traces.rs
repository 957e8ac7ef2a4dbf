//! The log lines about a provider's calls name the request that caused them, however much later they are
//! written.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use provider::scripted::NextVend::VendsButReplyIsLost;
use tracing::Instrument;
use tracing_subscriber::fmt::MakeWriter;
use vending::Arrival;

use crate::env::{TestEnv, assert_unknown};

const REQUEST_ID: &str = "traced:0001";

/// The lines that any thread logged under that request id, one JSON object per line. All tests of this
/// program share a log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn lines_with(&self, text: &str) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|line| line.contains(text)).cloned().collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line).into_owned();
        if text.contains(REQUEST_ID) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn the_calls_of_a_purchase_and_of_its_worker_are_logged_under_its_request() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().json().with_writer(log.clone()).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    let arrival = Arrival { request_id: Some(REQUEST_ID.into()), ..env.arrival(Duration::ZERO) };
    let request = tracing::info_span!("request", request_id = REQUEST_ID);
    let bought = env
        .vending
        .confirm(merchant.authority, merchant.request("100.00"), arrival)
        .instrument(request)
        .await;
    assert_unknown(&bought);
    assert_eq!(log.lines_with("an order leaves").len(), 1);

    env.time_passes(Duration::from_secs(5));
    assert_eq!(env.works_once().await, 1);
    let asked = log.lines_with("an enquiry leaves");
    assert_eq!(asked.len(), 1);
    let purchase = format!("\"purchase\":{}", env.sql("SELECT id FROM purchases"));
    for said in ["\"request_id\":\"traced:0001\"", purchase.as_str(), "\"run\":2"] {
        assert!(asked[0].contains(said), "{said}: {asked:?}");
    }
    env.closes().await;
}
