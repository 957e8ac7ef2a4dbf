//! Proof of an outcome: what a reader can verify offline, and cannot learn from it, and that it stays the same.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use certificate::{Digested, PublicKey, Salt, verify};
use serde_json::{Value, json};

use crate::{env::env, merchant::Merchant, wire::Answer};

/// The certificate of a purchase.
pub async fn certificate(merchant: &Merchant, purchase: i64) -> Answer {
    merchant.get(&format!("/public/v1/purchases/{purchase}/certificate")).await
}

/// The keys that a server publishes.
async fn keys(merchant: &Merchant) -> Vec<PublicKey> {
    let set = merchant.get("/.well-known/jwks.json").await.expect(200);
    assert_eq!(set.header("content-type"), Some("application/jwk-set+json"));
    let key = |jwk: &Value| {
        assert_eq!((&jwk["alg"], &jwk["kty"], &jwk["d"]), (&"EdDSA".into(), &"OKP".into(), &Value::Null));
        let bytes = URL_SAFE_NO_PAD.decode(jwk["x"].as_str().unwrap()).unwrap();
        let key = PublicKey::try_from(bytes.as_slice()).unwrap();
        assert_eq!(jwk["kid"], key.id().as_str());
        key
    };
    set.body["keys"].as_array().unwrap().iter().map(key).collect()
}

/// What a certificate says, after its signature was verified.
fn said(answer: &Answer, keys: &[PublicKey]) -> Value {
    serde_json::from_str(&verify(answer.str("/certificate"), keys).unwrap()).unwrap()
}

fn salt(answer: &Answer) -> Salt {
    let bytes = URL_SAFE_NO_PAD.decode(answer.str("/salt")).unwrap();
    Salt::new(bytes.try_into().unwrap())
}

#[tokio::test]
async fn a_sale_is_proved_offline_without_showing_its_token_or_its_meter() {
    let merchant = env().open_merchant().await;
    let meter = env().meter();
    let bought = merchant.confirm(&merchant.order(&meter).reference("proof-1")).await.expect(200);
    let proof = certificate(&merchant, bought.id()).await.expect(200);
    let said = said(&proof, &keys(&merchant).await);
    for (name, expected) in [
        ("purchase_id", json!(bought.id())),
        ("organisation_id", json!(merchant.organisation)),
        ("outcome", json!("SOLD")),
        ("reference", bought.body["reference"].clone()),
        ("external_reference", json!("proof-1")),
        ("total", bought.body["total"].clone()),
        ("provider_transaction", bought.body["metadata"]["provider_transaction_identifier"].clone()),
        ("token_digest", json!(salt(&proof).digest(Digested::Token, bought.str("/product/token")))),
        ("subscriber_digest", json!(salt(&proof).digest(Digested::Subscriber, &meter))),
    ] {
        assert_eq!(said[name], expected, "{name}: {said}");
    }
    for hidden in [bought.str("/product/token"), &meter, proof.str("/salt")] {
        assert!(!said.to_string().contains(hidden), "{hidden}: {said}");
    }
}

#[tokio::test]
async fn airtime_is_proved_without_any_trace_of_its_phone_number() {
    let merchant = env().open_merchant().await;
    let phone = env().info().subscribers.airtime["active"];
    merchant.may_buy_for(phone).await;
    let order =
        merchant.order(phone).with("product_type", "\"AIRTIME\"").with("provider_code", "\"RELOADLY\"");
    let bought = merchant.confirm(&order).await.expect(200);
    let said = said(&certificate(&merchant, bought.id()).await.expect(200), &keys(&merchant).await);
    assert_eq!((&said["outcome"], &said["product"]), (&"SOLD".into(), &"AIRTIME".into()));
    assert_eq!((said.get("token_digest"), said.get("subscriber_digest")), (None, None), "{said}");
}

#[tokio::test]
async fn a_certificate_stays_the_same_whichever_key_signs_today() {
    let merchant = env().open_merchant().await;
    let [first, second] = [1, 2].map(|_| merchant.order(&env().meter()));
    let first = merchant.confirm(&first).await.expect(200).id();
    let second = merchant.confirm(&second).await.expect(200).id();
    let proof = certificate(&merchant, first).await.expect(200);

    let key = "5a".repeat(32);
    let rotated =
        [("VENDGATE__CERTIFICATES__KEY", key.as_str()), ("VENDGATE__WEB__PUBLIC_URL", "https://new.example")];
    let server = env().another_api_server_with("server-with-a-new-key", &rotated);
    let there = merchant.calling(server.url());
    assert_eq!(certificate(&there, first).await.expect(200).text, proof.text);
    let newer = certificate(&there, second).await.expect(200);
    assert_eq!(certificate(&merchant, second).await.expect(200).text, newer.text);
    let (kid, old) = (|answer: &Answer| header(answer)["kid"].clone(), proof.clone());
    assert_ne!(kid(&newer), kid(&old));

    // Every server publishes both keys, so it does not matter which one a verifier asks.
    let after_rotation = keys(&there).await;
    for answer in [&proof, &newer] {
        assert_eq!(said(answer, &after_rotation)["outcome"], "SOLD");
    }
}

/// The protected header of a certificate.
fn header(answer: &Answer) -> Value {
    let encoded = answer.str("/certificate").split('.').next().unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap()
}

#[tokio::test]
async fn what_was_not_sold_is_proved_with_its_reason_and_what_is_open_is_not() {
    let (merchant, meter) = Merchant::with_a_failed_and_an_open_purchase().await;
    let listed = merchant.get("/public/v1/purchases").await.expect(200);
    for purchase in listed.body["data"].as_array().unwrap() {
        let proof = certificate(&merchant, purchase["id"].as_i64().unwrap()).await;
        if purchase["status"] == "FAILED" {
            let said = said(&proof.expect(200), &keys(&merchant).await);
            assert_eq!(
                (&said["outcome"], &said["reason"]),
                (&"NOT_SOLD".into(), &purchase["failure"]["code"])
            );
        } else {
            assert_eq!(proof.refusal(), (409, "transaction_pending", None));
            assert!(proof.sentence().contains("no certificate of it yet"), "{}", proof.text);
            assert_eq!(proof.body["error"]["recovery"]["call"], purchase["recovery"]["call"]);
        }
    }
    let sold = merchant.retry_until_settled(&meter, "open-1").await.expect(200);
    let proof = certificate(&merchant, sold.id()).await.expect(200);
    assert_eq!(said(&proof, &keys(&merchant).await)["outcome"], "SOLD");
}
