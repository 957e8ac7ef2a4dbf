//! What is issued, and who can check what.

use certificate::{Digested, Facts, Outcome, PublicKey, Salt, SigningKey, Unverified, key_set, verify};
use chrono::DateTime;
use proptest::prelude::*;
use serde_json::Value;

const TOKEN: &str = "16385426891234567890";
const METER: &str = "04257670465";

fn sold(tokens: Option<&str>) -> Facts<'_> {
    Facts {
        issuer: "https://api.example.com",
        organisation: 7,
        purchase: 4217,
        reference: "TOP/2026/11/0000004217",
        external_reference: Some("till-3-0001"),
        product: "ELECTRICITY",
        provider: "BPC",
        subscriber: Some(METER),
        total: "BWP 100.00".parse().unwrap(),
        created_at: DateTime::from_timestamp(1_795_172_400, 0).unwrap(),
        settled_at: DateTime::from_timestamp(1_795_172_401, 250_000_000).unwrap(),
        outcome: Outcome::Sold { provider_transaction: "R-1", tokens },
    }
}

fn payload(certificate: &str, keys: &[PublicKey]) -> Value {
    serde_json::from_str(&verify(certificate, keys).unwrap()).unwrap()
}

#[test]
fn a_certificate_says_what_was_sold_and_shows_neither_token_nor_meter() {
    let key = SigningKey::from_seed(&[7; 32]);
    let issued = key.certify(&sold(Some(TOKEN))).unwrap();
    let text = verify(&issued.certificate, &[key.public_key()]).unwrap();
    let said = payload(&issued.certificate, &[key.public_key()]);
    assert_eq!(said["token_digest"], issued.salt.digest(Digested::Token, TOKEN));
    assert_eq!(said["subscriber_digest"], issued.salt.digest(Digested::Subscriber, METER));
    assert_eq!(
        (said["outcome"].as_str(), said["settled_at"].as_str(), said["total"].as_str()),
        (Some("SOLD"), Some("2026-11-20T11:00:01.250000Z"), Some("BWP 100.00"))
    );
    let shown = format!("{text} {issued:?} {:?} {:?}", sold(Some(TOKEN)), key);
    for secret in [TOKEN, METER, &issued.salt.text()] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn what_was_not_sold_has_a_reason_and_no_digest_of_a_token() {
    let key = SigningKey::from_seed(&[7; 32]);
    let facts = Facts { outcome: Outcome::NotSold { reason: "meter_blocked" }, ..sold(None) };
    let said = payload(&key.certify(&facts).unwrap().certificate, &[key.public_key()]);
    assert_eq!((&said["outcome"], &said["reason"]), (&"NOT_SOLD".into(), &"meter_blocked".into()));
    assert_eq!((said.get("token_digest"), said.get("provider_transaction")), (None, None));
}

#[test]
fn the_same_facts_give_the_same_bytes_and_another_purchase_has_another_salt() {
    let key = || SigningKey::from_seed(&[7; 32]);
    let first = key().certify(&sold(Some(TOKEN))).unwrap();
    assert_eq!(key().certify(&sold(Some(TOKEN))).unwrap(), first);
    let other = key().certify(&Facts { purchase: 4218, ..sold(Some(TOKEN)) }).unwrap();
    assert_ne!(other.salt, first.salt);
    assert_ne!(SigningKey::from_seed(&[8; 32]).certify(&sold(Some(TOKEN))).unwrap().salt, first.salt);
}

#[test]
fn a_number_that_no_double_holds_is_not_signed() {
    let key = SigningKey::from_seed(&[7; 32]);
    assert!(key.certify(&Facts { purchase: i64::MAX, ..sold(None) }).is_err());
}

#[test]
fn a_certificate_is_verified_by_the_key_that_it_names_and_by_no_other() {
    let (key, newer) = (SigningKey::from_seed(&[7; 32]), SigningKey::from_seed(&[8; 32]));
    let certificate = key.certify(&sold(None)).unwrap().certificate;
    assert!(verify(&certificate, &[newer.public_key(), key.public_key()]).is_ok());
    assert_eq!(verify(&certificate, &[newer.public_key()]), Err(Unverified));
    assert_eq!(verify(&certificate, &[]), Err(Unverified));
}

/// The key of RFC 8037, appendix A.2 and A.3.
#[test]
fn a_key_has_the_name_and_the_form_that_the_standard_gives_it() {
    let seed = hex::decode("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
    let key = SigningKey::from_seed(seed.as_slice().try_into().unwrap()).public_key();
    assert_eq!(key.id().as_str(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    let set: Value = serde_json::from_str(&key_set(&[key])).unwrap();
    let [jwk] = set["keys"].as_array().unwrap().as_slice() else { panic!("{set}") };
    assert_eq!(jwk["x"], "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    assert_eq!((&jwk["kty"], &jwk["crv"], &jwk["use"]), (&"OKP".into(), &"Ed25519".into(), &"sig".into()));
    assert_eq!(jwk.as_object().unwrap().len(), 6, "no private member: {jwk}");
    assert_eq!(PublicKey::try_from(key.bytes().as_slice()), Ok(key));
}

proptest! {
    #[test]
    fn no_changed_certificate_is_verified(place in 0usize..500, letter in "[A-Za-z0-9_.-]") {
        let key = SigningKey::from_seed(&[7; 32]);
        let certificate = key.certify(&sold(None)).unwrap().certificate;
        let place = place % certificate.len();
        let changed = format!("{}{letter}{}", &certificate[..place], &certificate[place + 1..]);
        prop_assume!(changed != certificate);
        prop_assert_eq!(verify(&changed, &[key.public_key()]), Err(Unverified));
    }

    #[test]
    fn a_digest_is_of_one_thing_only(text in ".{0,30}", salt in any::<[u8; 32]>()) {
        let salt = Salt::new(salt);
        prop_assert_ne!(salt.digest(Digested::Token, &text), salt.digest(Digested::Subscriber, &text));
    }
}
