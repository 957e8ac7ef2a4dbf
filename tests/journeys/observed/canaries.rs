//! Secrets are put into every input, and must not appear in the logs and metrics of the programs at the most verbose
//! level.

use std::{collections::BTreeSet, fs};

use acceptance::surface::Surface;
use reqwest::Method;
use sandbox::Process;
use serde_json::{Value, json};

use super::{
    numbers::Numbers,
    watched::{TALKATIVE, Watched, undisturbed, watched},
};
use crate::{
    caller::Caller, env::env, merchant::Merchant, request_body::RequestBody, simulator::SimulatorClient,
};

/// The beneficiary's number, in the stored form and in two forms that customers write.
const PHONE: &str = "26777120987";
const SPELLINGS: [&str; 3] = [PHONE, "+267 77 120 987", "77120987"];
/// A secret that a customer may enter into the wrong field.
const SLIP: &str = "my-pin-is-90817263";

/// The request id of the purchase that is traced on each surface.
fn request(surface: Surface) -> String {
    format!("canary-request-{surface:?}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_logs_no_token_no_secret_no_name_and_no_phone_number() {
    let server = env().another_api_server_with("server-that-talks", &TALKATIVE);
    let merchant = env().open_merchant().await;
    let mut secrets = Secrets::of(&server);
    for surface in Surface::ALL {
        let mut merchant = merchant.calling(server.url());
        merchant.surface = surface;
        log_in(&mut merchant, &mut secrets).await;
        buy_everything(&merchant, &mut secrets).await;
        stumble(&merchant).await;
    }
    top_up(&merchant.calling(server.url()), &mut secrets).await;

    assert!(secrets.0.len() > 15, "{:?}", secrets.0);
    let said = secrets.are_kept_by(&server).await;
    for surface in Surface::ALL {
        let request = request(surface);
        a_purchase_is_found_by_the_name_of_its_request(&said, &request, ("vend", "vended"));
        assert_eq!(found(&said, &request, "answered").len(), 1);
    }
}

#[test]
fn a_worker_logs_no_secret_while_it_settles_a_purchase_and_sends_messages() {
    let (Watched { sandbox, worker }, _turn) = (watched(), undisturbed());
    let info = sandbox.info();
    let (simulator, meter) =
        (SimulatorClient::at(&info.simulator_url), utility_sim::population(1).next().unwrap());
    let mut till = Caller::at(&format!("{}/public/v1", info.base_url));
    let mut secrets = Secrets::of(worker);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        till.logs_in(&info.credentials).await;
        simulator.will(&meter, &json!({ "fault": "drop_after" })).await;
        let order = with_phone(RequestBody::new(info.managed_account_id, &meter)).body();
        let (status, pending) = till.posts("/purchases/confirm", order).await.unwrap();
        assert_eq!((status, &pending["status"]), (200, &json!("PENDING")), "{pending}");
        let vends = simulator.vends(&meter).await;
        let digits = vends[0]["tokens"][0].as_str().unwrap();
        simulator.tells(PHONE, digits).await;
        secrets.add_token(digits);
        let said = secrets.are_kept_by(worker).await;
        let request = format!("SELECT request_id FROM purchases WHERE id = {}", pending["id"]);
        let request = sandbox.database().run_sql(&request).unwrap();
        a_purchase_is_found_by_the_name_of_its_request(&said, request.trim(), ("enquire", "vended"));
    });
}

/// A purchase can be traced by the request id of its confirm: to the calls to the provider, and to its end.
fn a_purchase_is_found_by_the_name_of_its_request(
    said: &[Value],
    request: &str,
    (call, answer): (&str, &str),
) {
    let calls = found(said, request, "a provider was called");
    let [called] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((&called["call"], &called["answer"]), (&json!(call), &json!(answer)));
    // Production logs this line, so that the order can be found in the provider's own records.
    assert_eq!(called["level"], "INFO", "{called}");
    assert!(called["reference"].is_string(), "{called}");
    let ended = found(said, request, "a purchase has ended");
    let [ended] = ended.as_slice() else { panic!("{ended:?}") };
    assert_eq!((&ended["outcome"], &ended["provider"]), (&json!("successful"), &json!("BPC")));
    assert_eq!(ended["confirm_request_id"], request);
    assert!(ended["purchase"].is_i64() && ended["took_ms"].is_i64(), "{ended}");
}

fn found<'a>(said: &'a [Value], request: &str, message: &str) -> Vec<&'a Value> {
    said.iter().filter(|line| line["request_id"] == request && line["message"] == message).collect()
}

/// Values that must not be logged, each with its description.
struct Secrets(BTreeSet<(&'static str, String)>);

impl Secrets {
    /// The secrets in the settings of the server. Its log might repeat each of them.
    fn of(server: &Process) -> Self {
        let settings = fs::read_to_string(server.log().with_extension("toml")).unwrap();
        let quoted = |name: &str| {
            let begins = format!("{name} = \"");
            let rest = settings.split(&begins).skip(1);
            rest.map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<String>>()
        };
        let mut secrets = Self(SPELLINGS.map(|phone| ("a phone number", phone.to_owned())).into());
        for name in ["key", "refresh_key", "password", "client_secret"] {
            for secret in quoted(name) {
                secrets.add("a setting", &secret);
            }
        }
        for url in quoted("database_url") {
            let password = url.split(['@', ':']).nth(2).unwrap();
            secrets.add("the password of the database", password);
        }
        secrets
    }

    fn add(&mut self, what: &'static str, secret: &str) {
        assert!(secret.len() >= 6, "{secret:?} is too short to be searched for");
        self.0.insert((what, secret.to_owned()));
    }

    /// Adds a token in its stored form and in the forms that people write.
    fn add_token(&mut self, digits: &str) {
        assert_eq!(digits.len(), 20, "{digits}");
        let groups: Vec<&str> = (0..5).map(|group| &digits[4 * group..4 * group + 4]).collect();
        for written in [digits.to_owned(), groups.join(" "), groups.join("-")] {
            self.add("a meter token", &written);
        }
    }

    /// Checks that no secret is in the log or the metrics of a program. The program must log at the most verbose
    /// level. Returns the log.
    async fn are_kept_by(&self, program: &Process) -> Vec<Value> {
        let said = fs::read_to_string(program.log()).unwrap();
        let told = Numbers::of(program).await.text;
        let leaks = said.lines().chain(told.lines()).filter_map(|line| {
            let (what, _) = self.0.iter().find(|(_, secret)| line.contains(secret.as_str()))?;
            Some(format!("{what}: {line}"))
        });
        let leaks: Vec<String> = leaks.collect();
        assert!(leaks.is_empty(), "{}", leaks.join("\n"));
        let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.iter().any(|line| line["level"] == "TRACE"), "the log has no TRACE lines");
        lines
    }
}

async fn log_in(merchant: &mut Merchant, secrets: &mut Secrets) {
    let credentials = &merchant.credentials;
    secrets.add("the client's secret", &credentials.client_secret);
    secrets.add("the user's password", &credentials.secret_pass);
    let mut wrong: Value = serde_json::from_str(&merchant.login_body()).unwrap();
    wrong["secret_pass"] = json!("hunter2-hunter2");
    secrets.add("a wrong password", "hunter2-hunter2");
    merchant.post(merchant.surface.login(), &wrong.to_string()).await.expect(401);
    let session = merchant.post(merchant.surface.login(), &merchant.login_body()).await.expect(200);
    session.str("/access_token").clone_into(&mut merchant.access_token);
    session.str("/refresh_token").clone_into(&mut merchant.refresh_token);
    let refreshed = merchant.post(merchant.surface.refresh(), &merchant.refresh_body()).await.expect(200);
    for session in [&session, &refreshed] {
        secrets.add("an access token", session.str("/access_token"));
        secrets.add("a refresh token", session.str("/refresh_token"));
    }
}

async fn buy_everything(merchant: &Merchant, secrets: &mut Secrets) {
    let (meter, lost) = (env().meter(), env().meter());
    let slip = format!("\"{SLIP}\"");
    let order =
        |meter: &str| with_phone(merchant.order(meter)).with("comment", &slip).with("source_tag", &slip);
    secrets.add("a private comment", SLIP);
    merchant.validate(&order(&meter)).await.expect(200);
    let name = request(merchant.surface);
    let (named, path) = ([("X-Request-Id", name.as_str())], merchant.surface.confirm());
    let plain = merchant.send(Method::POST, path, Some(&order(&meter).body()), &named).await.expect(200);
    SimulatorClient::new().will(&lost, &json!({ "fault": "drop_after" })).await;
    merchant.confirm(&order(&lost).reference("canary-1")).await.expect(504);
    let found = merchant.retry_until_settled(&lost, "canary-1").await.expect(200);
    for answer in [&plain, &found] {
        for (_, digits) in answer.tokens() {
            secrets.add_token(digits);
        }
        secrets.add("the consumer's name", answer.str("/subscriber_details"));
    }
    merchant.validate(&order(&meter).with("hard_validate", "true")).await.expect(200);
}

async fn top_up(merchant: &Merchant, secrets: &mut Secrets) {
    let topped_up = env().info().subscribers.airtime["active"];
    secrets.add("a phone that was topped up", topped_up);
    let airtime = with_phone(RequestBody::new(merchant.account, topped_up))
        .with("product_type", "\"AIRTIME\"")
        .with("provider_code", "\"AIRTIME\"");
    let bought = merchant.confirm(&airtime).await;
    assert!([200, 400, 409, 422].contains(&bought.status), "{}", bought.text);
    merchant.get(&format!("/public/v1/purchases?subscriber_identifier={topped_up}")).await.expect(200);
    let page = merchant.get("/public/v1/purchases?limit=1").await.expect(200);
    merchant.get(&format!("/public/v1/purchases/{}", page.body["data"][0]["id"])).await.expect(200);
}

/// Invalid requests that contain a secret.
async fn stumble(merchant: &Merchant) {
    let meter = env().meter();
    for (field, value) in [
        ("amount", SLIP),
        // Without the last character it would be a well-formed language tag.
        ("language", &format!("{SLIP}-")),
        ("source_channel", SLIP),
        (merchant.surface.subscriber_field(), SLIP),
        ("beneficiary_phone_number", SLIP),
    ] {
        let order = merchant.order(&meter).with(field, &format!("\"{value}\""));
        let refused = merchant.confirm(&order).await;
        assert!((400..500).contains(&refused.status), "{field}: {}", refused.text);
    }
    for body in [format!("{{\"{SLIP}\""), format!("\"{SLIP}\""), format!("{{\"amount\": {SLIP}}}")] {
        merchant.post(merchant.surface.confirm(), &body).await.expect(400);
        merchant.post(merchant.surface.login(), &body).await.expect(400);
    }
    merchant
        .get(&format!("/public/v1/purchases?subscriber_identifier={SLIP}&limit={SLIP}"))
        .await
        .expect(400);
}

fn with_phone(order: RequestBody) -> RequestBody {
    order.with("beneficiary_phone_number", &format!("\"{PHONE}\""))
}
