//! Purchases that end at once: paid for, or refused and not paid for.

use std::time::Duration;

use futures_util::future::join_all;
use meter_token::TokenSet;
use provider::scripted::NextVend::{CannotBeReached, Refuses, Vends};
use purchase::{Failure, PurchaseRequest, StateName};
use vend::{Product, Refusal, RefusalReason};
use vending::{ConfirmError, Rejection, RetryError};

use crate::town::{Town, meter, pula};

#[tokio::test]
async fn a_purchase_pays_vends_once_and_answers_its_token() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;

    let record = shop.buys("100.00").await.unwrap();

    assert_eq!(record.life.state.name(), StateName::Successful);
    assert_eq!(record.reference.as_str(), format!("TOP/2026/11/{:010}", record.id.0));
    let price = [record.price.entry, record.price.charge, record.price.net, record.price.total];
    assert_eq!(price, ["100.00", "1.50", "100.00", "101.50"].map(pula));
    let success = record.success.as_ref().unwrap();
    assert_eq!(success.provider_transaction, format!("S{}", record.provider_reference));
    assert_eq!(success.units.as_ref().unwrap().to_string(), "100.00 kWh");
    let call = record.provider_reference.call();
    let digits = format!("0000{:06}{:010}", call.number(), call.at().timestamp());
    assert!(success.tokens.as_ref().map(TokenSet::wire_form).unwrap().contains(&digits));

    town.utility.saw(["check", "vend #1"]);
    assert_eq!(town.utility.vends().first().map(|order| order.sale.amount), Some(pula("100.00")));
    assert_eq!(town.history(record.id), "RESERVED VENDED");
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn commission_is_credited_when_the_purchase_is_settled_and_not_before() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked), Vends, Vends]);
    shop.buys("50.00").await.unwrap_err();
    shop.has_earned("0");
    shop.buys("100.50").await.unwrap();
    shop.has_earned("1.01");
    shop.buys("100.00").await.unwrap();
    shop.has_earned("2.01");
    town.closes().await;
}

#[tokio::test]
async fn of_many_at_once_at_two_desks_only_as_many_are_sold_as_the_wallet_can_pay() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    let other = town.other_desk().await;
    let buy = |number: u32| {
        let desk = if number.is_multiple_of(2) { &town.vending } else { &other.vending };
        let subscriber = meter(&format!("040000000{number:02}"));
        let request = PurchaseRequest { subscriber, ..shop.request("100.00") };
        desk.confirm(shop.authority, request, town.arrival(Duration::ZERO))
    };
    let outcomes = join_all((0..12).map(buy)).await;
    let told_of_a_gap = |outcome: &Result<_, ConfirmError>| {
        matches!(outcome, Err(ConfirmError::Rejected(Rejection::Insufficient { .. })))
    };
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 4);
    assert_eq!(outcomes.iter().filter(|outcome| told_of_a_gap(outcome)).count(), 8);
    shop.has("94.00", "0");
    shop.has_earned("4.00");
    town.closes().await;
}

#[tokio::test]
async fn charges_taken_out_of_the_amount_leave_the_rest_to_be_vended() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let deducted = PurchaseRequest { charges_on_top: false, ..shop.request("100.00") };
    let record = shop.confirms(deducted).await.unwrap();
    assert_eq!((record.price.net, record.price.total), (pula("98.50"), pula("100.00")));
    assert_eq!(town.utility.vends().first().map(|order| order.sale.amount), Some(pula("98.50")));
    shop.has("100.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn confirm_and_retry_tell_the_same_of_a_success_field_by_field() {
    for product in Product::ALL {
        let town = Town::open().await;
        let shop = town.managed_shop_with("200.00").await;
        let request = PurchaseRequest { product, ..shop.request("100.00") };
        let confirmed = shop.confirms(request).await.unwrap();
        assert_eq!(shop.retries().await, Ok(confirmed), "{product}");
        town.utility.saw(["check", "vend #1"]);
        town.closes().await;
    }
}

#[tokio::test]
async fn confirm_and_retry_tell_the_same_of_a_failure_field_by_field() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked)]);
    let Err(ConfirmError::Failed(confirmed)) = shop.buys("100.00").await else {
        panic!("it was refused");
    };
    assert_eq!(shop.retries().await, Err(RetryError::Failed(confirmed)));
    town.closes().await;
}

#[tokio::test]
async fn a_refused_vend_gives_the_hold_back_and_is_final() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked)]);

    let Err(ConfirmError::Failed(record)) = shop.buys("100.00").await else {
        panic!("it was refused");
    };
    let blocked = Failure::Refused(Refusal::because(RefusalReason::Blocked));
    assert_eq!((record.failure.as_ref(), record.success.as_ref()), (Some(&blocked), None));
    shop.has("200.00", "0");

    for _ in 0..2 {
        assert!(matches!(shop.retries().await, Err(RetryError::Failed(_))));
    }
    town.utility.saw(["check", "vend #1"]);

    let afresh = shop.buys_afresh("100.00").await.unwrap();
    assert_eq!(shop.retries().await, Ok(afresh), "the newest of the reference is meant");
    town.utility.saw(["check", "vend #1", "check", "vend #2"]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_costs_nothing_and_the_reference_may_be_used_again() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([CannotBeReached]);
    let Err(ConfirmError::Failed(record)) = shop.buys("100.00").await else {
        panic!("nothing was sent");
    };
    let never_sent = Failure::Refused(Refusal::because(RefusalReason::NeverSent));
    assert_eq!(record.failure, Some(never_sent));
    assert_eq!(town.history(record.id), "RESERVED NEVER_SENT");
    shop.has("200.00", "0");
    shop.buys("100.00").await.unwrap();
    town.closes().await;
}

#[tokio::test]
async fn busy_on_a_self_managed_account_is_final() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Busy)]);
    assert!(matches!(shop.buys("100.00").await, Err(ConfirmError::Failed(_))));
    shop.has("200.00", "0");
    town.closes().await;
}

#[tokio::test]
async fn busy_on_a_managed_account_answers_pending_and_keeps_the_hold() {
    for refusal in [Refuses(RefusalReason::Busy), CannotBeReached] {
        let town = Town::open().await;
        let shop = town.managed_shop_with("200.00").await;
        town.utility.will([refusal]);
        let record = shop.buys("100.00").await.unwrap();
        assert_eq!(record.life.state.name(), StateName::RetryDue);
        assert_eq!((record.success, record.failure), (None, None));
        shop.has("200.00", "101.50");
        assert!(matches!(shop.retries().await, Err(RetryError::Pending(_))));
        assert_eq!(town.states(), "RETRY_DUE");
        town.closes().await;
    }
}

#[tokio::test]
async fn a_definite_refusal_ends_a_managed_purchase_at_once() {
    let town = Town::open().await;
    let shop = town.managed_shop_with("200.00").await;
    town.utility.will([Refuses(RefusalReason::Blocked)]);
    assert!(matches!(shop.buys("100.00").await, Err(ConfirmError::Failed(_))));
    shop.has("200.00", "0");
    town.closes().await;
}
