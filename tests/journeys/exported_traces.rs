//! The trace of a purchase, as a receiver gets it from the real programs: one trace through a crash, the worker and a retry, without
//! anything personal, and without harm when the receiver is broken.

mod received;

use std::time::Duration;

use clock::{Clock, SystemClock};
use purchase::Handling;
use sandbox::{Merchant, MerchantPlan, Options, Process, Sandbox, Signal, WalletPlan};
use serde_json::json;
use test_kit::span_receiver::{Manner, SpanReceiver};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{directory, eventually, programs},
    observed::Numbers,
    request_body::RequestBody,
    simulator::SimulatorClient,
};
use received::{Spans, trace_id};

const PHONE: &str = "26777120555";
/// No program listens there.
const CLOSED: &str = "http://127.0.0.1:1/v1/traces";

/// An environment whose servers and worker are started by the test.
struct TracedEnv {
    sandbox: Sandbox,
    merchant: Merchant,
    simulator: SimulatorClient,
}

impl TracedEnv {
    fn open(name: &str, runtime: &Runtime) -> Self {
        let options = Options { works: false, ..Options::for_tests(directory().join(name)) };
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let wallets = vec![WalletPlan::loaded("Wallet", Handling::SelfManaged)];
        let plan = MerchantPlan { wallets, ..MerchantPlan::staging("TRACED", "A shop that is traced") };
        let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
        let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
        Self { sandbox, merchant, simulator }
    }

    fn server(&self, name: &str, endpoint: &str) -> Process {
        let settings = [("VENDGATE__TRACES__ENDPOINT", endpoint)];
        self.sandbox.another_api_server(&programs().api_server, name, &settings).unwrap()
    }

    async fn till(&self, server: &Process) -> Caller {
        let mut till = Caller::at(&format!("{}/public/v1", server.url()));
        assert_eq!(till.logs_in(&self.merchant.credentials).await.0, 200);
        till
    }

    fn order(&self, meter: &str, reference: &str) -> String {
        let order = RequestBody::new(self.merchant.wallets[0].0, meter).reference(reference);
        order.with("beneficiary_phone_number", &format!("\"{PHONE}\"")).body()
    }

    /// The number and the public reference of a purchase.
    fn purchase(&self, external_reference: &str) -> (String, String) {
        let sql = format!(
            "SELECT id || ' ' || reference FROM purchases WHERE external_reference = '{external_reference}'"
        );
        let row = self.sandbox.database().run_sql(&sql).unwrap();
        let (id, reference) = row.trim().split_once(' ').unwrap();
        (id.to_owned(), reference.to_owned())
    }
}

#[test]
fn a_purchase_is_one_trace_through_a_killed_server_a_worker_and_a_retry() {
    let runtime = Runtime::new().unwrap();
    let env = TracedEnv::open("traced", &runtime);
    let receiver = SpanReceiver::open().unwrap();
    let mut killed = env.server("server-to-be-killed", &receiver.endpoint);
    let meter = utility_sim::population(1).next().unwrap();
    let spans = || Spans::of(&receiver);
    runtime.block_on(async {
        env.simulator.will(&meter, &json!({ "fault": "delay", "delay_ms": 60_000 })).await;
        let till = env.till(&killed).await;
        let confirming = till.posts("/purchases/confirm", env.order(&meter, "traced-1"));
        tokio::select! {
            answer = confirming => panic!("the answer came too soon: {answer:?}"),
            () = eventually("the order has been sent, and the spans before it", async || {
                env.simulator.vended(&meter).await == 1 && spans().has("api-server", "reserve")
            }) => {}
        }
    });
    killed.signal(Signal::KILL).unwrap();
    assert!(killed.ends_within(Duration::from_secs(10)).is_some());

    let settings = [("VENDGATE__TRACES__ENDPOINT", receiver.endpoint.as_str())];
    let worker =
        env.sandbox.another_retry_worker(&programs().retry_worker, "worker-that-is-traced", &settings);
    let _worker = worker.unwrap();
    let server = env.server("server-that-is-asked", &receiver.endpoint);
    let token = runtime.block_on(async {
        eventually("the worker has ended the purchase", async || spans().has("retry-worker", "look")).await;
        let till = env.till(&server).await;
        let question = RequestBody::retry(&meter, "traced-1").body();
        let (status, answer) = till.posts("/purchases/retry", question).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        eventually("the retry is told", async || spans().has("api-server", "request")).await;
        answer["product"]["token"].as_str().unwrap().to_owned()
    });

    let (purchase, reference) = env.purchase("traced-1");
    let spans = spans();
    spans.are_well_formed();
    let told = spans.of_trace(&trace_id(&reference));
    assert_eq!(told.len(), spans.len(), "there is one trace: {spans:?}");
    for (service, name) in [
        ("api-server", "purchase"),
        ("api-server", "customer check"),
        ("api-server", "reserve"),
        ("api-server", "lane: wait"),
        ("api-server", "lane: commit"),
        ("retry-worker", "look"),
        ("retry-worker", "provider enquiry"),
        ("retry-worker", "record"),
        ("api-server", "request"),
    ] {
        assert!(told.has(service, name), "{service} told no {name}: {told:?}");
    }
    assert!(told.iter().all(|span| span.attribute("vendgate.purchase") == Some(&purchase)), "{told:?}");
    let request = told.iter().find(|span| span.name == "request").unwrap();
    assert_eq!(request.attribute("http.route").map(String::as_str), Some("/public/v1/purchases/retry"));
    assert_eq!(request.attribute("http.response.status_code").map(String::as_str), Some("200"));

    let secrets = [&meter, &token, &env.merchant.credentials.client_secret].map(String::as_str);
    let all = String::from_utf8(receiver.requests().into_iter().flat_map(|request| request.body).collect());
    let all = all.unwrap();
    for secret in secrets.into_iter().chain([PHONE, "traced-1", "Bearer"]) {
        assert!(!all.contains(secret), "{secret} was told: {all}");
    }
}

#[test]
fn a_confirm_tells_its_check_its_reserve_its_send_and_its_record_in_order() {
    let runtime = Runtime::new().unwrap();
    let env = TracedEnv::open("traced-once", &runtime);
    let receiver = SpanReceiver::open().unwrap();
    let mut server = env.server("server-that-sells", &receiver.endpoint);
    let meter = utility_sim::population(1).next().unwrap();
    runtime.block_on(async {
        let till = env.till(&server).await;
        let (status, answer) = till.posts("/purchases/confirm", env.order(&meter, "sold-1")).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        assert_eq!(till.gets("/purchases").await.0, 200);
    });
    // What waits is sent before the process ends.
    server.signal(Signal::TERM).unwrap();
    assert!(server.ends_within(Duration::from_secs(20)).is_some_and(|status| status.success()));

    let spans = Spans::of(&receiver);
    spans.are_well_formed();
    assert_eq!(spans.of_trace(&trace_id(&env.purchase("sold-1").1)).len(), spans.len(), "{spans:?}");
    let mut in_order: Vec<_> = spans.iter().filter(|span| span.name != "purchase").collect();
    in_order.sort_by_key(|span| (span.began, std::cmp::Reverse(span.ended)));
    let names: Vec<&str> = in_order.iter().map(|span| span.name.as_str()).collect();
    let request = in_order.iter().find(|span| span.name == "request").unwrap();
    let expected =
        ["request", "customer check", "reserve", "lane: wait", "lane: commit", "provider send", "record"];
    assert_eq!(names, expected, "{spans:?}");
    for span in &in_order {
        assert!(request.began <= span.began && span.ended <= request.ended, "{span:?} is in {request:?}");
    }
}

#[test]
fn a_receiver_of_traces_that_hangs_or_is_away_harms_no_sale() {
    let runtime = Runtime::new().unwrap();
    let env = TracedEnv::open("untraced", &runtime);
    let hanging = SpanReceiver::open_with(|_before| Manner::Hangs).unwrap();
    let refusing = SpanReceiver::open_with(|_before| Manner::Answers(400)).unwrap();
    let endpoints = [hanging.endpoint.as_str(), CLOSED, refusing.endpoint.as_str()];
    let mut meters = utility_sim::population(12);
    for (place, endpoint) in endpoints.into_iter().enumerate() {
        let mut server = env.server(&format!("server-untraced-{place}"), endpoint);
        runtime.block_on(async {
            let till = env.till(&server).await;
            for meter in meters.by_ref().take(4) {
                let began = SystemClock.monotonic();
                let order = env.order(&meter, &format!("untraced-{meter}"));
                let (status, answer) = till.posts("/purchases/confirm", order).await.unwrap();
                let took = SystemClock.monotonic().elapsed_since(began);
                assert_eq!(status, 200, "{answer}");
                assert!(took < Duration::from_secs(4), "it waited for the receiver: {took:?}");
            }
            if endpoint == refusing.endpoint {
                eventually("what was refused is counted", async || {
                    let why = [("why", "refused")];
                    Numbers::of(&server).await.count("vendgate_spans_dropped_total", &why) > 0
                })
                .await;
            }
        });
        server.signal(Signal::TERM).unwrap();
        assert!(server.ends_within(Duration::from_secs(20)).is_some_and(|status| status.success()));
    }
    assert!(!hanging.requests().is_empty() && !refusing.requests().is_empty());
    let sold = "SELECT count(*) FROM purchases WHERE state = 'SUCCESSFUL'";
    assert_eq!(env.sandbox.database().run_sql(sold).unwrap().trim(), "12");
}
