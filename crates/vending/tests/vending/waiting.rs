//! Callers who wait, give up or vanish, requests that come too late, and an engine that is told to stop:
//! the purchase takes no notice.

use std::time::Duration;

use provider::scripted::NextVend::{NeverArrives, Refuses, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use provider::scripted::{Conduct, Latch};
use purchase::PurchaseRequest;
use vend::RefusalReason;
use vending::{Rejection, RetryError};

use crate::town::{Plan, Town, assert_unknown, assert_unreachable, until};

const MOMENT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_caller_who_has_waited_long_enough_is_told_unknown_while_the_purchase_goes_on() {
    let town = Town::of(Plan::of_short_patience()).await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    assert_unknown(&shop.buys("100.00").await);
    town.comes_to("IN_FLIGHT").await;
    assert_eq!(town.engine.under_way(), 1);
    shop.has("200.00", "101.50");

    answer.open();
    town.comes_to("SUCCESSFUL").await;
    let record = shop.retries().await.unwrap();
    assert_eq!(town.history(record.id), "RESERVED VENDED");
    town.utility.saw(["check", "vend #1"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_caller_who_vanishes_in_mid_vend_changes_nothing() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    tokio::select! {
        outcome = shop.buys("100.00") => panic!("nobody answered it: {outcome:?}"),
        () = town.is_vending() => {}
    }
    answer.open();
    town.comes_to("SUCCESSFUL").await;
    shop.has("98.50", "0");
    assert!(shop.retries().await.is_ok());
    town.utility.saw(["check", "vend #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_caller_who_vanishes_at_any_moment_leaves_a_purchase_that_ends() {
    let town = Town::open().await;
    let shop = town.shop_with("900.00").await;
    for moment in 0..16_u64 {
        let moment = Duration::from_millis(moment);
        let _vanished = tokio::time::timeout(moment, shop.buys("10.00")).await;
        until("nothing is under way", || town.engine.under_way() == 0).await;
    }
    let ended = town.count("purchases WHERE state = 'SUCCESSFUL'");
    assert_eq!(
        (town.count("purchases"), town.utility.vends().len()),
        (ended, usize::try_from(ended).unwrap())
    );
    town.closes().await;
}

#[tokio::test]
async fn a_request_that_took_too_long_to_come_in_holds_nothing_and_is_rejected() {
    let town = Town::open().await;
    town.line.ignores_the_gate();
    let shop = town.shop_with("500.00").await;
    let asked = shop.request("100.00");
    let too_late = shop.confirms_from(Duration::from_millis(20_001), asked.clone()).await;
    assert_eq!(too_late, Err(Rejection::TooLate.into()));
    assert_eq!(town.states(), "");
    town.utility.saw(["check"]);
    shop.has("500.00", "0");
    assert_eq!(shop.retries().await, Err(RetryError::NotFound));

    let other = PurchaseRequest { external_reference: Some("till-3/0002".into()), ..asked };
    shop.confirms_from(Duration::from_secs(20), other).await.unwrap();
    town.utility.saw(["check", "vend #1"]);
    shop.has("398.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn an_order_whose_reserve_took_longer_than_the_gate_is_released_by_whoever_looks() {
    for (length, ignores_the_gate, is_sent) in
        [(1_801, false, false), (1_801, true, false), (1_800, false, true)]
    {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        shop.quotes("100.00").await.unwrap();
        if ignores_the_gate {
            town.line.ignores_the_gate();
        }
        town.wire.holds_back();
        let time_passes = async {
            until("it is about to reserve", || town.wire.held_back() == 1).await;
            town.clock.advance(Duration::from_millis(length));
            town.wire.lets_go();
        };
        let (confirmed, ()) = tokio::join!(shop.buys("100.00"), time_passes);
        assert_eq!((confirmed.is_ok(), town.utility.vends().len()), (is_sent, usize::from(is_sent)));
        assert_eq!(town.states(), if is_sent { "SUCCESSFUL" } else { "FAILED" });
        town.closes().await;
    }
}

#[tokio::test]
async fn an_order_that_waits_too_long_for_its_connection_does_not_leave() {
    for (length, arrived, is_sent) in [(1_800, 0, true), (1_801, 0, false), (1, 20_000, false)] {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        town.line.connects_in_ms(length);
        let confirmed = shop.confirms_from(Duration::from_millis(arrived), shop.request("100.00")).await;
        assert_eq!((confirmed.is_ok(), town.utility.vends().len()), (is_sent, usize::from(is_sent)));
        assert_eq!(town.states(), if is_sent { "SUCCESSFUL" } else { "FAILED" });
        town.closes().await;
    }
}

#[tokio::test]
async fn a_repeat_that_waits_too_long_for_its_connection_does_not_leave() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    // When the plan has the first repeat due, and the second.
    town.time_passes(Duration::from_secs(2));
    town.line.connects_in_ms(1_801);
    assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
    assert_eq!(town.sql("SELECT state, copies FROM purchases"), "IN_DOUBT|1");
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    town.time_passes(Duration::from_secs(18));
    town.line.connects_in_ms(1_800);
    assert!(shop.retries().await.is_ok());
    town.closes().await;
}

#[tokio::test]
async fn a_retry_that_takes_too_long_is_told_so_while_it_goes_on() {
    let town = Town::of(Plan::of_short_patience()).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    town.wire.holds_back();
    assert_unreachable(&shop.retries().await);
    assert_eq!(town.states(), "IN_DOUBT");
    town.wire.lets_go();
    town.comes_to("SUCCESSFUL").await;
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_managed_request_that_came_too_late_is_attempted_never() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    let too_late = shop.confirms_from(Duration::from_secs(21), shop.request("100.00")).await;
    assert_eq!(too_late, Err(Rejection::TooLate.into()));
    assert_eq!(town.states(), "");
    town.utility.saw(["check"]);
    town.closes().await;
}

#[tokio::test]
async fn an_engine_that_is_to_stop_waits_for_the_vend_under_way() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let stopped_meanwhile = async {
        town.is_vending().await;
        assert!(!town.engine.drain(MOMENT).await, "a vend is under way");
        answer.open();
        assert!(town.engine.drain(Duration::from_secs(30)).await);
        assert_eq!(town.states(), "SUCCESSFUL");
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), stopped_meanwhile);
    assert!(confirmed.is_ok());
    town.closes().await;
}

#[tokio::test]
async fn an_engine_that_is_to_stop_waits_until_a_refusal_is_on_record_too() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked)]);
    let vanished = tokio::time::timeout(Duration::ZERO, shop.buys("100.00")).await;
    assert!(vanished.is_err());
    assert!(town.engine.drain(Duration::from_secs(30)).await);
    assert_eq!(town.states(), "FAILED");
    shop.has("200.00", "0");
    town.closes().await;
}
