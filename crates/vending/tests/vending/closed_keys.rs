//! Copies of one confirm under one key that end differently. A caller that was answered that nothing was
//! bought got a true answer, whatever the other copies still try.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::Latch;
use provider::scripted::NextVend::{Refuses, VendsAndAnswersOnceOpened};
use purchase::PurchaseRequest;
use vend::{Refusal, RefusalReason, Unanswered};
use vending::{ConfirmError, Confirmed, Rejection, Vending};

use crate::env::{
    Lost, Merchant, OtherProcess, TestEnv, assert_pending, assert_unknown, meter, unchecked, until,
};

const KEY: &str = "till-3/0001";

/// More than a test takes, and less than the age after which nothing is sent.
const A_WHILE: Duration = Duration::from_secs(15);

fn unknown_meter() -> Unanswered {
    Unanswered::Refused(Refusal::because(RefusalReason::UnknownSubscriber))
}

fn refused() -> Result<Confirmed, ConfirmError> {
    Err(ConfirmError::Rejected(unchecked(unknown_meter())))
}

fn closed() -> Result<Confirmed, ConfirmError> {
    Err(ConfirmError::Rejected(Rejection::KeyClosed))
}

/// Whether another copy was faster, so that this one has no answer yet.
const fn is_to_come_again(told: &Result<Confirmed, ConfirmError>) -> bool {
    matches!(told, Err(ConfirmError::Rejected(Rejection::Pending(_) | Rejection::KeyClosed)))
}

impl TestEnv {
    /// Waits until the check is held, and then a while longer.
    async fn waits_for_a_check(&self) {
        until("a check is held on the line", || self.line.is_holding_a_check()).await;
        self.clock.advance(A_WHILE);
    }

    /// Another process that has its numbers and its catalogue and will begin no transaction before its
    /// reserve.
    async fn other_process_at_work(&self, merchant: &Merchant<'_>) -> OtherProcess {
        let other = self.other_process().await;
        let request = PurchaseRequest { subscriber: meter("04000000001"), ..merchant.request("100.00") };
        other.vending.quote(&merchant.authority, &request).await.unwrap();
        other
    }
}

impl Merchant<'_> {
    /// Sends a copy whose check is refused.
    async fn is_turned_down_at(&self, process: &Vending, env: &TestEnv) -> Result<Confirmed, ConfirmError> {
        env.utility.will_leave_unanswered([unknown_meter()]);
        self.confirms_once_at(process, KEY, self.request("100.00")).await
    }
}

#[tokio::test]
async fn a_copy_whose_check_is_slow_buys_nothing_after_another_was_refused() {
    for elsewhere in [false, true] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        let other = env.other_process().await;
        let process = if elsewhere { &other.vending } else { &env.vending };
        let check = env.line.holds_the_next_check();
        let meanwhile = async {
            env.waits_for_a_check().await;
            assert_eq!(merchant.is_turned_down_at(process, &env).await, refused());
            check.open();
        };
        let (slow, ()) = tokio::join!(merchant.buys_once(KEY, "100.00"), meanwhile);
        assert_eq!((slow, env.count("purchases")), (closed(), 0));
        assert!(matches!(merchant.comes_again(KEY, "100.00").await, Ok(Confirmed::Now(_))));
        merchant.has("98.50", "0");
        env.closes().await;
    }
}

#[tokio::test]
async fn a_copy_that_is_about_to_be_refused_tells_what_a_quicker_one_has_bought() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let other = env.other_process_at_work(&merchant).await;
    other.wire.holds_back();
    let quicker = async {
        until("it is about to close the key", || other.wire.held_back() == 1).await;
        let bought = merchant.buys_once(KEY, "100.00").await;
        other.wire.lets_continue();
        let Ok(Confirmed::Now(bought)) = bought else { panic!("not bought: {bought:?}") };
        bought
    };
    let (overtaken, bought) = tokio::join!(merchant.is_turned_down_at(&other.vending, &env), quicker);
    assert_eq!(overtaken, Ok(Confirmed::Before(bought)));
    assert_eq!(env.count("closed_keys"), 0);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_copy_that_is_about_to_be_refused_waits_for_what_a_quicker_one_is_buying() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let other = env.other_process_at_work(&merchant).await;
    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    other.wire.holds_back();
    let overtaken = async {
        let told = merchant.is_turned_down_at(&other.vending, &env).await;
        answer.open();
        told
    };
    let quicker = async {
        until("it is about to close the key", || other.wire.held_back() == 1).await;
        merchant.buys_once(KEY, "100.00").await
    };
    let in_between = async {
        env.is_vending().await;
        other.wire.lets_continue();
    };
    let (overtaken, bought, ()) = tokio::join!(overtaken, quicker, in_between);
    assert_pending(&overtaken);
    let Ok(Confirmed::Now(bought)) = bought else { panic!("not bought: {bought:?}") };
    assert_eq!(merchant.is_turned_down_at(&other.vending, &env).await, Ok(Confirmed::Before(bought)));
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_refusal_whose_closing_is_not_acknowledged_is_not_told() {
    for loss in [Lost::Commit, Lost::Acknowledgement] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with("200.00").await;
        let other = env.other_process_at_work(&merchant).await;
        let check = env.line.holds_the_next_check();
        let meanwhile = async {
            env.waits_for_a_check().await;
            other.wire.loses([loss]);
            let told = merchant.is_turned_down_at(&other.vending, &env).await;
            assert_unknown(&told);
            assert!(other.wire.has_lost_all());
            check.open();
        };
        let (slow, ()) = tokio::join!(merchant.buys_once(KEY, "100.00"), meanwhile);
        if loss == Lost::Acknowledgement {
            assert_eq!(slow, closed());
            merchant.has("200.00", "0");
        } else {
            assert!(matches!(slow, Ok(Confirmed::Now(_))), "{slow:?}");
            merchant.has("98.50", "0");
        }
        env.closes().await;
    }
}

#[tokio::test]
async fn a_failure_that_frees_the_key_frees_it_for_no_copy_that_is_under_way() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let other = env.other_process().await;
    env.utility.will([Refuses(RefusalReason::Busy)]);
    let check = env.line.holds_the_next_check();
    let slow = merchant.confirms_once_at(&other.vending, KEY, merchant.request("100.00"));
    let meanwhile = async {
        env.waits_for_a_check().await;
        let failed = merchant.buys_once(KEY, "100.00").await;
        assert!(matches!(failed, Err(ConfirmError::Failed(_))), "{failed:?}");
        check.open();
    };
    let (slow, ()) = tokio::join!(slow, meanwhile);
    assert_eq!((slow, env.utility.vends().len()), (closed(), 0));
    assert!(matches!(merchant.comes_again(KEY, "100.00").await, Ok(Confirmed::Now(_))));
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn nothing_is_closed_without_a_key_or_by_an_answer_that_says_come_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.utility.will_leave_unanswered([unknown_meter()]);
    let keyless = merchant.buys("100.00").await;
    assert_eq!(keyless, Err(ConfirmError::Rejected(unchecked(unknown_meter()))));

    let answer = Latch::closed();
    env.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let meanwhile = async {
        env.is_vending().await;
        assert_pending(&merchant.buys_once(KEY, "100.00").await);
        answer.open();
    };
    let (bought, ()) = tokio::join!(merchant.buys("100.00"), meanwhile);
    assert!(bought.is_ok(), "{bought:?}");
    assert!(matches!(merchant.buys_once(KEY, "100.00").await, Ok(Confirmed::Now(_))));
    assert_eq!(env.count("closed_keys"), 0);
    env.closes().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_copies_are_all_told_that_it_was_bought_or_all_that_it_was_not() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("9000.00").await;
    let other = env.other_process().await;
    for round in 0..8 {
        let key = format!("round-{round}");
        env.utility.will_leave_unanswered([unknown_meter(), unknown_meter(), unknown_meter()]);
        let processes = [&env.vending, &other.vending];
        let confirms = (0..30).zip(processes.iter().cycle()).map(|(_, process)| {
            merchant.confirms_once_from(A_WHILE, process, &key, merchant.request("10.00"))
        });
        let answers = join_all(confirms).await;
        let count = |is_such: fn(&Result<Confirmed, ConfirmError>) -> bool| {
            answers.iter().filter(|answer| is_such(answer)).count()
        };
        let (turned_down, bought) = (count(|told| *told == refused()), count(Result::is_ok));
        assert_eq!(turned_down + bought + count(is_to_come_again), 30, "{answers:?}");
        assert!(turned_down == 0 || bought == 0, "round {round}: {turned_down} refused, {bought} bought");
        let purchases = env.count(&format!("purchases WHERE idempotency_key = '{key}'"));
        assert_eq!(purchases, u32::from(bought > 0), "round {round}");
        // A check that has passed is not made again for a minute.
        env.clock.advance(Duration::from_mins(1));
    }
    env.closes().await;
}
