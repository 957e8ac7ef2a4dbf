//! Purchases that no provider can resolve. Two purchases stay in doubt until they are under review. The operator
//! finds them, gets a statement of the utility for each, and decides. Then the integrator, the customer and the
//! database show the decision.

use std::{io::Write, process::Stdio, time::Duration};

use acceptance::checker::{self, History, Moment};
use clock::{Clock, SystemClock};
use sandbox::{Merchant, MerchantPlan, Options, Pace, Sandbox};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    console::Console,
    env::{directory, programs, vendctl},
    request_body::RequestBody,
    simulator::SimulatorClient,
};

const NAME: &str = "oversight";
const PATIENCE: Duration = Duration::from_mins(1);
const PHONE: &str = "26771400001";

/// An environment in which "no record" proves nothing, with its operator and one merchant.
struct DoubtEnv {
    sandbox: Sandbox,
    simulator: SimulatorClient,
    merchant: (Caller, Merchant),
}

impl DoubtEnv {
    fn open(runtime: &Runtime) -> Self {
        let options = Options { pace: Pace::Breathless, ..Options::for_tests(directory().join(NAME)) };
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let merchant = runtime
            .block_on(sandbox.office().open_merchant(MerchantPlan::staging("DOUBT", "A shop")))
            .unwrap();
        let mut caller = Caller::at(&format!("{}/public/v1", sandbox.info().base_url));
        assert_eq!(runtime.block_on(caller.logs_in(&merchant.credentials)).0, 200);
        let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
        let env = Self { sandbox, simulator, merchant: (caller, merchant) };
        env.does(&["provider", "declare", "BPC", "--not-found-counts", "off", "--repeat-is-safe", "off"]);
        env
    }

    fn meter(&self, scenario: &str) -> &'static str {
        self.sandbox.info().subscribers.electricity[scenario]
    }

    async fn confirms(&self, meter: &str) {
        let order = RequestBody::new(self.merchant.1.wallets[0].0, meter).reference(meter);
        let order = order.with("beneficiary_phone_number", &format!("\"{PHONE}\""));
        let (status, answer) = self.merchant.0.posts("/purchases/confirm", order.body()).await.unwrap();
        assert_eq!((status, &answer["error"]["code"]), (504, &"provider_timeout".into()), "{answer}");
    }

    async fn retries(&self, meter: &str) -> (u16, Value) {
        self.merchant.0.posts("/purchases/retry", RequestBody::retry(meter, meter).body()).await.unwrap()
    }

    /// Runs a reading command.
    fn shows(&self, words: &[&str]) -> Value {
        self.types(words, "").unwrap_or_else(|said| panic!("{words:?}: {said}"))
    }

    /// Runs a changing command with a reason.
    fn does(&self, words: &[&str]) -> Value {
        self.shows(&[words, &["--reason", "the utility's letter"]].concat())
    }

    /// Resolves a purchase. Repeats the command while the worker holds the purchase.
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
        let mut child = vendctl(&self.sandbox.info().operator_settings)
            .args(["--json", "--actor", "naledi"])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input may have ended by now.
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
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let env = DoubtEnv::open(&runtime);
    runtime.block_on(both_are_decided(&env));
    let vend_log = env.sandbox.vend_log();
    let evidence = checker::gather(env.sandbox.database(), &vend_log, Moment::AtRest, History::default());
    checker::assert_sound(&evidence.with_logs_in(&directory().join(NAME), &vend_log));
}

async fn both_are_decided(env: &DoubtEnv) {
    let (vended, lost) = (env.meter("active_11_digit"), env.meter("lost_request"));
    env.simulator.will(vended, &json!({ "fault": "drop_after" })).await;
    let forgets = json!({ "fault": "missing_then_present", "operation": "enquiry", "times": 10_000 });
    env.simulator.will(vended, &forgets).await;
    env.confirms(vended).await;
    env.confirms(lost).await;
    let open = env.shows(&["purchases", "list", "--open"]);
    assert_eq!(open.as_array().unwrap().len(), 2);
    assert!(
        env.types(
            &["purchases", "resolve", &open[0]["id"].to_string(), "--as", "not-vended", "--reason", "x"],
            ""
        )
        .is_err()
    );

    let review = env.waits_for_review(2).await;
    assert_eq!((&review[0]["subscriber"], &review[1]["subscriber"]), (&vended.into(), &lost.into()));
    let [first, second] = [0, 1].map(|place: usize| review[place]["id"].to_string());
    let story = env.shows(&["purchases", "show", &first]);
    let facts: Vec<&str> =
        story["events"].as_array().unwrap().iter().map(|event| event["fact"].as_str().unwrap()).collect();
    assert_eq!(facts[..3], ["RESERVED", "LOST", "CLAIMED"]);
    assert!(facts.contains(&"NO_RECORD") && facts.contains(&"WINDOW_CLOSED"), "{facts:?}");
    assert!(!facts.contains(&"SENT_AGAIN"));

    the_vended_one_is_paid(env, vended, &first).await;
    the_lost_one_is_released_in_the_console(env, &second).await;
    let story = env.shows(&["purchases", "show", &second]);
    assert_eq!(
        (&story["state"], &story["audit"][0]["actor"]),
        (&"FAILED".into(), &"vendgate_operator_login".into())
    );
    let (status, told) = env.retries(lost).await;
    assert_eq!((status, &told["error"]["retryable"]), (422, &false.into()), "{told}");
    assert_eq!(env.simulator.vended(lost).await, 0);

    let wallet = env.merchant.1.wallets[0].0;
    let books = format!("SELECT posted, held FROM accounts WHERE id = {wallet}");
    assert_eq!(env.sandbox.database().run_sql(&books).unwrap(), "99989850|0");
    assert_eq!(env.shows(&["incidents", "list"]), json!([]));
}

/// The utility's statement is its own log. The token that the operator enters is accepted by the meter.
async fn the_vended_one_is_paid(env: &DoubtEnv, meter: &str, purchase: &str) {
    let receipt = env.simulator.vends(meter).await.remove(0);
    let token = receipt["tokens"][0].as_str().unwrap().to_owned();
    let name = receipt["reference"].as_str().unwrap();
    let vouched = ["--as", "vended", "--provider-transaction", name, "--units", "45.2 kWh", "--token-stdin"];
    let story = env.decides(purchase, &[&vouched[..], &["--amount", "100.00"]].concat(), &token).await;
    assert_eq!((&story["state"], &story["provider_transaction"]), (&"SUCCESSFUL".into(), &name.into()));
    assert!(!story.to_string().contains(&token));
    let (status, told) = env.retries(meter).await;
    assert_eq!((status, &told["product"]["token"]), (200, &token.as_str().into()), "{told}");
    assert_eq!(env.simulator.enters(meter, &token).await, Ok("credit".to_owned()));
    env.simulator.tells(PHONE, &token).await;
}

/// The rehearsal decides nothing. The act is that of the person whose link it was.
async fn the_lost_one_is_released_in_the_console(env: &DoubtEnv, purchase: &str) {
    let console = Console::of(env.sandbox.database());
    let browser = console.signs_in(&env.shows(&["console", "link"])).await;
    assert!(browser.opens("/review").await.text.contains(&format!("href=\"/purchases/{purchase}\"")));
    let path = format!("/purchases/{purchase}");
    assert!(browser.opens(&path).await.text.contains("Rehearse"));
    let act = format!("{path}/resolve");
    let fields = [("as", "not-vended"), ("reason", "the utility's letter")];
    let rehearsed = browser.posts(&act, &fields).await;
    assert!(rehearsed.text.contains("Nothing was decided."), "{}", rehearsed.text);
    let chosen = "<strong>It was not vended: release the money</strong>";
    assert!(rehearsed.text.contains(chosen), "the chosen finding: {}", rehearsed.text);
    assert!(browser.opens(&path).await.text.contains("Rehearse"));
    loop {
        let decided = browser.posts(&act, &[&fields[..], &[("step", "do")]].concat()).await;
        if decided.status == 200 {
            break;
        }
        assert!(decided.text.contains("the worker asks about it right now"), "{}", decided.text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The story still names the review, and nothing is left to decide.
    let decided = browser.opens(&path).await.text;
    assert!(decided.contains("REVIEW") && !decided.contains("Rehearse"), "{decided}");
}
