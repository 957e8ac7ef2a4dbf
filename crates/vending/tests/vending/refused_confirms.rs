//! Refused confirms are stored beside the history of the other confirms, and their number is limited.

use std::time::Duration;

use chrono::DateTime;
use purchase::RefusedConfirm;

use crate::env::{Merchant, TestEnv, until};

impl Merchant<'_> {
    fn refusal(&self, request_id: String) -> RefusedConfirm {
        RefusedConfirm {
            at: DateTime::UNIX_EPOCH,
            authority: self.authority,
            subscriber: None,
            external_reference: Some("till-7/1".to_owned()),
            product: None,
            provider_code: None,
            amount: None,
            code: "invalid_amount",
            param: Some("amount".to_owned()),
            request_id,
        }
    }
}

#[tokio::test]
async fn a_flood_of_refusals_keeps_sixty_a_minute_and_leaves_room_for_others() {
    let env = TestEnv::open().await;
    let (flood, quiet) = (env.merchant_with("200.00").await, env.merchant_with("200.00").await);
    for number in 0..5_000 {
        env.vending.keep_refused(flood.refusal(format!("flood-{number}")));
    }
    env.vending.keep_refused(quiet.refusal("quiet".to_owned()));
    until("all are written", || env.count("refused_confirms") == 61).await;
    // Further records would have been written by now, because they are written in the order in which they
    // came.
    assert_eq!(env.sql("SELECT count(*) FROM refused_confirms WHERE request_id = 'quiet'"), "1");

    env.vending.keep_refused(flood.refusal("too many".to_owned()));
    env.clock.advance(Duration::from_mins(1));
    env.vending.keep_refused(flood.refusal("a minute later".to_owned()));
    until("the next minute is written", || env.count("refused_confirms") == 62).await;
    assert_eq!(env.sql("SELECT count(*) FROM refused_confirms WHERE request_id = 'too many'"), "0");
    env.closes().await;
}
