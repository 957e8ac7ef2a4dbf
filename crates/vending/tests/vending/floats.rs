//! Our float at the providers: asked for at intervals, by all workers together, and never lost because a provider is silent.

use std::time::Duration;

use vend::Unanswered;

use crate::env::{TestEnv, pula};

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
