//! Messages to customers and requesters when a purchase ends. The real worker sends them over a gateway and a mail
//! server with faults.

use acceptance::webhook_till::Till;
use purchase::Handling;
use sandbox::{Merchant, MerchantPlan, Options, Sandbox, WalletPlan};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{directory, eventually, programs},
    receipts::grouped,
    request_body::RequestBody,
    simulator::SimulatorClient,
};

const REQUESTER: &str = "till@shop.example";

/// A test environment with a worker, a caller and meters that no other test uses.
struct MessageEnv {
    sandbox: Sandbox,
    simulator: SimulatorClient,
    merchant: Merchant,
    caller: Caller,
    meters: Vec<String>,
}

impl MessageEnv {
    fn open(runtime: &Runtime) -> Self {
        let sandbox = Sandbox::start(&Options::for_tests(directory().join("messages")), &programs()).unwrap();
        let wallets = vec![WalletPlan::loaded("Wallet", Handling::SelfManaged)];
        let plan = MerchantPlan { wallets, ..MerchantPlan::staging("POST", "A shop with customers") };
        let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
        let mut caller = Caller::at(&format!("{}/public/v1", sandbox.info().base_url));
        assert_eq!(runtime.block_on(caller.logs_in(&merchant.credentials)).0, 200);
        let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
        Self { sandbox, simulator, merchant, caller, meters: utility_sim::population(5).collect() }
    }

    /// Buys for a meter, and returns the token.
    async fn buys(&self, meter: &str, change: impl FnOnce(RequestBody) -> RequestBody) -> String {
        let order = change(RequestBody::new(self.merchant.wallets[0].0, meter));
        let (status, answer) = self.caller.posts("/purchases/confirm", order.body()).await.unwrap();
        assert_eq!((status, &answer["status"]), (200, &json!("SUCCESSFUL")), "{answer}");
        answer["product"]["token"].as_str().unwrap().to_owned()
    }

    /// Waits until every message is sent or given up.
    async fn everything_is_sent(&self) {
        eventually("the outbox is empty", async || {
            let owed = "SELECT count(*) FROM outbox WHERE sent_at IS NULL AND given_up_at IS NULL";
            self.sandbox.database().run_sql(owed).unwrap() == "0"
        })
        .await;
    }

    async fn mails(&self) -> Vec<Value> {
        self.simulator.messages_to(REQUESTER).await
    }
}

#[test]
fn every_message_arrives_in_the_language_of_its_request_and_the_flags_are_obeyed() {
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let env = MessageEnv::open(&runtime);
    runtime.block_on(busy_gateways_are_tried_again(&env));
    runtime.block_on(an_answer_that_is_lost_may_cost_a_repeat(&env));
    runtime.block_on(flags_are_obeyed(&env));
    runtime.block_on(a_message_is_sent_again_to_a_corrected_number(&env));
    runtime.block_on(the_end_of_a_purchase_reaches_an_endpoint_signed(&env));
}

/// The same worker sends events. The token is in them only for the endpoint that asked for it.
async fn the_end_of_a_purchase_reaches_an_endpoint_signed(env: &MessageEnv) {
    let (with, without) = (Till::open().await, Till::open().await);
    for (till, include_tokens) in [(&with, true), (&without, false)] {
        let types = ["purchase.accepted", "purchase.succeeded"];
        let wanted = json!({ "url": till.url, "event_types": types, "include_tokens": include_tokens });
        let (status, created) =
            env.caller.posts("/webhook-endpoints/create", wanted.to_string()).await.unwrap();
        assert_eq!(status, 200, "{created}");
        till.verifies_with(&[&created["secret"], &created["public_keys"][0]]);
    }
    let token = env.buys(&env.meters[4], |order| order.reference("told-1")).await;
    for (till, told) in [(&with, Some(token.as_str())), (&without, None)] {
        eventually("two events arrive", async || till.events().len() >= 2).await;
        let mut events = till.events();
        events.sort_by_key(|event| event["type"].as_str().unwrap().to_owned());
        let [accepted, succeeded] = &events[..] else { panic!("{events:?}") };
        assert_eq!(
            (&accepted["type"], &succeeded["type"]),
            (&json!("purchase.accepted"), &json!("purchase.succeeded"))
        );
        let purchase = &succeeded["data"]["purchase"];
        assert_eq!(
            (&purchase["external_reference"], &purchase["status"]),
            (&json!("told-1"), &json!("SUCCESSFUL"))
        );
        assert_eq!(purchase["token"].as_str(), told);
        assert_eq!(accepted["data"]["purchase"]["token"], Value::Null);
    }
}

async fn busy_gateways_are_tried_again(env: &MessageEnv) {
    let customer = "26771400001";
    env.simulator.will(customer, &json!({ "operation": "sms", "fault": "busy", "times": 2 })).await;
    env.simulator.will(REQUESTER, &json!({ "operation": "mail", "fault": "busy" })).await;
    let token = env.buys(&env.meters[0], |order| to(customer, order).with("language", r#""pt-MZ""#)).await;
    env.everything_is_sent().await;
    let groups: Vec<&str> = [0, 4, 8, 12, 16].into_iter().map(|at| &token[at..at + 4]).collect();
    let [sms] = &env.simulator.sms_to(customer).await[..] else { panic!("one SMS") };
    assert!(sms.starts_with("Eletricidade BWP 100.00 "), "{sms}");
    assert!(sms.contains(&groups.join(" ")), "{sms}");
    let [mail] = &env.mails().await[..] else { panic!("one mail") };
    let text = mail["text"].as_str().unwrap();
    assert!(
        text.contains("BWP 101.50") && !text.contains(&groups.join(" ")),
        "a receipt without a token: {text}"
    );
    assert!(mail["subject"].as_str().is_some_and(|subject| subject.contains("Eletricidade")), "{mail}");
}

async fn an_answer_that_is_lost_may_cost_a_repeat(env: &MessageEnv) {
    let customer = "26771400002";
    env.simulator.will(customer, &json!({ "operation": "sms", "fault": "drop_after" })).await;
    env.buys(&env.meters[1], |order| to(customer, order)).await;
    env.everything_is_sent().await;
    let received = env.simulator.sms_to(customer).await;
    assert_eq!(received.len(), 2, "a repeated message is better than none");
    assert_eq!(received[0], received[1]);
}

async fn flags_are_obeyed(env: &MessageEnv) {
    let (customer, mails) = ("26771400003", env.mails().await.len());
    let silent = |order: RequestBody| {
        let flags = ["send_requester_sms", "send_beneficiary_sms", "send_requester_email"];
        flags.into_iter().fold(to(customer, order), |order, flag| order.with(flag, "false"))
    };
    env.buys(&env.meters[2], silent).await;
    env.everything_is_sent().await;
    assert_eq!(env.simulator.sms_to(customer).await, Vec::<String>::new());
    assert_eq!(env.mails().await.len(), mails);
}

async fn a_message_is_sent_again_to_a_corrected_number(env: &MessageEnv) {
    let (wrong, right) = ("26771400004", "26771400005");
    let token = env.buys(&env.meters[3], |order| to(wrong, order).with("language", r#""fr-CM""#)).await;
    env.everything_is_sent().await;
    let newest = "SELECT max(id) FROM purchases";
    let path = format!("/purchases/{}/messages", env.sandbox.database().run_sql(newest).unwrap());
    env.simulator.will(right, &json!({ "operation": "sms", "fault": "busy" })).await;
    let body = json!({ "phone_number": right }).to_string();
    let (status, answer) = env.caller.posts(&path, body).await.unwrap();
    assert_eq!(status, 200, "{answer}");
    eventually("the message is sent", async || {
        let left = "SELECT count(*) FROM repeated_messages WHERE sent_at IS NULL";
        env.sandbox.database().run_sql(left).unwrap() == "0"
    })
    .await;
    let [first] = &env.simulator.sms_to(wrong).await[..] else { panic!("one SMS") };
    let [again] = &env.simulator.sms_to(right).await[..] else { panic!("one SMS") };
    assert_eq!(first, again);
    assert!(again.contains(&grouped(&token)) && again.contains("Code"), "{again}");
}

fn to(customer: &str, order: RequestBody) -> RequestBody {
    order.with("beneficiary_phone_number", &format!("\"{customer}\""))
}
