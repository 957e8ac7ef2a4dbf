//! Defects: what a task that panics half way leaves behind, and which process takes it up.

use vending::WorkDone;

use crate::env::{LEASE_AND_MORE, TestEnv, assert_unknown};

#[tokio::test]
async fn a_purchase_whose_task_panicked_stays_open_and_is_taken_up_after_its_lease() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.line.panics_on_the_next_answer();
    assert_unknown(&merchant.buys("100.00").await);
    assert_eq!(env.states(), "IN_FLIGHT");
    merchant.has("200.00", "101.50");
    assert_eq!(env.engine.under_way(), 0, "no caller waits for the broken task");

    env.time_passes(LEASE_AND_MORE);
    assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    merchant.has("98.50", "0");
    assert!(merchant.buys("50.00").await.is_ok(), "the service continues");
    env.closes().await;
}

#[tokio::test]
async fn a_retry_after_a_panic_does_not_wait_for_the_lease() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.line.panics_on_the_next_answer();
    assert_unknown(&merchant.buys("100.00").await);
    let record = merchant.retries().await.unwrap();
    env.utility.saw(["check", "vend #1", "enquire #1"]);
    assert_eq!(env.history(record.id), "RESERVED VENDED");
    merchant.has("98.50", "0");
    env.closes().await;
}
