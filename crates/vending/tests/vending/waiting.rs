//! Callers that wait, give up or vanish, requests that come too late, and an engine that is told to stop:
//! none of this affects a purchase in progress.

use std::time::Duration;

use provider::scripted::NextVend::{NeverArrives, Refuses, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use provider::scripted::{Conduct, Latch};
use purchase::PurchaseRequest;
use vend::RefusalReason;
use vending::{Rejection, RetryError};

use crate::env::{Plan, TestEnv, assert_unknown, assert_unreachable, until};

const MOMENT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_caller_that_has_waited_long_enough_is_told_unknown_while_the_purchase_goes_on() {
    let env = TestEnv::of(Plan::of_short_patience()).await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    assert_unknown(&merchant.buys("100.00").await);
    env.comes_to("IN_FLIGHT").await;
    assert_eq!(env.engine.under_way(), 1);
    merchant.has("200.00", "101.50");

    answer.open();
    env.comes_to("SUCCESSFUL").await;
    let record = merchant.retries().await.unwrap();
    assert_eq!(env.history(record.id), "RESERVED VENDED");
    env.utility.saw(["check", "vend #1"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_caller_that_vanishes_in_mid_vend_changes_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    tokio::select! {
        outcome = merchant.buys("100.00") => panic!("it was answered: {outcome:?}"),
        () = env.is_vending() => {}
    }
    answer.open();
    env.comes_to("SUCCESSFUL").await;
    merchant.has("98.50", "0");
    assert!(merchant.retries().await.is_ok());
    env.utility.saw(["check", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_caller_that_vanishes_at_any_moment_leaves_a_purchase_that_ends() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("900.00").await;
    for moment in 0..16_u64 {
        let moment = Duration::from_millis(moment);
        let _vanished = tokio::time::timeout(moment, merchant.buys("10.00")).await;
        until("nothing is under way", || env.engine.under_way() == 0).await;
    }
    let ended = env.count("purchases WHERE state = 'SUCCESSFUL'");
    assert_eq!((env.count("purchases"), env.utility.vends().len()), (ended, usize::try_from(ended).unwrap()));
    env.closes().await;
}

#[tokio::test]
async fn a_request_that_took_too_long_to_come_in_holds_nothing_and_is_rejected() {
    let env = TestEnv::open().await;
    env.line.ignores_the_gate();
    let merchant = env.merchant_with("500.00").await;
    let asked = merchant.request("100.00");
    let too_late = merchant.confirms_from(Duration::from_millis(20_001), asked.clone()).await;
    assert_eq!(too_late, Err(Rejection::TooLate.into()));
    assert_eq!(env.states(), "");
    env.utility.saw(["check"]);
    merchant.has("500.00", "0");
    assert_eq!(merchant.retries().await, Err(RetryError::NotFound));

    let other = PurchaseRequest { external_reference: Some("till-3/0002".into()), ..asked };
    merchant.confirms_from(Duration::from_secs(20), other).await.unwrap();
    env.utility.saw(["check", "vend #1"]);
    merchant.has("398.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn an_order_whose_reserve_took_longer_than_the_gate_is_released() {
    for (length, ignores_the_gate, is_sent) in
        [(1_801, false, false), (1_801, true, false), (1_800, false, true)]
    {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        merchant.quotes("100.00").await.unwrap();
        if ignores_the_gate {
            env.line.ignores_the_gate();
        }
        env.wire.holds_back();
        let time_passes = async {
            until("it is about to reserve", || env.wire.held_back() == 1).await;
            env.clock.advance(Duration::from_millis(length));
            env.wire.lets_continue();
        };
        let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), time_passes);
        assert_eq!((confirmed.is_ok(), env.utility.vends().len()), (is_sent, usize::from(is_sent)));
        assert_eq!(env.states(), if is_sent { "SUCCESSFUL" } else { "FAILED" });
        env.closes().await;
    }
}

#[tokio::test]
async fn an_order_that_waits_too_long_for_its_connection_does_not_leave() {
    for (length, arrived, is_sent) in [(1_800, 0, true), (1_801, 0, false), (1, 20_000, false)] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        env.line.connects_in_ms(length);
        let confirmed =
            merchant.confirms_from(Duration::from_millis(arrived), merchant.request("100.00")).await;
        assert_eq!((confirmed.is_ok(), env.utility.vends().len()), (is_sent, usize::from(is_sent)));
        assert_eq!(env.states(), if is_sent { "SUCCESSFUL" } else { "FAILED" });
        env.closes().await;
    }
}

#[tokio::test]
async fn a_repeat_that_waits_too_long_for_its_connection_does_not_leave() {
    let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    // The plan's first repeat is due now, and its second at the end of the second wait.
    env.time_passes(Duration::from_secs(2));
    env.line.connects_in_ms(1_801);
    assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
    assert_eq!(env.sql("SELECT state, copies FROM purchases"), "IN_DOUBT|1");
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    env.time_passes(Duration::from_secs(18));
    env.line.connects_in_ms(1_800);
    assert!(merchant.retries().await.is_ok());
    env.closes().await;
}

#[tokio::test]
async fn a_retry_that_takes_too_long_is_told_so_while_it_goes_on() {
    let env = TestEnv::of(Plan::of_short_patience()).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    env.wire.holds_back();
    assert_unreachable(&merchant.retries().await);
    assert_eq!(env.states(), "IN_DOUBT");
    env.wire.lets_continue();
    env.comes_to("SUCCESSFUL").await;
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_managed_request_that_came_too_late_is_attempted_never() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    let too_late = merchant.confirms_from(Duration::from_secs(21), merchant.request("100.00")).await;
    assert_eq!(too_late, Err(Rejection::TooLate.into()));
    assert_eq!(env.states(), "");
    env.utility.saw(["check"]);
    env.closes().await;
}

#[tokio::test]
async fn an_engine_that_is_to_stop_waits_for_the_vend_under_way() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let stopped_meanwhile = async {
        env.is_vending().await;
        assert!(!env.engine.drain(MOMENT).await, "a vend is under way");
        answer.open();
        assert!(env.engine.drain(Duration::from_secs(30)).await);
        assert_eq!(env.states(), "SUCCESSFUL");
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), stopped_meanwhile);
    assert!(confirmed.is_ok());
    env.closes().await;
}

#[tokio::test]
async fn an_engine_that_is_to_stop_waits_until_a_refusal_is_on_record_too() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked)]);
    let vanished = tokio::time::timeout(Duration::ZERO, merchant.buys("100.00")).await;
    assert!(vanished.is_err());
    assert!(env.engine.drain(Duration::from_secs(30)).await);
    assert_eq!(env.states(), "FAILED");
    merchant.has("200.00", "0");
    env.closes().await;
}
