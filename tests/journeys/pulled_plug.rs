//! Somebody pulls the plug: the API server and the worker are killed in the middle of purchases that do not go smoothly
//! anyway, and started again as a supervisor does. Whatever became of the callers, each purchase ends right, the customer
//! is told, and the operator can see how it came about.

use std::{process::Command, time::Duration};

use acceptance::checker::{self, History, Moment};
use clock::{Clock, SystemClock};
use purchase::Handling;
use sandbox::{Happening, Options, Sandbox, Shop, ShopPlan, Signal, WalletPlan};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    order::Order,
    street::Street,
    town::{directory, programs},
};

const NAME: &str = "pulled-plug";
/// A lost request ends when the window has closed and twice nothing was found.
const PATIENCE: Duration = Duration::from_mins(3);

/// What is bought: for which meter, out of which wallet, and how it must end.
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

/// A town whose parts die, and everybody in it: a shop that settles doubt itself, and one that leaves it to the service.
struct DarkTown {
    sandbox: Sandbox,
    street: Street,
    shops: [(Caller, Shop); 2],
}

impl DarkTown {
    fn open(runtime: &Runtime) -> Self {
        let options = Options::for_tests(directory().join(NAME));
        let sandbox = Sandbox::start(&options, &programs()).unwrap();
        let api = format!("{}/public/v1", sandbox.facts().base_url);
        let shops = Handling::ALL.map(|handling| {
            let wallets = vec![WalletPlan::loaded("Wallet", handling)];
            let plan =
                ShopPlan { wallets, ..ShopPlan::staging(&format!("DARK{handling:?}"), "A shop in the dark") };
            let shop = runtime.block_on(sandbox.office().open_shop(plan)).unwrap();
            let mut caller = Caller::at(&api);
            assert_eq!(runtime.block_on(caller.logs_in(&shop.credentials)).0, 200);
            (caller, shop)
        });
        let street = Street::at(&sandbox.facts().simulator_url);
        Self { sandbox, street, shops }
    }

    fn shop(&self, plan: &Plan) -> &(Caller, Shop) {
        &self.shops[usize::from(plan.handling == Handling::Managed)]
    }

    fn meter(&self, plan: &Plan) -> &'static str {
        self.sandbox.facts().subscribers.electricity[plan.scenario]
    }

    fn order(&self, plan: &Plan) -> Order {
        Order::new(self.shop(plan).1.wallets[0].0, self.meter(plan))
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

    /// Kills both servers, and has them started again as whoever supervises them does.
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

    /// What the operator sees of a purchase.
    fn story(&self, id: &str) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_acceptance-vendctl"))
            .env_clear()
            .args(["--json", "--settings"])
            .arg(&self.sandbox.facts().operator_settings)
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

    /// Each purchase has a customer of its own.
    fn phone(&self) -> String {
        let index = PLANS.iter().position(|plan| plan.reference() == self.reference()).unwrap();
        format!("2677130000{index}")
    }
}

#[test]
fn every_purchase_ends_right_although_both_servers_are_killed_in_between() {
    // Outside of the runtime, so that the town may go in any case.
    let runtime = Runtime::new().unwrap();
    let mut town = DarkTown::open(&runtime);
    runtime.block_on(confirms_and_pulls_the_plug(&mut town));
    for plan in &PLANS {
        runtime.block_on(town.waits_until(&plan.reference(), |town| town.state(plan) == plan.ends));
        runtime.block_on(ended_right(&town, plan));
    }
    for ((_, shop), spent) in town.shops.iter().zip([2 * 10_150, 3 * 10_150]) {
        let wallet = shop.wallets[0].0;
        let books = format!("SELECT 100000000 - posted, held FROM accounts WHERE id = {wallet}");
        assert_eq!(town.asks_the_database(&books), format!("{spent}|0"));
    }
    let vend_log = town.sandbox.vend_log();
    let evidence = checker::gather(town.sandbox.database(), &vend_log, Moment::AtRest, History::default());
    checker::assert_lawful(&evidence.with_logs_in(&directory().join(NAME), &vend_log));
}

/// Everybody confirms; when all of it is on record, the servers are killed, and again while they are at work once more.
async fn confirms_and_pulls_the_plug(town: &mut DarkTown) {
    let confirms: Vec<_> = PLANS
        .iter()
        .map(|plan| {
            let (caller, body) = (town.shop(plan).0.clone(), town.order(plan).body());
            tokio::spawn(async move { caller.posts("/purchases/confirm", body).await })
        })
        .collect();
    town.waits_until("all is on record", |town| PLANS.iter().all(|plan| !town.state(plan).is_empty())).await;
    town.loses_its_servers().await;
    for (confirm, plan) in confirms.into_iter().zip(&PLANS) {
        // Some had their answer before, some never will.
        if let Ok((status, answer)) = confirm.await.unwrap() {
            let expected = if plan.handling == Handling::Managed { 200 } else { 504 };
            assert_eq!(status, expected, "{answer}");
        }
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    town.loses_its_servers().await;
}

async fn ended_right(town: &DarkTown, plan: &Plan) {
    let (meter, reference, phone) = (town.meter(plan), plan.reference(), plan.phone());
    let question = Order::retry(meter, &reference).body();
    let (status, answer) = town.shop(plan).0.posts("/purchases/retry", question).await.unwrap();
    let id =
        town.asks_the_database(&format!("SELECT id FROM purchases WHERE external_reference = '{reference}'"));
    let story = town.story(&id);
    assert_eq!((&story["state"], &story["handling"]), (&plan.ends.into(), &plan.handling.as_str().into()));
    assert!(story["events"].as_array().unwrap().len() >= 2, "{story}");
    if plan.ends == "SUCCESSFUL" {
        let token = answer["product"]["token"].as_str().unwrap();
        assert_eq!(
            (status, town.street.enters(meter, token).await),
            (200, Ok("credit".to_owned())),
            "{answer}"
        );
        town.street.tells(&phone, token).await;
    } else {
        assert_eq!((status, &answer["error"]["retryable"]), (422, &false.into()), "{answer}");
        assert_eq!(town.street.vended(meter).await, 0);
        let told = usize::from(plan.handling == Handling::Managed);
        town.street.told(&phone, told).await;
    }
}
