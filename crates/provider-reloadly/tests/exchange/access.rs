//! The access token: asked for once, renewed ahead of time, never sent where it should not go.

use std::time::Duration;

use serde_json::{Value, json};
use vend::{Doubt, Enquiry, RefusalReason, Unanswered, VendOutcome};

use crate::connection::SECRET;
use crate::counter::{Does, Door, Seen, error, grant};
use crate::{Shop, not_asked, refused};

fn passes(seen: &[Seen], door: Door) -> Vec<String> {
    let bearer = |seen: &Seen| {
        seen.head.lines().find_map(|line| line.strip_prefix("authorization: bearer ").map(str::to_owned))
    };
    seen.iter().filter(|seen| seen.door == door).map(|seen| bearer(seen).unwrap_or_default()).collect()
}

#[tokio::test]
async fn the_token_is_asked_for_in_json_with_the_audience_and_kept() {
    let shop = Shop::open().await;
    shop.checks().await.unwrap();
    assert!(matches!(shop.vends().await, VendOutcome::Vended(_)));
    let seen = shop.counter.saw();
    assert_eq!(shop.counter.doors(), [Door::Access, Door::Operator, Door::Order]);
    assert_eq!(seen[0].line, "POST /reloadly/auth/oauth/token HTTP/1.1");
    assert!(seen[0].head.contains("content-type: application/json\r\n"));
    assert!(!seen[0].head.contains("authorization"));
    let audience = format!("{}/reloadly/topups", shop.counter.host);
    let expected = json!({
        "client_id": "shop", "client_secret": SECRET, "grant_type": "client_credentials", "audience": audience,
    });
    assert_eq!(serde_json::from_str::<Value>(&seen[0].body).unwrap(), expected);
    for door in [Door::Operator, Door::Order] {
        assert_eq!(passes(&seen, door), ["pass-1"]);
    }
}

#[tokio::test]
async fn many_who_need_a_token_at_once_ask_for_one() {
    let shop = Shop::open().await;
    let Does::Answers(status, body) = grant("shared", 3_600) else { panic!("no answer") };
    shop.counter.will(Door::Access, [Does::AnswersLate(Duration::from_millis(200), status, body)]);
    let checks = (0..20).map(|_one| shop.checks());
    for checked in futures_util::future::join_all(checks).await {
        assert!(checked.is_ok());
    }
    assert_eq!(shop.counter.knocks(Door::Access), 1);
    assert_eq!(passes(&shop.counter.saw(), Door::Operator), vec!["shared"; 20]);
}

#[tokio::test]
async fn who_waited_for_a_token_in_vain_does_not_ask_again_and_the_next_one_does() {
    let shop = Shop::open().await;
    let late = Duration::from_millis(200);
    shop.counter.will(Door::Access, [Does::AnswersLate(late, 503, "{}".to_owned())]);
    let checks = (0..10).map(|_one| shop.checks());
    for checked in futures_util::future::join_all(checks).await {
        assert_eq!(checked, Err(Unanswered::Unreachable));
    }
    assert_eq!(shop.counter.knocks(Door::Access), 1);
    assert!(shop.checks().await.is_ok());
    assert_eq!(shop.counter.doors(), [Door::Access, Door::Access, Door::Operator]);
}

#[tokio::test]
async fn a_token_is_renewed_ahead_of_its_end_by_one_and_used_on_by_the_others() {
    let shop = Shop::open().await;
    shop.counter.will(Door::Access, [grant("old", 3_600)]);
    shop.checks().await.unwrap();
    shop.clock.advance(Duration::from_secs(3_299));
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 1);
    shop.clock.advance(Duration::from_secs(1));
    let Does::Answers(status, body) = grant("new", 3_600) else { panic!("no answer") };
    shop.counter.will(Door::Access, [Does::AnswersLate(Duration::from_millis(200), status, body)]);
    let (_renewing, _meanwhile) = tokio::join!(shop.checks(), shop.checks());
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 2);
    let mut passes = passes(&shop.counter.saw(), Door::Operator);
    assert_eq!(passes.split_off(4), ["new"]);
    passes.sort();
    assert_eq!(passes, ["new", "old", "old", "old"]);
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_used_to_its_end_and_renewing_is_not_tried_at_every_turn() {
    let shop = Shop::open().await;
    shop.counter.will(Door::Access, [grant("old", 3_600), error(503, "X"), error(503, "X"), error(503, "X")]);
    shop.checks().await.unwrap();
    shop.clock.advance(Duration::from_mins(55));
    for _turn in 0..3 {
        shop.checks().await.unwrap();
    }
    assert_eq!(shop.counter.knocks(Door::Access), 2);
    shop.clock.advance(Duration::from_secs(30));
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 3);
    shop.clock.advance(Duration::from_secs(270));
    assert_eq!(shop.checks().await, Err(Unanswered::Unreachable));
    assert_eq!(passes(&shop.counter.saw(), Door::Operator), vec!["old"; 5]);
}

#[tokio::test]
async fn an_order_does_not_fail_because_a_good_token_cannot_be_renewed() {
    let shop = Shop::with(|settings| {
        settings.connect_timeout_ms = 1_000;
        settings.enquiry_timeout_ms = 1_000;
    })
    .await;
    shop.counter.will(Door::Access, [grant("old", 3_600), Does::IsSilent]);
    shop.checks().await.unwrap();
    shop.clock.advance(Duration::from_mins(55));
    for _order in 0..3 {
        assert!(matches!(shop.vends().await, VendOutcome::Vended(_)));
    }
    assert_eq!(passes(&shop.counter.saw(), Door::Order), vec!["old"; 3]);
    assert_eq!(shop.counter.knocks(Door::Access), 2);
}

#[tokio::test]
async fn a_short_lived_token_is_renewed_in_the_last_tenth_of_its_life() {
    let shop = Shop::open().await;
    shop.counter.will(Door::Access, [grant("short", 10)]);
    shop.checks().await.unwrap();
    shop.clock.advance(Duration::from_millis(8_999));
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 1);
    shop.clock.advance(Duration::from_millis(1));
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 2);
}

#[tokio::test]
async fn a_question_whose_token_is_refused_is_put_once_more_under_a_new_one() {
    let shop = Shop::open().await;
    shop.counter.will(Door::Operator, [error(401, "TOKEN_EXPIRED")]);
    assert!(shop.checks().await.is_ok());
    assert_eq!(passes(&shop.counter.saw(), Door::Operator), ["pass-1", "pass-2"]);
    shop.counter.will(Door::Report, [error(401, "INVALID_TOKEN"), error(401, "INVALID_TOKEN")]);
    assert_eq!(shop.enquires().await.doubt(), Some(Doubt::UnlistedFault));
    assert_eq!(passes(&shop.counter.saw(), Door::Report), ["pass-2", "pass-3"]);
    shop.counter.will(Door::Operator, [error(401, "INVALID_TOKEN"), error(401, "INVALID_TOKEN")]);
    assert_eq!(shop.checks().await, Err(not_asked(RefusalReason::Misconfigured)));
    assert_eq!(shop.counter.knocks(Door::Operator), 4);
}

#[tokio::test]
async fn an_old_token_that_is_refused_late_does_not_cost_the_new_one() {
    let shop = Shop::open().await;
    shop.checks().await.unwrap();
    let refused = "{\"errorCode\": \"TOKEN_EXPIRED\"}".to_owned();
    let late = Does::AnswersLate(Duration::from_millis(300), 401, refused);
    shop.counter.will(Door::Operator, [error(401, "TOKEN_EXPIRED"), late]);
    let (one, other) = tokio::join!(shop.checks(), shop.checks());
    assert!(one.is_ok() && other.is_ok());
    assert_eq!(shop.counter.knocks(Door::Access), 2);
}

#[tokio::test]
async fn an_order_whose_token_is_refused_is_busy_and_not_sent_again() {
    let shop = Shop::open().await;
    shop.counter.will(Door::Order, [error(401, "INVALID_TOKEN")]);
    let VendOutcome::Refused(refusal) = shop.vends().await else { panic!("not refused") };
    assert_eq!(refusal.reason, RefusalReason::Busy);
    assert_eq!(shop.counter.knocks(Door::Order), 1);
    assert!(matches!(shop.vends().await, VendOutcome::Vended(_)));
    assert_eq!(passes(&shop.counter.saw(), Door::Order), ["pass-1", "pass-2"]);
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
        let shop = Shop::open().await;
        shop.counter.will(Door::Access, [does.clone(), does.clone(), does.clone()]);
        assert_eq!(shop.vends().await, refused(reason), "{does:?}");
        assert_eq!(shop.checks().await, Err(unanswered), "{does:?}");
        assert!(matches!(shop.enquires().await, Enquiry::Unanswered(_)), "{does:?}");
        assert_eq!(shop.counter.doors(), [Door::Access; 3], "{does:?}");
    }
}

#[tokio::test]
async fn a_token_whose_life_is_not_told_is_kept_for_a_while() {
    let shop = Shop::open().await;
    let untold = json!({"access_token": "untold", "token_type": "bearer"});
    shop.counter.will(Door::Access, [Does::Answers(200, untold.to_string())]);
    shop.checks().await.unwrap();
    shop.clock.advance(Duration::from_secs(269));
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 1);
    shop.clock.advance(Duration::from_secs(1));
    shop.checks().await.unwrap();
    assert_eq!(shop.counter.knocks(Door::Access), 2);
}
