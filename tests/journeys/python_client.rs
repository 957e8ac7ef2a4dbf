//! The example client for integrators, run as they would run it. After any kind of lost answer, each sale ends with
//! one charge, one vend and the vended tokens.

mod impostor;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use crate::{
    env::{directory, env, eventually},
    installed,
    merchant::Merchant,
    simulator::SimulatorClient,
};
use impostor::{Impostor, Reply};

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/clients/python");

/// The exit codes of the client: success, nothing bought, outcome unknown.
const WELL: i32 = 0;
const NOT_BOUGHT: i32 = 1;
const UNSETTLED: i32 = 3;

/// A merchant that uses the Python client, with its own working directory.
struct Till {
    merchant: Merchant,
    simulator: SimulatorClient,
    directory: PathBuf,
}

/// The output and the exit code of the client.
#[derive(Debug)]
struct Printed {
    code: i32,
    out: String,
    err: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_buys_what_it_was_quoted_and_shows_the_token_of_the_vend_log() {
    let till = Till::open("ordinary").await;
    let meter = env().meter();
    let quoted = till.runs(&["quote", &meter, "100.00", "--phone", "26771234567"]);
    assert!(quoted.code == WELL && quoted.out.starts_with("ON_GOING TOP/"), "{quoted:?}");
    assert!(quoted.tokens().is_empty(), "{quoted:?}");

    let bought = till.buys(&meter, "100.00", &[]);
    till.sold_once(&bought, &meter, "BWP 101.50").await;
    let [(_, token)] = &bought.tokens()[..] else { panic!("{bought:?}") };
    assert_eq!(till.simulator.enters(&meter, token).await, Ok("credit".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_shows_the_three_tokens_of_a_key_change_in_the_order_of_entry() {
    let till = Till::open("key-change").await;
    let meter = env().scenario("key_change");
    let bought = till.buys(meter, "1150", &[]);
    till.sold_once(&bought, meter, "BWP 1151.50").await;
    let names: Vec<String> = bought.tokens().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Key Change", "Key Change", "Normal Sale"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_survives_a_lost_reply_with_one_charge() {
    let till = Till::open("lost-reply").await;
    let meter = env().scenario("lost_reply");
    let bought = till.buys(meter, "100.00", &[]);
    till.sold_once(&bought, meter, "BWP 101.50").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_survives_a_request_that_was_lost_on_its_way_with_one_charge() {
    let till = Till::open("lost-request").await;
    let meter = env().meter();
    till.simulator.will(&meter, &json!({ "fault": "drop_before" })).await;
    let bought = till.buys(&meter, "100.00", &[]);
    till.sold_once(&bought, &meter, "BWP 101.50").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_outlives_its_own_read_timeout_with_one_charge() {
    let till = Till::open("delayed").await;
    let meter = env().scenario("delayed");
    let bought = till.buys(meter, "100.00", &["--read-timeout", "1"]);
    till.sold_once(&bought, meter, "BWP 101.50").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_never_calls_an_open_sale_bought_or_failed() {
    let till = Till::open("never-known").await;
    let meter = env().scenario("lost_request");
    for told in [till.buys(meter, "100.00", &["--patience", "3"]), till.settles(&["--patience", "1"])] {
        assert_eq!(told.code, UNSETTLED, "{told:?}");
        assert!(told.tokens().is_empty(), "{told:?}");
    }
    assert_eq!(till.vends(meter).await.len(), 0);
    assert_eq!(till.merchant.balance().await, "BWP 999898.50");
    assert!(till.merchant.rows().starts_with("1|1|0|10150|"), "{}", till.merchant.rows());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_takes_a_refusal_for_what_it_is() {
    let till = Till::open("refused").await;
    for (scenario, code) in [
        ("blocked_customer", "meter_blocked"),
        ("account_blocked", "meter_blocked"),
        ("not_found", "meter_not_found"),
        ("duplicate", "duplicate_request"),
    ] {
        let refused = till.buys(env().scenario(scenario), "100.00", &[]);
        assert_eq!(refused.code, NOT_BOUGHT, "{scenario}: {refused:?}");
        assert!(refused.err.contains(code) && refused.out.is_empty(), "{scenario}: {refused:?}");
        assert_eq!(till.vends(env().scenario(scenario)).await.len(), 0, "{scenario}");
    }
    till.merchant.has_spent(&[]).await;
    let nothing_open = till.settles(&[]);
    assert_eq!((nothing_open.code, nothing_open.out.as_str()), (WELL, ""), "{nothing_open:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_killed_before_its_answer_settles_the_sale_after_its_restart() {
    let till = Till::open("killed").await;
    let meter = env().scenario("delayed");
    let mut buying = till.command(&buy(meter, "100.00", &["--reference", "till-7-0042"])).spawn().unwrap();
    eventually("the utility has vended", async || till.vends(meter).await.len() == 1).await;
    buying.kill().unwrap();
    let killed = Printed::from(buying.wait_with_output().unwrap());
    assert!(killed.code != WELL && killed.out.is_empty(), "it was killed after its answer: {killed:?}");

    let settled = till.settles(&[]);
    assert!(settled.out.starts_with("till-7-0042 was bought:\n"), "{settled:?}");
    till.sold_once(&settled, meter, "BWP 101.50").await;
    let again = till.settles(&[]);
    assert_eq!((again.code, again.out.as_str()), (WELL, ""), "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_python_client_killed_before_it_sent_anything_learns_that_nothing_was_bought() {
    let till = Till::open("never-sent").await;
    let order = json!({
        "product_type": "ELECTRICITY", "provider_code": "BPC", "debited_account_id": till.merchant.account,
        "beneficiary_phone_number": "26771234567", "subscriber_identifier": env().meter(), "amount": "100.00",
    });
    let begun = json!({ "begun": "till-7-0043", "order": order });
    let broke_off = r#"{"begun": "till-7-0044", "order": {"prod"#;
    fs::write(till.directory.join("vendgate.journal"), format!("{begun}\n{broke_off}")).unwrap();

    let settled = till.settles(&[]);
    assert!(settled.out.starts_with("till-7-0043 was not bought"), "{settled:?}");
    assert_eq!(settled.out.lines().count(), 1, "{settled:?}");
    till.merchant.has_spent(&[]).await;
}

#[test]
fn whatever_cannot_be_understood_after_a_confirm_is_asked_about_and_not_sent_again() {
    let doubts = [
        Reply::HangsUp,
        Reply::pending(),
        Reply::page_of_a_proxy(502),
        Reply::page_of_a_proxy(404),
        Reply::page_of_a_proxy(200),
        Reply::Says(301, "Location: /elsewhere", String::new()),
        Reply::Says(200, "Server: portal", "[]".to_owned()),
        Reply::Says(400, "Server: gateway", r#"{"error": "bad request"}"#.to_owned()),
        Reply::error(500, "internal_error"),
        Reply::error(502, "provider_unavailable"),
        Reply::error(504, "provider_timeout"),
        Reply::error(409, "transaction_pending"),
        Reply::error(429, "rate_limited"),
    ];
    let calling =
        doubts.map(|doubt| thread::spawn(move || (calls(&[doubt.clone(), Reply::bought()]), doubt)));
    for call in calling {
        let ((printed, seen), doubt) = call.join().unwrap();
        assert_eq!(printed.code, WELL, "{doubt:?}: {printed:?}");
        assert_eq!(seen, ["login", "confirm sale-1", "retry"], "{doubt:?}");
    }
}

#[test]
fn retry_is_asked_until_it_says_something_final_about_the_purchase() {
    let open = [
        Reply::error(504, "provider_timeout"),
        Reply::HangsUp,
        Reply::error(409, "transaction_pending"),
        Reply::page_of_a_proxy(503),
    ];
    let told = calls(&[&open[..], &[Reply::bought()]].concat());
    assert_eq!(told.0.tokens(), [("Token".to_owned(), "11112222333344445555".to_owned())], "{told:?}");
    assert_eq!(told.1, ["login", "confirm sale-1", "retry", "retry", "retry", "retry"]);

    let failed = calls(&[Reply::HangsUp, Reply::failed(422, "provider_unavailable")]);
    assert_eq!((failed.0.code, failed.1.len()), (NOT_BOUGHT, 3), "{failed:?}");
    for about_the_question in ["retries_disabled", "invalid_argument", "a_code_of_tomorrow"] {
        let told = calls(&[Reply::HangsUp, Reply::error(400, about_the_question)]);
        assert_eq!((told.0.code, told.1.len()), (UNSETTLED, 3), "{told:?}");
    }
}

#[test]
fn confirm_is_sent_again_only_after_retry_found_nothing_and_under_a_new_reference() {
    let nothing = || [Reply::HangsUp, Reply::error(404, "transaction_not_found")];
    let told = calls(&[&nothing()[..], &nothing()[..], &[Reply::bought()]].concat());
    assert_eq!(told.0.code, WELL, "{told:?}");
    let confirms = ["confirm sale-1", "confirm sale-1/2", "confirm sale-1/3"];
    assert_eq!(told.1, ["login", confirms[0], "retry", confirms[1], "retry", confirms[2]]);
    let not_ours = calls(&[Reply::HangsUp, Reply::error(404, "resource_not_found")]);
    assert_eq!((not_ours.0.code, not_ours.1.len()), (UNSETTLED, 3), "{not_ours:?}");
}

#[test]
fn a_failure_that_confirm_tells_is_final_whatever_its_status() {
    let told = calls(&[Reply::failed(502, "merchant_credit_exhausted")]);
    assert_eq!((told.0.code, told.1.len()), (NOT_BOUGHT, 2), "{told:?}");
}

#[test]
fn nothing_is_asked_before_the_moment_that_the_answer_names_and_its_end_is_told() {
    let told = calls(&[Reply::HangsUp, Reply::open_for_hours(), Reply::bought()]);
    assert_eq!((told.0.code, told.1.len()), (UNSETTLED, 3), "{told:?}");
    assert!(told.0.err.contains("known by 2026-11-20T03:00:00Z"), "{told:?}");
}

#[test]
fn a_confirm_that_was_turned_away_did_nothing_though_the_wait_is_too_long() {
    let told = calls(&[Reply::open_for_hours(), Reply::error(404, "transaction_not_found")]);
    assert_eq!((told.0.code, told.1.len()), (NOT_BOUGHT, 3), "{told:?}");
}

#[test]
fn a_token_that_is_rejected_is_renewed_once() {
    let told = calls(&[Reply::error(401, "invalid_credentials"), Reply::bought()]);
    assert_eq!(told.1, ["login", "confirm sale-1", "refresh", "confirm sale-1"]);
    assert_eq!(told.0.code, WELL, "{told:?}");
    let twice = calls(&[Reply::error(401, "invalid_credentials"), Reply::error(401, "invalid_credentials")]);
    assert_eq!((twice.0.code, twice.1.len()), (NOT_BOUGHT, 4), "{twice:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_till_of_a_few_lines_sells_through_a_lost_reply() {
    let till = Till::open("example").await;
    let mut example = python();
    example.arg(Path::new(CLIENT).join("example.py")).arg("settings.json").current_dir(&till.directory);
    let printed = Printed::from(example.output().unwrap());
    let shown = printed.out.split_once('\n').map(|(_quote, shown)| shown.to_owned());
    let bought = Printed { out: shown.unwrap_or_default(), ..printed };
    till.sold_once(&bought, env().scenario("lost_reply"), "BWP 101.50").await;
}

impl Till {
    async fn open(name: &str) -> Self {
        let merchant = env().open_merchant().await;
        let directory = empty(&directory().join("tills").join(name));
        let settings = json!({
            "base_url": env().info().base_url,
            "credentials": merchant.credentials,
            "account_id": merchant.account,
            "subscribers": env().info().subscribers,
        });
        fs::write(directory.join("settings.json"), settings.to_string()).unwrap();
        Self { merchant, simulator: SimulatorClient::new(), directory }
    }

    fn buys(&self, meter: &str, amount: &str, options: &[&str]) -> Printed {
        self.runs(&buy(meter, amount, options))
    }

    fn settles(&self, options: &[&str]) -> Printed {
        self.runs(&[options, &["settle"]].concat())
    }

    fn runs(&self, arguments: &[&str]) -> Printed {
        Printed::from(self.command(arguments).output().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = client(&self.directory);
        command.args(arguments);
        command
    }

    /// Checks one vend with the tokens that were shown, one charge and no hold.
    async fn sold_once(&self, printed: &Printed, meter: &str, total: &str) {
        assert_eq!(printed.code, WELL, "{printed:?}");
        let shown: Vec<String> = printed.tokens().into_iter().map(|(_, digits)| digits).collect();
        let vends = self.vends(meter).await;
        let [vend] = &vends[..] else { panic!("expected exactly one vend: {vends:?}") };
        assert_eq!(vend["tokens"], json!(shown), "{printed:?}");
        self.merchant.has_spent(&[total]).await;
        assert!(self.merchant.rows().starts_with("1|1|"), "{}", self.merchant.rows());
        assert_eq!(self.merchant.rows().split('|').nth(3), Some("0"));
    }

    /// The vends for this merchant, from the utility's log.
    async fn vends(&self, meter: &str) -> Vec<Value> {
        let ours = env().asks_the_database(&format!(
            "SELECT t.provider_reference FROM attempts t JOIN purchases p ON p.id = t.purchase_id
             WHERE p.organisation_id = {}",
            self.merchant.organisation
        ));
        let is_ours =
            |vend: &Value| ours.lines().any(|reference| Some(reference) == vend["reference"].as_str());
        let vends = self.simulator.vends(meter).await;
        vends.into_iter().filter(|vend| vend["outcome"] == "vended" && is_ours(vend)).collect()
    }
}

impl Printed {
    /// The lines that end with twenty digits.
    fn tokens(&self) -> Vec<(String, String)> {
        let pairs = self.out.lines().filter_map(|line| line.split_once(": "));
        pairs
            .filter(|(_, digits)| digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|(name, digits)| (name.to_owned(), digits.to_owned()))
            .collect()
    }
}

impl From<Output> for Printed {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs a purchase against a server with these answers. Returns the client's output and the requests that the server
/// got.
fn calls(script: &[Reply]) -> (Printed, Vec<String>) {
    static TILLS: AtomicUsize = AtomicUsize::new(0);
    let impostor = Impostor::saying(script.to_vec());
    let till = TILLS.fetch_add(1, Ordering::Relaxed);
    let directory = empty(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("impostors/{till}")));
    let secrets =
        ["client_id", "client_secret", "org_code", "identifier", "secret_pass"].map(|name| (name, "x"));
    let credentials: BTreeMap<&str, &str> = secrets.into_iter().collect();
    let settings = json!({ "base_url": impostor.url, "credentials": credentials, "account_id": 1 });
    fs::write(directory.join("settings.json"), settings.to_string()).unwrap();
    let options = ["--read-timeout", "5", "--patience", "20"];
    let order =
        ["buy", "07000010012", "100", "--phone", "26771234567", "--provider", "BPC", "--reference", "sale-1"];
    let mut client = client(&directory);
    let printed = client.args(options).args(order).output().unwrap();
    (Printed::from(printed), impostor.seen())
}

fn empty(directory: &Path) -> PathBuf {
    let _left_by_an_earlier_run = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).unwrap();
    directory.to_owned()
}

/// The arguments of a purchase. Options of the command itself come after it, all others before it.
fn buy<'a>(meter: &'a str, amount: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let (own, general): (Vec<&str>, Vec<&str>) = match options {
        ["--reference", _] => (options.to_vec(), Vec::new()),
        _ => (Vec::new(), options.to_vec()),
    };
    [general, vec!["buy", meter, amount, "--phone", "26771234567"], own].concat()
}

fn client(directory: &Path) -> Command {
    let mut command = python();
    command.arg(Path::new(CLIENT).join("vendgate.py")).args(["--settings", "settings.json"]);
    command.current_dir(directory);
    command
}

/// Python itself, found once: `python3` may be a script of a version manager that is slower than the client.
fn python() -> Command {
    static PYTHON: LazyLock<String> = LazyLock::new(|| {
        installed::needs("python3");
        let asked =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    });
    let mut command = Command::new(&*PYTHON);
    command.arg("-B").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
