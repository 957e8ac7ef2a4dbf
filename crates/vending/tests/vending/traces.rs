//! The log lines about a provider's calls name the request that caused them, however much later they are
//! written.

use std::time::Duration;

use provider::scripted::NextVend::VendsButReplyIsLost;
use test_kit::log::Log;
use tracing::Instrument;
use vending::Arrival;

use crate::env::{TestEnv, assert_unknown};

const REQUEST_ID: &str = "traced:0001";

#[tokio::test]
async fn the_calls_of_a_purchase_and_of_its_worker_are_logged_under_its_request() {
    let log = Log::of_this_process();
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
    assert_eq!(log.lines_with(&[REQUEST_ID, "an order leaves"]).len(), 1);

    env.time_passes(Duration::from_secs(5));
    assert_eq!(env.works_once().await, 1);
    let asked = log.lines_with(&[REQUEST_ID, "an enquiry leaves"]);
    assert_eq!(asked.len(), 1);
    let purchase = format!("\"purchase\":{}", env.sql("SELECT id FROM purchases"));
    for said in ["\"request_id\":\"traced:0001\"", purchase.as_str(), "\"run\":2"] {
        assert!(asked[0].contains(said), "{said}: {asked:?}");
    }
    env.closes().await;
}
