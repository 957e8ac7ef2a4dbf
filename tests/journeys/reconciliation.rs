//! The operator reconciles the utility's own statement, in which differences are planted.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::{
    env::{directory, env, eventually, vendctl},
    sealed_tokens::all_are_readable,
    simulator::SimulatorClient,
};

/// What the utility does to its statement, and what the operator is to find.
const PLANTED: [(&str, &str); 8] = [
    ("missing", "only ours"),
    ("invented", "only theirs"),
    ("repeated", "different repeated"),
    ("amount", "different amount"),
    ("currency", "different currency"),
    ("meter", "different subscriber"),
    ("token", "different token"),
    ("time", "different time"),
];

/// The tolerance with which docs/operations/VENDCTL.md lets people practise.
const TOLERANCE: &str = "5s";

/// A moment by the clock of the database.
fn moment(back: &str) -> String {
    env().asks_the_database(&format!(
        "SELECT to_char((clock_timestamp() - interval '{back}') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
    ))
}

/// Reference and finding of each discrepancy of this statement, as the operator sees it with the servers' key.
fn reconciles(statement: &str, from: &str, until: &str) -> BTreeSet<(String, String)> {
    let file = directory().join("statement.csv");
    fs::write(&file, statement).unwrap();
    let output = vendctl(&env().info().operator_settings)
        .arg("--json")
        .args(["reconcile", "BPC", file.to_str().unwrap(), "--from", from, "--until", until])
        .args(["--tolerance", TOLERANCE, "--dry-run", "--reason", "a rehearsal"])
        .output()
        .unwrap();
    let reconciled: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let differs = reconciled["discrepancies"].as_array().is_some_and(|found| !found.is_empty());
    let code = Some(if differs { 4 } else { 0 });
    assert_eq!(output.status.code(), code, "{}", String::from_utf8_lossy(&output.stderr));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let discrepancies = reconciled["discrepancies"].as_array().unwrap().iter();
    let found = discrepancies.map(|one| {
        let differs: Vec<String> = one["differs"].as_array().unwrap().iter().map(text).collect();
        (text(&one["reference"]), [vec![text(&one["finding"])], differs].concat().join(" "))
    });
    found.collect()
}

#[tokio::test]
async fn the_operator_finds_each_difference_that_the_utility_has_planted() {
    let (merchant, simulator) = (env().open_merchant().await, SimulatorClient::new());
    let from = moment("4 hours");
    let (mut plants, mut own, mut expected) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (plant, finding) in PLANTED.into_iter().chain([("", "")]) {
        let meter = env().meter();
        merchant.confirm(&merchant.order(&meter).amount("20.00")).await.expect(200);
        let vends = simulator.vends(&meter).await;
        let reference = vends[0]["reference"].as_str().unwrap().to_owned();
        own.insert(reference.clone());
        match plant {
            "" => continue,
            "invented" => expected.insert((format!("{reference}-invented"), finding.to_owned())),
            _ => expected.insert((reference, finding.to_owned())),
        };
        plants.push(format!("{plant}:{meter}"));
    }
    for path in ["/statement?provider=BPC", "/vends?product=ELECTRICITY"] {
        let said = simulator.refuses(path).await;
        assert!(said.contains("unknown field `") && said.contains("does not know the codes"), "{said}");
    }
    let is_own = |(reference, _finding): &(String, String)| {
        own.contains(reference.strip_suffix("-invented").unwrap_or(reference))
    };
    let mut found = BTreeSet::new();
    let page = include_str!("../../docs/operations/VENDCTL.md");
    assert!(page.contains(&format!("--until 10:30 --tolerance {TOLERANCE} --reason practice")));
    // Until its seconds are over, the vend that the statement lacks lies at the edge of the period.
    eventually("the missing vend is older than the tolerance", async || {
        let until = moment("0 seconds");
        let statement = simulator.statement(&from, &until, &plants.join(",")).await;
        let _readable = all_are_readable().await;
        found = reconciles(&statement, &from, &until).into_iter().filter(is_own).collect();
        found.iter().any(|(_reference, finding)| finding == "only ours")
    })
    .await;
    assert_eq!(found, expected);
}
