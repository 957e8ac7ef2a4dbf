//! Several workers, and retries beside them: the process that claims a purchase works on it alone, and
//! another process replaces it if it dies.

use std::time::Duration;

use clock::{Clock, SystemClock};
use futures_util::future::join_all;
use provider::scripted::Latch;
use provider::scripted::NextVend::{NeverArrives, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use vend::Capabilities;
use vending::{RetryError, Vending, VendingSettings, WorkDone};

use crate::env::{ALMOST_A_LEASE, LEASE_AND_MORE, Plan, TestEnv, assert_unknown, until};

const FIRST_LOOK: Duration = Duration::from_secs(5);

#[tokio::test]
async fn workers_side_by_side_share_the_work_and_never_take_the_same_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("900.00").await;
    merchant.is_left_in_doubt_about(0..40).await;
    let others = [env.other_process().await, env.other_process().await];
    let hangs = env.line.holds_enquiries();
    env.time_passes(FIRST_LOOK);
    let processes = [&env.vending, &others[0].vending, &others[1].vending];
    let watched = async {
        until("all are claimed", || env.line.held_enquiries() == 40).await;
        for process in processes {
            assert_eq!(process.work_once().await, WorkDone::default(), "every purchase is claimed");
        }
        hangs.open();
    };
    let (done, ()) = tokio::join!(join_all(processes.map(Vending::work_once)), watched);
    assert_eq!(done.iter().map(|done| done.claimed).sum::<usize>(), 40);
    assert_eq!(done.iter().map(|done| done.ended).sum::<usize>(), 40);
    env.every_purchase_was_asked_about_once();
    assert_eq!(env.count("purchase_events WHERE fact = 'CLAIMED'"), 40);
    assert_eq!(env.count("purchases WHERE state = 'SUCCESSFUL' AND fence = 2"), 40);
    env.closes().await;
}

#[tokio::test]
async fn a_vend_that_outlasts_its_lease_stays_its_senders() {
    const LEASE: Duration = Duration::from_millis(1_500);
    const STEP: Duration = Duration::from_millis(50);
    let short = Plan::of_short_patience();
    let settings = VendingSettings { lease_ms: 1_500, ..short.settings };
    let env = TestEnv::of(Plan { settings, ..short }).await;
    let merchant = env.merchant_with("200.00").await;
    let answers = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answers.clone())]);
    let another = env.other_process().await;
    let meanwhile = async {
        env.is_vending().await;
        let began = SystemClock.monotonic();
        while SystemClock.monotonic().elapsed_since(began) < 3 * LEASE {
            // The sender measures its leases by this clock, and the database by its own clock.
            env.clock.advance(STEP);
            tokio::time::sleep(STEP).await;
            assert_eq!(another.vending.work_once().await, WorkDone::default(), "its lease is renewed");
        }
        answers.open();
    };
    let (told, ()) = tokio::join!(merchant.buys("100.00"), meanwhile);
    assert_unknown(&told);
    env.comes_to("SUCCESSFUL").await;
    let record = merchant.retries().await.unwrap();
    assert_eq!(env.history(record.id), "RESERVED VENDED");
    env.closes().await;
}

#[tokio::test]
async fn what_a_killed_worker_had_claimed_is_ended_by_another_once_the_lease_has_run_out() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    let doomed = env.doomed_process().await;
    let never_answered = env.line.holds_enquiries();
    env.time_passes(FIRST_LOOK);
    let work = doomed.runtime.spawn({
        let vending = doomed.vending.clone();
        async move { vending.work_once().await }
    });
    until("it has claimed and is asking", || env.line.held_enquiries() == 1).await;
    doomed.runtime.shutdown_background();
    assert!(work.await.is_err(), "it died at its work");
    never_answered.open();

    env.time_passes(ALMOST_A_LEASE);
    assert_eq!(env.works_once().await, 0, "its lease has not run out");
    env.time_passes(Duration::from_secs(10));
    assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    let record = merchant.retries().await.unwrap();
    assert_eq!(env.history(record.id), "RESERVED LOST CLAIMED CLAIMED VENDED");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_worker_that_was_stopped_past_its_lease_changes_nothing_when_it_goes_on() {
    let declared = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };
    let env = TestEnv::of(Plan { declared, ..Plan::default() }).await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.buys("100.00").await.unwrap();
    let sleeper = env.other_process().await;
    let hangs = env.line.holds_enquiries();
    // The plan has had a repeat due for ten seconds.
    env.time_passes(Duration::from_secs(70));
    let meanwhile = async {
        until("it is asking", || env.line.held_enquiries() == 1).await;
        // It gets the answer to its enquiry. Its next transaction cannot begin.
        sleeper.wire.holds_back();
        hangs.open();
        until("it is about to send again", || sleeper.wire.held_back() == 1).await;
        env.time_passes(LEASE_AND_MORE);
        assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
        sleeper.wire.lets_continue();
    };
    let (done, ()) = tokio::join!(sleeper.vending.work_once(), meanwhile);
    assert_eq!(done.claimed, 1);
    assert_eq!(env.states(), "SUCCESSFUL");
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "vend #1"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_retry_beside_the_worker_asks_in_its_own_turn_and_they_come_to_one_end() {
    let env = TestEnv::of(Plan::with_turns()).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    let hangs = env.line.holds_enquiries();
    env.time_passes(FIRST_LOOK);
    let meanwhile = async {
        until("the worker is asking", || env.line.held_enquiries() == 1).await;
        let another = async {
            until("the retry is asking too", || env.line.held_enquiries() == 2).await;
            assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))), "the turn is taken");
            hangs.open();
        };
        let (retried, ()) = tokio::join!(merchant.retries(), another);
        assert!(retried.is_ok(), "{retried:?}");
    };
    let (done, ()) = tokio::join!(env.vending.work_once(), meanwhile);
    assert_eq!(done, WorkDone { claimed: 1, ended: 1 });
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1"]);
    assert!(merchant.retries().await.is_ok());
    env.closes().await;
}
