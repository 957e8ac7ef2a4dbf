//! A database that fails at the worst moment: what was vended is charged when the database is back, and what
//! was not certainly reserved is not sent.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::Latch;
use provider::scripted::NextVend::{NeverArrives, Refuses, VendsAndAnswersOnceOpened, VendsButReplyIsLost};
use purchase::{Failure, PurchaseRequest, StateName};
use vend::{Capabilities, Refusal, RefusalReason};
use vending::{ConfirmError, Rejection, RetryError};

use crate::env::{Lost, Merchant, Plan, TestEnv, assert_unknown, assert_unreachable, meter, until};

const LOSSES: [Lost; 2] = [Lost::Commit, Lost::Acknowledgement];

impl Merchant<'_> {
    /// Fetches catalogue, check and numbers, so that the next confirm commits nothing before its reserve.
    async fn has_quoted(&self) {
        self.quotes("100.00").await.unwrap();
    }
}

#[tokio::test]
async fn what_was_vended_while_the_database_was_away_is_settled_when_it_is_back() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let away_meanwhile = async {
        env.is_vending().await;
        env.wire.is_cut();
        answer.open();
        until("it is tried again", || env.wire.turned_away() > 3).await;
        assert_eq!(env.states(), "IN_FLIGHT");
        env.wire.is_restored();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), away_meanwhile);
    let record = confirmed.unwrap();
    assert_eq!(env.history(record.id), "RESERVED VENDED");
    assert_eq!(merchant.retries().await, Ok(record));
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_caller_does_not_wait_for_a_lost_database_and_the_outcome_is_kept_for_it() {
    let env = TestEnv::of(Plan::of_short_patience()).await;
    let merchant = env.merchant_with("200.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let away_meanwhile = async {
        env.is_vending().await;
        env.wire.is_cut();
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), away_meanwhile);
    assert_unknown(&confirmed);
    assert_eq!(env.engine.under_way(), 1);
    env.wire.is_restored();
    env.comes_to("SUCCESSFUL").await;
    merchant.has("98.50", "0");
    env.utility.saw(["check", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn while_the_database_is_away_nothing_is_sold() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    merchant.has_quoted().await;
    env.wire.is_cut();
    let refused = merchant.buys("100.00").await;
    assert!(
        matches!(refused, Err(ConfirmError::Rejected(Rejection::Overloaded | Rejection::Internal))),
        "{refused:?}"
    );
    assert_unreachable(&merchant.retries().await);
    env.wire.is_restored();
    assert_eq!(env.count("purchases"), 0);
    until("it sells again", || env.engine.under_way() == 0).await;
    let mut bought = merchant.buys("100.00").await;
    for _ in 0..5 {
        // Broken connections are detected one by one.
        if bought.is_err() {
            bought = merchant.buys("100.00").await;
        }
    }
    assert!(bought.is_ok(), "{bought:?}");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_reserve_that_was_not_acknowledged_is_run_again_never_sent_and_released() {
    for loss in LOSSES {
        for times in [1, 2] {
            let env = TestEnv::open().await;
            let merchant = env.merchant_with("200.00").await;
            merchant.has_quoted().await;
            env.wire.loses(vec![loss; times]);
            let outcome = merchant.buys("100.00").await;
            assert!(env.wire.has_lost_all());
            let Err(ConfirmError::Failed(record)) = outcome else { panic!("{loss:?}: {outcome:?}") };
            let never_sent = Failure::Refused(Refusal::because(RefusalReason::NeverSent));
            assert_eq!(record.failure, Some(never_sent));
            assert_eq!(env.history(record.id), "RESERVED NEVER_SENT");
            assert_eq!(merchant.retries().await, Err(RetryError::Failed(record)));
            env.utility.saw(["check", "quote"]);
            merchant.has("200.00", "0");

            merchant.buys_afresh("100.00").await.unwrap();
            merchant.has("98.50", "0");
            env.closes().await;
        }
    }
}

#[tokio::test]
async fn an_outcome_that_was_not_acknowledged_is_recorded_again_and_counts_once() {
    for loss in LOSSES {
        for times in [1, 2] {
            let env = TestEnv::open().await;
            let merchant = env.merchant_with("200.00").await;
            let answer = Latch::closed();
            env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
            let lost_meanwhile = async {
                env.is_vending().await;
                env.wire.loses(vec![loss; times]);
                answer.open();
            };
            let (confirmed, ()) = tokio::join!(merchant.buys("100.00"), lost_meanwhile);
            assert!(env.wire.has_lost_all());
            let record = confirmed.unwrap();
            assert_eq!(env.history(record.id), "RESERVED VENDED");
            assert_eq!(merchant.retries().await, Ok(record));
            merchant.has("98.50", "0");
            merchant.has_earned("1.00");
            env.closes().await;
        }
    }
}

#[tokio::test]
async fn a_release_that_was_not_acknowledged_releases_once() {
    for loss in LOSSES {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        merchant.has_quoted().await;
        env.utility.will([Refuses(RefusalReason::Blocked)]);
        // The first commit is the reserve's.
        env.wire.spares(1);
        env.wire.loses([loss]);
        let refused = merchant.buys("100.00").await;
        assert!(matches!(refused, Err(ConfirmError::Failed(_))), "{refused:?}");
        assert!(env.wire.has_lost_all());
        merchant.has("200.00", "0");
        env.closes().await;
    }
}

#[tokio::test]
async fn a_resolve_whose_commits_are_lost_one_after_another_ends_in_truth() {
    for loss in LOSSES {
        for spared in 0..3 {
            let declared = Capabilities { repeat_is_safe: true, ..Capabilities::NONE };
            let env = TestEnv::of(Plan { declared, ..Plan::default() }).await;
            let merchant = env.merchant_with("200.00").await;
            env.utility.will([NeverArrives]);
            merchant.is_left_in_doubt("100.00").await;
            env.time_passes(Duration::from_secs(5));
            env.wire.spares(spared);
            env.wire.loses([loss]);
            let first = merchant.retries().await;
            assert!(env.wire.has_lost_all());
            // A claim or a repeat is postponed. Evidence never is.
            assert_eq!(first.is_ok(), spared == 2, "{first:?}");
            assert!(matches!(first, Ok(_) | Err(RetryError::Pending(_))), "{first:?}");
            env.time_passes(Duration::from_secs(186));
            assert_eq!(
                merchant.retries().await.map(|record| record.lifecycle.state.name()),
                Ok(StateName::Successful)
            );
            merchant.has("98.50", "0");
            env.closes().await;
        }
    }
}

#[tokio::test]
async fn many_callers_on_a_lossy_wire_get_true_answers() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("5000.00").await;
    merchant.has_quoted().await;
    for (round, (spared, loss)) in
        [(0, Lost::Acknowledgement), (1, Lost::Commit), (2, Lost::Acknowledgement)].into_iter().enumerate()
    {
        let meters: Vec<String> = (0..8).map(|number| format!("04{round}0000000{number}")).collect();
        for _ in 0..3 {
            env.wire.spares(spared);
            env.wire.loses([loss]);
        }
        let bought = meters.iter().map(|number| async move {
            let request = PurchaseRequest { subscriber: meter(number), ..merchant.request("10.00") };
            (number, merchant.confirms(request).await)
        });
        let outcomes = join_all(bought).await;
        env.wire.loses_nothing();
        for (number, outcome) in outcomes {
            let later = merchant.retries_for(number).await;
            match outcome {
                Ok(record) => assert_eq!(later, Ok(record)),
                Err(ConfirmError::Failed(record) | ConfirmError::FailedBefore(record)) => {
                    assert_eq!(later, Err(RetryError::Failed(record)));
                }
                Err(ConfirmError::Rejected(_)) => assert_eq!(later, Err(RetryError::NotFound)),
                Err(ConfirmError::Unknown(_)) => assert!(matches!(later, Ok(_) | Err(RetryError::Failed(_)))),
                Err(ConfirmError::TokenUnreadable(_)) => panic!("{number}: its sealing key is present"),
            }
        }
    }
    let ended_as = |state| env.count(&format!("purchases WHERE state = '{state}'"));
    assert!(ended_as("SUCCESSFUL") > 0 && ended_as("FAILED") > 0, "{}", env.states());
    assert_eq!(env.count("purchases WHERE ended_at IS NULL"), 0);
    env.closes().await;
}

#[tokio::test]
async fn a_retry_while_the_database_is_away_changes_nothing_and_may_be_repeated() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    merchant.is_left_in_doubt("100.00").await;
    env.wire.is_cut();
    assert_unreachable(&merchant.retries().await);
    env.wire.is_restored();
    let mut retried = merchant.retries().await;
    for _ in 0..5 {
        if retried.is_err() {
            retried = merchant.retries().await;
        }
    }
    assert!(retried.is_ok(), "{retried:?}");
    merchant.has("98.50", "0");
    env.closes().await;
}
