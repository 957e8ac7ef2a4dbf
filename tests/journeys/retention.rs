//! Retention: a real worker erases what is older than its settings allow, and an operator what one person asks for. The answers
//! about an erased purchase stay true.

use std::{thread, time::Duration};

use sandbox::{Sandbox, Signal};
use serde_json::Value;

use crate::{
    caller::Caller,
    env::{another_env, eventually, programs, vendctl},
    request_body::RequestBody,
};

/// A worker that cleans up at once, and again and again.
const KEEPS_HOUSE: [(&str, &str); 3] = [
    ("VENDGATE__ROUNDS__PURGE_EVERY_MS", "100"),
    ("VENDGATE__RETENTION__PERSONAL_DATA_MONTHS", "24"),
    ("VENDGATE__RETENTION__SEALED_VALUES_MONTHS", "24"),
];

const PHONE: &str = "26771234599";

/// The number of a person who appears in a message that was sent again, and in no purchase.
const OTHER_PHONE: &str = "26771234598";

const CORRECTED_NUMBERS: &str = "SELECT count(*) FROM repeated_messages WHERE phone_number IS NOT NULL";

struct Shop {
    sandbox: Sandbox,
    caller: Caller,
    account: i64,
}

impl Shop {
    async fn open(name: &'static str) -> Self {
        // The sandbox starts a runtime of its own.
        let (sandbox, merchant) = thread::spawn(move || another_env(name)).join().unwrap();
        let mut caller = Caller::at(&format!("{}/public/v1", sandbox.info().base_url));
        assert_eq!(caller.logs_in(&merchant.credentials).await.0, 200);
        Self { sandbox, caller, account: merchant.wallets[0].0 }
    }

    /// The sandbox drops the runtime of its own, which may not happen on a runtime.
    fn closes(self) {
        thread::spawn(move || drop(self.sandbox)).join().unwrap();
    }

    async fn buys(&self, order: RequestBody) -> Value {
        let (status, answer) = self.caller.posts("/purchases/confirm", order.body()).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    }

    async fn retries(&self, subscriber: &str, reference: &str) -> Value {
        let question = RequestBody::retry(subscriber, reference).body();
        let (status, answer) = self.caller.posts("/purchases/retry", question).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// The receipt of a purchase.
    async fn prints(&self, purchase: &Value) -> String {
        let (status, text) = self.caller.gets(&format!("/purchases/{}/receipt", purchase["id"])).await;
        assert_eq!(status, 200, "{text}");
        text
    }

    /// The certificate of a purchase, and its salt.
    async fn proves(&self, purchase: &Value) -> String {
        let (status, text) = self.caller.gets(&format!("/purchases/{}/certificate", purchase["id"])).await;
        assert_eq!(status, 200, "{text}");
        text
    }

    /// Asks for the message of a purchase again. The status and the code of the error, if it is one.
    async fn sends_again(&self, purchase: &Value, body: &str) -> (u16, String) {
        let path = format!("/purchases/{}/messages", purchase["id"]);
        let (status, answer) = self.caller.posts(&path, body.to_owned()).await.unwrap();
        (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
    }

    fn asks_the_database(&self, sql: &str) -> String {
        self.sandbox.database().run_sql(sql).unwrap()
    }

    /// What `vendctl` prints, and whether it did what it was asked for.
    fn operator(&self, words: &[&str]) -> (bool, String) {
        let output =
            vendctl(&self.sandbox.info().operator_settings).arg("--json").args(words).output().unwrap();
        let said = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    /// Moves all purchases into the past.
    fn ages(&self, by: &str) {
        self.asks_the_database(&format!(
            "SET session_replication_role = replica;
             UPDATE purchases SET created_at = created_at - interval '{by}', ended_at = ended_at - interval '{by}';
             UPDATE provider_replies SET at = at - interval '{by}'"
        ));
    }
}

#[tokio::test]
async fn an_erased_purchase_keeps_its_final_answer_and_is_never_bought_again() {
    let shop = Shop::open("retention").await;
    let subscribers = &shop.sandbox.info().subscribers;
    let (meter, phone) = (subscribers.electricity["active_13_digit"], subscribers.airtime["active"]);
    let electricity = RequestBody::new(shop.account, meter)
        .with("beneficiary_phone_number", &format!("\"{PHONE}\""))
        .reference("till-1");
    let airtime = RequestBody::new(shop.account, phone)
        .with("product_type", "\"AIRTIME\"")
        .with("provider_code", "\"RELOADLY\"")
        .with("beneficiary_phone_number", &format!("\"{PHONE}\""))
        .reference("till-2");
    let bought = [shop.buys(electricity).await, shop.buys(airtime).await];
    let books = "SELECT count(*), sum(amount) FROM postings";
    let before = shop.asks_the_database(books);
    let corrected = format!(r#"{{"phone_number":"{PHONE}"}}"#);
    assert_eq!(shop.sends_again(&bought[0], &corrected).await.0, 200);
    let proofs = [shop.proves(&bought[0]).await, shop.proves(&bought[1]).await];
    shop.ages("25 months");

    let mut worker =
        shop.sandbox.another_retry_worker(&programs().retry_worker, "keeps-house", &KEEPS_HOUSE).unwrap();
    let left = "SELECT count(*) FROM purchases WHERE num_nulls(personal_data_erased_at, sealed_values_erased_at) > 0";
    eventually("both purchases are erased", async || shop.asks_the_database(left) == "0").await;
    assert_eq!(shop.asks_the_database("SELECT count(*) FROM provider_replies"), "0");
    assert_eq!(shop.asks_the_database(books), before);

    let again = [shop.retries(meter, "till-1").await, shop.retries(phone, "till-2").await];
    for (then, now) in bought.iter().zip(&again) {
        for stays in ["/id", "/status", "/total", "/reference", "/metadata/provider_transaction_identifier"] {
            assert_eq!(then.pointer(stays), now.pointer(stays), "{stays}: {now}");
        }
        assert_eq!(now["status"], "SUCCESSFUL");
        assert_eq!(now["beneficiary"]["phone_number"], "erased");
        assert!(now.pointer("/product/token").is_none() && now.get("subscriber_details").is_none(), "{now}");
    }
    assert_eq!([shop.proves(&again[0]).await, shop.proves(&again[1]).await], proofs);
    assert_eq!(again[0]["subscriber_identifier"], meter);
    assert!(again[1]["subscriber_identifier"].as_str().unwrap().starts_with("erased."), "{}", again[1]);
    let [token, credit] = [shop.prints(&again[0]).await, shop.prints(&again[1]).await];
    assert!(token.contains("The token is no longer stored.") && !token.contains("Customer"), "{token}");
    assert!(!credit.contains("erased") && !credit.contains("Phone number"), "{credit}");
    assert_eq!(shop.sends_again(&again[0], "{}").await, (404, "resource_not_found".to_owned()));
    assert_eq!(shop.sends_again(&again[1], "{}").await, (400, "missing_field".to_owned()));
    assert_eq!(shop.asks_the_database(CORRECTED_NUMBERS), "0");
    let story = shop.operator(&["purchases", "show", &again[0]["id"].to_string()]);
    assert!(story.0 && story.1.contains("\"beneficiary_phone_number\": \"erased\""), "{}", story.1);
    worker.signal(Signal::TERM).unwrap();
    assert!(worker.ends_within(Duration::from_secs(30)).is_some());
    shop.closes();
}

#[tokio::test]
async fn what_is_stored_about_a_person_is_exported_and_then_erased_on_request() {
    let shop = Shop::open("privacy").await;
    let meter = shop.sandbox.info().subscribers.electricity["active_13_digit"];
    let order = RequestBody::new(shop.account, meter)
        .with("beneficiary_phone_number", &format!("\"{PHONE}\""))
        .reference("till-1");
    let bought = shop.buys(order).await;
    let corrected = format!(r#"{{"phone_number":"{OTHER_PHONE}"}}"#);
    assert_eq!(shop.sends_again(&bought, &corrected).await.0, 200);
    let reason = ["--reason", "request of 3 March"];
    let of_person = |verb, phone| [&["privacy", verb, phone][..], &reason].concat();
    let words = |verb| of_person(verb, PHONE);

    let (done, export) = shop.operator(&words("export"));
    assert!(done, "{export}");
    let export: Value = serde_json::from_str(&export).unwrap();
    assert_eq!(export["purchases"][0]["id"], bought["id"], "{export}");
    assert_eq!(export["purchases"][0]["beneficiary_phone_number"], PHONE);
    assert_eq!(export["purchases"][0]["has_sealed_token"], true);

    let (done, export) = shop.operator(&of_person("export", OTHER_PHONE));
    assert!(done && export.contains(&format!("\"phone_number\": \"{OTHER_PHONE}\"")), "{export}");
    assert!(shop.operator(&of_person("erase", OTHER_PHONE)).0);
    assert_eq!(shop.asks_the_database(CORRECTED_NUMBERS), "0");

    let (done, said) = shop.operator(&words("erase"));
    assert!(!done && said.contains("ended within the last 7 days"), "{said}");
    shop.ages("8 days");
    let (done, said) = shop.operator(&words("erase"));
    assert!(done && said.contains("\"erased\": 1"), "{said}");
    let rest =
        shop.asks_the_database(&format!("SELECT count(*) FROM purchases p WHERE p::text LIKE '%{PHONE}%'"));
    assert_eq!(rest, "0");
    assert_eq!(shop.retries(meter, "till-1").await["status"], "SUCCESSFUL");
    let (_, lines) = shop.operator(&["audit", "list"]);
    assert!(
        lines.contains("person.exported") && lines.contains("person.erased") && !lines.contains(PHONE),
        "{lines}"
    );
    shop.closes();
}
