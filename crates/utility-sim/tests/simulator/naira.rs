//! Electricity in naira over the VTpass interface: hand-written requests, raw answers.

use std::sync::Arc;

use clock::SystemClock;
use serde_json::{Value, json};
use utility_sim::{Misbehaviour, Mishap, Operation, Simulator, SimulatorSettings, VendResult};

use crate::counter::{Counter, meter};

const KEYS: [&str; 2] = ["sandbox-vtpass-key", "SK_sandbox-vtpass-secret"];

/// The simulator's clock stands at half past eight in Nigeria.
const ID: &str = "202611200830";

async fn asked_with(counter: &Counter, keys: [&str; 2], path: &str, body: &Value) -> (u16, Value) {
    let url = format!("{}/{path}", counter.simulator.vtpass_url());
    let request = counter.http.post(url).header("api-key", keys[0]).header("secret-key", keys[1]);
    let answer = request.body(body.to_string()).send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
}

async fn asked(counter: &Counter, path: &str, body: &Value) -> Value {
    asked_with(counter, KEYS, path, body).await.1
}

fn order(id: &str, meter: &str) -> Value {
    json!({"request_id": id, "serviceID": "ikeja-electric", "billersCode": meter, "variation_code": "prepaid",
           "amount": 2000, "phone": "08011111111"})
}

#[tokio::test]
async fn an_order_is_vended_logged_and_found_again_and_the_meter_takes_its_token() {
    let (counter, meter) = (Counter::open(), meter("active_11_digit"));
    let paid = asked(&counter, "pay", &order(&format!("{ID}a1"), meter)).await;
    assert_eq!((&paid["code"], &paid["requestId"]), (&json!("000"), &json!(format!("{ID}a1"))));
    let transaction = &paid["content"]["transactions"];
    assert_eq!(
        (&transaction["status"], &transaction["unique_element"]),
        (&json!("delivered"), &json!(meter))
    );
    assert_eq!((&transaction["amount"], paid["amount"].as_f64()), (&json!("2000.00"), Some(2_000.0)));
    let requeried = asked(&counter, "requery", &json!({"request_id": format!("{ID}a1")})).await;
    assert_eq!(requeried, paid);
    let [vend] = &counter.simulator.vends()[..] else { panic!("not one vend") };
    assert_eq!((vend.outcome, vend.currency.as_str()), (VendResult::Vended, "NGN"));
    assert_eq!(paid["purchased_code"], format!("Token : {}", vend.tokens[0]));
    assert!(counter.simulator.enter(meter, &vend.tokens[0]).unwrap().entry.is_accepted());
}

#[tokio::test]
async fn answers_that_became_no_transaction_name_no_order() {
    let counter = Counter::open();
    let active = meter("active_11_digit");
    asked(&counter, "pay", &order(&format!("{ID}a1"), active)).await;
    let mut other_service = order(&format!("{ID}a2"), active);
    other_service["serviceID"] = json!("eko-electric");
    let mut postpaid = order(&format!("{ID}a3"), active);
    postpaid["variation_code"] = json!("postpaid");
    for (order, code) in [
        (order(&format!("{ID}a1"), active), "014"),
        (order("202611190830a1", active), "085"),
        (order("till-7", active), "085"),
        (other_service, "012"),
        (postpaid, "011"),
        (order(&format!("{ID}a4"), meter("fixed_charge")), "000"),
        (order(&format!("{ID}a5"), meter("credit_exhausted")), "018"),
        (order(&format!("{ID}a6"), meter("duplicate")), "019"),
        (order(&format!("{ID}a7"), meter("busy")), "030"),
        (order(&format!("{ID}a8"), meter("account_blocked")), "016"),
    ] {
        let answer = asked(&counter, "pay", &order).await;
        assert_eq!(answer["code"], code, "{answer}");
        let is_transaction = matches!(code, "000" | "016");
        assert_eq!(answer.get("requestId").is_some(), is_transaction, "{answer}");
    }
    let unknown = asked(&counter, "requery", &json!({"request_id": format!("{ID}z")})).await;
    assert_eq!((&unknown["code"], unknown.get("requestId")), (&json!("015"), None));
    let (status, denied) =
        asked_with(&counter, ["x", "y"], "requery", &json!({"request_id": format!("{ID}a1")})).await;
    assert_eq!((status, &denied["code"]), (200, &json!("087")));
}

#[tokio::test]
async fn a_script_in_the_process_is_the_script_of_the_requests() {
    let (counter, active) = (Counter::open(), meter("active_11_digit"));
    let missing = Misbehaviour::new(Mishap::MissingThenPresent);
    counter.simulator.script(missing.for_subscriber(active).times(2));
    let failing = Misbehaviour::new(Mishap::Refuse).in_reply_to(Operation::Vend).saying("016", "NO");
    counter.simulator.script(failing);
    let failed = asked(&counter, "pay", &order(&format!("{ID}a1"), active)).await;
    assert_eq!(failed["code"], "016");
    let requery = json!({"request_id": format!("{ID}a1")});
    for code in ["015", "015", "016"] {
        assert_eq!(asked(&counter, "requery", &requery).await["code"], code);
    }
    counter.simulator.script(Misbehaviour::new(Mishap::Garbage));
    counter.simulator.forget_script();
    assert_eq!(asked(&counter, "pay", &order(&format!("{ID}a2"), active)).await["code"], "000");
    counter.simulator.forget_answers();
    assert_eq!(asked(&counter, "requery", &requery).await["code"], "015");
    assert_eq!(counter.simulator.vends_for(active).len(), 2);
}

#[tokio::test]
async fn a_restarted_aggregator_knows_its_orders_and_gives_the_meter_new_tokens() {
    let log = std::env::temp_dir().join(format!("naira-{}.log", std::process::id()));
    let _none_yet = std::fs::remove_file(&log);
    let open = || Counter::open_with(|settings| settings.vend_log = Some(log.clone()));
    let key_change = meter("key_change");
    let first = open();
    let paid = asked(&first, "pay", &order(&format!("{ID}a1"), key_change)).await;
    let failed = asked(&first, "pay", &order(&format!("{ID}a2"), meter("account_blocked"))).await;
    drop(first);

    let second = open();
    for (id, answer) in [("a1", &paid), ("a2", &failed)] {
        let requery = json!({"request_id": format!("{ID}{id}")});
        assert_eq!(asked(&second, "requery", &requery).await, *answer, "{id}");
    }
    let repeated = asked(&second, "pay", &order(&format!("{ID}a1"), key_change)).await;
    assert_eq!(repeated["code"], "014");
    let again = asked(&second, "pay", &order(&format!("{ID}a3"), key_change)).await;
    assert_ne!(again["token"], paid["token"]);
    std::fs::remove_file(&log).unwrap();
}

#[test]
fn a_certificate_that_is_none_is_refused_at_the_start() {
    let tls = utility_sim::TlsSettings::new("no certificate", "no key");
    let settings = SimulatorSettings { tls: Some(tls), ..SimulatorSettings::default() };
    let refused = Simulator::start(&settings, Arc::new(SystemClock)).unwrap_err();
    assert_eq!(refused.to_string(), "the simulator's certificate cannot be used");
    assert!(!format!("{settings:?}").contains("no key"));
}
