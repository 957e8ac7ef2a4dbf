//! The exchange between the adapter and a scripted gateway.

use chrono::{TimeZone, Utc};
use money::Money;
use provider::{Gate, Provider};
use vend::{
    CallId, Doubt, Enquiry, Product, ProviderReference, Refusal, RefusalReason, Sale, SubscriberIdentifier,
    Unanswered, VendOrder, VendOutcome,
};

use crate::connection::{adapter, settings};
use crate::gateway::{Does, Gateway, compressed, http};

const VEND_REPLY: &str = include_str!("../fixtures/vend_reply.xml");

/// No program listens here. A port that was only just free could be given to another test's server.
const UNREACHABLE: &str = "http://127.0.0.1:1/";

fn call(minute: u32, number: u32) -> CallId {
    CallId::new(number, Utc.with_ymd_and_hms(2026, 11, 20, 9, minute, 0).unwrap()).unwrap()
}

fn order() -> VendOrder {
    let sale = Sale {
        product: Product::Electricity,
        subscriber: SubscriberIdentifier::parse("14301118432").unwrap(),
        amount: Money::parse_wire("BWP 100.00").unwrap(),
    };
    VendOrder { reference: ProviderReference::new(call(30, 42)), sale }
}

fn open() -> Gate {
    Gate::while_true(|| true)
}

fn never_sent() -> VendOutcome {
    VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent))
}

async fn vend_at(endpoint: &str) -> VendOutcome {
    adapter(settings(endpoint)).vend(&order(), &open()).await
}

async fn vend_with(does: Does) -> (VendOutcome, Gateway) {
    let gateway = Gateway::that(does).await;
    (vend_at(&gateway.endpoint).await, gateway)
}

#[tokio::test]
async fn a_vend_is_one_post_with_a_length_and_without_an_expect_header() {
    let (outcome, gateway) = vend_with(Does::Answers(http("200 OK", VEND_REPLY.as_bytes()))).await;
    assert!(matches!(outcome, VendOutcome::Vended(_)));
    assert_eq!(gateway.connections(), 1);
    let received = gateway.received();
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with("post /xmlvend http/1.1\r\n"), "{head}");
    for line in [
        &format!("content-length: {}", body.len()),
        "content-type: text/xml; charset=utf-8",
        "soapaction: \"creditvendrequest\"",
        "accept-encoding: gzip",
    ] {
        assert!(head.lines().any(|sent| sent == line), "no {line:?} in {head}");
    }
    assert!(!head.contains("expect:") && !head.contains("transfer-encoding"), "{head}");
    assert!(body.contains("uniqueNumber=\"42\"") && body.ends_with("</soap:Envelope>"));
}

#[tokio::test]
async fn what_cannot_be_reached_was_never_sent() {
    let no_tls = Gateway::that(Does::Closes).await.endpoint.replace("http:", "https:");
    for endpoint in [UNREACHABLE, "http://nowhere.invalid/", no_tls.as_str()] {
        assert_eq!(vend_at(endpoint).await, never_sent(), "{endpoint}");
        let sale = order().sale;
        let checked = adapter(settings(endpoint)).check(call(29, 41), sale.product, &sale.subscriber).await;
        assert_eq!(checked, Err(Unanswered::Unreachable), "{endpoint}");
        let enquiry = adapter(settings(endpoint)).enquire(call(29, 41), &order()).await;
        assert_eq!(enquiry, Enquiry::Unanswered(Doubt::ConnectionLost.into()), "{endpoint}");
    }
}

#[tokio::test]
async fn a_closed_gate_sends_no_byte_of_the_order() {
    let gateway = Gateway::that(Does::Answers(http("200 OK", VEND_REPLY.as_bytes()))).await;
    let outcome = adapter(settings(&gateway.endpoint)).vend(&order(), &Gate::while_true(|| false)).await;
    assert_eq!(outcome, never_sent());
    assert!(!gateway.received().contains("Envelope"));
}

#[tokio::test]
async fn the_gate_is_checked_once_after_the_connection_is_open() {
    let gateway = Gateway::that(Does::Answers(http("200 OK", VEND_REPLY.as_bytes()))).await;
    let looked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let gate = Gate::while_true({
        let looked = std::sync::Arc::clone(&looked);
        move || looked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0
    });
    let provider = adapter(settings(&gateway.endpoint));
    assert!(matches!(provider.vend(&order(), &gate).await, VendOutcome::Vended(_)));
    assert_eq!(provider.vend(&order(), &gate).await, never_sent());
    let nowhere = adapter(settings(UNREACHABLE));
    assert_eq!(nowhere.vend(&order(), &gate).await, never_sent());
    assert_eq!(looked.load(std::sync::atomic::Ordering::SeqCst), 2, "no check without a connection");
}

#[tokio::test]
async fn a_connection_closed_unread_is_never_called_a_success_and_never_tried_again() {
    let (outcome, gateway) = vend_with(Does::Closes).await;
    let lost = VendOutcome::Unknown(Doubt::ConnectionLost.into());
    assert!(outcome == lost || outcome == never_sent(), "{outcome:?}");
    assert_eq!(gateway.connections(), 1);
}

#[tokio::test]
async fn a_connection_closed_after_reading_is_doubt_and_is_not_tried_again() {
    let (outcome, gateway) = vend_with(Does::ReadsAndCloses).await;
    assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost));
    assert_eq!(gateway.connections(), 1);
}

#[tokio::test]
async fn half_a_reply_is_doubt() {
    let whole = http("200 OK", VEND_REPLY.as_bytes());
    for end in [5, 40, whole.len() / 2, whole.len() - 1] {
        let (outcome, gateway) = vend_with(Does::Answers(whole[..end].to_vec())).await;
        assert_eq!(outcome.doubt(), Some(Doubt::ConnectionLost), "{end}");
        assert_eq!(gateway.connections(), 1);
    }
    let unmeasured = format!("HTTP/1.1 200 OK\r\n\r\n{}", &VEND_REPLY[..VEND_REPLY.len() / 2]);
    let (outcome, _gateway) = vend_with(Does::Answers(unmeasured.into_bytes())).await;
    assert_eq!(outcome.doubt(), Some(Doubt::Unreadable));
}

#[tokio::test]
async fn silence_and_dripping_end_at_the_deadline_in_doubt() {
    for does in [Does::IsSilent, Does::Drips(http("200 OK", VEND_REPLY.as_bytes()))] {
        let gateway = Gateway::that(does).await;
        let mut impatient = settings(&gateway.endpoint);
        impatient.vend_timeout_ms = 500;
        impatient.enquiry_timeout_ms = 500;
        impatient.connect_timeout_ms = 500;
        let provider = adapter(impatient);
        assert_eq!(provider.vend(&order(), &open()).await.doubt(), Some(Doubt::TimedOut));
        assert_eq!(gateway.connections(), 1);
        let sale = order().sale;
        let unanswered = Err(Unanswered::NoAnswer(Doubt::TimedOut));
        assert_eq!(provider.check(call(29, 41), sale.product, &sale.subscriber).await, unanswered);
    }
}

#[tokio::test]
async fn a_huge_reply_is_doubt_whether_it_is_announced_compressed_or_neither() {
    let huge = vec![b' '; 10 * 1024 * 1024];
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &huge].concat();
    for answer in [http("200 OK", &huge), endless, http("200 OK", &compressed(&huge))] {
        let (outcome, _gateway) = vend_with(Does::Answers(answer)).await;
        assert_eq!(outcome.doubt(), Some(Doubt::Unreadable));
    }
}

#[tokio::test]
async fn a_compressed_reply_is_opened_and_kept_open() {
    let (outcome, _gateway) =
        vend_with(Does::Answers(http("200 OK", &compressed(VEND_REPLY.as_bytes())))).await;
    let VendOutcome::Vended(vend) = outcome else { panic!("{outcome:?}") };
    assert_eq!(vend.raw_reply.0, VEND_REPLY.as_bytes());
}

#[tokio::test]
async fn a_reply_in_chunks_is_read() {
    let (first, second) = VEND_REPLY.split_at(700);
    let answer = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len()
    );
    let (outcome, _gateway) = vend_with(Does::Answers(answer.into_bytes())).await;
    assert!(matches!(outcome, VendOutcome::Vended(_)), "{outcome:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Gateway::that(Does::Answers(http("200 OK", VEND_REPLY.as_bytes()))).await;
    for status in ["301 Moved", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let answer =
            format!("HTTP/1.1 {status}\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", elsewhere.endpoint);
        let (outcome, _gateway) = vend_with(Does::Answers(answer.into_bytes())).await;
        assert_eq!(outcome.doubt(), Some(Doubt::Unreadable), "{status}");
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn the_body_counts_and_not_the_status() {
    for status in ["500 Internal Server Error", "404 Not Found", "202 Accepted"] {
        let (outcome, _gateway) = vend_with(Does::Answers(http(status, VEND_REPLY.as_bytes()))).await;
        assert!(matches!(outcome, VendOutcome::Vended(_)), "{status}: {outcome:?}");
    }
    for status in ["500 Internal Server Error", "401 Unauthorized", "429 Too Many Requests", "200 OK"] {
        for body in ["", "no", "<html/>"] {
            let (outcome, gateway) = vend_with(Does::Answers(http(status, body.as_bytes()))).await;
            assert_eq!(outcome.doubt(), Some(Doubt::Unreadable), "{status}");
            assert_eq!(gateway.connections(), 1);
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_there_before_the_question_proves_nothing() {
    let (outcome, gateway) = vend_with(Does::AnswersUnasked(http("200 OK", b"<html/>"))).await;
    let proven = matches!(outcome, VendOutcome::Vended(_));
    assert!(!proven, "{outcome:?}");
    assert_eq!(gateway.connections(), 1);
}

#[tokio::test]
async fn a_connection_is_used_again_while_it_is_fresh() {
    let gateway = Gateway::that(Does::Serves(http("200 OK", VEND_REPLY.as_bytes()))).await;
    let provider = adapter(settings(&gateway.endpoint));
    for _time in 0..3 {
        assert!(matches!(provider.vend(&order(), &open()).await, VendOutcome::Vended(_)));
    }
    assert_eq!(gateway.connections(), 1);
}

#[tokio::test]
async fn airtime_is_refused_before_anything_is_opened() {
    let gateway = Gateway::that(Does::IsSilent).await;
    let mut airtime = order();
    airtime.sale.product = Product::Airtime;
    let provider = adapter(settings(&gateway.endpoint));
    let refusal = Refusal::because(RefusalReason::Misconfigured);
    assert_eq!(provider.vend(&airtime, &open()).await, VendOutcome::Refused(refusal.clone()));
    let refused = Err(Unanswered::Refused(refusal));
    assert_eq!(provider.quote(call(29, 41), &airtime.sale).await, refused);
    assert_eq!(provider.trial(call(29, 41), &airtime.sale).await, refused);
    assert_eq!(gateway.connections(), 0);
}
