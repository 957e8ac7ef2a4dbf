//! Confirms that were refused are written down beside the story of the others, and a flood of them is bounded.

use std::time::Duration;

use chrono::DateTime;
use purchase::RefusedConfirm;

use crate::town::{Shop, Town, until};

impl Shop<'_> {
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
    let town = Town::open().await;
    let (flood, quiet) = (town.shop_with("200.00").await, town.shop_with("200.00").await);
    for number in 0..5_000 {
        town.vending.keep_refused(flood.refusal(format!("flood-{number}")));
    }
    town.vending.keep_refused(quiet.refusal("quiet".to_owned()));
    until("all are written", || town.count("refused_confirms") == 61).await;
    // Were there more, they would have been written by now: they are written in the order in which they came.
    assert_eq!(town.sql("SELECT count(*) FROM refused_confirms WHERE request_id = 'quiet'"), "1");

    town.vending.keep_refused(flood.refusal("too many".to_owned()));
    town.clock.advance(Duration::from_mins(1));
    town.vending.keep_refused(flood.refusal("a minute later".to_owned()));
    until("the next minute is written", || town.count("refused_confirms") == 62).await;
    assert_eq!(town.sql("SELECT count(*) FROM refused_confirms WHERE request_id = 'too many'"), "0");
    town.closes().await;
}
