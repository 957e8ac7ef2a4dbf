//! Crashes of both programs. The API server and the worker are killed during purchases with faults, and restarted as
//! by a supervisor. Each purchase ends correctly, the customer gets the messages, and the operator can see the
//! history.

use std::time::Duration;

use acceptance::checker::{self, History, Moment};
use clock::{Clock, SystemClock};
use purchase::Handling;
use sandbox::{Happening, Merchant, MerchantPlan, Options, Sandbox, Signal, WalletPlan};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{directory, eventually, programs, vendctl},
    request_body::RequestBody,
    simulator::SimulatorClient,
};

const NAME: &str = "both-killed";
/// A lost request ends when the window has closed and two enquiries have found nothing.
const PATIENCE: Duration = Duration::from_mins(3);

/// A purchase: its meter, its kind of wallet, and its expected end.
struct Plan {
    scenario: &'static str,
    handling: Handling,
    ends: &'static str,
}

const PLANS: [Plan; 7] = [
    plan("lost_reply", Handling::SelfManaged, "SUCCESSFUL"),
    plan("lost_request", Handling::SelfManaged, "FAILED"),
    plan("delayed", Handling::SelfManaged, "SUCCESSFUL"),
    plan("lost_reply", Handling::Managed, "SUCCESSFUL"),
    plan("lost_request", Handling::Managed, "FAILED"),
    plan("delayed", Handling::Managed, "SUCCESSFUL"),
    plan("busy_then_ok", Handling::Managed, "SUCCESSFUL"),
];

const fn plan(scenario: &'static str, handling: Handling, ends: &'static str) -> Plan {
    Plan { scenario, handling, ends }
}

/// An environment whose programs are killed, with two merchants: one resolves doubt itself, the other leaves it to
/// the service.
struct KilledEnv {
    sandbox: Sandbox,
    simulator: SimulatorClient,
    merchants: [(Caller, Merchant); 2],
}

impl KilledEnv {
    fn open(runtime: &Runtime) -> Self {
        let options = Options::for_tests(directory().join(NAME));
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let api = format!("{}/public/v1", sandbox.info().base_url);
        let merchants = Handling::ALL.map(|handling| {
            let wallets = vec![WalletPlan::loaded("Wallet", handling)];
            let plan = MerchantPlan {
                wallets,
                ..MerchantPlan::staging(&format!("KILL{handling:?}"), "A shop of killed servers")
            };
            let merchant = runtime.block_on(sandbox.office().open_merchant(plan)).unwrap();
            let mut caller = Caller::at(&api);
            assert_eq!(runtime.block_on(caller.logs_in(&merchant.credentials)).0, 200);
            (caller, merchant)
        });
        let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
        Self { sandbox, simulator, merchants }
    }

    fn merchant(&self, plan: &Plan) -> &(Caller, Merchant) {
        &self.merchants[usize::from(plan.handling == Handling::Managed)]
    }

    fn meter(&self, plan: &Plan) -> &'static str {
        self.sandbox.info().subscribers.electricity[plan.scenario]
    }

    fn order(&self, plan: &Plan) -> RequestBody {
        RequestBody::new(self.merchant(plan).1.wallets[0].0, self.meter(plan))
            .reference(&plan.reference())
            .with("beneficiary_phone_number", &format!("\"{}\"", plan.phone()))
    }

    fn asks_the_database(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }

    fn state(&self, plan: &Plan) -> String {
        let reference = plan.reference();
        self.asks_the_database(&format!(
            "SELECT state FROM purchases WHERE external_reference = '{reference}'"
        ))
    }

    async fn waits_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = SystemClock.monotonic();
        while !is_so(self) {
            let waited = SystemClock.monotonic().elapsed_since(began);
            assert!(waited < PATIENCE, "{what}: not within {PATIENCE:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Kills both programs and waits until the supervisor has restarted them.
    async fn loses_its_servers(&mut self) {
        self.sandbox.api_server().signal(Signal::KILL).unwrap();
        self.sandbox.retry_worker().unwrap().signal(Signal::KILL).unwrap();
        let mut again: Vec<&str> = Vec::new();
        while again.len() < 2 {
            let reports = self.sandbox.tend().into_iter();
            let up = reports.filter(|report| matches!(report.happening, Happening::Up { .. }));
            again.extend(up.map(|report| report.part));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        again.sort_unstable();
        assert_eq!(again, ["api-server", "retry-worker"]);
    }

    /// The operator's view of a purchase.
    fn story(&self, id: &str) -> Value {
        let output = vendctl(&self.sandbox.info().operator_settings)
            .arg("--json")
            .args(["purchases", "show", id])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Plan {
    fn reference(&self) -> String {
        format!("{}-{}", self.scenario, self.handling.as_str())
    }

    /// Each purchase has its own customer.
    fn phone(&self) -> String {
        let index = PLANS.iter().position(|plan| plan.reference() == self.reference()).unwrap();
        format!("2677130000{index}")
    }
}

#[test]
fn every_purchase_ends_right_although_both_servers_are_killed_in_between() {
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let mut env = KilledEnv::open(&runtime);
    runtime.block_on(confirms_and_is_killed_twice(&mut env));
    for plan in &PLANS {
        runtime.block_on(env.waits_until(&plan.reference(), |env| env.state(plan) == plan.ends));
        runtime.block_on(ended_right(&env, plan));
    }
    for ((_, merchant), spent) in env.merchants.iter().zip([2 * 10_150, 3 * 10_150]) {
        let wallet = merchant.wallets[0].0;
        let books = format!("SELECT 100000000 - posted, held FROM accounts WHERE id = {wallet}");
        assert_eq!(env.asks_the_database(&books), format!("{spent}|0"));
    }
    let vend_log = env.sandbox.vend_log();
    let evidence = checker::gather(env.sandbox.database(), &vend_log, Moment::AtRest, History::default());
    checker::assert_sound(&evidence.with_logs_in(&directory().join(NAME), &vend_log));
}

/// Confirms all purchases. The programs are killed once when all purchases are stored and the utility has vended what it
/// will vend at once, and again while they resolve them.
async fn confirms_and_is_killed_twice(env: &mut KilledEnv) {
    let confirms: Vec<_> = PLANS
        .iter()
        .map(|plan| {
            let (caller, body) = (env.merchant(plan).0.clone(), env.order(plan).body());
            tokio::spawn(async move { caller.posts("/purchases/confirm", body).await })
        })
        .collect();
    env.waits_until("all purchases are stored", |env| PLANS.iter().all(|plan| !env.state(plan).is_empty()))
        .await;
    // An order that has not left its server when that is killed would rightly fail.
    for (scenario, vends) in [("lost_reply", 2), ("delayed", 2)] {
        let meter = env.sandbox.info().subscribers.electricity[scenario];
        eventually("the utility has vended", async || env.simulator.vended(meter).await == vends).await;
    }
    env.loses_its_servers().await;
    for (confirm, plan) in confirms.into_iter().zip(&PLANS) {
        // Some were answered before the kill, the others never are.
        if let Ok((status, answer)) = confirm.await.unwrap() {
            let expected = if plan.handling == Handling::Managed { 200 } else { 504 };
            assert_eq!(status, expected, "{answer}");
        }
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    env.loses_its_servers().await;
}

async fn ended_right(env: &KilledEnv, plan: &Plan) {
    let (meter, reference, phone) = (env.meter(plan), plan.reference(), plan.phone());
    let question = RequestBody::retry(meter, &reference).body();
    let (status, answer) = env.merchant(plan).0.posts("/purchases/retry", question).await.unwrap();
    let id =
        env.asks_the_database(&format!("SELECT id FROM purchases WHERE external_reference = '{reference}'"));
    let story = env.story(&id);
    assert_eq!((&story["state"], &story["handling"]), (&plan.ends.into(), &plan.handling.as_str().into()));
    assert!(story["events"].as_array().unwrap().len() >= 2, "{story}");
    if plan.ends == "SUCCESSFUL" {
        let token = answer["product"]["token"].as_str().unwrap();
        assert_eq!(
            (status, env.simulator.enters(meter, token).await),
            (200, Ok("credit".to_owned())),
            "{answer}"
        );
        env.simulator.tells(&phone, token).await;
    } else {
        assert_eq!((status, &answer["error"]["retryable"]), (422, &false.into()), "{answer}");
        assert_eq!(env.simulator.vended(meter).await, 0);
        let told = usize::from(plan.handling == Handling::Managed);
        env.simulator.told(&phone, told).await;
    }
}
