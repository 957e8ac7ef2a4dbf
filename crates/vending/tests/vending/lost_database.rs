//! A database that goes away at the worst moment: what was vended is paid for when it is back, what was not
//! certainly reserved is not sent.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::Latch;
use provider::scripted::NextVend::{NeverArrives, Refuses, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use purchase::{Failure, PurchaseRequest, StateName};
use vend::{Capabilities, Refusal, RefusalReason};
use vending::{ConfirmError, Rejection, RetryError};

use crate::town::{Lost, Plan, Shop, Town, assert_unknown, assert_unreachable, meter, until};

const LOSSES: [Lost; 2] = [Lost::Commit, Lost::Acknowledgement];

impl Shop<'_> {
    /// Has catalogue, check and numbers fetched, so that the next confirm commits nothing before its reserve.
    async fn has_quoted(&self) {
        self.quotes("100.00").await.unwrap();
    }
}

#[tokio::test]
async fn what_was_vended_while_the_database_was_away_is_settled_when_it_is_back() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let away_meanwhile = async {
        town.is_vending().await;
        town.wire.is_cut();
        answer.open();
        until("it is tried again", || town.wire.turned_away() > 3).await;
        assert_eq!(town.states(), "IN_FLIGHT");
        town.wire.is_mended();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), away_meanwhile);
    let record = confirmed.unwrap();
    assert_eq!(town.history(record.id), "RESERVED VENDED");
    assert_eq!(shop.retries().await, Ok(record));
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_caller_does_not_wait_for_a_database_that_stays_away_and_the_outcome_is_kept_for_it() {
    let town = Town::of(Plan::of_short_patience()).await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let away_meanwhile = async {
        town.is_vending().await;
        town.wire.is_cut();
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), away_meanwhile);
    assert_unknown(&confirmed);
    assert_eq!(town.engine.under_way(), 1);
    town.wire.is_mended();
    town.comes_to("SUCCESSFUL").await;
    shop.has("98.50", "0");
    town.utility.saw(["check", "vend #1"]);
    town.closes().await;
}

#[tokio::test]
async fn while_the_database_is_away_nothing_is_sold() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    shop.has_quoted().await;
    town.wire.is_cut();
    let refused = shop.buys("100.00").await;
    assert!(
        matches!(refused, Err(ConfirmError::Rejected(Rejection::Overloaded | Rejection::Internal))),
        "{refused:?}"
    );
    assert_unreachable(&shop.retries().await);
    town.wire.is_mended();
    assert_eq!(town.count("purchases"), 0);
    until("it sells again", || town.engine.under_way() == 0).await;
    let mut bought = shop.buys("100.00").await;
    for _ in 0..5 {
        // Connections that broke are found out one by one.
        if bought.is_err() {
            bought = shop.buys("100.00").await;
        }
    }
    assert!(bought.is_ok(), "{bought:?}");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_reserve_that_was_not_acknowledged_is_run_again_never_sent_and_released() {
    for loss in LOSSES {
        for times in [1, 2] {
            let town = Town::open().await;
            let shop = town.shop_with("200.00").await;
            shop.has_quoted().await;
            town.wire.loses(vec![loss; times]);
            let outcome = shop.buys("100.00").await;
            assert!(town.wire.has_lost_all());
            let Err(ConfirmError::Failed(record)) = outcome else { panic!("{loss:?}: {outcome:?}") };
            let never_sent = Failure::Refused(Refusal::because(RefusalReason::NeverSent));
            assert_eq!(record.failure, Some(never_sent));
            assert_eq!(town.history(record.id), "RESERVED NEVER_SENT");
            assert_eq!(shop.retries().await, Err(RetryError::Failed(record)));
            town.utility.saw(["check", "quote"]);
            shop.has("200.00", "0");

            shop.buys_afresh("100.00").await.unwrap();
            shop.has("98.50", "0");
            town.closes().await;
        }
    }
}

#[tokio::test]
async fn an_outcome_that_was_not_acknowledged_is_recorded_again_and_counts_once() {
    for loss in LOSSES {
        for times in [1, 2] {
            let town = Town::open().await;
            let shop = town.shop_with("200.00").await;
            let answer = Latch::closed();
            town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
            let lost_meanwhile = async {
                town.is_vending().await;
                town.wire.loses(vec![loss; times]);
                answer.open();
            };
            let (confirmed, ()) = tokio::join!(shop.buys("100.00"), lost_meanwhile);
            assert!(town.wire.has_lost_all());
            let record = confirmed.unwrap();
            assert_eq!(town.history(record.id), "RESERVED VENDED");
            assert_eq!(shop.retries().await, Ok(record));
            shop.has("98.50", "0");
            shop.has_earned("1.00");
            town.closes().await;
        }
    }
}

#[tokio::test]
async fn a_release_that_was_not_acknowledged_releases_once() {
    for loss in LOSSES {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        shop.has_quoted().await;
        town.utility.will([Refuses(RefusalReason::Blocked)]);
        // The first is the reserve's.
        town.wire.spares(1);
        town.wire.loses([loss]);
        let refused = shop.buys("100.00").await;
        assert!(matches!(refused, Err(ConfirmError::Failed(_))), "{refused:?}");
        assert!(town.wire.has_lost_all());
        shop.has("200.00", "0");
        town.closes().await;
    }
}

#[tokio::test]
async fn a_resolve_whose_commits_are_lost_one_after_another_ends_in_truth() {
    for loss in LOSSES {
        for spared in 0..3 {
            let declared = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };
            let town = Town::of(Plan { declared, ..Plan::default() }).await;
            let shop = town.shop_with("200.00").await;
            town.utility.will([NeverArrives]);
            shop.is_left_in_doubt("100.00").await;
            town.time_passes(Duration::from_secs(5));
            town.wire.spares(spared);
            town.wire.loses([loss]);
            let first = shop.retries().await;
            assert!(town.wire.has_lost_all());
            // Claim and repeat are put off; evidence never is.
            assert_eq!(first.is_ok(), spared == 2, "{first:?}");
            assert!(matches!(first, Ok(_) | Err(RetryError::Pending(_))), "{first:?}");
            town.time_passes(Duration::from_secs(186));
            assert_eq!(
                shop.retries().await.map(|record| record.life.state.name()),
                Ok(StateName::Successful)
            );
            shop.has("98.50", "0");
            town.closes().await;
        }
    }
}

#[tokio::test]
async fn a_crowd_on_a_bad_wire_is_told_the_truth() {
    let town = Town::open().await;
    let shop = town.shop_with("5000.00").await;
    shop.has_quoted().await;
    for (round, (spared, loss)) in
        [(0, Lost::Acknowledgement), (1, Lost::Commit), (2, Lost::Acknowledgement)].into_iter().enumerate()
    {
        let meters: Vec<String> = (0..8).map(|number| format!("04{round}0000000{number}")).collect();
        for _ in 0..3 {
            town.wire.spares(spared);
            town.wire.loses([loss]);
        }
        let bought = meters.iter().map(|number| async move {
            let request = PurchaseRequest { subscriber: meter(number), ..shop.request("10.00") };
            (number, shop.confirms(request).await)
        });
        let outcomes = join_all(bought).await;
        town.wire.is_calm();
        for (number, outcome) in outcomes {
            let later = shop.retries_for(number).await;
            match outcome {
                Ok(record) => assert_eq!(later, Ok(record)),
                Err(ConfirmError::Failed(record) | ConfirmError::FailedBefore(record)) => {
                    assert_eq!(later, Err(RetryError::Failed(record)));
                }
                Err(ConfirmError::Rejected(_)) => assert_eq!(later, Err(RetryError::NotFound)),
                Err(ConfirmError::Unknown(_)) => assert!(matches!(later, Ok(_) | Err(RetryError::Failed(_)))),
                Err(ConfirmError::TokenUnreadable(_)) => panic!("{number}: its key is here"),
            }
        }
    }
    let ended_as = |state| town.count(&format!("purchases WHERE state = '{state}'"));
    assert!(ended_as("SUCCESSFUL") > 0 && ended_as("FAILED") > 0, "{}", town.states());
    assert_eq!(town.count("purchases WHERE ended_at IS NULL"), 0);
    town.closes().await;
}

#[tokio::test]
async fn a_retry_while_the_database_is_away_changes_nothing_and_may_be_repeated() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    shop.is_left_in_doubt("100.00").await;
    town.wire.is_cut();
    assert_unreachable(&shop.retries().await);
    town.wire.is_mended();
    let mut retried = shop.retries().await;
    for _ in 0..5 {
        if retried.is_err() {
            retried = shop.retries().await;
        }
    }
    assert!(retried.is_ok(), "{retried:?}");
    shop.has("98.50", "0");
    town.closes().await;
}
