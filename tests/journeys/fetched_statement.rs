//! The vendor of airtime has no file. The operator fetches its list, in which a person has bought past Vendgate.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use sandbox::Sandbox;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    caller::Caller,
    env::{another_env, directory, eventually, vendctl},
    request_body::RequestBody,
    simulator::SimulatorClient,
};

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

    fn reconciles(&self, file: &Path, how: &[&str]) -> Output {
        let until = Self::moment(&self.sandbox);
        vendctl(&self.sandbox.info().operator_settings)
            .args(["--json", "reconcile", "RELOADLY"])
            .arg(file)
            .args(["--from", &self.opened, "--until", &until, "--tolerance", "5s", "--reason", "daily"])
            .args(how)
            .output()
            .unwrap()
    }

    /// A person who may not reconcile leaves no file.
    fn refuses_support(&self) {
        let file = new_file("fetched-by-support.csv");
        let settings = self.sandbox.info().operator_settings.with_file_name("vendctl-support.toml");
        let output = vendctl(&settings)
            .args(["reconcile", "RELOADLY"])
            .arg(&file)
            .args(["--fetch", "--date", "yesterday", "--reason", "daily"])
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("needs the role finance") && !file.exists(), "{told}");
    }

    /// A part of a section, such as a server has in its environment, is named where it is needed, and stops nothing else.
    fn tells_which_provider_it_cannot_ask(&self) {
        let asks = |words: &[&str]| {
            vendctl(&self.sandbox.info().operator_settings)
                .env("VENDGATE__PROVIDERS__BPC__XMLVEND__CREDENTIALS__PASSWORD", "a secret")
                .args(words)
                .output()
                .unwrap()
        };
        assert!(asks(&["provider", "list"]).status.success());
        let period = ["--from", &self.opened, "--until", &Self::moment(&self.sandbox), "--reason", "daily"];
        for (provider, expected) in
            [("BPC", "the section [providers.bpc]"), ("WUC", "vendctl has no settings of WUC")]
        {
            let words = [&["reconcile", provider, "never.csv", "--fetch"][..], &period].concat();
            let told = String::from_utf8(asks(&words).stderr).unwrap();
            assert!(told.contains(expected) && !told.contains("a secret"), "{told}");
        }
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

fn printed(output: &Output) -> Value {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
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

    let file = new_file("fetched-none.csv");
    let nothing_sold = printed(&shop.reconciles(&file, &["--fetch"]));
    assert_eq!((&nothing_sold["lines"], Shop::listed(&file)), (&Value::from(0), 0), "{nothing_sold}");
    let again = shop.reconciles(&file, &["--fetch"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists"), "{again:?}");

    let bought = runtime.block_on(async {
        let mut caller = Caller::at(&format!("{}/public/v1", shop.sandbox.info().base_url));
        assert_eq!(caller.logs_in(&merchant.credentials).await.0, 200);
        let order = RequestBody::new(merchant.wallets[0].0, phone)
            .with("product_type", "\"AIRTIME\"")
            .with("provider_code", "\"RELOADLY\"");
        let (status, bought) = caller.posts("/purchases/confirm", order.body()).await.unwrap();
        assert_eq!(status, 200, "{bought}");
        shop.simulator.tops_up(phone, "by-hand-1").await;
        bought
    });
    let transaction = bought["metadata"]["provider_transaction_identifier"].as_str().unwrap();
    let mut tries = 0;
    let (file, found) = runtime.block_on(async {
        let mut last = None;
        eventually("both are on the vendor's list", async || {
            tries += 1;
            let file = new_file(&format!("fetched-{tries}.csv"));
            let output = shop.reconciles(&file, &["--fetch"]);
            let listed = Shop::listed(&file);
            last = Some((file, output));
            listed == 2
        })
        .await;
        last.unwrap()
    });
    assert_eq!(found.status.code(), Some(4), "{found:?}");
    let found = printed(&found);
    let discrepancies = found["discrepancies"].as_array().unwrap();
    let told: Vec<_> = discrepancies.iter().map(|one| (&one["reference"], &one["finding"])).collect();
    assert_eq!(told, [(&Value::from("by-hand-1"), &Value::from("only theirs"))], "{found}");
    assert_eq!(found["matched"], 1, "{found}");
    let lines = fs::read_to_string(&file).unwrap();
    let ours = lines.lines().find(|line| line.contains(&format!(",{transaction},"))).unwrap();
    assert!(ours.contains(&format!(",AIRTIME,{phone},")) && ours.ends_with(",BWP"), "{ours}");

    shop.tells_which_provider_it_cannot_ask();
    shop.refuses_support();
    let once_more = printed(&shop.reconciles(&file, &["--dry-run"]));
    assert_eq!(
        once_more["discrepancies"].as_array().unwrap().len(),
        1,
        "the file itself is reconciled again"
    );
}
