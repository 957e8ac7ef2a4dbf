//! Purchases that end at once: vended and charged, or refused and not charged.

use std::time::Duration;

use futures_util::future::join_all;
use meter_token::TokenSet;
use provider::scripted::NextVend::{CannotBeReached, Refuses, Vends};
use purchase::{Failure, PurchaseRequest, StateName};
use vend::{Breakdown, Product, Refusal, RefusalReason};
use vending::{ConfirmError, Rejection, RetryError};

use crate::env::{TestEnv, meter, pula};

#[tokio::test]
async fn a_purchase_pays_vends_once_and_answers_its_token() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;

    let record = merchant.buys("100.00").await.unwrap();

    assert_eq!(record.lifecycle.state.name(), StateName::Successful);
    assert_eq!(record.reference.as_str(), format!("TOP/2026/11/{:010}", record.id.0));
    let price = [record.price.entry, record.price.charge, record.price.net, record.price.total];
    assert_eq!(price, ["100.00", "1.50", "100.00", "101.50"].map(pula));
    let success = record.success.as_ref().unwrap();
    assert_eq!(success.provider_transaction, format!("S{}", record.provider_reference));
    assert_eq!(success.units.as_ref().unwrap().to_string(), "100.00 kWh");
    let call = record.provider_reference.call();
    let digits = format!("0000{:06}{:010}", call.number(), call.at().timestamp());
    assert!(success.tokens.as_ref().map(TokenSet::wire_form).unwrap().contains(&digits));

    env.utility.saw(["check", "vend #1"]);
    assert_eq!(env.utility.vends().first().map(|order| order.sale.amount), Some(pula("100.00")));
    assert_eq!(env.history(record.id), "RESERVED VENDED");
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_split_that_does_not_add_up_is_in_no_answer_neither_the_first_nor_a_later_one() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let nothing = pula("0");
    // A split of 99.00 for a vend of 100.00.
    let split = Breakdown {
        cost: pula("99.00"),
        vat: nothing,
        levy: nothing,
        regulatory_fee: nothing,
        charge: nothing,
    };
    env.line.splits_the_next_vend(split);

    let record = merchant.buys("100.00").await.unwrap();
    assert_eq!(record.success.as_ref().map(|success| success.breakdown), Some(None));
    assert_eq!(merchant.retries().await.unwrap().success, record.success);
    env.closes().await;
}

#[tokio::test]
async fn commission_is_credited_when_the_purchase_is_settled_and_not_before() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked), Vends, Vends]);
    merchant.buys("50.00").await.unwrap_err();
    merchant.has_earned("0");
    merchant.buys("100.50").await.unwrap();
    merchant.has_earned("1.01");
    merchant.buys("100.00").await.unwrap();
    merchant.has_earned("2.01");
    env.closes().await;
}

#[tokio::test]
async fn of_many_confirms_at_two_processes_only_as_many_are_sold_as_the_wallet_can_pay() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    let other = env.other_process().await;
    let buy = |number: u32| {
        let process = if number.is_multiple_of(2) { &env.vending } else { &other.vending };
        let subscriber = meter(&format!("040000000{number:02}"));
        let request = PurchaseRequest { subscriber, ..merchant.request("100.00") };
        process.confirm(merchant.authority, request, env.arrival(Duration::ZERO))
    };
    let outcomes = join_all((0..12).map(buy)).await;
    let told_of_a_gap = |outcome: &Result<_, ConfirmError>| {
        matches!(outcome, Err(ConfirmError::Rejected(Rejection::Insufficient { .. })))
    };
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 4);
    assert_eq!(outcomes.iter().filter(|outcome| told_of_a_gap(outcome)).count(), 8);
    merchant.has("94.00", "0");
    merchant.has_earned("4.00");
    env.closes().await;
}

#[tokio::test]
async fn charges_taken_out_of_the_amount_leave_the_rest_to_be_vended() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let deducted = PurchaseRequest { charges_on_top: false, ..merchant.request("100.00") };
    let record = merchant.confirms(deducted).await.unwrap();
    assert_eq!((record.price.net, record.price.total), (pula("98.50"), pula("100.00")));
    assert_eq!(env.utility.vends().first().map(|order| order.sale.amount), Some(pula("98.50")));
    merchant.has("100.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn confirm_and_retry_tell_the_same_of_a_success_field_by_field() {
    for product in Product::ALL {
        let env = TestEnv::open().await;
        let merchant = env.managed_merchant_with("200.00").await;
        let request = PurchaseRequest { product, ..merchant.request("100.00") };
        let confirmed = merchant.confirms(request).await.unwrap();
        assert_eq!(merchant.retries().await, Ok(confirmed), "{product}");
        env.utility.saw(["check", "vend #1"]);
        env.closes().await;
    }
}

#[tokio::test]
async fn confirm_and_retry_tell_the_same_of_a_failure_field_by_field() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked)]);
    let Err(ConfirmError::Failed(confirmed)) = merchant.buys("100.00").await else {
        panic!("it was refused");
    };
    assert_eq!(merchant.retries().await, Err(RetryError::Failed(confirmed)));
    env.closes().await;
}

#[tokio::test]
async fn a_refused_vend_gives_the_hold_back_and_is_final() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked)]);

    let Err(ConfirmError::Failed(record)) = merchant.buys("100.00").await else {
        panic!("it was refused");
    };
    let blocked = Failure::Refused(Refusal::because(RefusalReason::Blocked));
    assert_eq!((record.failure.as_ref(), record.success.as_ref()), (Some(&blocked), None));
    merchant.has("200.00", "0");

    for _ in 0..2 {
        assert!(matches!(merchant.retries().await, Err(RetryError::Failed(_))));
    }
    env.utility.saw(["check", "vend #1"]);

    let afresh = merchant.buys_afresh("100.00").await.unwrap();
    assert_eq!(merchant.retries().await, Ok(afresh), "the newest of the reference is found");
    env.utility.saw(["check", "vend #1", "check", "vend #2"]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn an_unreachable_provider_costs_nothing_and_the_reference_may_be_used_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([CannotBeReached]);
    let Err(ConfirmError::Failed(record)) = merchant.buys("100.00").await else {
        panic!("nothing was sent");
    };
    let never_sent = Failure::Refused(Refusal::because(RefusalReason::NeverSent));
    assert_eq!(record.failure, Some(never_sent));
    assert_eq!(env.history(record.id), "RESERVED NEVER_SENT");
    merchant.has("200.00", "0");
    merchant.buys("100.00").await.unwrap();
    env.closes().await;
}

#[tokio::test]
async fn busy_on_a_self_managed_account_is_final() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Busy)]);
    assert!(matches!(merchant.buys("100.00").await, Err(ConfirmError::Failed(_))));
    merchant.has("200.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn busy_on_a_managed_account_answers_pending_and_keeps_the_hold() {
    for refusal in [Refuses(RefusalReason::Busy), CannotBeReached] {
        let env = TestEnv::open().await;
        let merchant = env.managed_merchant_with("200.00").await;
        env.utility.will([refusal]);
        let record = merchant.buys("100.00").await.unwrap();
        assert_eq!(record.lifecycle.state.name(), StateName::RetryDue);
        assert_eq!((record.success, record.failure), (None, None));
        merchant.has("200.00", "101.50");
        assert!(matches!(merchant.retries().await, Err(RetryError::Pending(_))));
        assert_eq!(env.states(), "RETRY_DUE");
        env.closes().await;
    }
}

#[tokio::test]
async fn a_definite_refusal_ends_a_managed_purchase_at_once() {
    let env = TestEnv::open().await;
    let merchant = env.managed_merchant_with("200.00").await;
    env.utility.will([Refuses(RefusalReason::Blocked)]);
    assert!(matches!(merchant.buys("100.00").await, Err(ConfirmError::Failed(_))));
    merchant.has("200.00", "0");
    env.closes().await;
}
