//! The example of a certificate: a real one, by the key that RFC 8037 publishes.

use certificate::{Facts, Outcome, SigningKey};
use chrono::DateTime;
use money::{Currency, Money};
use serde_json::{Value, json};

/// The seed of RFC 8037, appendix A.1.
const SEED: [u8; SigningKey::SEED_LENGTH] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44,
    0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];

/// The answer about the purchase of the other examples.
pub(crate) fn example() -> Value {
    let at = |milliseconds: i64| DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    let pula = Currency::parse("BWP").expect("a currency of ISO 4217");
    let facts = Facts {
        issuer: "https://api.example.com",
        organisation: 1,
        purchase: 4217,
        reference: "TOP/2026/11/0000004217",
        external_reference: Some("SALE-2026-000187"),
        product: "ELECTRICITY",
        provider: "BPC",
        subscriber: Some("07000010012"),
        total: Money::from_minor(10_150, pula),
        created_at: at(1_795_172_400_000),
        settled_at: at(1_795_172_401_250),
        outcome: Outcome::Sold {
            provider_transaction: "20261120130001000187",
            tokens: Some("07179199761502576865"),
        },
    };
    let issued = SigningKey::from_seed(&SEED).certify(&facts).expect("the numbers are small");
    json!({ "purchase_id": 4217, "certificate": issued.certificate, "salt": issued.salt.text() })
}
