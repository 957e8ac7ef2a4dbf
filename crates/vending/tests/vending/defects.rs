//! Defects: what is left behind by a task that panics half way, and who takes it up.

use vending::WorkDone;

use crate::town::{LEASE_AND_MORE, Town, assert_unknown};

#[tokio::test]
async fn a_panic_in_mid_vend_leaves_the_purchase_open_and_is_taken_up_when_its_lease_has_run_out() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.line.panics_on_the_next_answer();
    assert_unknown(&shop.buys("100.00").await);
    assert_eq!(town.states(), "IN_FLIGHT");
    shop.has("200.00", "101.50");
    assert_eq!(town.engine.under_way(), 0, "nobody waits for what has broken off");

    town.time_passes(LEASE_AND_MORE);
    assert_eq!(town.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    shop.has("98.50", "0");
    assert!(shop.buys("50.00").await.is_ok(), "the desk goes on");
    town.closes().await;
}

#[tokio::test]
async fn whoever_asks_about_what_a_panic_left_behind_waits_for_no_lease() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.line.panics_on_the_next_answer();
    assert_unknown(&shop.buys("100.00").await);
    let record = shop.retries().await.unwrap();
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    assert_eq!(town.history(record.id), "RESERVED VENDED");
    shop.has("98.50", "0");
    town.closes().await;
}
