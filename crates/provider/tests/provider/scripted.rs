//! The scripted provider behaves as scripted, so that tests can rely on it.

use chrono::DateTime;
use money::Money;
use provider::scripted::NextVend::{
    CannotBeReached, LiesInAQueueUntilOpened, NeverArrives, Refuses, RefusesButReplyIsLost,
    VendsAndAnswersOnceOpened, VendsButReplyIsLost,
};
use provider::scripted::{Conduct, Latch, NextEnquiry, ScriptedProvider};
use provider::{Gate, Provider};
use vend::{
    CallId, Customer, Doubt, Enquiry, Product, ProviderReference, Refusal, RefusalReason, Sale,
    SubscriberIdentifier, VendOrder, VendOutcome,
};

fn call(number: u32) -> CallId {
    CallId::new(number, DateTime::from_timestamp(1_795_167_000, 0).unwrap()).unwrap()
}

fn order(number: u32) -> VendOrder {
    let sale = Sale {
        product: Product::Electricity,
        subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
        amount: Money::parse_wire("BWP 100.00").unwrap(),
    };
    VendOrder { reference: ProviderReference::new(call(number)), sale }
}

fn open() -> Gate {
    Gate::while_true(|| true)
}

fn never_sent() -> VendOutcome {
    VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent))
}

#[tokio::test]
async fn a_lost_reply_is_found_by_an_enquiry_and_the_log_has_one_vend() {
    let utility = ScriptedProvider::default();
    utility.will([VendsButReplyIsLost]);
    assert_eq!(utility.vend(&order(1), &open()).await, VendOutcome::Unknown(Doubt::TimedOut.into()));
    assert!(matches!(utility.enquire(call(2), &order(1)).await, Enquiry::Vended(_)));
    assert_eq!(utility.vends(), [order(1)]);
    utility.saw(["vend #1", "enquire #1"]);
}

#[tokio::test]
async fn a_closed_gate_and_an_unreachable_provider_leave_no_trace() {
    let utility = ScriptedProvider::default();
    assert_eq!(utility.vend(&order(1), &Gate::while_true(|| false)).await, never_sent());
    utility.will([CannotBeReached]);
    assert_eq!(utility.vend(&order(1), &open()).await, never_sent());
    utility.saw([]);
    assert_eq!(utility.vends(), []);
}

#[tokio::test]
async fn a_request_that_never_arrives_has_no_record() {
    let utility = ScriptedProvider::default();
    utility.will([NeverArrives]);
    assert_eq!(utility.vend(&order(1), &open()).await, VendOutcome::Unknown(Doubt::ConnectionLost.into()));
    assert_eq!(utility.enquire(call(2), &order(1)).await, Enquiry::NoRecord);
    assert_eq!(utility.vends(), []);
}

#[tokio::test]
async fn a_repeat_is_treated_as_the_conduct_says() {
    for (conduct, vends) in
        [(Conduct::REJECTS_REPEATS, 1), (Conduct::ANSWERS_REPEATS, 1), (Conduct::FORGETS, 2)]
    {
        let utility = ScriptedProvider::of_conduct(conduct);
        let first = utility.vend(&order(1), &open()).await;
        let second = utility.vend(&order(1), &open()).await;
        assert_eq!(utility.vends().len(), vends);
        assert_eq!(conduct.capabilities().repeat_is_safe, vends == 1);
        assert_eq!(first == second, conduct == Conduct::ANSWERS_REPEATS);
        assert_eq!(
            utility.enquire(call(2), &order(1)).await == Enquiry::NoRecord,
            conduct == Conduct::FORGETS
        );
    }
}

#[tokio::test]
async fn a_refusal_is_remembered_or_not() {
    let refusal = Refusal::because(RefusalReason::Blocked);
    let utility = ScriptedProvider::default();
    utility.will([RefusesButReplyIsLost(RefusalReason::Blocked)]);
    assert_eq!(utility.vend(&order(1), &open()).await, VendOutcome::Unknown(Doubt::TimedOut.into()));
    assert_eq!(utility.enquire(call(2), &order(1)).await, Enquiry::Refused(refusal.clone()));

    let utility = ScriptedProvider::of_conduct(Conduct::REJECTS_REPEATS.without_memory_of_refusals());
    utility.will([Refuses(RefusalReason::Blocked)]);
    assert_eq!(utility.vend(&order(1), &open()).await, VendOutcome::Refused(refusal));
    assert_eq!(utility.enquire(call(2), &order(1)).await, Enquiry::NoRecord);
}

#[tokio::test]
async fn an_answer_waits_for_its_latch_after_the_vend_is_made() {
    let utility = std::sync::Arc::new(ScriptedProvider::default());
    let latch = Latch::closed();
    utility.will([VendsAndAnswersOnceOpened(latch.clone())]);
    let waiting = tokio::spawn({
        let utility = std::sync::Arc::clone(&utility);
        async move { utility.vend(&order(1), &open()).await }
    });
    while utility.vends().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    latch.open();
    assert!(matches!(waiting.await.unwrap(), VendOutcome::Vended(_)));
}

#[tokio::test]
async fn a_queued_request_is_missing_first_and_vended_later() {
    let utility = ScriptedProvider::default();
    let latch = Latch::closed();
    utility.will([LiesInAQueueUntilOpened(latch.clone())]);
    assert_eq!(utility.vend(&order(1), &open()).await, VendOutcome::Unknown(Doubt::TimedOut.into()));
    assert_eq!(utility.enquire(call(2), &order(1)).await, Enquiry::NoRecord);
    latch.open();
    assert!(matches!(utility.enquire(call(3), &order(1)).await, Enquiry::Vended(_)));
    assert_eq!(utility.vends().len(), 1);
}

#[tokio::test]
async fn enquiries_and_customers_can_be_scripted() {
    let utility = ScriptedProvider::default();
    let customer = Customer {
        name: Some("A CUSTOMER".to_owned()),
        barred: Some(Refusal::because(RefusalReason::Blocked)),
        minimum: None,
        maximum: None,
    };
    let sale = order(1).sale;
    utility.knows(sale.subscriber.clone(), customer.clone());
    assert_eq!(utility.check(call(1), sale.product, &sale.subscriber).await, Ok(customer));
    utility.will_tell([NextEnquiry::Answers(Box::new(Enquiry::StillOpen))]);
    assert_eq!(utility.enquire(call(2), &order(1)).await, Enquiry::StillOpen);
    assert_eq!(utility.enquire(call(3), &order(1)).await, Enquiry::NoRecord);
    utility.saw(["check", "enquire #1", "enquire #1"]);
}
