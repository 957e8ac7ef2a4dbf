//! What customers and tills are written when a purchase ends, by the real worker over a gateway and a mail server that
//! do not always do what they should.

use purchase::Handling;
use sandbox::{Options, Sandbox, Shop, ShopPlan, WalletPlan};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    order::Order,
    street::Street,
    town::{directory, eventually, programs},
};

const REQUESTER: &str = "till@shop.example";

/// A town with a worker, a till in it, and meters that nobody else has.
struct PostTown {
    sandbox: Sandbox,
    street: Street,
    shop: Shop,
    caller: Caller,
    meters: Vec<String>,
}

impl PostTown {
    fn open(runtime: &Runtime) -> Self {
        let sandbox = Sandbox::start(&Options::for_tests(directory().join("messages")), &programs()).unwrap();
        let wallets = vec![WalletPlan::loaded("Wallet", Handling::SelfManaged)];
        let plan = ShopPlan { wallets, ..ShopPlan::staging("POST", "A shop with customers") };
        let shop = runtime.block_on(sandbox.office().open_shop(plan)).unwrap();
        let mut caller = Caller::at(&format!("{}/public/v1", sandbox.facts().base_url));
        assert_eq!(runtime.block_on(caller.logs_in(&shop.credentials)).0, 200);
        let street = Street::at(&sandbox.facts().simulator_url);
        Self { sandbox, street, shop, caller, meters: utility_sim::population(4).collect() }
    }

    /// Buys for a meter, and returns the token.
    async fn buys(&self, meter: &str, change: impl FnOnce(Order) -> Order) -> String {
        let order = change(Order::new(self.shop.wallets[0].0, meter));
        let (status, answer) = self.caller.posts("/purchases/confirm", order.body()).await.unwrap();
        assert_eq!((status, &answer["status"]), (200, &json!("SUCCESSFUL")), "{answer}");
        answer["product"]["token"].as_str().unwrap().to_owned()
    }

    /// Waits until nothing is owed to anybody.
    async fn everything_is_sent(&self) {
        eventually("the outbox is empty", async || {
            let owed = "SELECT count(*) FROM outbox WHERE sent_at IS NULL AND given_up_at IS NULL";
            self.sandbox.database().run_sql(owed).unwrap() == "0"
        })
        .await;
    }

    async fn mails(&self) -> Vec<Value> {
        self.street.messages_to(REQUESTER).await
    }
}

#[test]
fn every_message_arrives_in_the_language_of_its_request_whatever_the_gateways_do_and_flags_are_obeyed() {
    // Outside of the runtime, so that the town may go in any case.
    let runtime = Runtime::new().unwrap();
    let town = PostTown::open(&runtime);
    runtime.block_on(busy_gateways_are_tried_again(&town));
    runtime.block_on(an_answer_that_is_lost_may_cost_a_repeat(&town));
    runtime.block_on(flags_are_obeyed(&town));
}

async fn busy_gateways_are_tried_again(town: &PostTown) {
    let customer = "26771400001";
    town.street.will(customer, &json!({ "operation": "sms", "fault": "busy", "times": 2 })).await;
    town.street.will(REQUESTER, &json!({ "operation": "mail", "fault": "busy" })).await;
    let token = town.buys(&town.meters[0], |order| to(customer, order).with("language", r#""pt-MZ""#)).await;
    town.everything_is_sent().await;
    let groups: Vec<&str> = [0, 4, 8, 12, 16].into_iter().map(|at| &token[at..at + 4]).collect();
    let [sms] = &town.street.sms_to(customer).await[..] else { panic!("one SMS") };
    assert!(sms.starts_with("Eletricidade BWP 100.00 "), "{sms}");
    assert!(sms.contains(&groups.join(" ")), "{sms}");
    let [mail] = &town.mails().await[..] else { panic!("one mail") };
    let text = mail["text"].as_str().unwrap();
    assert!(
        text.contains("BWP 101.50") && !text.contains(&groups.join(" ")),
        "a receipt without a token: {text}"
    );
    assert!(mail["subject"].as_str().is_some_and(|subject| subject.contains("Eletricidade")), "{mail}");
}

async fn an_answer_that_is_lost_may_cost_a_repeat(town: &PostTown) {
    let customer = "26771400002";
    town.street.will(customer, &json!({ "operation": "sms", "fault": "drop_after" })).await;
    town.buys(&town.meters[1], |order| to(customer, order)).await;
    town.everything_is_sent().await;
    let received = town.street.sms_to(customer).await;
    assert_eq!(received.len(), 2, "better twice than never");
    assert_eq!(received[0], received[1]);
}

async fn flags_are_obeyed(town: &PostTown) {
    let (customer, mails) = ("26771400003", town.mails().await.len());
    let silent = |order: Order| {
        let flags = ["send_requester_sms", "send_beneficiary_sms", "send_requester_email"];
        flags.into_iter().fold(to(customer, order), |order, flag| order.with(flag, "false"))
    };
    town.buys(&town.meters[2], silent).await;
    town.everything_is_sent().await;
    assert_eq!(town.street.sms_to(customer).await, Vec::<String>::new());
    assert_eq!(town.mails().await.len(), mails);
}

fn to(customer: &str, order: Order) -> Order {
    order.with("beneficiary_phone_number", &format!("\"{customer}\""))
}
