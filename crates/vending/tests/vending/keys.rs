//! Confirms under idempotency keys: each key has one vend, one charge and one final answer, however often and
//! through however many processes the confirms are sent.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::NextVend::{
    CannotBeReached, Refuses, RefusesButReplyIsLost, VendsAndAnswersOnceOpened, VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{Failure, PurchaseRequest, Record, StateName};
use vend::{Refusal, RefusalReason};
use vending::{ConfirmError, Confirmed, Rejection, RetryError};

use crate::env::{
    Lost, Merchant, Plan, REST_AND_MORE, TestEnv, assert_pending, assert_unknown, meter, until,
};

const KEY: &str = "till-3/0001";

impl Merchant<'_> {
    /// Buys under the key. It must succeed.
    async fn has_bought_once(&self, amount: &str) -> Box<Record> {
        match self.comes_again(KEY, amount).await {
            Ok(Confirmed::Now(record)) => record,
            other => panic!("not bought: {other:?}"),
        }
    }

    /// Buys under the key. It must fail.
    async fn has_failed_once(&self, amount: &str) -> Box<Record> {
        match self.comes_again(KEY, amount).await {
            Err(ConfirmError::Failed(record)) => record,
            other => panic!("not failed: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_success_is_told_again_field_by_field_and_nothing_is_asked_or_bought() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    let bought = merchant.has_bought_once("100.00").await;
    let other = env.other_process().await;
    for process in [&env.vending, &other.vending] {
        let again = merchant.confirms_once_at(process, KEY, merchant.request("100.00")).await;
        assert_eq!(again, Ok(Confirmed::Before(bought.clone())));
    }
    env.utility.saw(["check", "vend #1"]);
    merchant.has("398.50", "0");
    merchant.has_earned("1.00");

    assert!(matches!(merchant.buys_once("till-3/0002", "100.00").await, Ok(Confirmed::Now(_))));
    assert!(merchant.buys("100.00").await.is_ok(), "without a key a confirm buys every time");
    merchant.has("195.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn the_key_is_looked_up_before_anything_that_can_refuse() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("101.50").await;
    let bought = merchant.has_bought_once("100.00").await;
    env.sql("UPDATE accounts SET status = 'SUSPENDED' WHERE house IS NULL; DELETE FROM offers");
    let another = env.other_process().await;
    let again = merchant.confirms_once_at(&another.vending, KEY, merchant.request("100.00")).await;
    assert_eq!(again, Ok(Confirmed::Before(bought)));
    env.closes().await;
}

#[tokio::test]
async fn another_request_under_the_key_is_refused_and_changes_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let others = [
        merchant.request("100.01"),
        PurchaseRequest { comment: None, ..merchant.request("100.00") },
        PurchaseRequest { subscriber: meter("04000000001"), ..merchant.request("100.00") },
    ];
    let reused = Err(ConfirmError::Rejected(Rejection::KeyReused));
    let while_open = async {
        env.is_vending().await;
        for other in &others {
            assert_eq!(merchant.confirms_once(KEY, other.clone()).await, reused);
        }
        answer.open();
    };
    let (bought, ()) = tokio::join!(merchant.has_bought_once("100.00"), while_open);
    for other in others {
        assert_eq!(merchant.confirms_once(KEY, other).await, reused);
    }
    assert_eq!(merchant.buys_once(KEY, "100.00").await, Ok(Confirmed::Before(bought)));
    merchant.has("398.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_refusal_before_the_reserve_or_in_it_uses_up_no_key() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let unpriced = PurchaseRequest { provider_code: "NOBODY".into(), ..merchant.request("100.00") };
    let refused = merchant.confirms_once(KEY, unpriced).await;
    assert_eq!(refused, Err(ConfirmError::Rejected(Rejection::UnknownProvider)));
    let too_dear = merchant.comes_again(KEY, "300.00").await;
    assert!(matches!(too_dear, Err(ConfirmError::Rejected(Rejection::Insufficient { .. }))), "{too_dear:?}");
    merchant.has_bought_once("100.00").await;
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_definite_failure_is_told_again_and_keeps_its_key() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    for (number, reason) in RefusalReason::ALL.into_iter().filter(|reason| !reason.is_transient()).enumerate()
    {
        let key = format!("key-{number}");
        env.utility.will([Refuses(reason)]);
        let Err(ConfirmError::Failed(failed)) = merchant.buys_once(&key, "100.00").await else {
            panic!("{reason:?} is a failure");
        };
        assert!(failed.lifecycle.is_unclaimed());
        for _ in 0..2 {
            let again = merchant.buys_once(&key, "100.00").await;
            assert_eq!(again, Err(ConfirmError::FailedBefore(failed.clone())), "{reason:?}");
        }
    }
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_passing_failure_frees_the_key_and_the_same_request_buys() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Busy), CannotBeReached]);
    merchant.has_failed_once("100.00").await;
    merchant.has_failed_once("100.00").await;
    let bought = merchant.has_bought_once("100.00").await;
    assert_eq!(merchant.buys_once(KEY, "100.00").await, Ok(Confirmed::Before(bought)));
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn while_the_outcome_is_unknown_the_key_has_to_wait_and_no_provider_is_asked() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.utility.will([VendsButReplyIsLost]);
    assert_unknown(&merchant.buys_once(KEY, "100.00").await);
    env.comes_to("IN_DOUBT").await;
    for _ in 0..3 {
        assert_pending(&merchant.buys_once(KEY, "100.00").await);
    }
    env.utility.saw(["check", "vend #1"]);
    let settled = merchant.retries().await.unwrap();
    assert_eq!(merchant.buys_once(KEY, "100.00").await, Ok(Confirmed::Before(settled)));
    merchant.has("398.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_failure_that_retry_finds_is_told_as_retry_tells_it_or_frees_the_key() {
    for reason in [RefusalReason::Blocked, RefusalReason::Busy] {
        let env = TestEnv::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
        let merchant = env.merchant_with("200.00").await;
        env.utility.will([RefusesButReplyIsLost(reason)]);
        assert_unknown(&merchant.buys_once(KEY, "100.00").await);
        env.comes_to("IN_DOUBT").await;
        let Err(RetryError::Failed(failed)) = merchant.retries().await else { panic!("it was refused") };
        assert_eq!(failed.failure, Some(Failure::Refused(Refusal::because(reason))));
        assert!(!failed.lifecycle.is_unclaimed(), "the confirm has not reported it");
        if reason.is_transient() {
            env.time_passes(REST_AND_MORE);
            merchant.has_bought_once("100.00").await;
            merchant.has("98.50", "0");
        } else {
            let again = merchant.buys_once(KEY, "100.00").await;
            assert_eq!(again, Err(ConfirmError::FailedBefore(failed)));
            merchant.has("200.00", "0");
        }
        env.closes().await;
    }
}

#[tokio::test]
async fn a_managed_purchase_is_pending_under_its_key_until_its_last_attempt_is_over() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Busy)]);
    let due = merchant.has_bought_once("100.00").await;
    assert_eq!(due.lifecycle.state.name(), StateName::RetryDue);
    assert_pending(&merchant.buys_once(KEY, "100.00").await);
    env.time_passes(Duration::from_mins(1));
    env.attempts_again(&due).await;
    let Ok(Confirmed::Before(bought)) = merchant.buys_once(KEY, "100.00").await else {
        panic!("it succeeded")
    };
    assert_eq!((bought.id, bought.lifecycle.state.name()), (due.id, StateName::Successful));
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn fifty_confirms_at_once_under_one_key_are_one_vend_and_forty_nine_times_pending() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("9000.00").await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let other = env.other_process().await;
    let processes = [&env.vending, &other.vending];
    // A confirm for another meter would be another request, so all of them are identical.
    let confirms = (0..50)
        .zip(processes.iter().cycle())
        .map(|(_, process)| merchant.confirms_once_at(process, KEY, merchant.request("10.00")));
    let opened_later = async {
        env.is_vending().await;
        until("all others are answered", || env.engine.under_way() == 1).await;
        answer.open();
    };
    let (answers, ()) = tokio::join!(join_all(confirms), opened_later);
    let (bought, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    let [Ok(Confirmed::Now(bought))] = bought.as_slice() else { panic!("not one purchase: {bought:?}") };
    assert_eq!(others.len(), 49);
    others.iter().for_each(assert_pending);
    assert_eq!(merchant.buys_once(KEY, "10.00").await, Ok(Confirmed::Before(bought.clone())));
    assert_eq!(env.utility.vends().len(), 1);
    merchant.has("8988.50", "0");
    env.closes().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_confirms_under_one_key_are_told_the_same_outcome_or_to_wait() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("9000.00").await;
    let other = env.other_process().await;
    for (round, reason) in [None, Some(RefusalReason::Blocked), None].into_iter().enumerate() {
        let key = format!("round-{round}");
        env.utility.will(reason.map(Refuses));
        let processes = [&env.vending, &other.vending];
        let confirms = (0..50)
            .zip(processes.iter().cycle())
            .map(|(_, process)| merchant.confirms_once_at(process, &key, merchant.request("10.00")));
        let answers = join_all(confirms).await;
        let mut told = Vec::new();
        let mut first_hand = 0;
        for answer in answers {
            match answer {
                Ok(Confirmed::Now(record)) | Err(ConfirmError::Failed(record)) => {
                    first_hand += 1;
                    told.push(record);
                }
                Ok(Confirmed::Before(record)) | Err(ConfirmError::FailedBefore(record)) => told.push(record),
                other => assert_pending(&other),
            }
        }
        assert_eq!(first_hand, 1, "round {round}");
        assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:?}");
    }
    let states = env.sql("SELECT state, count(*) FROM purchases GROUP BY state ORDER BY state");
    assert_eq!(states, "FAILED|1\nSUCCESSFUL|2");
    assert_eq!(env.utility.vends().len(), 2);
    merchant.has("8977.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_confirm_that_is_overtaken_under_its_key_tells_what_the_other_did() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("101.50").await;
    let other = env.other_process().await;
    merchant.quotes("100.00").await.unwrap();
    env.wire.holds_back();
    let overtaken = async {
        until("it is about to reserve", || env.wire.held_back() == 1).await;
        let bought = merchant.confirms_once_at(&other.vending, KEY, merchant.request("100.00")).await;
        env.wire.lets_continue();
        let Ok(Confirmed::Now(bought)) = bought else { panic!("not bought: {bought:?}") };
        bought
    };
    let (confirmed, bought) = tokio::join!(merchant.buys_once(KEY, "100.00"), overtaken);
    assert_eq!(confirmed, Ok(Confirmed::Before(bought)));
    merchant.has("0", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_reserve_that_was_not_acknowledged_gives_its_key_back_with_its_money() {
    for loss in [Lost::Commit, Lost::Acknowledgement] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        merchant.quotes("100.00").await.unwrap();
        env.wire.loses([loss]);
        let failed = merchant.has_failed_once("100.00").await;
        assert!(env.wire.has_lost_all());
        assert_eq!(env.history(failed.id), "RESERVED NEVER_SENT");
        merchant.has("200.00", "0");
        merchant.has_bought_once("100.00").await;
        merchant.has("98.50", "0");
        env.closes().await;
    }
}

#[tokio::test]
async fn while_the_key_cannot_be_looked_up_nothing_is_said_that_invites_another_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([VendsButReplyIsLost]);
    assert_unknown(&merchant.buys_once(KEY, "100.00").await);
    env.comes_to("IN_DOUBT").await;
    env.wire.is_cut();
    assert_unknown(&merchant.buys_once(KEY, "100.00").await);
    env.wire.is_restored();
    until("the engine is idle", || env.engine.under_way() == 0).await;
    assert_eq!(env.states(), "IN_DOUBT");
    env.closes().await;
}
