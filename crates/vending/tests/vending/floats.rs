//! Our float at the providers: asked for at intervals, by all workers together, and never lost because a provider is silent.

use std::time::Duration;

use vend::Unanswered;

use crate::env::{REST_AND_MORE, TestEnv, pula};

const EVERY: Duration = Duration::from_mins(5);

#[tokio::test]
async fn the_float_is_asked_for_once_in_an_interval_by_all_workers_together() {
    let env = TestEnv::open().await;
    let other = env.other_process().await;
    let asks = async || env.vending.ask_for_floats(EVERY).await.unwrap();
    let stored = || env.sql("SELECT provider_code, currency, amount FROM provider_floats");
    asks().await;
    assert_eq!(stored(), "", "what a protocol does not tell is not stored");

    env.utility.has_float(pula("1234.56"));
    asks().await;
    other.vending.ask_for_floats(EVERY).await.unwrap();
    env.utility.saw(["float", "float"]);
    assert_eq!(stored(), "BPC|BWP|123456");

    env.sql("UPDATE provider_floats SET told_at = told_at - interval '4 minutes'");
    env.utility.will_leave_unanswered([Unanswered::Unreachable]);
    env.utility.has_float(pula("1000.00"));
    asks().await;
    assert_eq!(stored(), "BPC|BWP|123456", "silence changes nothing");
    asks().await;
    assert_eq!(stored(), "BPC|BWP|100000");
    env.closes().await;
}

#[tokio::test]
async fn what_a_provider_mentions_of_our_float_is_stored_once_and_asked_for_by_no_call() {
    let env = TestEnv::open().await;
    let stored = || env.sql("SELECT provider_code, amount, told_at IS NOT NULL FROM provider_floats");
    let merchant = env.merchant_with("200.00").await;
    merchant.buys("10.00").await.unwrap();
    env.vending.note_floats().await.unwrap();
    assert_eq!(stored(), "");
    env.utility.mentions_float(pula("1234.56"));
    merchant.buys_afresh("10.00").await.unwrap();
    env.vending.note_floats().await.unwrap();
    assert_eq!(stored(), "BPC|123456|t");
    env.sql("UPDATE provider_floats SET told_at = now() - interval '1 hour'");
    env.vending.note_floats().await.unwrap();
    let age = env.sql("SELECT told_at < now() - interval '59 minutes' FROM provider_floats");
    assert_eq!(age, "t", "what was mentioned once is not new again");
    assert!(!env.utility.calls().contains(&"float".to_owned()));
    env.closes().await;
}

#[tokio::test]
async fn a_float_that_was_mentioned_earlier_never_replaces_one_that_was_mentioned_later() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.other_process().await);
    env.utility.mentions_float(pula("1000.00"));
    merchant.buys("10.00").await.unwrap();
    env.time_passes(REST_AND_MORE);
    env.utility.mentions_float(pula("990.00"));
    let arrival = env.arrival(Duration::ZERO);
    other.vending.confirm(merchant.authority, merchant.request("10.00"), arrival).await.unwrap();
    other.vending.note_floats().await.unwrap();
    env.vending.note_floats().await.unwrap();
    assert_eq!(env.sql("SELECT amount FROM provider_floats"), "99000", "the first process stores late");
    env.closes().await;
}
