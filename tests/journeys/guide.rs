//! The integrator's guide: its commands run in one shell as they are written, and its table of test meters.

use std::{
    collections::BTreeSet,
    fs,
    process::Command,
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use crate::{
    env::{directory, env},
    installed,
};

const NEXT: &str = "\n--- the next block ---\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guide_can_be_typed_from_its_first_line_to_its_last_and_prints_what_it_says() {
    let merchant = env().open_merchant().await;
    let (answers, printed) = typed(&guide());
    let [
        info,
        login,
        looks,
        quotes,
        buys,
        enters,
        loses,
        asks,
        others,
        renewed,
        looks_back,
        prints,
        closes,
        hears,
        refuses,
    ] = &answers[..]
    else {
        panic!("{} blocks:\n{printed}", answers.len())
    };
    assert!(info.is_empty() && login.is_empty(), "{printed}");
    let [me, accounts, products] = &looks[..] else { panic!("{printed}") };
    assert_eq!(me["organisation"]["environment"], "STAGING", "{printed}");
    assert!(accounts[0]["balance"].as_str().is_some_and(|balance| balance.starts_with("BWP ")), "{printed}");
    let sold: Vec<&Value> = products.as_array().unwrap().iter().map(|one| &one["product_type"]).collect();
    for product in ["ELECTRICITY", "WATER", "AIRTIME"] {
        assert!(sold.contains(&&Value::from(product)), "{printed}");
    }

    assert_eq!(statuses(quotes), ["ON_GOING"], "{printed}");
    assert_eq!(statuses(buys), ["SUCCESSFUL"], "{printed}");
    assert_eq!(enters[0]["kind"], "credit", "{printed}");
    assert_eq!(loses[0]["error"]["code"], "provider_timeout", "{printed}");
    assert_eq!(statuses(asks), ["SUCCESSFUL"], "{printed}");
    assert!(asks[0]["product"]["token"].as_str().is_some_and(|token| token.len() == 20), "{printed}");
    assert_eq!(statuses(others), ["SUCCESSFUL", "SUCCESSFUL"], "{printed}");
    assert!(
        others[0]["product"]["token"].is_string() && others[1]["product"]["token"].is_null(),
        "{printed}"
    );
    assert_eq!(renewed[0]["id"], env().info().account_id, "{printed}");
    let found = looks_back[0].to_string();
    assert!(found.contains(asks[0]["reference"].as_str().unwrap()), "{printed}");
    assert!(prints.is_empty(), "{printed}");
    let receipt = fs::read_to_string(directory().join("target/sandbox/receipt.txt")).unwrap();
    assert!(
        receipt.contains("Reçu") && receipt.contains(asks[0]["reference"].as_str().unwrap()),
        "{receipt}"
    );
    let [statement, sales] = &closes[..] else { panic!("{printed}") };
    assert_eq!(
        (&statement["complete"], &sales["complete"]),
        (&Value::from(true), &Value::from(true)),
        "{printed}"
    );
    let written = fs::read_to_string(directory().join("target/sandbox/statement.xml")).unwrap();
    assert!(written.contains("camt.053.001.08"), "{written}");
    assert_eq!(hears[0]["data"][0]["type"], "wallet.topped_up", "{printed}");
    assert_eq!(refuses[0]["balance"], "BWP 50.00", "{printed}");
    assert_eq!(refuses[1]["error"]["code"], "insufficient_balance", "{printed}");
    drop(merchant);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_steps_of_the_guide_do_the_same_in_python() {
    let merchant = env().open_merchant().await;
    installed::needs("python3");
    let printed = printed_by(Command::new("python3").args(["-c", &blocks(&guide(), "python").concat()]));
    let answers = json_values(&printed);
    let [_me, _accounts, _products, quoted, bought, lost, told] = &answers[..] else { panic!("{printed}") };
    let [quoted, bought, told] = [quoted, bought, told].map(std::slice::from_ref).map(statuses);
    assert_eq!([quoted, bought, told].concat(), ["ON_GOING", "SUCCESSFUL", "SUCCESSFUL"], "{printed}");
    assert_eq!(lost["error"]["code"], "provider_timeout", "{printed}");
    drop(merchant);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_migration_guide_runs_as_written_and_one_sale_works_over_both_surfaces() {
    let merchant = env().open_merchant().await;
    let (answers, printed) = typed(&document("MIGRATING.md"));
    let [login, accounts, quotes, sale] = &answers[..] else {
        panic!("{} blocks:\n{printed}", answers.len())
    };
    assert!(login.is_empty(), "{printed}");
    assert_eq!(accounts[0]["accounts"], accounts[1], "{printed}");
    assert_eq!(statuses(quotes), ["ON_GOING", "ON_GOING"], "{printed}");
    assert_eq!(quotes[0]["total"], quotes[1]["total"], "{printed}");
    let [lost, versioned, current] = &sale[..] else { panic!("{printed}") };
    assert_eq!(lost["response_code"], "provider_timeout", "{printed}");
    assert_eq!(statuses(&sale[1..]), ["SUCCESSFUL", "SUCCESSFUL"], "{printed}");
    for same in ["id", "reference"] {
        assert_eq!(versioned[same], current[same], "{printed}");
    }
    assert_eq!(versioned["product"]["token"], current["token"], "{printed}");
    drop(merchant);
}

/// Runs the blocks of a document in one shell. Returns the JSON that each block printed, and all output.
fn typed(text: &str) -> (Vec<Vec<Value>>, String) {
    installed::needs("curl");
    installed::needs("jq");
    let script = blocks(text, "sh").join(&format!("printf '%s' '{NEXT}'\n"));
    let printed = printed_by(Command::new("sh").args(["-eu", "-c", &script]));
    (printed.split(NEXT).map(json_values).collect(), printed)
}

/// Runs a program in the directory of the sandbox. Returns what it prints.
fn printed_by(program: &mut Command) -> String {
    /// All documents buy for the same meter in the same organisation, which may have one open purchase for it at a
    /// time.
    static ONE_BY_ONE: Mutex<()> = Mutex::new(());
    let _turn = ONE_BY_ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let typed = program.current_dir(directory()).output().unwrap();
    let printed = String::from_utf8(typed.stdout).unwrap();
    assert!(typed.status.success(), "{printed}{}", String::from_utf8_lossy(&typed.stderr));
    assert!(typed.stderr.is_empty(), "{}", String::from_utf8_lossy(&typed.stderr));
    printed
}

#[test]
fn the_table_of_test_meters_is_the_sandboxs_own() {
    let subscribers = &env().info().subscribers;
    let sold = [&subscribers.electricity, &subscribers.water, &subscribers.airtime];
    let in_the_sandbox: BTreeSet<(String, String)> =
        sold.into_iter().flatten().map(|(name, number)| ((*name).to_owned(), (*number).to_owned())).collect();
    let guide = guide();
    let staging = guide.split("\n## ").find(|section| section.starts_with("Staging")).unwrap();
    let in_the_guide: BTreeSet<(String, String)> = staging.lines().filter_map(meter_of_row).collect();
    assert_eq!(in_the_guide, in_the_sandbox);
}

/// The name and number of a row such as ``| `delayed` | 07000010137 | success after 95 seconds |``.
fn meter_of_row(line: &str) -> Option<(String, String)> {
    let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
    let (name, number) = (cells.next()?.strip_suffix('`')?, cells.next()?);
    Some((name.to_owned(), number.to_owned()))
}

fn guide() -> String {
    document("INTEGRATING.md")
}

fn document(name: &str) -> String {
    fs::read_to_string(format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The code blocks of a document in one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("\n```{language}\n");
    let begun = text.split(fence.as_str()).skip(1);
    begun.map(|rest| format!("{}\n", rest.split("\n```").next().unwrap())).collect()
}

fn json_values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap()
}

fn statuses(answers: &[Value]) -> Vec<&str> {
    answers.iter().map(|answer| answer["status"].as_str().unwrap_or("none")).collect()
}
