//! Message ids: used once, remembered, and valid for enquiries.

use utility_sim::{OnRepeat, Remembers};

use crate::counter::{Answer, Counter, check_request, meter};

const DUPLICATE: Option<(&str, &str)> =
    Some(("SystemEx", "Transaction terminated due to duplicate unique value"));

fn receipt_of(answer: &Answer) -> &str {
    let (_, rest) =
        answer.text.split_once(r#"<b:reqMsgID dateTime="20261120073000" uniqueNumber="1"/>"#).unwrap();
    rest.split("</r:creditVendReceipt>").next().unwrap()
}

#[tokio::test]
async fn an_advice_repeats_the_answer_with_its_original_message_id() {
    let counter = Counter::open();
    let number = counter.fresh();
    let sale = counter.vend_as(number, meter("active_11_digit"), "100.00").await;
    for _time in 0..2 {
        let advice = counter.enquire(number).await;
        assert_eq!(advice.status, 200);
        assert!(advice.says(r#"<b:adviceReqMsgID dateTime="20261120073000" uniqueNumber="1"/><b:lastResponse xsi:type="r:CreditVendResp">"#));
        assert_eq!(receipt_of(&advice), receipt_of(&sale));
    }
}

#[tokio::test]
async fn a_repeated_message_id_is_rejected_and_vends_nothing() {
    let counter = Counter::open();
    let number = counter.fresh();
    assert_eq!(counter.vend_as(number, meter("active_11_digit"), "100.00").await.status, 200);
    assert_eq!(counter.vend_as(number, meter("active_11_digit"), "100.00").await.fault(), DUPLICATE);
    assert_eq!(counter.vend_as(number, meter("active_13_digit"), "50.00").await.fault(), DUPLICATE);
    assert_eq!(counter.ask(&check_request(number, meter("active_11_digit"))).await.fault(), DUPLICATE);
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 1);
    assert_eq!(counter.vends(meter("active_13_digit")).await.len(), 0);
    assert_eq!(counter.enquire(number).await.ciphers().len(), 1, "the vend is still stored");
}

#[tokio::test]
async fn a_message_id_used_for_a_question_cannot_be_used_again() {
    let counter = Counter::open();
    let number = counter.fresh();
    assert_eq!(counter.ask(&check_request(number, meter("active_11_digit"))).await.status, 200);
    assert_eq!(counter.ask(&check_request(number, meter("active_11_digit"))).await.fault(), DUPLICATE);
    assert_eq!(counter.vend_as(number, meter("active_11_digit"), "50.00").await.fault(), DUPLICATE);
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 0);
}

#[tokio::test]
async fn a_refusal_is_remembered_too() {
    let counter = Counter::open();
    let number = counter.fresh();
    assert_eq!(counter.vend_as(number, meter("busy"), "50.00").await.status, 500);
    assert_eq!(counter.vend_as(number, meter("busy"), "50.00").await.fault(), DUPLICATE);
    let advice = counter.enquire(number).await;
    assert_eq!(advice.status, 200);
    assert!(advice.says(r#"<b:lastResponse xsi:type="b:XMLVendFaultResp">"#));
    assert_eq!(advice.fault(), Some(("BusinessRuleEx", "Service busy, please try again")));
}

#[tokio::test]
async fn a_utility_that_remembers_vends_only_forgets_refusals() {
    let counter = Counter::open_with(|settings| settings.remembers = Remembers::Vends);
    let number = counter.fresh();
    assert!(
        counter.vend_as(number, meter("busy_then_ok"), "50.00").await.fault().unwrap().1.contains("busy")
    );
    assert_eq!(counter.enquire(number).await.fault().unwrap().0, "LastResponseEx");
    assert_eq!(counter.vend_as(number, meter("busy_then_ok"), "50.00").await.status, 200);
    assert_eq!(counter.vend_as(number, meter("busy_then_ok"), "50.00").await.fault(), DUPLICATE);
}

#[tokio::test]
async fn a_utility_that_replays_sends_the_same_answer_again() {
    let counter = Counter::open_with(|settings| settings.on_repeat = OnRepeat::Replay);
    let number = counter.fresh();
    let first = counter.vend_as(number, meter("active_11_digit"), "100.00").await;
    let second = counter.vend_as(number, meter("active_11_digit"), "100.00").await;
    assert_eq!(first.text, second.text);
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 1);
}

#[tokio::test]
async fn a_forgetful_utility_and_a_careless_one_vend_twice() {
    for counter in [
        Counter::open_with(|settings| settings.remembers = Remembers::Nothing),
        Counter::open_with(|settings| settings.on_repeat = OnRepeat::VendAgain),
    ] {
        let number = counter.fresh();
        let first = counter.vend_as(number, meter("active_11_digit"), "100.00").await;
        let second = counter.vend_as(number, meter("active_11_digit"), "100.00").await;
        assert_ne!(first.ciphers(), second.ciphers());
        assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 2);
    }
}

#[tokio::test]
async fn of_many_requests_under_one_message_id_one_vends() {
    let counter = Counter::open_with(|settings| settings.workers = 2);
    let number = counter.fresh();
    let vends = (0..20).map(|_copy| counter.vend_as(number, meter("active_11_digit"), "50.00"));
    let answers = join_all(vends).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.fault() == DUPLICATE).count(), 19);
    assert_eq!(counter.vends(meter("active_11_digit")).await.len(), 1);
}

async fn join_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = futures.map(|future| Some(Box::pin(future))).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|cx| {
        for slot in &mut pending {
            if let Some(future) = slot
                && let std::task::Poll::Ready(answer) = future.as_mut().poll(cx)
            {
                done.push(answer);
                *slot = None;
            }
        }
        if pending.iter().all(Option::is_none) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done
}
