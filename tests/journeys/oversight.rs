//! What no provider can tell: two purchases stay in doubt until nothing may be sent any more, the operator finds them,
//! gets the utility's word for each, and decides; and the integrator, the customer and the books hear of it.

use std::{
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

use acceptance::checker::{self, History, Moment};
use clock::{Clock, SystemClock};
use sandbox::{Options, Pace, Sandbox, Shop, ShopPlan};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    order::Order,
    street::Street,
    town::{directory, programs},
};

const NAME: &str = "oversight";
const PATIENCE: Duration = Duration::from_mins(1);
const PHONE: &str = "26771400001";

/// A town in which "no record" proves nothing, with its operator and one shop.
struct DoubtfulTown {
    sandbox: Sandbox,
    street: Street,
    shop: (Caller, Shop),
}

impl DoubtfulTown {
    fn open(runtime: &Runtime) -> Self {
        let options = Options { pace: Pace::Breathless, ..Options::for_tests(directory().join(NAME)) };
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let shop =
            runtime.block_on(sandbox.office().open_shop(ShopPlan::staging("DOUBT", "A shop"))).unwrap();
        let mut caller = Caller::at(&format!("{}/public/v1", sandbox.facts().base_url));
        assert_eq!(runtime.block_on(caller.logs_in(&shop.credentials)).0, 200);
        let street = Street::at(&sandbox.facts().simulator_url);
        let town = Self { sandbox, street, shop: (caller, shop) };
        town.does(&["provider", "declare", "BPC", "--not-found-counts", "off", "--repeat-is-safe", "off"]);
        town
    }

    fn meter(&self, scenario: &str) -> &'static str {
        self.sandbox.facts().subscribers.electricity[scenario]
    }

    async fn confirms(&self, meter: &str) {
        let order = Order::new(self.shop.1.wallets[0].0, meter).reference(meter);
        let order = order.with("beneficiary_phone_number", &format!("\"{PHONE}\""));
        let (status, answer) = self.shop.0.posts("/purchases/confirm", order.body()).await.unwrap();
        assert_eq!((status, &answer["error"]["code"]), (504, &"provider_timeout".into()), "{answer}");
    }

    async fn retries(&self, meter: &str) -> (u16, Value) {
        self.shop.0.posts("/purchases/retry", Order::retry(meter, meter).body()).await.unwrap()
    }

    /// Asks something at the prompt.
    fn shows(&self, words: &[&str]) -> Value {
        self.types(words, "").unwrap_or_else(|said| panic!("{words:?}: {said}"))
    }

    /// Does something at the prompt, for a reason.
    fn does(&self, words: &[&str]) -> Value {
        self.shows(&[words, &["--reason", "the utility's letter"]].concat())
    }

    /// The same, again and again while the worker happens to have the purchase.
    async fn decides(&self, purchase: &str, finding: &[&str], token: &str) -> Value {
        let words = [&["purchases", "resolve", purchase][..], finding, &["--reason", "the utility's letter"]]
            .concat();
        loop {
            match self.types(&words, token) {
                Ok(story) => return story,
                Err(said) => assert!(said.contains("the worker asks about it right now"), "{said}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn types(&self, words: &[&str], input: &str) -> Result<Value, String> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_acceptance-vendctl"))
            .env_clear()
            .args(["--json", "--actor", "naledi", "--settings"])
            .arg(&self.sandbox.facts().operator_settings)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input may be gone by now.
        let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            return Ok(serde_json::from_slice(&output.stdout).unwrap());
        }
        Err(String::from_utf8(output.stderr).unwrap())
    }

    async fn waits_for_review(&self, purchases: usize) -> Value {
        let began = SystemClock.monotonic();
        loop {
            let review = self.shows(&["purchases", "list", "--review"]);
            if review.as_array().unwrap().len() == purchases {
                return review;
            }
            let waited = SystemClock.monotonic().elapsed_since(began);
            assert!(waited < PATIENCE, "{}", self.shows(&["purchases", "list"]));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[test]
fn what_no_provider_can_tell_is_found_and_decided_by_the_operator() {
    // Outside of the runtime, so that the town may go in any case.
    let runtime = Runtime::new().unwrap();
    let town = DoubtfulTown::open(&runtime);
    runtime.block_on(both_are_decided(&town));
    let vend_log = town.sandbox.vend_log();
    let evidence = checker::gather(town.sandbox.database(), &vend_log, Moment::AtRest, History::default());
    checker::assert_lawful(&evidence.with_logs_in(&directory().join(NAME), &vend_log));
}

async fn both_are_decided(town: &DoubtfulTown) {
    let (vended, lost) = (town.meter("active_11_digit"), town.meter("lost_request"));
    town.street.will(vended, &json!({ "fault": "drop_after" })).await;
    let forgets = json!({ "fault": "missing_then_present", "operation": "enquiry", "times": 10_000 });
    town.street.will(vended, &forgets).await;
    town.confirms(vended).await;
    town.confirms(lost).await;
    let open = town.shows(&["purchases", "list", "--open"]);
    assert_eq!(open.as_array().unwrap().len(), 2);
    assert!(
        town.types(
            &["purchases", "resolve", &open[0]["id"].to_string(), "--as", "not-vended", "--reason", "x"],
            ""
        )
        .is_err()
    );

    let review = town.waits_for_review(2).await;
    assert_eq!((&review[0]["subscriber"], &review[1]["subscriber"]), (&vended.into(), &lost.into()));
    let [first, second] = [0, 1].map(|place: usize| review[place]["id"].to_string());
    let story = town.shows(&["purchases", "show", &first]);
    let facts: Vec<&str> =
        story["events"].as_array().unwrap().iter().map(|event| event["fact"].as_str().unwrap()).collect();
    assert_eq!(facts[..3], ["RESERVED", "LOST", "CLAIMED"]);
    assert!(facts.contains(&"NO_RECORD") && facts.contains(&"WINDOW_CLOSED"), "{facts:?}");
    assert!(!facts.contains(&"SENT_AGAIN"));

    the_vended_one_is_paid(town, vended, &first).await;
    let story = town.decides(&second, &["--as", "not-vended"], "").await;
    assert_eq!((&story["state"], &story["audit"][0]["actor"]), (&"FAILED".into(), &"naledi".into()));
    let (status, told) = town.retries(lost).await;
    assert_eq!((status, &told["error"]["retryable"]), (422, &false.into()), "{told}");
    assert_eq!(town.street.vended(lost).await, 0);

    let wallet = town.shop.1.wallets[0].0;
    let books = format!("SELECT posted, held FROM accounts WHERE id = {wallet}");
    assert_eq!(town.sandbox.database().run_sql(&books).unwrap(), "99989850|0");
    assert_eq!(town.shows(&["incidents", "list"]), json!([]));
}

/// The utility's word is its own log; what the operator enters is what the meter takes.
async fn the_vended_one_is_paid(town: &DoubtfulTown, meter: &str, purchase: &str) {
    let receipt = town.street.vends(meter).await.remove(0);
    let token = receipt["tokens"][0].as_str().unwrap().to_owned();
    let name = receipt["reference"].as_str().unwrap();
    let vouched = ["--as", "vended", "--provider-transaction", name, "--units", "45.2 kWh", "--token-stdin"];
    let story = town.decides(purchase, &[&vouched[..], &["--amount", "100.00"]].concat(), &token).await;
    assert_eq!((&story["state"], &story["provider_transaction"]), (&"SUCCESSFUL".into(), &name.into()));
    assert!(!story.to_string().contains(&token));
    let (status, told) = town.retries(meter).await;
    assert_eq!((status, &told["product"]["token"]), (200, &token.as_str().into()), "{told}");
    assert_eq!(town.street.enters(meter, &token).await, Ok("credit".to_owned()));
    town.street.tells(PHONE, &token).await;
}
