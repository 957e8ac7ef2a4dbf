//! Copies of one confirm under one key that come to different ends: whoever is told that nothing was bought has been told
//! the truth, whatever the other copies still try.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::Latch;
use provider::scripted::NextVend::{Refuses, VendsAndAnswersOnceOpened};
use purchase::PurchaseRequest;
use vend::{Refusal, RefusalReason, Unanswered};
use vending::{ConfirmError, Confirmed, Rejection, Vending};

use crate::town::{Lost, OtherDesk, Shop, Town, assert_pending, assert_unknown, meter, unchecked, until};

const KEY: &str = "till-3/0001";

/// More than a test takes, and less than after which nothing is sent.
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

/// Whether another copy was quicker, so that this one can say nothing yet.
const fn is_to_come_again(told: &Result<Confirmed, ConfirmError>) -> bool {
    matches!(told, Err(ConfirmError::Rejected(Rejection::Pending(_) | Rejection::KeyClosed)))
}

impl Town {
    /// Waits until the check that was to be held is, and then a while longer.
    async fn waits_for_a_check(&self) {
        until("a check lies on the line", || self.line.is_holding_a_check()).await;
        self.clock.advance(A_WHILE);
    }

    /// Another desk, that has its numbers and its catalogue and will begin no transaction before its reserve.
    async fn other_desk_at_work(&self, shop: &Shop<'_>) -> OtherDesk {
        let other = self.other_desk().await;
        let request = PurchaseRequest { subscriber: meter("04000000001"), ..shop.request("100.00") };
        other.vending.quote(&shop.authority, &request).await.unwrap();
        other
    }
}

impl Shop<'_> {
    /// Sends a copy whose check is refused.
    async fn is_turned_down_at(&self, desk: &Vending, town: &Town) -> Result<Confirmed, ConfirmError> {
        town.utility.will_leave_unanswered([unknown_meter()]);
        self.confirms_once_at(desk, KEY, self.request("100.00")).await
    }
}

#[tokio::test]
async fn a_copy_whose_check_is_slow_buys_nothing_after_another_was_refused_here_or_elsewhere() {
    for elsewhere in [false, true] {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        let other = town.other_desk().await;
        let desk = if elsewhere { &other.vending } else { &town.vending };
        let check = town.line.holds_the_next_check();
        let meanwhile = async {
            town.waits_for_a_check().await;
            assert_eq!(shop.is_turned_down_at(desk, &town).await, refused());
            check.open();
        };
        let (slow, ()) = tokio::join!(shop.buys_once(KEY, "100.00"), meanwhile);
        assert_eq!((slow, town.count("purchases")), (closed(), 0));
        assert!(matches!(shop.comes_again(KEY, "100.00").await, Ok(Confirmed::Now(_))));
        shop.has("98.50", "0");
        town.closes().await;
    }
}

#[tokio::test]
async fn a_copy_that_is_about_to_be_refused_tells_what_a_quicker_one_has_bought() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let other = town.other_desk_at_work(&shop).await;
    other.wire.holds_back();
    let quicker = async {
        until("it is about to close the key", || other.wire.held_back() == 1).await;
        let bought = shop.buys_once(KEY, "100.00").await;
        other.wire.lets_go();
        let Ok(Confirmed::Now(bought)) = bought else { panic!("not bought: {bought:?}") };
        bought
    };
    let (overtaken, bought) = tokio::join!(shop.is_turned_down_at(&other.vending, &town), quicker);
    assert_eq!(overtaken, Ok(Confirmed::Before(bought)));
    assert_eq!(town.count("closed_keys"), 0);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_copy_that_is_about_to_be_refused_waits_for_what_a_quicker_one_is_buying() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let other = town.other_desk_at_work(&shop).await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    other.wire.holds_back();
    let overtaken = async {
        let told = shop.is_turned_down_at(&other.vending, &town).await;
        answer.open();
        told
    };
    let quicker = async {
        until("it is about to close the key", || other.wire.held_back() == 1).await;
        shop.buys_once(KEY, "100.00").await
    };
    let in_between = async {
        town.is_vending().await;
        other.wire.lets_go();
    };
    let (overtaken, bought, ()) = tokio::join!(overtaken, quicker, in_between);
    assert_pending(&overtaken);
    let Ok(Confirmed::Now(bought)) = bought else { panic!("not bought: {bought:?}") };
    assert_eq!(shop.is_turned_down_at(&other.vending, &town).await, Ok(Confirmed::Before(bought)));
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_refusal_whose_closing_is_not_acknowledged_is_not_told() {
    for loss in [Lost::Commit, Lost::Acknowledgement] {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        let other = town.other_desk_at_work(&shop).await;
        let check = town.line.holds_the_next_check();
        let meanwhile = async {
            town.waits_for_a_check().await;
            other.wire.loses([loss]);
            let told = shop.is_turned_down_at(&other.vending, &town).await;
            assert_unknown(&told);
            assert!(other.wire.has_lost_all());
            check.open();
        };
        let (slow, ()) = tokio::join!(shop.buys_once(KEY, "100.00"), meanwhile);
        if loss == Lost::Acknowledgement {
            assert_eq!(slow, closed());
            shop.has("200.00", "0");
        } else {
            assert!(matches!(slow, Ok(Confirmed::Now(_))), "{slow:?}");
            shop.has("98.50", "0");
        }
        town.closes().await;
    }
}

#[tokio::test]
async fn a_failure_that_frees_the_key_frees_it_for_no_copy_that_is_under_way() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let other = town.other_desk().await;
    town.utility.will([Refuses(RefusalReason::Busy)]);
    let check = town.line.holds_the_next_check();
    let slow = shop.confirms_once_at(&other.vending, KEY, shop.request("100.00"));
    let meanwhile = async {
        town.waits_for_a_check().await;
        let failed = shop.buys_once(KEY, "100.00").await;
        assert!(matches!(failed, Err(ConfirmError::Failed(_))), "{failed:?}");
        check.open();
    };
    let (slow, ()) = tokio::join!(slow, meanwhile);
    assert_eq!((slow, town.utility.vends().len()), (closed(), 0));
    assert!(matches!(shop.comes_again(KEY, "100.00").await, Ok(Confirmed::Now(_))));
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn nothing_is_closed_without_a_key_or_by_an_answer_that_says_come_again() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.utility.will_leave_unanswered([unknown_meter()]);
    let keyless = shop.buys("100.00").await;
    assert_eq!(keyless, Err(ConfirmError::Rejected(unchecked(unknown_meter()))));

    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let meanwhile = async {
        town.is_vending().await;
        assert_pending(&shop.buys_once(KEY, "100.00").await);
        answer.open();
    };
    let (bought, ()) = tokio::join!(shop.buys("100.00"), meanwhile);
    assert!(bought.is_ok(), "{bought:?}");
    assert!(matches!(shop.buys_once(KEY, "100.00").await, Ok(Confirmed::Now(_))));
    assert_eq!(town.count("closed_keys"), 0);
    town.closes().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_of_copies_of_which_some_are_refused_hears_that_it_was_bought_or_that_it_was_not() {
    let town = Town::open().await;
    let shop = town.shop_with("9000.00").await;
    let other = town.other_desk().await;
    for round in 0..8 {
        let key = format!("round-{round}");
        town.utility.will_leave_unanswered([unknown_meter(), unknown_meter(), unknown_meter()]);
        let desks = [&town.vending, &other.vending];
        let confirms = (0..30)
            .zip(desks.iter().cycle())
            .map(|(_, desk)| shop.confirms_once_from(A_WHILE, desk, &key, shop.request("10.00")));
        let answers = join_all(confirms).await;
        let count = |is_such: fn(&Result<Confirmed, ConfirmError>) -> bool| {
            answers.iter().filter(|answer| is_such(answer)).count()
        };
        let (turned_down, bought) = (count(|told| *told == refused()), count(Result::is_ok));
        assert_eq!(turned_down + bought + count(is_to_come_again), 30, "{answers:?}");
        assert!(turned_down == 0 || bought == 0, "round {round}: {turned_down} refused, {bought} bought");
        let purchases = town.count(&format!("purchases WHERE idempotency_key = '{key}'"));
        assert_eq!(purchases, u32::from(bought > 0), "round {round}");
        // A check that has passed is not asked for again for a minute.
        town.clock.advance(Duration::from_mins(1));
    }
    town.closes().await;
}
