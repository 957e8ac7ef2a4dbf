//! What a connection's declarations permit: sending the same order again, and giving up by "no record".

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

use crate::town::{Plan, Shop, Town};

/// Repeats are safe, and nothing else is promised.
const REPEATS_ONLY: Capabilities = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };
const NOT_FOUND_COUNTS: Capabilities = Capabilities { not_found_counts: true, ..Capabilities::NONE };

/// When the plan has the first repeat due.
const FIRST_REPEAT: Duration = Duration::from_secs(5);
/// When it has the second one due, from then on.
const SECOND_REPEAT: Duration = Duration::from_secs(15);

/// Just before nothing is repeated any more, so that "no record" can come to count.
const LAST_REPEAT: Duration = Duration::from_secs(89);

async fn town_declared(declared: Capabilities) -> Town {
    Town::of(Plan { declared, ..Plan::default() }).await
}

async fn stays_open(shop: &Shop<'_>) {
    assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
    shop.has("200.00", "101.50");
}

#[tokio::test]
async fn what_never_arrived_is_sent_again_under_the_same_reference_and_vends_once() {
    let town = town_declared(REPEATS_ONLY).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    stays_open(&shop).await;

    town.time_passes(FIRST_REPEAT);
    let record = shop.retries().await.unwrap();
    assert_eq!(record.life.state.name(), StateName::Successful);
    assert_eq!(town.history(record.id), "RESERVED LOST CLAIMED NO_RECORD CLAIMED SENT_AGAIN VENDED");
    shop.has("98.50", "0");

    assert_eq!(shop.retries().await, Ok(record));
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "vend #1"]);
    town.closes().await;
}

#[tokio::test]
async fn without_that_declaration_nothing_is_ever_sent_again() {
    let town = Town::of(Plan { conduct: Conduct::FORGETS, ..Plan::default() }).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    for _ in 0..3 {
        stays_open(&shop).await;
    }
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_declaration_is_read_anew_by_every_retry() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_REPEAT);
    stays_open(&shop).await;
    town.declares(REPEATS_ONLY).await;
    assert!(shop.retries().await.is_ok());
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "vend #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_rejected_repeat_means_that_the_order_exists_and_is_asked_about_again() {
    let town = town_declared(REPEATS_ONLY).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    town.utility.will_tell([Answers(Box::new(Enquiry::NoRecord))]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_REPEAT);
    assert!(shop.retries().await.is_ok());
    town.utility.saw(["check", "vend #1", "enquire #1", "vend #1", "enquire #1"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_rejected_repeat_that_cannot_be_explained_stays_open() {
    let town = town_declared(REPEATS_ONLY).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    town.utility.will_tell([Enquiry::NoRecord, Enquiry::NoRecord].map(|nothing| Answers(Box::new(nothing))));
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_REPEAT);
    stays_open(&shop).await;
    assert_eq!(town.sql("SELECT state, copies FROM purchases"), "IN_DOUBT|2");
    assert!(shop.retries().await.is_ok(), "and is settled when it can");
    town.closes().await;
}

#[tokio::test]
async fn a_first_copy_that_arrives_after_the_second_vends_nothing() {
    let town = town_declared(REPEATS_ONLY).await;
    let shop = town.shop_with("200.00").await;
    let queue = Latch::closed();
    town.utility.will([LiesInAQueueUntilOpened(queue.clone()), Vends]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_REPEAT);
    shop.retries().await.unwrap();
    queue.open();
    assert_eq!(town.utility.vends().len(), 1);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_repeat_that_cannot_be_sent_is_no_copy_and_no_proof() {
    let town = town_declared(Capabilities { remembers_refusals: true, ..REPEATS_ONLY }).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives, CannotBeReached]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_REPEAT);
    stays_open(&shop).await;
    assert_eq!(town.sql("SELECT state, copies FROM purchases"), "IN_DOUBT|1");
    town.time_passes(SECOND_REPEAT);
    assert!(shop.retries().await.is_ok());
    town.closes().await;
}

#[tokio::test]
async fn after_the_window_nothing_is_sent_again() {
    let town = town_declared(REPEATS_ONLY).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(Duration::from_mins(31));
    stays_open(&shop).await;
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_refusal_after_a_second_copy_proves_nothing_where_refusals_are_not_remembered() {
    let town = town_declared(REPEATS_ONLY).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives, Refuses(RefusalReason::Blocked)]);
    shop.is_left_in_doubt("100.00").await;
    town.time_passes(FIRST_REPEAT);
    // The first after the answer to the second copy, about which it asks, the others by asking alone.
    for _ in 0..3 {
        stays_open(&shop).await;
    }
    let asked_later = ["enquire #1"; 3];
    town.utility.saw(["check", "vend #1", "enquire #1", "vend #1"].into_iter().chain(asked_later));
    town.closes().await;
}

#[tokio::test]
async fn a_refusal_after_a_second_copy_is_proof_where_refusals_are_remembered() {
    for second in [Refuses(RefusalReason::Blocked), RefusesButReplyIsLost(RefusalReason::Blocked)] {
        let town = town_declared(Capabilities { remembers_refusals: true, ..REPEATS_ONLY }).await;
        let shop = town.shop_with("200.00").await;
        let is_heard = matches!(second, Refuses(_));
        town.utility.will([NeverArrives, second]);
        shop.is_left_in_doubt("100.00").await;
        town.time_passes(FIRST_REPEAT);
        if !is_heard {
            stays_open(&shop).await;
        }
        let Err(RetryError::Failed(record)) = shop.retries().await else { panic!("it was refused") };
        assert!(matches!(record.failure, Some(Failure::Refused(_))));
        shop.has("200.00", "0");
        town.closes().await;
    }
}

#[tokio::test]
async fn not_found_counts_twice_well_apart_and_only_after_the_quarantine() {
    let town = town_declared(NOT_FOUND_COUNTS).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    let first_counted = || town.sql("SELECT no_record_since IS NOT NULL FROM purchases");

    // Ten minutes from the last moment at which the order may have left.
    for seconds in [0, 300, 300] {
        town.time_passes(Duration::from_secs(seconds));
        stays_open(&shop).await;
        assert_eq!(first_counted(), "f", "in quarantine");
    }
    town.time_passes(Duration::from_secs(11));
    stays_open(&shop).await;
    assert_eq!(first_counted(), "t");
    town.time_passes(Duration::from_secs(50));
    stays_open(&shop).await;

    town.time_passes(Duration::from_secs(10));
    let Err(RetryError::Failed(record)) = shop.retries().await else { panic!("it is proven") };
    assert_eq!(record.failure, Some(Failure::NoRecord));
    shop.has("200.00", "0");
    town.utility.saw(["check", "vend #1"].into_iter().chain(["enquire #1"; 6]));
    town.closes().await;
}

#[tokio::test]
async fn not_found_counts_for_nothing_unless_it_is_declared() {
    let town = town_declared(Capabilities::default()).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    for _ in 0..3 {
        town.time_passes(Duration::from_mins(11));
        stays_open(&shop).await;
    }
    town.closes().await;
}

#[tokio::test]
async fn every_further_copy_begins_the_quarantine_anew() {
    let town = town_declared(Capabilities { repeat_is_safe: true, ..NOT_FOUND_COUNTS }).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives, NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    // The last moment at which the plan has a repeat due.
    town.time_passes(LAST_REPEAT);
    stays_open(&shop).await;
    assert_eq!(town.sql("SELECT copies FROM purchases"), "2");
    // The quarantine of the first copy is over, and that of the second is not.
    town.time_passes(Duration::from_secs(560));
    stays_open(&shop).await;
    assert_eq!(town.sql("SELECT copies, no_record_since IS NULL FROM purchases"), "2|t");
    for seconds in [50, 61] {
        town.time_passes(Duration::from_secs(seconds));
        shop.retries().await.unwrap_err();
    }
    assert_eq!(town.states(), "FAILED");
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn an_integrator_who_polls_for_twenty_minutes_sends_what_the_plan_sends_and_hears_the_end() {
    for pause in [5, 20, 47] {
        let declared = Capabilities { repeat_is_safe: true, remembers_refusals: true, ..NOT_FOUND_COUNTS };
        let town = Town::of(Plan { conduct: Conduct::ANSWERS_REPEATS, declared, ..Plan::default() }).await;
        let shop = town.shop_with("200.00").await;
        town.utility.will([NeverArrives, NeverArrives, NeverArrives, NeverArrives, NeverArrives]);
        shop.is_left_in_doubt("100.00").await;
        let mut waited = 0;
        let ended = loop {
            town.time_passes(Duration::from_secs(pause));
            waited += pause;
            match shop.retries().await {
                Err(RetryError::Pending(_)) => {}
                Err(RetryError::Failed(record)) => break record,
                other => panic!("after {waited} s: {other:?}"),
            }
        };
        assert_eq!(ended.failure, Some(Failure::NoRecord));
        let sends = town.utility.calls().iter().filter(|call| call.starts_with("vend")).count();
        assert!((2..=4).contains(&sends), "every {pause} s: {sends} orders");
        // A minute and a half in which it is sent, the gate, ten minutes, one more.
        assert!((600..=755 + 2 * pause).contains(&waited), "every {pause} s: after {waited} s");
        shop.has("200.00", "0");
        town.closes().await;
    }
}
