//! The access token: requested once, renewed early, and sent only to the endpoints that need it.

use std::time::Duration;

use serde_json::{Value, json};
use vend::{Doubt, Enquiry, RefusalReason, Unanswered, VendOutcome};

use super::{Merchant, not_asked, refused};
use crate::connection::SECRET;
use crate::counter::{Does, Endpoint, Seen, error, grant};

fn passes(seen: &[Seen], endpoint: Endpoint) -> Vec<String> {
    let bearer = |seen: &Seen| {
        seen.head.lines().find_map(|line| line.strip_prefix("authorization: bearer ").map(str::to_owned))
    };
    seen.iter()
        .filter(|seen| seen.endpoint == endpoint)
        .map(|seen| bearer(seen).unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn the_token_is_asked_for_in_json_with_the_audience_and_kept() {
    let merchant = Merchant::open().await;
    merchant.checks().await.unwrap();
    assert!(matches!(merchant.vends().await, VendOutcome::Vended(_)));
    let seen = merchant.vendor.saw();
    assert_eq!(merchant.vendor.endpoints(), [Endpoint::Access, Endpoint::Operator, Endpoint::Order]);
    assert_eq!(seen[0].line, "POST /reloadly/auth/oauth/token HTTP/1.1");
    assert!(seen[0].head.contains("content-type: application/json\r\n"));
    assert!(!seen[0].head.contains("authorization"));
    let audience = format!("{}/reloadly/topups", merchant.vendor.host);
    let expected = json!({
        "client_id": "shop", "client_secret": SECRET, "grant_type": "client_credentials", "audience": audience,
    });
    assert_eq!(serde_json::from_str::<Value>(&seen[0].body).unwrap(), expected);
    for endpoint in [Endpoint::Operator, Endpoint::Order] {
        assert_eq!(passes(&seen, endpoint), ["pass-1"]);
    }
}

#[tokio::test]
async fn concurrent_callers_share_one_token_request() {
    let merchant = Merchant::open().await;
    let Does::Answers(status, body) = grant("shared", 3_600) else { panic!("no answer") };
    merchant.vendor.will(Endpoint::Access, [Does::AnswersLate(Duration::from_millis(200), status, body)]);
    let checks = (0..20).map(|_one| merchant.checks());
    for checked in futures_util::future::join_all(checks).await {
        assert!(checked.is_ok());
    }
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 1);
    assert_eq!(passes(&merchant.vendor.saw(), Endpoint::Operator), vec!["shared"; 20]);
}

#[tokio::test]
async fn waiting_callers_share_a_failed_token_request_and_the_next_caller_retries() {
    let merchant = Merchant::open().await;
    let late = Duration::from_millis(200);
    merchant.vendor.will(Endpoint::Access, [Does::AnswersLate(late, 503, "{}".to_owned())]);
    let checks = (0..10).map(|_one| merchant.checks());
    for checked in futures_util::future::join_all(checks).await {
        assert_eq!(checked, Err(Unanswered::Unreachable));
    }
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 1);
    assert!(merchant.checks().await.is_ok());
    assert_eq!(merchant.vendor.endpoints(), [Endpoint::Access, Endpoint::Access, Endpoint::Operator]);
}

#[tokio::test]
async fn one_caller_renews_a_token_early_and_the_others_use_the_old_one() {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Access, [grant("old", 3_600)]);
    merchant.checks().await.unwrap();
    merchant.clock.advance(Duration::from_secs(3_299));
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 1);
    merchant.clock.advance(Duration::from_secs(1));
    let Does::Answers(status, body) = grant("new", 3_600) else { panic!("no answer") };
    merchant.vendor.will(Endpoint::Access, [Does::AnswersLate(Duration::from_millis(200), status, body)]);
    let (_renewing, _meanwhile) = tokio::join!(merchant.checks(), merchant.checks());
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 2);
    let mut passes = passes(&merchant.vendor.saw(), Endpoint::Operator);
    assert_eq!(passes.split_off(4), ["new"]);
    passes.sort();
    assert_eq!(passes, ["new", "old", "old", "old"]);
}

#[tokio::test]
async fn a_token_whose_renewal_fails_is_used_until_it_expires() {
    let merchant = Merchant::open().await;
    merchant
        .vendor
        .will(Endpoint::Access, [grant("old", 3_600), error(503, "X"), error(503, "X"), error(503, "X")]);
    merchant.checks().await.unwrap();
    merchant.clock.advance(Duration::from_mins(55));
    for _turn in 0..3 {
        merchant.checks().await.unwrap();
    }
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 2);
    merchant.clock.advance(Duration::from_secs(30));
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 3);
    merchant.clock.advance(Duration::from_secs(270));
    assert_eq!(merchant.checks().await, Err(Unanswered::Unreachable));
    assert_eq!(passes(&merchant.vendor.saw(), Endpoint::Operator), vec!["old"; 5]);
}

#[tokio::test]
async fn an_order_does_not_fail_because_a_good_token_cannot_be_renewed() {
    let merchant = Merchant::with(|settings| {
        settings.connect_timeout_ms = 1_000;
        settings.enquiry_timeout_ms = 1_000;
    })
    .await;
    merchant.vendor.will(Endpoint::Access, [grant("old", 3_600), Does::IsSilent]);
    merchant.checks().await.unwrap();
    merchant.clock.advance(Duration::from_mins(55));
    for _order in 0..3 {
        assert!(matches!(merchant.vends().await, VendOutcome::Vended(_)));
    }
    assert_eq!(passes(&merchant.vendor.saw(), Endpoint::Order), vec!["old"; 3]);
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 2);
}

#[tokio::test]
async fn a_short_lived_token_is_renewed_in_the_last_tenth_of_its_life() {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Access, [grant("short", 10)]);
    merchant.checks().await.unwrap();
    merchant.clock.advance(Duration::from_millis(8_999));
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 1);
    merchant.clock.advance(Duration::from_millis(1));
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 2);
}

#[tokio::test]
async fn a_question_whose_token_is_refused_is_put_once_more_under_a_new_one() {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Operator, [error(401, "TOKEN_EXPIRED")]);
    assert!(merchant.checks().await.is_ok());
    assert_eq!(passes(&merchant.vendor.saw(), Endpoint::Operator), ["pass-1", "pass-2"]);
    merchant.vendor.will(Endpoint::Report, [error(401, "INVALID_TOKEN"), error(401, "INVALID_TOKEN")]);
    assert_eq!(merchant.enquires().await.doubt(), Some(Doubt::UnlistedFault));
    assert_eq!(passes(&merchant.vendor.saw(), Endpoint::Report), ["pass-2", "pass-3"]);
    merchant.vendor.will(Endpoint::Operator, [error(401, "INVALID_TOKEN"), error(401, "INVALID_TOKEN")]);
    assert_eq!(merchant.checks().await, Err(not_asked(RefusalReason::Misconfigured)));
    assert_eq!(merchant.vendor.requests_to(Endpoint::Operator), 4);
}

#[tokio::test]
async fn an_old_token_that_is_refused_late_does_not_cost_the_new_one() {
    let merchant = Merchant::open().await;
    merchant.checks().await.unwrap();
    let refused = "{\"errorCode\": \"TOKEN_EXPIRED\"}".to_owned();
    let late = Does::AnswersLate(Duration::from_millis(300), 401, refused);
    merchant.vendor.will(Endpoint::Operator, [error(401, "TOKEN_EXPIRED"), late]);
    let (one, other) = tokio::join!(merchant.checks(), merchant.checks());
    assert!(one.is_ok() && other.is_ok());
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 2);
}

#[tokio::test]
async fn an_order_whose_token_is_refused_is_busy_and_not_sent_again() {
    let merchant = Merchant::open().await;
    merchant.vendor.will(Endpoint::Order, [error(401, "INVALID_TOKEN")]);
    let VendOutcome::Refused(refusal) = merchant.vends().await else { panic!("not refused") };
    assert_eq!(refusal.reason, RefusalReason::Busy);
    assert_eq!(merchant.vendor.requests_to(Endpoint::Order), 1);
    assert!(matches!(merchant.vends().await, VendOutcome::Vended(_)));
    assert_eq!(passes(&merchant.vendor.saw(), Endpoint::Order), ["pass-1", "pass-2"]);
}

#[tokio::test]
async fn without_a_token_no_order_leaves() {
    for (does, reason, unanswered) in [
        (
            error(401, "INVALID_CREDENTIALS"),
            RefusalReason::Misconfigured,
            not_asked(RefusalReason::Misconfigured),
        ),
        (error(400, "invalid_grant"), RefusalReason::Misconfigured, not_asked(RefusalReason::Misconfigured)),
        (error(503, "X"), RefusalReason::NeverSent, Unanswered::Unreachable),
        (Does::Closes, RefusalReason::NeverSent, Unanswered::Unreachable),
        (
            Does::Answers(200, "{}".to_owned()),
            RefusalReason::NeverSent,
            Unanswered::NoAnswer(Doubt::Unreadable),
        ),
        (
            Does::Answers(302, String::new()),
            RefusalReason::NeverSent,
            Unanswered::NoAnswer(Doubt::Unreadable),
        ),
        (grant("line\nbreak", 60), RefusalReason::NeverSent, Unanswered::NoAnswer(Doubt::Unreadable)),
    ] {
        let merchant = Merchant::open().await;
        merchant.vendor.will(Endpoint::Access, [does.clone(), does.clone(), does.clone()]);
        assert_eq!(merchant.vends().await, refused(reason), "{does:?}");
        assert_eq!(merchant.checks().await, Err(unanswered), "{does:?}");
        assert!(matches!(merchant.enquires().await, Enquiry::Unanswered(_)), "{does:?}");
        assert_eq!(merchant.vendor.endpoints(), [Endpoint::Access; 3], "{does:?}");
    }
}

#[tokio::test]
async fn a_token_without_a_stated_lifetime_is_kept_for_a_while() {
    let merchant = Merchant::open().await;
    let without_lifetime = json!({"access_token": "without_lifetime", "token_type": "bearer"});
    merchant.vendor.will(Endpoint::Access, [Does::Answers(200, without_lifetime.to_string())]);
    merchant.checks().await.unwrap();
    merchant.clock.advance(Duration::from_secs(269));
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 1);
    merchant.clock.advance(Duration::from_secs(1));
    merchant.checks().await.unwrap();
    assert_eq!(merchant.vendor.requests_to(Endpoint::Access), 2);
}
