//! What an operator practises in the sandbox, as docs/operations/VENDCTL.md says: a purchase in review with the approval of a
//! colleague, and a message that is given up and sent after all.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use clock::{Clock, SystemClock};
use sandbox::{Merchant, MerchantPlan, Options, Pace, Sandbox};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{directory, eventually, programs, vendctl},
    request_body::RequestBody,
    simulator::SimulatorClient,
};

const PHONE: &str = "26771400009";
/// Longer than the window of the sandbox, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A sandbox with its two operators, and one merchant.
struct PracticeEnv {
    sandbox: Sandbox,
    simulator: SimulatorClient,
    caller: Caller,
    merchant: Merchant,
    settings: [PathBuf; 2],
}

impl PracticeEnv {
    fn open(runtime: &Runtime) -> Self {
        let directory = directory().join("practice");
        let settings = ["vendctl.toml", "vendctl-colleague.toml"].map(|file| directory.join(file));
        let options = Options { pace: Pace::Breathless, ..Options::for_tests(directory) };
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let plan = MerchantPlan::staging("PRACTICE", "A shop");
        let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
        let mut caller = Caller::at(&format!("{}/public/v1", sandbox.info().base_url));
        assert_eq!(runtime.block_on(caller.logs_in(&merchant.credentials)).0, 200);
        let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
        Self { sandbox, simulator, caller, merchant, settings }
    }

    fn meter(&self, scenario: &str) -> &'static str {
        self.sandbox.info().subscribers.electricity[scenario]
    }

    async fn confirms(&self, meter: &str) -> (u16, Value) {
        let order = RequestBody::new(self.merchant.wallets[0].0, meter).reference(meter);
        let order = order.with("beneficiary_phone_number", &format!("\"{PHONE}\""));
        self.caller.posts("/purchases/confirm", order.body()).await.unwrap()
    }

    fn first(&self, words: &[&str]) -> Value {
        types(&self.settings[0], words, "").unwrap_or_else(|said| panic!("{words:?}: {said}"))
    }

    fn colleague(&self, words: &[&str], input: &str) -> Result<Value, String> {
        types(&self.settings[1], words, input)
    }

    /// Waits until this list has one line, and returns it.
    async fn the_only(&self, words: &[&str]) -> Value {
        let began = SystemClock.monotonic();
        loop {
            if let [line] = &self.first(words).as_array().unwrap()[..] {
                return line.clone();
            }
            assert!(SystemClock.monotonic().elapsed_since(began) < PATIENCE, "{words:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn types(settings: &Path, words: &[&str], input: &str) -> Result<Value, String> {
    let mut child = vendctl(settings)
        .arg("--json")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may have ended by now.
    let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    // 3 is a request that waits for another person.
    if matches!(output.status.code(), Some(0 | 3)) {
        return Ok(serde_json::from_slice(&output.stdout).unwrap());
    }
    Err(String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_operator_practises_a_review_with_a_colleague_and_a_message_given_up() {
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let env = PracticeEnv::open(&runtime);
    runtime.block_on(async {
        let meter = env.meter("unanswered");
        let (status, answer) = env.confirms(meter).await;
        assert_eq!((status, &answer["error"]["code"]), (504, &json!("provider_timeout")), "{answer}");
        // The window closes meanwhile.
        a_message_that_is_refused_for_good_is_sent_after_all(&env).await;
        a_vend_that_is_never_answered_is_decided_by_two(&env, meter).await;
    });
}

async fn a_vend_that_is_never_answered_is_decided_by_two(env: &PracticeEnv, meter: &str) {
    let purchase = env.the_only(&["purchases", "list", "--review"]).await["id"].to_string();
    env.first(&["approvals", "require", "resolve", "--reason", "practice"]);

    let vend = env.simulator.vends(meter).await.remove(0);
    assert_eq!(vend["outcome"], "vended");
    let [transaction, token] = [&vend["transaction"], &vend["tokens"][0]].map(|one| one.as_str().unwrap());
    let found = ["--as", "vended", "--provider-transaction", transaction, "--units", "45.2 kWh"];
    let words = [&["purchases", "resolve", &purchase][..], &found, &["--amount", "100.00", "--token-stdin"]];
    let words = [&words.concat()[..], &["--reason", "practice"]].concat();
    eventually("the worker lets go of it", async || types(&env.settings[0], &words, token).is_ok()).await;
    let request = env.the_only(&["approvals", "list"]).await["request"].to_string();
    let approve = ["approvals", "approve", &request, "--token-stdin", "--reason", "practice"];
    assert!(types(&env.settings[0], &approve, token).is_err(), "who asked does not approve");
    eventually("a colleague approves", async || env.colleague(&approve, token).is_ok()).await;
    let (status, told) =
        env.caller.posts("/purchases/retry", RequestBody::retry(meter, meter).body()).await.unwrap();
    assert_eq!((status, &told["product"]["token"]), (200, &json!(token)), "{told}");
}

async fn a_message_that_is_refused_for_good_is_sent_after_all(env: &PracticeEnv) {
    let refuses = json!({ "fault": "refuse", "exception": "permanent", "operation": "sms" });
    env.simulator.will(PHONE, &refuses).await;
    let (status, answer) = env.confirms(env.meter("active_11_digit")).await;
    assert_eq!(status, 200, "{answer}");
    let given_up = env.the_only(&["outbox", "list", "--given-up"]).await;
    assert_eq!((&given_up["channel"], &given_up["given_up_because"]), (&json!("SMS"), &json!("REFUSED")));
    let purchase = given_up["purchase"].to_string();
    env.first(&["outbox", "requeue", &purchase, "--reason", "practice"]);
    env.simulator.tells(PHONE, answer["product"]["token"].as_str().unwrap()).await;
    let story = env.first(&["purchases", "show", &purchase]);
    let sms = story["messages"].as_array().unwrap().iter().find(|message| message["channel"] == "SMS");
    assert_eq!(sms.unwrap()["earlier_given_up_because"], "REFUSED", "{story}");
}
