//! Retry where there is nothing to ask the provider about: no purchase, no permission, no turn.

use std::time::Duration;

use futures_util::future::join_all;
use provider::scripted::NextEnquiry::Answers;
use provider::scripted::NextVend::{
    NeverArrives, Refuses, RefusesButReplyIsLost, VendsAndAnswersOnceOpened, VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch};
use purchase::{PurchaseRequest, StateName};
use vend::{Enquiry, Product, Refusal, RefusalReason};
use vending::{ConfirmError, Rejection, RetryError, RetryScope};

use crate::town::{METER, Plan, REFERENCE, Town, assert_rests, meter, until};

#[tokio::test]
async fn after_a_retry_of_nothing_the_reference_rests_for_a_minute_and_no_other_does() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    assert_eq!(shop.retries().await, Err(RetryError::NotFound));

    let began_earlier = shop.confirms_from(Duration::from_secs(10), shop.request("100.00")).await;
    assert_rests(&began_earlier);
    assert_eq!(town.count("purchases"), 0);
    assert_eq!(shop.retries().await, Err(RetryError::NotFound), "it stays true");

    assert_rests(&shop.buys("100.00").await);

    let other = PurchaseRequest { external_reference: Some("till-3/0002".into()), ..shop.request("100.00") };
    shop.confirms_from(Duration::from_secs(10), other).await.unwrap();
    let nameless = PurchaseRequest { external_reference: None, ..shop.request("100.00") };
    shop.confirms_from(Duration::from_secs(10), nameless).await.unwrap();

    let later = shop.buys_afresh("100.00").await.unwrap();
    assert_eq!(shop.retries().await, Ok(later));
    shop.has("195.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_final_answer_closes_the_reference_for_what_began_before_it() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    let bought = shop.buys("100.00").await.unwrap();
    assert_eq!(shop.retries().await, Ok(bought.clone()));
    let began_earlier = shop.confirms_from(Duration::from_secs(10), shop.request("100.00")).await;
    assert_rests(&began_earlier);
    assert_eq!(shop.retries().await, Ok(bought), "it is still the newest");
    shop.has("398.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_confirm_that_is_overtaken_by_a_retry_of_nothing_is_rejected() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let other = town.other_desk().await;
    shop.quotes("100.00").await.unwrap();
    town.wire.holds_back();
    let overtaken = async {
        until("it is about to reserve", || town.wire.held_back() == 1).await;
        assert_eq!(shop.retries_at(&other.vending).await, Err(RetryError::NotFound));
        // However long its process stands still before its transaction begins.
        town.clock.advance(Duration::from_secs(4));
        town.wire.lets_go();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), overtaken);
    assert_rests(&confirmed);
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_retry_finds_nobody_elses_purchase() {
    let town = Town::open().await;
    let (shop, other) = (town.shop_with("200.00").await, town.shop_with("200.00").await);
    shop.buys("100.00").await.unwrap();
    assert_eq!(other.retries().await, Err(RetryError::NotFound));
    town.closes().await;
}

#[tokio::test]
async fn on_the_current_surface_only_electricity_is_found() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    let electricity = shop.buys("100.00").await.unwrap();
    let water = PurchaseRequest { product: Product::Water, ..shop.request("50.00") };
    let water = shop.confirms(water).await.unwrap();
    assert_eq!(shop.retries_in(RetryScope::AnyProduct).await, Ok(water));
    assert_eq!(shop.retries_in(RetryScope::ElectricityOnly).await, Ok(electricity));
    town.closes().await;
}

#[tokio::test]
async fn a_rejected_confirm_leaves_nothing_to_retry() {
    let town = Town::open().await;
    let shop = town.shop_with("50.00").await;
    assert!(matches!(shop.buys("100.00").await, Err(ConfirmError::Rejected(Rejection::Insufficient { .. }))));
    assert_eq!(shop.retries().await, Err(RetryError::NotFound));
    town.closes().await;
}

#[tokio::test]
async fn retries_that_are_switched_off_for_the_account_or_the_provider_are_refused_while_it_is_open() {
    for table in ["accounts", "providers"] {
        let town = Town::open().await;
        let shop = town.shop_with("200.00").await;
        town.utility.will([VendsButReplyIsLost]);
        shop.is_left_in_doubt("100.00").await;
        town.sql(&format!("UPDATE {table} SET retries_enabled = false"));
        assert_eq!(shop.retries().await, Err(RetryError::Disabled));
        town.utility.saw(["check", "vend #1"]);
        shop.has("200.00", "101.50");

        town.sql(&format!("UPDATE {table} SET retries_enabled = true"));
        let settled = shop.retries().await.unwrap();
        town.sql(&format!("UPDATE {table} SET retries_enabled = false"));
        assert_eq!(shop.retries().await, Ok(settled), "what has ended is told all the same");
        town.closes().await;
    }
}

#[tokio::test]
async fn a_token_that_a_retry_finds_while_the_confirm_still_waits_for_it_is_told_at_once() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let retried_meanwhile = async {
        town.is_vending().await;
        let told = shop.retries().await;
        answer.open();
        told
    };
    let (confirmed, told) = tokio::join!(shop.buys("100.00"), retried_meanwhile);
    assert_eq!(confirmed.ok(), told.ok());
    town.utility.saw(["check", "vend #1", "enquire #1"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn whatever_else_a_retry_hears_while_the_confirm_still_waits_changes_nothing() {
    let town = Town::of(Plan::declared_truly(Conduct::REJECTS_REPEATS)).await;
    let shop = town.shop_with("200.00").await;
    let answer = Latch::closed();
    town.utility.will([VendsAndAnswersOnceOpened(answer.clone())]);
    let refusal = Refusal::because(RefusalReason::Blocked);
    let heard = [Enquiry::NoRecord, Enquiry::Refused(refusal), Enquiry::StillOpen];
    town.utility.will_tell(heard.map(|heard| Answers(Box::new(heard))));
    let retried_meanwhile = async {
        town.is_vending().await;
        for _ in 0..3 {
            assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
            assert_eq!(town.sql("SELECT state, fence FROM purchases"), "IN_FLIGHT|1");
        }
        answer.open();
    };
    let (confirmed, ()) = tokio::join!(shop.buys("100.00"), retried_meanwhile);
    assert_eq!(shop.retries().await.ok(), confirmed.ok());
    town.utility.saw(["check", "vend #1", "enquire #1", "enquire #1", "enquire #1"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn however_many_ask_the_provider_is_asked_once_in_a_second() {
    let town = Town::of(Plan::with_turns()).await;
    let shop = town.shop_with("200.00").await;
    let other = town.other_desk().await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    for asked in 1..4 {
        let here = (0..20).map(|_| shop.retries_at(&town.vending));
        let there = (0..20).map(|_| shop.retries_at(&other.vending));
        for told in join_all(here.chain(there)).await {
            let Err(RetryError::Pending(recovery)) = told else { panic!("{told:?}") };
            assert!(recovery.wait() <= Duration::from_secs(2) * asked, "{recovery:?}");
        }
        let enquiries = vec!["enquire #1"; usize::try_from(asked).unwrap()];
        town.utility.saw(["check", "vend #1"].into_iter().chain(enquiries));
        town.time_passes(Duration::from_secs(2));
    }
    town.closes().await;
}

#[tokio::test]
async fn retries_at_once_ask_once_send_once_and_settle_once() {
    let turns = Plan::with_turns().settings;
    let town = Town::of(Plan { settings: turns, ..Plan::declared_truly(Conduct::REJECTS_REPEATS) }).await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([NeverArrives]);
    shop.is_left_in_doubt("100.00").await;
    // When the plan has the first repeat due.
    town.time_passes(Duration::from_secs(5));
    let outcomes = tokio::join!(shop.retries(), shop.retries(), shop.retries());
    for outcome in [outcomes.0, outcomes.1, outcomes.2] {
        assert!(matches!(outcome, Ok(_) | Err(RetryError::Pending(_))), "{outcome:?}");
    }
    assert_eq!(town.states(), "SUCCESSFUL");
    town.utility.saw(["check", "vend #1", "enquire #1", "vend #1"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_retry_that_claims_after_others_asks_about_the_attempt_that_is_current_then() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    // Of the first attempt the refusal is lost, of the second the token.
    town.utility.will([RefusesButReplyIsLost(RefusalReason::Busy), VendsButReplyIsLost]);
    let record = shop.buys("100.00").await.unwrap();
    assert_eq!(record.life.state.name(), StateName::InDoubt);
    let (slow, slower) = (town.other_desk().await, town.other_desk().await);
    for desk in [&slow, &slower] {
        desk.wire.holds_back();
    }
    let in_turn = async {
        let both = || [&slow, &slower].iter().all(|desk| desk.wire.held_back() == 1);
        until("both have found the first attempt", both).await;
        assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
        assert_eq!(town.states(), "RETRY_DUE");
        slow.wire.lets_go();
        until("the slow one has claimed in vain", || town.history(record.id).ends_with("CLAIMED LET_GO"))
            .await;
        assert_eq!(town.states(), "RETRY_DUE");
        town.time_passes(Duration::from_mins(1));
        town.attempts_again(&record).await;
        assert_eq!(town.sql("SELECT state, attempt FROM purchases"), "IN_DOUBT|2");
        slower.wire.lets_go();
    };
    let (in_vain, settled, ()) =
        tokio::join!(shop.retries_at(&slow.vending), shop.retries_at(&slower.vending), in_turn);
    assert!(matches!(in_vain, Err(RetryError::Pending(_))));
    assert!(settled.is_ok(), "{settled:?}");
    town.utility.saw(["check", "vend #1", "enquire #1", "vend #2", "enquire #2"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_failed_purchase_may_be_bought_afresh_under_its_reference() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked)]);
    shop.buys("100.00").await.unwrap_err();
    let afresh = shop.buys("100.00").await.unwrap();
    let own = format!("subscriber_identifier = '{METER}' AND external_reference = '{REFERENCE}'");
    assert_eq!(town.count(&format!("purchases WHERE {own}")), 2);
    assert_eq!(shop.retries().await, Ok(afresh.clone()));
    assert_eq!(afresh.subscriber, meter(METER));
    town.closes().await;
}
