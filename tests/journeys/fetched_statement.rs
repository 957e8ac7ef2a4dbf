//! The vendor of airtime has no file. The operator fetches its list, in which a person has bought past Vendgate.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use sandbox::{Merchant, Sandbox};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{another_env, directory, eventually, vendctl},
    request_body::RequestBody,
    simulator::SimulatorClient,
};

/// As many purchases as show that a file is of another time zone.
const OURS: usize = 3;

struct Shop {
    sandbox: Sandbox,
    simulator: SimulatorClient,
    /// Before the first sale.
    opened: String,
}

impl Shop {
    fn moment(sandbox: &Sandbox) -> String {
        let now = "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')";
        sandbox.database().run_sql(now).unwrap()
    }

    /// The words of a period that has begun `earlier` than the shop and ends now.
    fn period_from(&self, earlier: &str) -> [String; 4] {
        let from = format!(
            "SELECT to_char((timestamptz '{}' - interval '{earlier}') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
            self.opened
        );
        let from = self.sandbox.database().run_sql(&from).unwrap().trim().to_owned();
        ["--from".to_owned(), from, "--until".to_owned(), Self::moment(&self.sandbox)]
    }

    fn command(&self) -> Command {
        vendctl(&self.sandbox.info().operator_settings)
    }

    fn fetches(&self, file: &Path, period: &[String; 4]) -> Command {
        let mut command = self.command();
        command.args(["--json", "fetch-statement", "RELOADLY"]).arg(file).args(period).args(["--lag", "0s"]);
        command
    }

    fn reconciles(&self, file: &Path, period: &[String; 4], how: &[&str]) -> Output {
        let mut command = self.command();
        command.args(["--json", "reconcile", "RELOADLY"]).arg(file).args(period);
        command.args(["--tolerance", "5s", "--reason", "daily"]).args(how).output().unwrap()
    }

    /// What was bought over us, and what a person bought on the vendor's site.
    async fn buys(&self, merchant: &Merchant, phone: &str) -> Value {
        let mut caller = Caller::at(&format!("{}/public/v1", self.sandbox.info().base_url));
        assert_eq!(caller.logs_in(&merchant.credentials).await.0, 200);
        let mut last = Value::Null;
        for _ in 0..OURS {
            let order = RequestBody::new(merchant.wallets[0].0, phone)
                .with("product_type", "\"AIRTIME\"")
                .with("provider_code", "\"RELOADLY\"");
            let (status, bought) = caller.posts("/purchases/confirm", order.body()).await.unwrap();
            assert_eq!(status, 200, "{bought}");
            last = bought;
        }
        self.simulator.tops_up(phone, "by-hand-1").await;
        last
    }

    /// Fetches the list until it has all that was bought: it lags behind.
    async fn fetches_all(&self) -> (PathBuf, [String; 4]) {
        let mut tries = 0;
        let mut last = None;
        eventually("all are on the vendor's list", async || {
            tries += 1;
            let file = new_file(&format!("fetched-{tries}.csv"));
            let period = self.period_from("0");
            printed(&self.fetches(&file, &period).output().unwrap());
            let listed = Self::listed(&file);
            last = Some((file, period));
            listed == OURS + 1
        })
        .await;
        last.unwrap()
    }

    /// An empty file is right before the first sale, and afterwards of another account.
    async fn refuses_the_empty_file(&self, file: &Path) {
        let refused = self.reconciles(file, &self.period_from("5 hours"), &["--dry-run"]);
        assert!(told(&refused).contains("lists no vend, and our books have 3"), "{refused:?}");
        eventually("the sales are before the edge of the period", async || {
            let accepted = self.reconciles(file, &self.period_from("5 hours"), &["--dry-run", "--empty"]);
            accepted.status.code() == Some(4)
        })
        .await;
    }

    /// Dubai is two hours ahead of Gaborone.
    fn refuses_a_list_of_another_zone(&self) {
        let (file, period) = (new_file("fetched-zone.csv"), self.period_from("5 hours"));
        let zone = "VENDGATE__PROVIDERS__RELOADLY__RELOADLY__REPORT_TIME_ZONE";
        let fetched = self.fetches(&file, &period).env(zone, "Asia/Dubai").output().unwrap();
        assert_eq!(printed(&fetched)["vended"], OURS + 1, "{fetched:?}");
        let refused = self.reconciles(&file, &period, &[]);
        let told = told(&refused);
        assert!(told.contains(&format!("{OURS} of the first {OURS} vends")), "{told}");
        assert!(told.contains("2h earlier") && told.contains("report_time_zone"), "{told}");
        assert_eq!(
            self.sandbox.database().run_sql("SELECT count(*) FROM reconciliations").unwrap().trim(),
            "2"
        );
    }

    /// What is wrong in the section of a provider is named where it is needed, and stops nothing else.
    fn tells_which_provider_it_cannot_ask(&self) {
        let file = new_file("fetched-never.csv");
        let spoilt = |command: &mut Command| {
            let values = [("BPC__XMLVEND__CREDENTIALS__PASSWORD", "a secret"), ("NAIRA", "a secret")];
            let output =
                command.envs(values.map(|(key, value)| (format!("VENDGATE__PROVIDERS__{key}"), value)));
            output.output().unwrap()
        };
        assert!(spoilt(self.command().args(["provider", "list"])).status.success());
        let period = self.period_from("0");
        assert!(spoilt(&mut self.fetches(&new_file("fetched-beside.csv"), &period)).status.success());
        for (provider, expected) in [
            ("BPC", "providers.bpc.xmlvend.endpoint"),
            ("NAIRA", "providers.naira"),
            ("WUC", "have no section [providers.wuc]"),
        ] {
            let mut fetch = self.command();
            fetch.args(["fetch-statement", provider]).arg(&file).args(&period).args(["--lag", "0s"]);
            let told = told(&spoilt(&mut fetch));
            assert!(told.contains(expected) && !told.contains("a secret"), "{told}");
        }
        let early = told(
            &self.command().args(["fetch-statement", "RELOADLY"]).arg(&file).args(&period).output().unwrap(),
        );
        assert!(early.contains("lags behind sales"), "{early}");
        assert!(!file.exists());
    }

    /// The number of transactions on the vendor's list.
    fn listed(file: &Path) -> usize {
        fs::read_to_string(file).unwrap().lines().count() - 1
    }
}

fn new_file(name: &str) -> PathBuf {
    let file = directory().join(name);
    let _of_an_earlier_run = fs::remove_file(&file);
    file
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> Value {
    assert!(output.stderr.is_empty(), "{}", told(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_operator_fetches_the_list_of_the_airtime_vendor_and_finds_what_was_bought_past_us() {
    // Created outside the runtime, so that the environment can be dropped in any case.
    let runtime = Runtime::new().unwrap();
    let (sandbox, merchant) = another_env("fetched-statement");
    let simulator = SimulatorClient::at(&sandbox.info().simulator_url);
    let opened = Shop::moment(&sandbox);
    let shop = Shop { sandbox, simulator, opened };
    let phone = shop.sandbox.info().subscribers.airtime["active"];

    let (empty, period) = (new_file("fetched-none.csv"), shop.period_from("0"));
    let fetched = printed(&shop.fetches(&empty, &period).output().unwrap());
    assert_eq!((&fetched["vended"], Shop::listed(&empty)), (&Value::from(0), 0), "{fetched}");
    let nothing_sold = printed(&shop.reconciles(&empty, &period, &[]));
    assert_eq!(nothing_sold["lines"], 0, "{nothing_sold}");
    let again = shop.fetches(&empty, &period).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert!(told(&again).contains("exists, and is not replaced"), "{again:?}");

    let (bought, (file, period)) = runtime.block_on(async {
        let bought = shop.buys(&merchant, phone).await;
        (bought, shop.fetches_all().await)
    });
    let found = shop.reconciles(&file, &period, &[]);
    assert_eq!(found.status.code(), Some(4), "{found:?}");
    let found = printed(&found);
    let discrepancies = found["discrepancies"].as_array().unwrap();
    let findings: Vec<_> = discrepancies.iter().map(|one| (&one["reference"], &one["finding"])).collect();
    assert_eq!(findings, [(&Value::from("by-hand-1"), &Value::from("only theirs"))], "{found}");
    assert_eq!(found["matched"], OURS, "{found}");
    let lines = fs::read_to_string(&file).unwrap();
    let transaction = bought["metadata"]["provider_transaction_identifier"].as_str().unwrap();
    let ours = lines.lines().find(|line| line.contains(&format!(",{transaction},"))).unwrap();
    assert!(ours.contains(&format!(",AIRTIME,{phone},")) && ours.ends_with(",BWP"), "{ours}");

    shop.refuses_a_list_of_another_zone();
    runtime.block_on(shop.refuses_the_empty_file(&empty));
    shop.tells_which_provider_it_cannot_ask();
}
