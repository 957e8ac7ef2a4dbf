//! Several workers, and retries beside them: whoever claims a purchase works on it alone, and whoever dies at it is replaced.

use std::time::Duration;

use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use provider::scripted::Latch;
use provider::scripted::NextVend::{NeverArrives, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use vend::Capabilities;
use vending::{RetryError, Vending, VendingSettings, WorkDone};

use crate::town::{ALMOST_A_LEASE, LEASE_AND_MORE, Plan, Town, assert_unknown, until};

const FIRST_LOOK: Duration = Duration::from_secs(5);

#[tokio::test]
async fn workers_side_by_side_share_the_work_and_never_take_the_same_purchase() {
    let town = Town::open().await;
    let shop = town.shop_with("900.00").await;
    shop.is_left_in_doubt_about(0..40).await;
    let others = [town.other_desk().await, town.other_desk().await];
    let hangs = town.line.holds_enquiries();
    town.time_passes(FIRST_LOOK);
    let desks = [&town.vending, &others[0].vending, &others[1].vending];
    let watched = async {
        until("all are claimed", || town.line.held_enquiries() == 40).await;
        for desk in desks {
            assert_eq!(desk.work_once().await, WorkDone::default(), "all are in somebody's hands");
        }
        hangs.open();
    };
    let (done, ()) = tokio::join!(join_all(desks.map(Vending::work_once)), watched);
    assert_eq!(done.iter().map(|done| done.claimed).sum::<usize>(), 40);
    assert_eq!(done.iter().map(|done| done.ended).sum::<usize>(), 40);
    town.every_purchase_was_asked_about_once();
    assert_eq!(town.count("purchase_events WHERE fact = 'CLAIMED'"), 40);
    assert_eq!(town.count("purchases WHERE state = 'SUCCESSFUL' AND fence = 2"), 40);
    town.closes().await;
}

#[tokio::test]
async fn a_vend_that_outlasts_its_lease_stays_its_senders() {
    const LEASE: Duration = Duration::from_millis(1_500);
    const STEP: Duration = Duration::from_millis(50);
    let short = Plan::of_short_patience();
    let settings = VendingSettings { lease_ms: 1_500, ..short.settings };
    let town = Town::of(Plan { settings, ..short }).await;
    let shop = town.shop_with("200.00").await;
    let answers = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answers.clone())]);
    let another = town.other_desk().await;
    let meanwhile = async {
        town.is_vending().await;
        let began = SystemClock.monotonic();
        while SystemClock.monotonic().elapsed_since(began) < 3 * LEASE {
            // The sender measures its leases by this clock, the database by its own.
            town.clock.advance(STEP);
            tokio::time::sleep(STEP).await;
            assert_eq!(another.vending.work_once().await, WorkDone::default(), "its lease is renewed");
        }
        answers.open();
    };
    let (told, ()) = tokio::join!(shop.buys("100.00"), meanwhile);
    assert_unknown(&told);
    town.comes_to("SUCCESSFUL").await;
    let record = shop.retries().await.unwrap();
    assert_eq!(town.history(record.id), "RESERVED VENDED");
    town.closes().await;
}

#[tokio::test]
async fn what_a_killed_worker_had_claimed_is_ended_by_another_once_the_lease_has_run_out() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    let doomed = town.doomed_desk().await;
    let never_answered = town.line.holds_enquiries();
    town.time_passes(FIRST_LOOK);
    let work = doomed.runtime.spawn({
        let vending = doomed.vending.clone();
        async move { vending.work_once().await }
    });
    until("it has claimed and is asking", || town.line.held_enquiries() == 1).await;
    doomed.runtime.shutdown_background();
    assert!(work.await.is_err(), "it died at its work");
    never_answered.open();

    town.time_passes(ALMOST_A_LEASE);
    assert_eq!(town.works_once().await, 0, "nobody knows that it is dead");
    town.time_passes(Duration::from_secs(10));
    assert_eq!(town.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    let record = shop.retries().await.unwrap();
    assert_eq!(town.history(record.id), "RESERVED LOST CLAIMED CLAIMED VENDED");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_worker_that_was_stopped_past_its_lease_changes_nothing_when_it_goes_on() {
    let declared = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };
    let town = Town::of(Plan { declared, ..Plan::default() }).await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.buys("100.00").await.unwrap();
    let sleeper = town.other_desk().await;
    let hangs = town.line.holds_enquiries();
    // When the plan has had a repeat due for ten seconds.
    town.time_passes(Duration::from_secs(70));
    let meanwhile = async {
        until("it is asking", || town.line.held_enquiries() == 1).await;
        // Its question was answered long ago; it has not read the answer.
        sleeper.wire.holds_back();
        hangs.open();
        until("it is about to send again", || sleeper.wire.held_back() == 1).await;
        town.time_passes(LEASE_AND_MORE);
        assert_eq!(town.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
        sleeper.wire.lets_go();
    };
    let (done, ()) = tokio::join!(sleeper.vending.work_once(), meanwhile);
    assert_eq!(done.claimed, 1);
    assert_eq!(town.states(), "SUCCESSFUL");
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "vend #1"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_retry_beside_the_worker_asks_in_its_own_turn_and_they_come_to_one_end() {
    let town = Town::of(Plan::with_turns()).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    let hangs = town.line.holds_enquiries();
    town.time_passes(FIRST_LOOK);
    let meanwhile = async {
        until("the worker is asking", || town.line.held_enquiries() == 1).await;
        let another = async {
            until("the retry is asking too", || town.line.held_enquiries() == 2).await;
            assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))), "the turn is taken");
            hangs.open();
        };
        let (retried, ()) = tokio::join!(shop.retries(), another);
        assert!(retried.is_ok(), "{retried:?}");
    };
    let (done, ()) = tokio::join!(town.vending.work_once(), meanwhile);
    assert_eq!(done, WorkDone { claimed: 1, ended: 1 });
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1"]);
    assert!(shop.retries().await.is_ok());
    town.closes().await;
}
