//! A provider answers nothing while tills buy on two servers. Its circuit breaker pauses the offer, the real worker goes on settling what is
//! open, and the sales go on when the provider answers again.

use std::{sync::Mutex, time::Duration};

use sandbox::{Merchant, Options, Process, Sandbox};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{directory, eventually, programs, vendctl},
    request_body::RequestBody,
    simulator::SimulatorClient,
};

const NOTICE: &str = "BPC does not answer";
/// What a till waits between two customers.
const NEXT_CUSTOMER: Duration = Duration::from_millis(100);

struct Shop {
    sandbox: Sandbox,
    /// Kept, because it ends with its handle.
    _other_server: Process,
    simulator: SimulatorClient,
    merchant: Merchant,
    /// One at each server.
    callers: [Caller; 2],
    /// That no call was about yet.
    meters: Mutex<Vec<String>>,
}

impl Shop {
    fn open(runtime: &Runtime) -> Self {
        let options = Options { population: 600, ..Options::for_tests(directory().join("breaker")) };
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let other_server = sandbox.another_api_server(&programs().api_server, "other", &[]).unwrap();
        let plan = sandbox::MerchantPlan::staging("SHOP", "A shop");
        let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
        let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
        let callers = [sandbox.info().base_url.as_str(), other_server.url()].map(|url| {
            let mut caller = Caller::at(&format!("{url}/public/v1"));
            assert_eq!(runtime.block_on(caller.logs_in(&merchant.credentials)).0, 200);
            caller
        });
        let meters = Mutex::new(utility_sim::population(600).collect());
        Self { sandbox, _other_server: other_server, simulator, merchant, callers, meters }
    }

    fn meter(&self) -> String {
        self.meters.lock().unwrap().pop().unwrap()
    }

    fn order(&self, meter: &str) -> RequestBody {
        RequestBody::new(self.merchant.wallets[0].0, meter)
    }

    /// Buys for a customer that no other call is about.
    async fn sells(&self, caller: &Caller) -> (u16, Value) {
        let order = self.order(&self.meter());
        caller.posts("/purchases/confirm", order.body()).await.unwrap()
    }

    fn asks_the_database(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }

    fn operator(&self, words: &[&str]) -> Value {
        let output =
            vendctl(&self.sandbox.info().operator_settings).arg("--json").args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    async fn availability(&self, caller: &Caller) -> Value {
        let (status, products) = caller.gets("/vas-products").await;
        assert_eq!(status, 200, "{products}");
        let products: Vec<Value> = serde_json::from_str(&products).unwrap();
        let electricity = products.iter().find(|product| product["product_type"] == "ELECTRICITY").unwrap();
        let providers = electricity["providers"].as_array().unwrap();
        providers.iter().find(|provider| provider["code"] == "BPC").unwrap()["availability"].clone()
    }

    /// The kinds of the events about pauses, in order, and whether other pauses go on.
    async fn told(&self) -> Vec<(String, Value)> {
        let (status, text) = self.callers[0].gets("/events?types=provider.paused,provider.resumed").await;
        assert_eq!(status, 200, "{text}");
        let told: Value = serde_json::from_str(&text).unwrap();
        let events = told["data"].as_array().unwrap().iter();
        let of = |event: &Value| {
            assert_eq!(event["data"]["provider"]["code"], "BPC");
            assert_eq!(event["data"]["pause"]["resumes_at"], Value::Null, "nobody knows that: {event}");
            (event["type"].as_str().unwrap().to_owned(), event["data"]["still_paused"].clone())
        };
        events.map(of).collect()
    }
}

fn is_paused((status, answer): &(u16, Value)) -> bool {
    let says = |word: &str| answer["error"]["message"].as_str().unwrap_or_default().contains(word);
    *status == 502 && answer["error"]["code"] == "provider_unavailable" && says("paused")
}

#[test]
fn a_provider_that_answers_nothing_is_not_offered_until_it_answers_again() {
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let shop = Shop::open(&runtime);
    let trial = shop.meter();
    let declared = shop.operator(&[
        "provider",
        "breaker",
        "BPC",
        "--calls",
        "4",
        "--pause",
        "3s",
        "--trial",
        &trial,
        "--notice",
        NOTICE,
        "--reason",
        "contract 17",
    ]);
    assert_eq!((&declared["breaker"]["calls"], &declared["breaker"]["is_open"]), (&json!(4), &json!(false)));
    runtime.block_on(async {
        let doubtful = a_purchase_in_doubt(&shop).await;
        silence_closes_the_offer(&shop).await;
        what_is_open_is_settled(&shop, &doubtful).await;
        the_pause_of_an_operator_stays(&shop).await;
        the_sales_go_on(&shop).await;
    });
}

/// Its enquiries are not answered either.
async fn a_purchase_in_doubt(shop: &Shop) -> String {
    let meter = shop.meter();
    shop.simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
    shop.simulator
        .will(&meter, &json!({ "fault": "drop_before", "operation": "enquiry", "times": 10_000 }))
        .await;
    let order = shop.order(&meter).reference("doubtful-1").body();
    let (status, answer) = shop.callers[0].posts("/purchases/confirm", order).await.unwrap();
    assert_eq!(status, 504, "{answer}");
    meter
}

async fn silence_closes_the_offer(shop: &Shop) {
    shop.simulator.is_silent_about("any").await;
    for caller in &shop.callers {
        eventually("the sales are paused", async || {
            tokio::time::sleep(NEXT_CUSTOMER).await;
            let answer = shop.sells(caller).await;
            assert_eq!((answer.0, &answer.1["error"]["code"]), (502, &json!("provider_unavailable")));
            is_paused(&answer)
        })
        .await;
    }
    eventually("the operator sees that confirms are refused", async || {
        shop.operator(&["provider", "show", "BPC"])["unavailable"]["refused"].as_i64() > Some(0)
    })
    .await;
    let shown = shop.operator(&["provider", "show", "BPC"]);
    let pause = &shown["pauses"][0];
    assert_eq!((&pause["by_breaker"], &pause["notice"]), (&json!(true), &json!(NOTICE)), "{shown}");
    assert_eq!((&shown["breaker"]["is_open"], &shown["breaker"]["openings"]), (&json!(true), &json!(1)));
    eventually("the list of products shows it", async || {
        let availability = shop.availability(&shop.callers[1]).await;
        availability["status"] == "PAUSED" && availability["notice"] == NOTICE
    })
    .await;
}

/// The provider answers enquiries again, and no checks. So the worker's trials fail, and its asking does not.
async fn what_is_open_is_settled(shop: &Shop, doubtful: &str) {
    shop.simulator.answers_again().await;
    shop.simulator.is_silent_about("check").await;
    let state = format!("SELECT state FROM purchases WHERE subscriber_identifier = '{doubtful}'");
    eventually("the purchase in doubt is settled", async || shop.asks_the_database(&state) == "SUCCESSFUL")
        .await;
    assert!(is_paused(&shop.sells(&shop.callers[0]).await), "the offer stays away");
    let trials =
        "SELECT count(*) FROM provider_pauses WHERE by_breaker AND ends_at > starts_at + interval '35 s'";
    eventually("a trial was not answered", async || shop.asks_the_database(trials) == "1").await;
    let told = shop.told().await;
    assert_eq!(told, [("provider.paused".to_owned(), Value::Null)], "told once");
}

/// An operator pauses it, too. The provider answers, and the breaker ends its pause; the operator does not.
async fn the_pause_of_an_operator_stays(shop: &Shop) {
    shop.operator(&["provider", "pause", "BPC", "--reason", "until they call"]);
    shop.simulator.answers_again().await;
    let left = "SELECT string_agg(by_breaker::text, ' ') FROM provider_pauses";
    eventually("a trial is answered", async || shop.asks_the_database(left) == "false").await;
    for caller in &shop.callers {
        assert!(is_paused(&shop.sells(caller).await));
    }
}

async fn the_sales_go_on(shop: &Shop) {
    let resumed = shop.operator(&["provider", "resume", "BPC", "--reason", "they called"]);
    assert_eq!((&resumed["pauses"], &resumed["breaker"]["is_open"]), (&json!([]), &json!(false)));
    for caller in &shop.callers {
        eventually("the sales go on", async || {
            tokio::time::sleep(NEXT_CUSTOMER).await;
            shop.sells(caller).await.0 == 200
        })
        .await;
    }
    let expected = [
        ("provider.paused", Value::Null),
        ("provider.paused", Value::Null),
        ("provider.resumed", json!(["ELECTRICITY"])),
        ("provider.resumed", json!([])),
    ]
    .map(|(kind, still)| (kind.to_owned(), still));
    let mut told = Vec::new();
    eventually("all events can be read", async || {
        told = shop.told().await;
        told.len() >= expected.len()
    })
    .await;
    assert_eq!(told, expected);
}
