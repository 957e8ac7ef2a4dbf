//! Confirms under idempotency keys: one vend and one charge for each, and one final answer, however often and through however
//! many desks they are sent.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::NextVend::{
    CannotBeReached, Refuses, RefusesButReplyIsLost, VendsAndAnswersOnceOpened, VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{Failure, PurchaseRequest, Record, StateName};
use vend::{Refusal, RefusalReason};
use vending::{ConfirmError, Confirmed, Rejection, RetryError};

use crate::town::{Lost, Plan, REST_AND_MORE, Shop, Town, assert_pending, assert_unknown, meter, until};

const KEY: &str = "till-3/0001";

impl Shop<'_> {
    /// Buys under the key what must succeed.
    async fn has_bought_once(&self, amount: &str) -> Box<Record> {
        match self.comes_again(KEY, amount).await {
            Ok(Confirmed::Now(record)) => record,
            other => panic!("not bought: {other:?}"),
        }
    }

    /// Buys under the key what must fail.
    async fn has_failed_once(&self, amount: &str) -> Box<Record> {
        match self.comes_again(KEY, amount).await {
            Err(ConfirmError::Failed(record)) => record,
            other => panic!("not failed: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_success_is_told_again_field_by_field_and_nothing_is_asked_or_bought() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    let bought = shop.has_bought_once("100.00").await;
    let other = town.other_desk().await;
    for desk in [&town.vending, &other.vending] {
        let again = shop.confirms_once_at(desk, KEY, shop.request("100.00")).await;
        assert_eq!(again, Ok(Confirmed::Before(bought.clone())));
    }
    town.utility.saw(["check", "vend #1"]);
    shop.has("398.50", "0");
    shop.has_earned("1.00");

    assert!(matches!(shop.buys_once("till-3/0002", "100.00").await, Ok(Confirmed::Now(_))));
    assert!(shop.buys("100.00").await.is_ok(), "without a key a confirm buys every time");
    shop.has("195.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn the_key_is_looked_up_before_anything_that_can_refuse() {
    let town = Town::open().await;
    let shop = town.shop_with("101.50").await;
    let bought = shop.has_bought_once("100.00").await;
    town.sql("UPDATE accounts SET status = 'SUSPENDED' WHERE house IS NULL; DELETE FROM offers");
    let stranger = town.other_desk().await;
    let again = shop.confirms_once_at(&stranger.vending, KEY, shop.request("100.00")).await;
    assert_eq!(again, Ok(Confirmed::Before(bought)));
    town.closes().await;
}

#[tokio::test]
async fn another_request_under_the_key_is_refused_and_changes_nothing() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let others = [
        shop.request("100.01"),
        PurchaseRequest { comment: None, ..shop.request("100.00") },
        PurchaseRequest { subscriber: meter("04000000001"), ..shop.request("100.00") },
    ];
    let reused = Err(ConfirmError::Rejected(Rejection::KeyReused));
    let while_open = async {
        town.is_vending().await;
        for other in &others {
            assert_eq!(shop.confirms_once(KEY, other.clone()).await, reused);
        }
        answer.open();
    };
    let (bought, ()) = tokio::join!(shop.has_bought_once("100.00"), while_open);
    for other in others {
        assert_eq!(shop.confirms_once(KEY, other).await, reused);
    }
    assert_eq!(shop.buys_once(KEY, "100.00").await, Ok(Confirmed::Before(bought)));
    shop.has("398.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_refusal_before_the_reserve_or_in_it_uses_up_no_key() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let unpriced = PurchaseRequest { provider_code: "NOBODY".into(), ..shop.request("100.00") };
    let refused = shop.confirms_once(KEY, unpriced).await;
    assert_eq!(refused, Err(ConfirmError::Rejected(Rejection::UnknownProvider)));
    let too_dear = shop.comes_again(KEY, "300.00").await;
    assert!(matches!(too_dear, Err(ConfirmError::Rejected(Rejection::Insufficient { .. }))), "{too_dear:?}");
    shop.has_bought_once("100.00").await;
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_definite_failure_is_told_again_and_keeps_its_key() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    for (number, reason) in RefusalReason::ALL.into_iter().filter(|reason| !reason.is_transient()).enumerate()
    {
        let key = format!("key-{number}");
        town.utility.will([Refuses(reason)]);
        let Err(ConfirmError::Failed(failed)) = shop.buys_once(&key, "100.00").await else {
            panic!("{reason:?} is a failure");
        };
        assert!(failed.life.is_unclaimed());
        for _ in 0..2 {
            let again = shop.buys_once(&key, "100.00").await;
            assert_eq!(again, Err(ConfirmError::FailedBefore(failed.clone())), "{reason:?}");
        }
    }
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_passing_failure_frees_the_key_and_the_same_request_buys() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Busy), CannotBeReached]);
    shop.has_failed_once("100.00").await;
    shop.has_failed_once("100.00").await;
    let bought = shop.has_bought_once("100.00").await;
    assert_eq!(shop.buys_once(KEY, "100.00").await, Ok(Confirmed::Before(bought)));
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn while_nobody_knows_the_key_is_told_to_wait_and_the_provider_is_not_asked() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.utility.will([VendsButReplyIsLost]);
    assert_unknown(&shop.buys_once(KEY, "100.00").await);
    town.comes_to("IN_DOUBT").await;
    for _ in 0..3 {
        assert_pending(&shop.buys_once(KEY, "100.00").await);
    }
    town.utility.saw(["check", "vend #1"]);
    let settled = shop.retries().await.unwrap();
    assert_eq!(shop.buys_once(KEY, "100.00").await, Ok(Confirmed::Before(settled)));
    shop.has("398.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_failure_that_retry_finds_is_told_as_retry_tells_it_or_frees_the_key() {
    for reason in [RefusalReason::Blocked, RefusalReason::Busy] {
        let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
        let shop = town.shop_with("200.00").await;
        town.utility.will([RefusesButReplyIsLost(reason)]);
        assert_unknown(&shop.buys_once(KEY, "100.00").await);
        town.comes_to("IN_DOUBT").await;
        let Err(RetryError::Failed(failed)) = shop.retries().await else { panic!("it was refused") };
        assert_eq!(failed.failure, Some(Failure::Refused(Refusal::because(reason))));
        assert!(!failed.life.is_unclaimed(), "the confirm has not told of it");
        if reason.is_transient() {
            town.time_passes(REST_AND_MORE);
            shop.has_bought_once("100.00").await;
            shop.has("98.50", "0");
        } else {
            let again = shop.buys_once(KEY, "100.00").await;
            assert_eq!(again, Err(ConfirmError::FailedBefore(failed)));
            shop.has("200.00", "0");
        }
        town.closes().await;
    }
}

#[tokio::test]
async fn a_managed_purchase_is_pending_under_its_key_until_its_last_attempt_is_over() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Busy)]);
    let due = shop.has_bought_once("100.00").await;
    assert_eq!(due.life.state.name(), StateName::RetryDue);
    assert_pending(&shop.buys_once(KEY, "100.00").await);
    town.time_passes(Duration::from_mins(1));
    town.attempts_again(&due).await;
    let Ok(Confirmed::Before(bought)) = shop.buys_once(KEY, "100.00").await else { panic!("it succeeded") };
    assert_eq!((bought.id, bought.life.state.name()), (due.id, StateName::Successful));
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn fifty_confirms_at_once_under_one_key_are_one_vend_and_forty_nine_times_pending() {
    let town = Town::open().await;
    let shop = town.shop_with("9000.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let other = town.other_desk().await;
    let desks = [&town.vending, &other.vending];
    // Each for a meter of its own would be another request; so they differ in nothing.
    let confirms = (0..50)
        .zip(desks.iter().cycle())
        .map(|(_, desk)| shop.confirms_once_at(desk, KEY, shop.request("10.00")));
    let opened_later = async {
        town.is_vending().await;
        until("all others are answered", || town.engine.under_way() == 1).await;
        answer.open();
    };
    let (answers, ()) = tokio::join!(join_all(confirms), opened_later);
    let (bought, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    let [Ok(Confirmed::Now(bought))] = bought.as_slice() else { panic!("not one purchase: {bought:?}") };
    assert_eq!(others.len(), 49);
    others.iter().for_each(assert_pending);
    assert_eq!(shop.buys_once(KEY, "10.00").await, Ok(Confirmed::Before(bought.clone())));
    assert_eq!(town.utility.vends().len(), 1);
    shop.has("8988.50", "0");
    town.closes().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fifty_confirms_under_one_key_are_told_it_is_one_story() {
    let town = Town::open().await;
    let shop = town.shop_with("9000.00").await;
    let other = town.other_desk().await;
    for (round, reason) in [None, Some(RefusalReason::Blocked), None].into_iter().enumerate() {
        let key = format!("round-{round}");
        town.utility.will(reason.map(Refuses));
        let desks = [&town.vending, &other.vending];
        let confirms = (0..50)
            .zip(desks.iter().cycle())
            .map(|(_, desk)| shop.confirms_once_at(desk, &key, shop.request("10.00")));
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
    let states = town.sql("SELECT state, count(*) FROM purchases GROUP BY state ORDER BY state");
    assert_eq!(states, "FAILED|1\nSUCCESSFUL|2");
    assert_eq!(town.utility.vends().len(), 2);
    shop.has("8977.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_confirm_that_is_overtaken_under_its_key_tells_what_the_other_did() {
    let town = Town::open().await;
    let shop = town.shop_with("101.50").await;
    let other = town.other_desk().await;
    shop.quotes("100.00").await.unwrap();
    town.wire.holds_back();
    let overtaken = async {
        until("it is about to reserve", || town.wire.held_back() == 1).await;
        let bought = shop.confirms_once_at(&other.vending, KEY, shop.request("100.00")).await;
        town.wire.lets_go();
        let Ok(Confirmed::Now(bought)) = bought else { panic!("not bought: {bought:?}") };
        bought
    };
    let (confirmed, bought) = tokio::join!(shop.buys_once(KEY, "100.00"), overtaken);
    assert_eq!(confirmed, Ok(Confirmed::Before(bought)));
    shop.has("0", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_reserve_that_was_not_acknowledged_gives_its_key_back_with_its_money() {
    for loss in [Lost::Commit, Lost::Acknowledgement] {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        shop.quotes("100.00").await.unwrap();
        town.wire.loses([loss]);
        let failed = shop.has_failed_once("100.00").await;
        assert!(town.wire.has_lost_all());
        assert_eq!(town.history(failed.id), "RESERVED NEVER_SENT");
        shop.has("200.00", "0");
        shop.has_bought_once("100.00").await;
        shop.has("98.50", "0");
        town.closes().await;
    }
}

#[tokio::test]
async fn while_the_key_cannot_be_looked_up_nothing_is_said_that_invites_another_purchase() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([VendsButReplyIsLost]);
    assert_unknown(&shop.buys_once(KEY, "100.00").await);
    town.comes_to("IN_DOUBT").await;
    town.wire.is_cut();
    assert_unknown(&shop.buys_once(KEY, "100.00").await);
    town.wire.is_mended();
    until("the desk is idle", || town.engine.under_way() == 0).await;
    assert_eq!(town.states(), "IN_DOUBT");
    town.closes().await;
}
