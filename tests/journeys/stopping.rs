//! Servers that are shut down or killed during a vend.

use std::time::Duration;

use sandbox::{Process, Signal};
use serde_json::json;

use crate::{
    env::{env, eventually},
    merchant::Merchant,
    simulator::SimulatorClient,
    wire::Answer,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_in_mid_vend_lets_the_vend_end_settles_it_and_answers_it() {
    told_to_stop_in_mid_vend(Signal::TERM, "term-1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigint_in_mid_vend_lets_the_vend_end_settles_it_and_answers_it() {
    told_to_stop_in_mid_vend(Signal::INT, "int-1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_completes_the_purchase_of_a_server_killed_in_mid_vend() {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let mut server = env().another_api_server("server-to-be-killed");
    let order = merchant.order(&meter).reference("kill-1");
    simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 5_000 })).await;
    let through_it = merchant.calling(server.url());
    let confirming = tokio::time::timeout(Duration::from_secs(30), async {
        tokio::select! {
            answer = through_it.confirm(&order) => panic!("the answer came too soon: {answer:?}"),
            () = vend_begins(&simulator, &meter) => {}
        }
    });
    confirming.await.unwrap();
    server.signal(Signal::KILL).unwrap();
    assert!(!server.ends_within(Duration::from_secs(10)).unwrap().success());

    // The lease does not matter: the utility has vended, and an enquiry finds the vend at once.
    let found = merchant.retry_until_settled(&meter, "kill-1").await.expect(200);
    assert_eq!(simulator.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[found.str("/total")]).await;
}

async fn told_to_stop_in_mid_vend(signal: Signal, reference: &str) {
    let (merchant, simulator, meter) = (env().open_merchant().await, SimulatorClient::new(), env().meter());
    let mut server = env().another_api_server(&format!("server-{reference}"));
    simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 2_000 })).await;
    let answer =
        confirm_and_stop(&merchant, &simulator, &meter, reference, &server, signal).await.expect(200);

    let ended = server.ends_within(Duration::from_secs(20));
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    assert_eq!(merchant.newest_state(), "SUCCESSFUL");
    assert_eq!(simulator.enters(&meter, answer.str("/product/token")).await, Ok("credit".to_owned()));
    let found = merchant.retry(&meter, reference).await.expect(200);
    assert_eq!(found.str("/product/token"), answer.str("/product/token"));
    assert_eq!(simulator.vended(&meter).await, 1);
    merchant.has_spent(&[answer.str("/total")]).await;
}

async fn confirm_and_stop(
    merchant: &Merchant,
    simulator: &SimulatorClient,
    meter: &str,
    reference: &str,
    server: &Process,
    signal: Signal,
) -> Answer {
    let through_it = merchant.calling(server.url());
    let order = merchant.order(meter).reference(reference);
    let stopping = async {
        vend_begins(simulator, meter).await;
        assert_eq!(merchant.newest_state(), "IN_FLIGHT");
        server.signal(signal).unwrap();
    };
    let (answer, ()) = futures_util::future::join(through_it.confirm(&order), stopping).await;
    answer
}

async fn vend_begins(simulator: &SimulatorClient, meter: &str) {
    eventually("the vend is under way", async || !simulator.vends(meter).await.is_empty()).await;
}
