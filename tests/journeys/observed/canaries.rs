//! What nobody may read is put in at every door and looked for in everything that the programs say of themselves, at
//! their most talkative.

use std::{collections::BTreeSet, fs};

use acceptance::surface::Surface;
use reqwest::Method;
use sandbox::Process;
use serde_json::{Value, json};

use super::{
    numbers::Numbers,
    watched::{TALKATIVE, Watched, undisturbed, watched},
};
use crate::{caller::Caller, order::Order, shop::Shop, street::Street, town::town};

/// Of the beneficiary, in the spelling that is stored and in two that people write.
const PHONE: &str = "26777120987";
const SPELLINGS: [&str; 3] = [PHONE, "+267 77 120 987", "77120987"];
/// What somebody may type into the wrong field.
const SLIP: &str = "my-pin-is-90817263";

/// What the purchase that is followed is called, on each surface.
fn request(surface: Surface) -> String {
    format!("canary-request-{surface:?}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_secret_name_or_number_of_a_person_is_in_what_a_server_says_of_itself() {
    let server = town().another_api_server_with("server-that-talks", &TALKATIVE);
    let shop = town().open_shop().await;
    let mut secrets = Secrets::of(&server);
    for surface in Surface::ALL {
        let mut shop = shop.calling(server.url());
        shop.surface = surface;
        log_in(&mut shop, &mut secrets).await;
        buy_everything(&shop, &mut secrets).await;
        stumble(&shop).await;
    }
    top_up(&shop.calling(server.url()), &mut secrets).await;

    assert!(secrets.0.len() > 15, "{:?}", secrets.0);
    let said = secrets.are_kept_by(&server).await;
    for surface in Surface::ALL {
        let request = request(surface);
        a_purchase_is_found_by_the_name_of_its_request(&said, &request, ("vend", "vended"));
        assert_eq!(found(&said, &request, "answered").len(), 1);
    }
}

#[test]
fn nor_is_any_of_it_in_what_a_worker_says_while_it_settles_a_purchase_and_tells_people() {
    let (Watched { sandbox, worker }, _turn) = (watched(), undisturbed());
    let facts = sandbox.facts();
    let (street, meter) = (Street::at(&facts.simulator_url), utility_sim::population(1).next().unwrap());
    let mut till = Caller::at(&format!("{}/public/v1", facts.base_url));
    let mut secrets = Secrets::of(worker);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        till.logs_in(&facts.credentials).await;
        street.will(&meter, &json!({ "fault": "drop_after" })).await;
        let order = with_phone(Order::new(facts.managed_account_id, &meter)).body();
        let (status, pending) = till.posts("/purchases/confirm", order).await.unwrap();
        assert_eq!((status, &pending["status"]), (200, &json!("PENDING")), "{pending}");
        let vends = street.vends(&meter).await;
        let digits = vends[0]["tokens"][0].as_str().unwrap();
        street.tells(PHONE, digits).await;
        secrets.add_token(digits);
        let said = secrets.are_kept_by(worker).await;
        let request = format!("SELECT request_id FROM purchases WHERE id = {}", pending["id"]);
        let request = sandbox.database().run_sql(&request).unwrap();
        a_purchase_is_found_by_the_name_of_its_request(&said, request.trim(), ("enquire", "vended"));
    });
}

/// A purchase can be followed by the name of the request that made it: into the calls to the provider, and to its end.
fn a_purchase_is_found_by_the_name_of_its_request(
    said: &[Value],
    request: &str,
    (call, answer): (&str, &str),
) {
    let calls = found(said, request, "a provider was called");
    let [called] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((&called["call"], &called["answer"]), (&json!(call), &json!(answer)));
    let ended = found(said, request, "a purchase has ended");
    let [ended] = ended.as_slice() else { panic!("{ended:?}") };
    assert_eq!((&ended["outcome"], &ended["provider"]), (&json!("successful"), &json!("BPC")));
    assert_eq!(ended["confirm_request_id"], request);
    assert!(ended["purchase"].is_i64() && ended["took_ms"].is_i64(), "{ended}");
}

fn found<'a>(said: &'a [Value], request: &str, message: &str) -> Vec<&'a Value> {
    said.iter().filter(|line| line["request_id"] == request && line["message"] == message).collect()
}

/// What must not be said, and what each is.
struct Secrets(BTreeSet<(&'static str, String)>);

impl Secrets {
    /// Those that stand in the settings of the server, all of which its log might repeat.
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
        assert!(secret.len() >= 6, "{secret:?} may be anywhere");
        self.0.insert((what, secret.to_owned()));
    }

    /// As it is kept, and as people read it.
    fn add_token(&mut self, digits: &str) {
        assert_eq!(digits.len(), 20, "{digits}");
        let groups: Vec<&str> = (0..5).map(|group| &digits[4 * group..4 * group + 4]).collect();
        for written in [digits.to_owned(), groups.join(" "), groups.join("-")] {
            self.add("a meter token", &written);
        }
    }

    /// None of them is in the log or in the numbers of a program that says all that it can. Returns the log.
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
        assert!(lines.iter().any(|line| line["level"] == "TRACE"), "it does not say all that it can");
        lines
    }
}

async fn log_in(shop: &mut Shop, secrets: &mut Secrets) {
    let credentials = &shop.credentials;
    secrets.add("the client's secret", &credentials.client_secret);
    secrets.add("the user's password", &credentials.secret_pass);
    let mut wrong: Value = serde_json::from_str(&shop.login_body()).unwrap();
    wrong["secret_pass"] = json!("hunter2-hunter2");
    secrets.add("a wrong password", "hunter2-hunter2");
    shop.post(shop.surface.login(), &wrong.to_string()).await.expect(401);
    let session = shop.post(shop.surface.login(), &shop.login_body()).await.expect(200);
    session.str("/access_token").clone_into(&mut shop.access_token);
    session.str("/refresh_token").clone_into(&mut shop.refresh_token);
    let refreshed = shop.post(shop.surface.refresh(), &shop.refresh_body()).await.expect(200);
    for session in [&session, &refreshed] {
        secrets.add("an access token", session.str("/access_token"));
        secrets.add("a refresh token", session.str("/refresh_token"));
    }
}

async fn buy_everything(shop: &Shop, secrets: &mut Secrets) {
    let (meter, lost) = (town().meter(), town().meter());
    let slip = format!("\"{SLIP}\"");
    let order = |meter: &str| with_phone(shop.order(meter)).with("comment", &slip).with("source_tag", &slip);
    secrets.add("what somebody wrote to themselves", SLIP);
    shop.validate(&order(&meter)).await.expect(200);
    let name = request(shop.surface);
    let (named, path) = ([("X-Request-Id", name.as_str())], shop.surface.confirm());
    let plain = shop.send(Method::POST, path, Some(&order(&meter).body()), &named).await.expect(200);
    Street::new().will(&lost, &json!({ "fault": "drop_after" })).await;
    shop.confirm(&order(&lost).reference("canary-1")).await.expect(504);
    let found = shop.retry_until_settled(&lost, "canary-1").await.expect(200);
    for answer in [&plain, &found] {
        for (_, digits) in answer.tokens() {
            secrets.add_token(digits);
        }
        secrets.add("the consumer's name", answer.str("/subscriber_details"));
    }
    shop.validate(&order(&meter).with("hard_validate", "true")).await.expect(200);
}

async fn top_up(shop: &Shop, secrets: &mut Secrets) {
    let topped_up = town().facts().subscribers.airtime["active"];
    secrets.add("a phone that was topped up", topped_up);
    let airtime = with_phone(Order::new(shop.account, topped_up))
        .with("product_type", "\"AIRTIME\"")
        .with("provider_code", "\"AIRTIME\"");
    let bought = shop.confirm(&airtime).await;
    assert!([200, 400, 409, 422].contains(&bought.status), "{}", bought.text);
    shop.get(&format!("/public/v1/purchases?subscriber_identifier={topped_up}")).await.expect(200);
    let page = shop.get("/public/v1/purchases?limit=1").await.expect(200);
    shop.get(&format!("/public/v1/purchases/{}", page.body["data"][0]["id"])).await.expect(200);
}

/// Requests that are wrong, with something in them that should not be there.
async fn stumble(shop: &Shop) {
    let meter = town().meter();
    for (field, value) in [
        ("amount", SLIP),
        // Without its end it is a well-formed language tag.
        ("language", &format!("{SLIP}-")),
        ("source_channel", SLIP),
        (shop.surface.subscriber_field(), SLIP),
        ("beneficiary_phone_number", SLIP),
    ] {
        let order = shop.order(&meter).with(field, &format!("\"{value}\""));
        let refused = shop.confirm(&order).await;
        assert!((400..500).contains(&refused.status), "{field}: {}", refused.text);
    }
    for body in [format!("{{\"{SLIP}\""), format!("\"{SLIP}\""), format!("{{\"amount\": {SLIP}}}")] {
        shop.post(shop.surface.confirm(), &body).await.expect(400);
        shop.post(shop.surface.login(), &body).await.expect(400);
    }
    shop.get(&format!("/public/v1/purchases?subscriber_identifier={SLIP}&limit={SLIP}")).await.expect(400);
}

fn with_phone(order: Order) -> Order {
    order.with("beneficiary_phone_number", &format!("\"{PHONE}\""))
}
