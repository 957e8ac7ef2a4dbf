//! An operator pauses a provider while tills buy on two servers. The provider is one that no other test uses.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use sandbox::Process;
use serde_json::json;

use crate::{
    env::{env, eventually},
    events::have_the_documented_form,
    merchant::Merchant,
    operator::Operator,
    request_body::RequestBody,
    simulator::SimulatorClient,
    wire::Answer,
};

const PROVIDER: &str = "QUIET";
const NOTICE: &str = "Works at the utility";
/// What the operator writes for other operators only.
const REASON: &str = "they owe us for March";

/// A server that has a connection to the provider, which is the simulated utility.
fn server(name: &str) -> Process {
    let endpoint = format!("{}/xmlvend", env().info().simulator_url);
    env().another_api_server_with(
        name,
        &[
            ("VENDGATE__PROVIDERS__QUIET__XMLVEND__ENDPOINT", &endpoint),
            ("VENDGATE__PROVIDERS__QUIET__XMLVEND__CURRENCY", "BWP"),
            ("VENDGATE__PROVIDERS__QUIET__XMLVEND__CLIENT__EAN", "2670000000039"),
            ("VENDGATE__PROVIDERS__QUIET__XMLVEND__TERMINAL__ID", "sandbox"),
            ("VENDGATE__PROVIDERS__QUIET__XMLVEND__CREDENTIALS__OP_NAME", "vendgate"),
            ("VENDGATE__PROVIDERS__QUIET__XMLVEND__CREDENTIALS__PASSWORD", "sandbox1"),
        ],
    )
}

fn order(merchant: &Merchant, meter: &str) -> RequestBody {
    merchant.order(meter).with("provider_code", &format!("\"{PROVIDER}\""))
}

/// One till. It buys for one meter until it sees that the pause has been committed, and then tries three times for another.
struct Till<'test> {
    merchant: Merchant,
    meters: [String; 2],
    is_paused: &'test AtomicBool,
    bought: &'test AtomicUsize,
}

impl Till<'_> {
    /// The number of vends before the pause, and the answers after it.
    async fn buys(&self) -> (usize, Vec<Answer>) {
        let (mut vended, mut refused) = (0, Vec::new());
        while refused.len() < 3 {
            let is_paused = self.is_paused.load(Ordering::SeqCst);
            let answer =
                self.merchant.confirm(&order(&self.merchant, &self.meters[usize::from(is_paused)])).await;
            if is_paused {
                refused.push(answer);
            } else if answer.status == 200 {
                vended += 1;
                self.bought.fetch_add(1, Ordering::SeqCst);
            } else {
                assert_eq!(answer.refusal().1, "provider_unavailable");
            }
        }
        (vended, refused)
    }
}

fn is_told_the_pause(answer: &Answer) {
    assert_eq!(answer.refusal(), (502, "provider_unavailable", None));
    assert_eq!(answer.body["error"]["retryable"], true, "{}", answer.text);
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!(wait > 3_600, "{wait}");
    assert!(answer.str("/error/message").contains("paused until 2099-01-01 14:00"), "{}", answer.text);
    assert!(!answer.text.contains(REASON) && !answer.text.contains("naledi"), "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_confirm_that_begins_after_a_pause_reaches_the_provider_at_any_server() {
    let (operator, simulator, merchant) =
        (Operator::at_the_prompt(), SimulatorClient::new(), env().open_merchant().await);
    operator.does(&format!("provider declare {PROVIDER} --name Quiet"));
    operator.does(&format!("offer set -o {} electricity {PROVIDER} --currency BWP", merchant.code));
    let servers = [server("paused-1"), server("paused-2")];
    let callers = servers.each_ref().map(|server| merchant.calling(server.url()));

    let doubtful = env().meter();
    simulator.will(&doubtful, &json!({ "fault": "drop_after" })).await;
    callers[0].confirm(&order(&merchant, &doubtful).reference("doubtful-1")).await.expect(504);

    let (is_paused, bought) = (AtomicBool::new(false), AtomicUsize::new(0));
    let tills: Vec<Till<'_>> = servers
        .iter()
        .cycle()
        .take(4)
        .map(|server| Till {
            merchant: merchant.calling(server.url()),
            meters: [env().meter(), env().meter()],
            is_paused: &is_paused,
            bought: &bought,
        })
        .collect();
    let pausing = async {
        eventually("the tills buy", async || bought.load(Ordering::SeqCst) >= 8).await;
        let pause = ["provider", "pause", PROVIDER, "--until", "2099-01-01 14:00", "--notice", NOTICE];
        let paused =
            tokio::task::block_in_place(|| operator.types(&[&pause[..], &["--reason", REASON]].concat()));
        assert_eq!(paused["pauses"][0]["is_in_force"], true, "{paused}");
        is_paused.store(true, Ordering::SeqCst);
    };
    let ((), outcomes) = tokio::join!(pausing, join_all(tills.iter().map(Till::buys)));
    for (till, (vended, refused)) in tills.iter().zip(outcomes) {
        assert_eq!(simulator.vended(&till.meters[0]).await, vended);
        assert_eq!(simulator.vends(&till.meters[1]).await, Vec::<serde_json::Value>::new());
        refused.iter().for_each(is_told_the_pause);
    }

    // A pause is no fault of the provider, so the operator can tell it from one.
    let stored = format!("refusals list -o {}", merchant.code);
    eventually("the refusals are stored", async || operator.shows(&stored)[0]["code"] == "provider_paused")
        .await;
    assert!(operator.shows(&format!("provider show {PROVIDER}"))["unavailable"].is_null());
    let settled = callers[1].retry_until_settled(&doubtful, "doubtful-1").await.expect(200);
    assert_eq!(settled.str("/status"), "SUCCESSFUL");
    is_shown_and_ends(&operator, &callers).await;
}

/// The organisation hears once that the pause began, and once that it ended.
async fn is_told_in_the_feed(caller: &Merchant) {
    let path = "/public/v1/events?types=provider.paused,provider.resumed";
    let mut told = caller.get(path).await.expect(200);
    eventually("both events can be read", async || {
        told = caller.get(path).await.expect(200);
        told.body["data"].as_array().unwrap().len() >= 2
    })
    .await;
    let events = told.body["data"].as_array().unwrap();
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["provider.paused", "provider.resumed"]);
    let number = &events[0]["data"]["pause"]["id"];
    let about =
        json!({ "provider": { "code": PROVIDER, "name": "Quiet" }, "product_types": ["ELECTRICITY"] });
    let with = |more: serde_json::Value| {
        let mut data = about.clone();
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        data
    };
    let pause = json!({ "id": number, "resumes_at": "2099-01-01T12:00:00.000000Z", "notice": NOTICE });
    assert_eq!(events[0]["data"], with(json!({ "pause": pause })));
    assert_eq!(events[1]["data"], with(json!({ "pause": { "id": number }, "still_paused": [] })));
    have_the_documented_form(caller, &told).await;
}

/// Within seconds the list of products shows the pause, and validate obeys it. After the pause both servers sell again.
async fn is_shown_and_ends(operator: &Operator, callers: &[Merchant; 2]) {
    let meter = env().meter();
    for caller in callers {
        eventually("the pause is shown", async || {
            let products = caller.get("/public/v1/vas-products").await.expect(200);
            assert!(!products.text.contains(REASON), "{}", products.text);
            let listed = products.body.as_array().unwrap();
            let electricity = listed.iter().find(|product| product["product_type"] == "ELECTRICITY").unwrap();
            let providers = electricity["providers"].as_array().unwrap();
            let shown =
                |code: &str| providers.iter().find(|provider| provider["code"] == code).unwrap().clone();
            assert_eq!(shown("BPC")["availability"]["status"], "AVAILABLE");
            let expected =
                json!({ "status": "PAUSED", "resumes_at": "2099-01-01T14:00:00+02:00", "notice": NOTICE });
            shown(PROVIDER)["availability"] == expected
        })
        .await;
        is_told_the_pause(&caller.validate(&order(caller, &meter)).await);
        let in_french = order(caller, &meter).with("language", "\"fr-CM\"");
        let told = caller.confirm(&in_french).await.expect(502);
        assert!(told.str("/error/message").contains("suspendues jusqu'au 2099-01-01 14:00"), "{}", told.text);
    }
    let resumed = operator.does(&format!("provider resume {PROVIDER}"));
    assert_eq!(resumed["pauses"], json!([]));
    for caller in callers {
        eventually("the sales go on", async || {
            tokio::time::sleep(Duration::from_millis(100)).await;
            caller.confirm(&order(caller, &meter)).await.status == 200
        })
        .await;
    }
    is_told_in_the_feed(&callers[0]).await;
    let audit = operator.shows(&format!("audit list --subject provider:{PROVIDER} --limit 2"));
    let acts = [0, 1].map(|place: usize| audit[place]["action"].as_str().unwrap().to_owned());
    assert_eq!(acts, ["provider.resumed", "provider.paused"]);
    assert_eq!(audit[1]["details"]["notice"], NOTICE);
}
