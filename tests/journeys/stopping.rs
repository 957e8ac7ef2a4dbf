//! Servers that are told to stop, or are stopped without being told, while money is on its way.

use std::time::Duration;

use sandbox::{Process, Signal};
use serde_json::json;

use crate::{
    shop::Shop,
    street::Street,
    town::{eventually, town},
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
async fn a_server_that_is_killed_in_mid_vend_leaves_a_purchase_that_another_one_brings_to_its_end() {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let mut server = town().another_api_server("server-to-be-killed");
    let order = shop.order(&meter).reference("kill-1");
    street.will(&meter, &json!({ "fault": "delay", "delay_ms": 5_000 })).await;
    let through_it = shop.calling(server.url());
    let confirming = tokio::time::timeout(Duration::from_secs(30), async {
        tokio::select! {
            answer = through_it.confirm(&order) => panic!("the answer came too soon: {answer:?}"),
            () = vend_begins(&street, &meter) => {}
        }
    });
    confirming.await.unwrap();
    server.signal(Signal::KILL).unwrap();
    assert!(!server.ends_within(Duration::from_secs(10)).unwrap().success());

    // Whoever holds the lease: the utility has vended, and an enquiry finds that at once.
    let found = shop.retry_until_settled(&meter, "kill-1").await.expect(200);
    assert_eq!(street.enters(&meter, found.str("/product/token")).await, Ok("credit".to_owned()));
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&[found.str("/total")]).await;
}

async fn told_to_stop_in_mid_vend(signal: Signal, reference: &str) {
    let (shop, street, meter) = (town().open_shop().await, Street::new(), town().meter());
    let mut server = town().another_api_server(&format!("server-{reference}"));
    street.will(&meter, &json!({ "fault": "delay", "delay_ms": 2_000 })).await;
    let answer = confirm_and_stop(&shop, &street, &meter, reference, &server, signal).await.expect(200);

    let ended = server.ends_within(Duration::from_secs(20));
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    assert_eq!(shop.newest_state(), "SUCCESSFUL");
    assert_eq!(street.enters(&meter, answer.str("/product/token")).await, Ok("credit".to_owned()));
    let found = shop.retry(&meter, reference).await.expect(200);
    assert_eq!(found.str("/product/token"), answer.str("/product/token"));
    assert_eq!(street.vended(&meter).await, 1);
    shop.has_spent(&[answer.str("/total")]).await;
}

async fn confirm_and_stop(
    shop: &Shop,
    street: &Street,
    meter: &str,
    reference: &str,
    server: &Process,
    signal: Signal,
) -> Answer {
    let through_it = shop.calling(server.url());
    let order = shop.order(meter).reference(reference);
    let stopping = async {
        vend_begins(street, meter).await;
        assert_eq!(shop.newest_state(), "IN_FLIGHT");
        server.signal(signal).unwrap();
    };
    let (answer, ()) = futures_util::future::join(through_it.confirm(&order), stopping).await;
    answer
}

async fn vend_begins(street: &Street, meter: &str) {
    eventually("the vend is under way", async || !street.vends(meter).await.is_empty()).await;
}
