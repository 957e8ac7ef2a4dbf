//! Orders with network faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use provider::{Gate, Provider};
use serde_json::json;
use vend::{Doubt, RefusalReason, Unanswered, VendOutcome};

use super::{Merchant, order, refused};
use crate::counter::{Does, Endpoint, VendorStub, network, success};

/// No program listens here. A port that was only just free could be given to another test's server.
const UNREACHABLE: &str = "http://127.0.0.1:1";

async fn order_that(does: Does) -> (VendOutcome, VendorStub) {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Order, [does]);
    (merchant.vends().await, merchant.vendor)
}

#[tokio::test]
async fn what_cannot_be_reached_was_never_sent() {
    let merchant = Merchant::with(|settings| UNREACHABLE.clone_into(&mut settings.topups_url)).await;
    assert_eq!(merchant.checks().await, Err(Unanswered::Unreachable));
    assert_eq!(merchant.vends().await, refused(RefusalReason::NeverSent));
    let merchant = Merchant::with(|settings| UNREACHABLE.clone_into(&mut settings.auth_url)).await;
    assert_eq!(merchant.checks().await, Err(Unanswered::Unreachable));
    assert_eq!(merchant.vends().await, refused(RefusalReason::NeverSent));
    assert_eq!(merchant.vendor.endpoints(), []);
}

#[tokio::test]
async fn a_closed_gate_sends_no_byte_of_the_order() {
    let merchant = Merchant::open().await;
    let outcome = merchant.provider.vend(&order(), &Gate::while_true(|| false)).await;
    assert_eq!(outcome, refused(RefusalReason::NeverSent));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0);
}

#[tokio::test]
async fn the_gate_is_checked_once_after_everything_else_is_ready() {
    let merchant = Merchant::open().await;
    let looked = Arc::new(AtomicUsize::new(0));
    let gate = Gate::while_true({
        let looked = Arc::clone(&looked);
        move || looked.fetch_add(1, Ordering::SeqCst) == 0
    });
    assert!(matches!(merchant.provider.vend(&order(), &gate).await, VendOutcome::Vended(_)));
    assert_eq!(looked.load(Ordering::SeqCst), 1);
    assert_eq!(merchant.provider.vend(&order(), &gate).await, refused(RefusalReason::NeverSent));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 1);
}

#[tokio::test]
async fn a_gate_that_closes_while_the_network_is_asked_for_stops_the_order() {
    let merchant = Merchant::open().await;
    let Does::Answers(status, body) = network(&json!({})) else { panic!("no answer") };
    merchant.vendor.will(Endpoint::Operator, [Does::AnswersLate(Duration::from_millis(300), status, body)]);
    let asked = Arc::new(AtomicUsize::new(0));
    let closed = Arc::clone(&asked);
    let gate = Gate::while_true(move || closed.load(Ordering::SeqCst) == 0);
    let order = order();
    let (outcome, ()) = tokio::join!(merchant.provider.vend(&order, &gate), async {
        while merchant.vendor.requests_to(Endpoint::Operator) == 0 {
            tokio::task::yield_now().await;
        }
        asked.store(1, Ordering::SeqCst);
    });
    assert_eq!(outcome, refused(RefusalReason::NeverSent));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0);
}

#[tokio::test]
async fn a_connection_closed_after_reading_is_doubt_and_is_not_tried_again() {
    let (outcome, vendor) = order_that(Does::Closes).await;
    assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost));
    assert_eq!(vendor.requests_to(Endpoint::Order), 1);
}

#[tokio::test]
async fn half_a_reply_is_doubt() {
    let body = json!({"transactionId": 1, "status": "FAILED", "customIdentifier": "20261120093000-000042"})
        .to_string();
    let whole = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for end in [5, 40, whole.len() - 1] {
        let (outcome, vendor) = order_that(Does::Says(whole.as_bytes()[..end].to_vec())).await;
        assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost), "{end}");
        assert_eq!(vendor.requests_to(Endpoint::Order), 1);
    }
}

#[tokio::test]
async fn silence_ends_at_the_deadline_in_doubt() {
    let merchant = Merchant::with(|settings| {
        settings.connect_timeout_ms = 500;
        settings.enquiry_timeout_ms = 500;
        settings.vend_timeout_ms = 500;
    })
    .await;
    merchant.vendor.will(Endpoint::Order, [Does::IsSilent]);
    assert_eq!(merchant.vends().await.doubt(), Some(Doubt::TimedOut));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 1);
}

#[tokio::test]
async fn what_an_order_needs_before_is_waited_for_no_longer_than_an_enquiry_may_take() {
    for endpoint in [Endpoint::Access, Endpoint::Operator] {
        let merchant = Merchant::with(|settings| {
            settings.connect_timeout_ms = 300;
            settings.enquiry_timeout_ms = 300;
        })
        .await;
        merchant.vendor.will(endpoint, [Does::IsSilent]);
        assert_eq!(merchant.vends().await, refused(RefusalReason::NeverSent), "{endpoint:?}");
        assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 0);
    }
}

#[tokio::test]
async fn a_huge_reply_is_doubt() {
    let huge = " ".repeat(10 * 1024 * 1024);
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{huge}");
    for does in [Does::Answers(200, huge), Does::Says(endless.into_bytes())] {
        let (outcome, _vendor) = order_that(does).await;
        assert_eq!(outcome.doubt(), Some(Doubt::Unreadable));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = VendorStub::open().await;
    for status in ["301 Moved", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let answer = format!(
            "HTTP/1.1 {status}\r\nLocation: {}/reloadly/topups/topups\r\nContent-Length: 0\r\n\r\n",
            elsewhere.host
        );
        let (outcome, vendor) = order_that(Does::Says(answer.into_bytes())).await;
        assert_eq!(outcome.doubt(), Some(Doubt::Unreadable), "{status}");
        assert_eq!(vendor.requests_to(Endpoint::Order), 1);
    }
    assert_eq!(elsewhere.endpoints(), []);
}

#[tokio::test]
async fn orders_outlive_the_runtime_that_asked_first() {
    let merchant = Arc::new(Merchant::open().await);
    let elsewhere = Arc::clone(&merchant);
    let asking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(elsewhere.checks()).map(|_customer| ())
    });
    let asked = tokio::task::spawn_blocking(move || asking.join().unwrap()).await.unwrap();
    assert_eq!(asked, Ok(()));
    assert!(matches!(merchant.vends().await, VendOutcome::Vended(_)));
    assert_eq!(merchant.vendor.endpoints(), [Endpoint::Access, Endpoint::Operator, Endpoint::Order]);
}

#[tokio::test]
async fn the_success_of_another_order_is_doubt() {
    let merchant = Merchant::open().await;
    let mut others =
        success(r#"{"amount": "10.50", "operatorId": 118, "recipientPhone": {"number": "26771234567"}}"#);
    others["customIdentifier"] = json!("20261120093000-000043");
    merchant.vendor.will(Endpoint::Order, [Does::Answers(200, others.to_string())]);
    assert_eq!(merchant.vends().await.doubt(), Some(Doubt::Mismatched));
}
