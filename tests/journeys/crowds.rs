//! A hundred confirms at once for one subscriber.

use futures_util::future::{join, join_all};
use serde_json::json;

use crate::{
    env::env, merchant::Merchant, request_body::RequestBody, simulator::SimulatorClient, wire::Answer,
};

const CROWD: usize = 100;

#[tokio::test]
async fn a_hundred_identical_confirms_on_a_slow_meter_make_one_vend_and_99_are_pending() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 6_000 })).await;
    let (bought, turned_away) = all_at_once(&merchant, &merchant.order(&meter).reference("crowd-1")).await;
    assert_eq!((bought.len(), turned_away.len()), (1, CROWD - 1));
    for answer in &turned_away {
        assert_eq!(answer.refusal(), (409, "transaction_pending", None));
        assert_eq!(answer.body["error"]["retryable"], true);
        assert!(answer.header("retry-after").is_some());
    }
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[bought[0].str("/total")]).await;
}

#[tokio::test]
async fn identical_confirms_on_a_prompt_meter_make_one_vend_per_successful_answer() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let (bought, turned_away) = all_at_once(&merchant, &merchant.order(&meter).amount("7.30")).await;
    assert!(!bought.is_empty());
    for answer in &turned_away {
        assert_eq!(answer.refusal(), (409, "transaction_pending", None));
    }
    assert_eq!(simulator.vended(&meter).await, bought.len());
    let totals: Vec<&str> = bought.iter().map(|answer| answer.str("/total")).collect();
    merchant.has_spent(&totals).await;
    for answer in &bought {
        assert_eq!(simulator.enters(&meter, answer.str("/product/token")).await, Ok("credit".to_owned()));
    }
    let overlapping = env().asks_the_database(&format!(
        "SELECT one.id, other.id FROM purchases one JOIN purchases other ON one.id < other.id
             AND one.organisation_id = other.organisation_id
             AND one.subscriber_identifier = other.subscriber_identifier
         WHERE one.organisation_id = {}
             AND one.created_at < other.ended_at AND other.created_at < one.ended_at",
        merchant.organisation
    ));
    assert_eq!(overlapping, "", "two purchases for one subscriber were open at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_that_is_spread_over_two_servers_is_still_served_one_at_a_time() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let other_server = env().another_api_server("server-of-the-other-side");
    let across = merchant.calling(other_server.url());
    // A server that has just started must not get a hundred new sessions at once.
    assert_eq!(across.balance().await, "BWP 1000000.00");
    simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 6_000 })).await;
    let order = merchant.order(&meter).reference("crowd-2");
    let (here, there) = join(all_at_once(&merchant, &order), all_at_once(&across, &order)).await;
    assert_eq!((here.0.len() + there.0.len(), here.1.len() + there.1.len()), (1, 2 * CROWD - 1));
    for answer in here.1.iter().chain(&there.1) {
        assert_eq!(answer.refusal(), (409, "transaction_pending", None));
    }
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&["BWP 101.50"]).await;
}

/// The answers with status 200, and the other answers.
async fn all_at_once(merchant: &Merchant, order: &RequestBody) -> (Vec<Answer>, Vec<Answer>) {
    let answers = join_all((0..CROWD).map(|_| merchant.confirm(order))).await;
    answers.into_iter().partition(|answer| answer.status == 200)
}
