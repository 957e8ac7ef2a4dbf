//! What a connection's declarations permit: sending the same order again, and giving up after "no record".

use std::time::Duration;

use provider::scripted::NextEnquiry::Answers;
use provider::scripted::NextVend::{
    CannotBeReached, LiesInAQueueUntilOpened, NeverArrives, Refuses, RefusesButReplyIsLost, Vends,
    VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{Failure, StateName};
use vend::{Capabilities, Enquiry, RefusalReason};
use vending::RetryError;

use crate::env::{Merchant, Plan, TestEnv};

/// Repeats are safe, and nothing else is declared.
const REPEATS_ONLY: Capabilities = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };
const NOT_FOUND_COUNTS: Capabilities = Capabilities { not_found_counts: true, ..Capabilities::NONE };

/// By this time the plan's first repeat is due.
const FIRST_REPEAT: Duration = Duration::from_secs(5);
/// This much later, its second repeat is due.
const SECOND_REPEAT: Duration = Duration::from_secs(15);

/// Just before the plan allows no further repeat, so that "no record" can count later.
const LAST_REPEAT: Duration = Duration::from_secs(89);

async fn env_declared(declared: Capabilities) -> TestEnv {
    TestEnv::of(Plan { declared, ..Plan::default() }).await
}

async fn stays_open(merchant: &Merchant<'_>) {
    assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
    merchant.has("200.00", "101.50");
}

#[tokio::test]
async fn what_never_arrived_is_sent_again_under_the_same_reference_and_vends_once() {
    let env = env_declared(REPEATS_ONLY).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    stays_open(&merchant).await;

    env.time_passes(FIRST_REPEAT);
    let record = merchant.retries().await.unwrap();
    assert_eq!(record.lifecycle.state.name(), StateName::Successful);
    assert_eq!(env.history(record.id), "RESERVED LOST CLAIMED NO_RECORD CLAIMED SENT_AGAIN VENDED");
    merchant.has("98.50", "0");

    assert_eq!(merchant.retries().await, Ok(record));
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn without_that_declaration_nothing_is_ever_sent_again() {
    let env = TestEnv::of(Plan { conduct: Conduct::FORGETS, ..Plan::default() }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    for _ in 0..3 {
        stays_open(&merchant).await;
    }
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_declaration_is_read_anew_by_every_retry() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_REPEAT);
    stays_open(&merchant).await;
    env.declares(REPEATS_ONLY).await;
    assert!(merchant.retries().await.is_ok());
    env.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_rejected_repeat_means_that_the_order_exists_and_is_asked_about_again() {
    let env = env_declared(REPEATS_ONLY).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    env.utility.will_tell([Answers(Box::new(Enquiry::NoRecord))]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_REPEAT);
    assert!(merchant.retries().await.is_ok());
    env.utility.saw(["check", "vend #1", "enquire #1", "vend #1", "enquire #1"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_rejected_repeat_that_cannot_be_explained_stays_open() {
    let env = env_declared(REPEATS_ONLY).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    env.utility.will_tell([Enquiry::NoRecord, Enquiry::NoRecord].map(|nothing| Answers(Box::new(nothing))));
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_REPEAT);
    stays_open(&merchant).await;
    assert_eq!(env.sql("SELECT state, copies FROM purchases"), "IN_DOUBT|2");
    assert!(merchant.retries().await.is_ok(), "a later enquiry settles it");
    env.closes().await;
}

#[tokio::test]
async fn a_first_copy_that_arrives_after_the_second_vends_nothing() {
    let env = env_declared(REPEATS_ONLY).await;
    let merchant = env.merchant_with("200.00").await;
    let queue = Latch::closed();
    env.utility.will([LiesInAQueueUntilOpened(queue.clone()), Vends]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_REPEAT);
    merchant.retries().await.unwrap();
    queue.open();
    assert_eq!(env.utility.vends().len(), 1);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_repeat_that_cannot_be_sent_is_no_copy_and_no_proof() {
    let env = env_declared(Capabilities { remembers_refusals: true, ..REPEATS_ONLY }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives, CannotBeReached]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_REPEAT);
    stays_open(&merchant).await;
    assert_eq!(env.sql("SELECT state, copies FROM purchases"), "IN_DOUBT|1");
    env.time_passes(SECOND_REPEAT);
    assert!(merchant.retries().await.is_ok());
    env.closes().await;
}

#[tokio::test]
async fn after_the_window_nothing_is_sent_again() {
    let env = env_declared(REPEATS_ONLY).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(Duration::from_mins(31));
    stays_open(&merchant).await;
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_refusal_after_a_second_copy_proves_nothing_where_refusals_are_not_remembered() {
    let env = env_declared(REPEATS_ONLY).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives, Refuses(RefusalReason::Blocked)]);
    merchant.is_left_in_doubt("100.00").await;
    env.time_passes(FIRST_REPEAT);
    // The first retry follows the answer to the second copy and enquires about that copy. The others only
    // enquire.
    for _ in 0..3 {
        stays_open(&merchant).await;
    }
    let asked_later = ["enquire #1"; 3];
    env.utility.saw(["check", "vend #1", "enquire #1", "vend #1"].into_iter().chain(asked_later));
    env.closes().await;
}

#[tokio::test]
async fn a_refusal_after_a_second_copy_is_proof_where_refusals_are_remembered() {
    for second in [Refuses(RefusalReason::Blocked), RefusesButReplyIsLost(RefusalReason::Blocked)] {
        let env = env_declared(Capabilities { remembers_refusals: true, ..REPEATS_ONLY }).await;
        let merchant = env.merchant_with("200.00").await;
        let is_heard = matches!(second, Refuses(_));
        env.utility.will([NeverArrives, second]);
        merchant.is_left_in_doubt("100.00").await;
        env.time_passes(FIRST_REPEAT);
        if !is_heard {
            stays_open(&merchant).await;
        }
        let Err(RetryError::Failed(record)) = merchant.retries().await else { panic!("it was refused") };
        assert!(matches!(record.failure, Some(Failure::Refused(_))));
        merchant.has("200.00", "0");
        env.closes().await;
    }
}

#[tokio::test]
async fn not_found_counts_twice_well_apart_and_only_after_the_quarantine() {
    let env = env_declared(NOT_FOUND_COUNTS).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    let first_counted = || env.sql("SELECT no_record_since IS NOT NULL FROM purchases");

    // Ten minutes from the last moment at which the order may have been sent.
    for seconds in [0, 300, 300] {
        env.time_passes(Duration::from_secs(seconds));
        stays_open(&merchant).await;
        assert_eq!(first_counted(), "f", "in quarantine");
    }
    env.time_passes(Duration::from_secs(11));
    stays_open(&merchant).await;
    assert_eq!(first_counted(), "t");
    env.time_passes(Duration::from_secs(50));
    stays_open(&merchant).await;

    env.time_passes(Duration::from_secs(10));
    let Err(RetryError::Failed(record)) = merchant.retries().await else { panic!("it is proven") };
    assert_eq!(record.failure, Some(Failure::NoRecord));
    merchant.has("200.00", "0");
    env.utility.saw(["check", "vend #1"].into_iter().chain(["enquire #1"; 6]));
    env.closes().await;
}

#[tokio::test]
async fn not_found_counts_for_nothing_unless_it_is_declared() {
    let env = env_declared(Capabilities::default()).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    for _ in 0..3 {
        env.time_passes(Duration::from_mins(11));
        stays_open(&merchant).await;
    }
    env.closes().await;
}

#[tokio::test]
async fn every_further_copy_begins_the_quarantine_anew() {
    let env = env_declared(Capabilities { repeat_is_safe: true, ..NOT_FOUND_COUNTS }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives, NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    // Just before the plan allows no further repeat.
    env.time_passes(LAST_REPEAT);
    stays_open(&merchant).await;
    assert_eq!(env.sql("SELECT copies FROM purchases"), "2");
    // The quarantine of the first copy is over, and that of the second is not.
    env.time_passes(Duration::from_secs(560));
    stays_open(&merchant).await;
    assert_eq!(env.sql("SELECT copies, no_record_since IS NULL FROM purchases"), "2|t");
    for seconds in [50, 61] {
        env.time_passes(Duration::from_secs(seconds));
        merchant.retries().await.unwrap_err();
    }
    assert_eq!(env.states(), "FAILED");
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn polling_every_five_seconds_sends_only_what_the_plan_allows_and_gets_the_end() {
    polling_gets_the_end(5).await;
}

#[tokio::test]
async fn polling_every_twenty_seconds_sends_only_what_the_plan_allows_and_gets_the_end() {
    polling_gets_the_end(20).await;
}

#[tokio::test]
async fn polling_every_47_seconds_sends_only_what_the_plan_allows_and_gets_the_end() {
    polling_gets_the_end(47).await;
}

/// Retries every `pause` seconds, until it is told that the provider has no record.
async fn polling_gets_the_end(pause: u64) {
    let declared = Capabilities { repeat_is_safe: true, remembers_refusals: true, ..NOT_FOUND_COUNTS };
    let env = TestEnv::of(Plan { conduct: Conduct::ANSWERS_REPEATS, declared, ..Plan::default() }).await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([NeverArrives, NeverArrives, NeverArrives, NeverArrives, NeverArrives]);
    merchant.is_left_in_doubt("100.00").await;
    let mut waited = 0;
    let ended = loop {
        env.time_passes(Duration::from_secs(pause));
        waited += pause;
        match merchant.retries().await {
            Err(RetryError::Pending(_)) => {}
            Err(RetryError::Failed(record)) => break record,
            other => panic!("after {waited} s: {other:?}"),
        }
    };
    assert_eq!(ended.failure, Some(Failure::NoRecord));
    let sends = env.utility.calls().iter().filter(|call| call.starts_with("vend")).count();
    assert!((2..=4).contains(&sends), "{sends} orders");
    // A minute and a half in which it is sent, the gate, ten minutes of quarantine, and one minute more.
    assert!((600..=755 + 2 * pause).contains(&waited), "after {waited} s");
    merchant.has("200.00", "0");
    env.closes().await;
}
