//! Cursors that were made by hand. Any caller that knows the algorithm can compute the sum of any content. No such
//! cursor causes a failure.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::api::{METER, TestApi, vended};

const CASES: usize = 300;

/// The cursor with this content.
fn made_of(content: &str) -> String {
    let sum = Sha256::digest(content.as_bytes());
    BASE64_URL_SAFE_NO_PAD.encode([&sum[..8], content.as_bytes()].concat())
}

/// The content of a cursor that the service gave out.
fn content_of(cursor: &str) -> Value {
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(cursor).unwrap()[8..]).unwrap()
}

#[actix_web::test]
async fn a_cursor_with_a_right_sum_over_what_no_query_may_hold_is_a_bad_cursor() {
    let api = TestApi::open().await;
    let (kgale, _) = api.merchants().await;
    for _ in 0..2 {
        api.sells(&kgale, METER, Some(vended("V1"))).await;
    }
    let query = format!(
        "?limit=1&external_reference=ref-{METER}&subscriber_identifier={METER}&status=SUCCESSFUL\
         &from=2026-01-01%2000:00:00&to=9999-12-31%2023:59:59"
    );
    let cursor = api.reads(&kgale, &query).await.body["next_cursor"].as_str().unwrap().to_owned();
    let right = content_of(&cursor);
    assert_eq!(right.as_object().unwrap().len(), 8, "{right}");
    assert_eq!(api.reads(&kgale, &format!("?cursor={}", made_of(&right.to_string()))).await.status, 200);

    for (name, value) in [
        ("external_reference", json!("a\0b")),
        ("external_reference", json!("x".repeat(101))),
        ("subscriber_identifier", json!("\0")),
        ("subscriber_identifier", json!(1)),
        ("status", json!("IN_DOUBT")),
        ("from", json!("-9999-01-01 00:00:00")),
        ("to", json!("-200000-01-01 00:00:00")),
        ("to", json!("+262142-12-31 23:59:59")),
        ("at_us", json!(-210_000_000_000_000_000_i64)),
        ("at_us", json!(8_000_000_000_000_000_000_i64)),
        ("at_us", json!(i64::MAX)),
        ("at_us", Value::Null),
        ("id", json!(1.5)),
        ("limit", json!(0)),
        ("limit", json!(65_535)),
    ] {
        let mut wrong = right.clone();
        wrong[name] = value;
        let answer = api.reads(&kgale, &format!("?cursor={}", made_of(&wrong.to_string()))).await;
        assert_eq!(answer.told(), (400, "invalid_argument", Some("cursor")), "{wrong}");
    }
}

#[actix_web::test]
async fn no_cursor_at_all_breaks_a_list() {
    let api = TestApi::open().await;
    let (kgale, _) = api.merchants().await;
    api.sells(&kgale, METER, Some(vended("V1"))).await;
    let (mut chance, mut read) = (TestRunner::deterministic(), 0);
    for _ in 0..CASES {
        let content = contents().new_tree(&mut chance).unwrap().current();
        let answer = api.reads(&kgale, &format!("?cursor={}", made_of(&content))).await;
        let is_bad = answer.told() == (400, "invalid_argument", Some("cursor"));
        assert!(is_bad || answer.status == 200, "{content}: {}", answer.body);
        read += usize::from(!is_bad);
    }
    assert!((CASES / 10..CASES).contains(&read), "{read} of {CASES} were read");
}

/// Mostly what a cursor may contain, member by member, and sometimes anything.
fn contents() -> impl Strategy<Value = String> {
    let number = |usual: std::ops::Range<i64>| prop_oneof![12 => usual.prop_map(Value::from), 1 => any::<i64>().prop_map(Value::from), 1 => anything()];
    let text = |usual: &'static str| prop_oneof![12 => usual.prop_map(Value::from), 1 => anything()];
    let moment = "[0-9]{4}-0[1-9]-[12][0-9] [01][0-9]:[0-5][0-9]:[0-5][0-9]";
    let member = |name, value: BoxedStrategy<Value>, odds| {
        proptest::option::weighted(odds, value).prop_map(move |value| value.map(|value| (name, value)))
    };
    let members = [
        member("at_us", number(0..253_402_300_800_000_000).boxed(), 0.99),
        member("id", number(1..100).boxed(), 0.99),
        member("limit", number(1..101).boxed(), 0.99),
        member("external_reference", text("[ -~\u{a1}-\u{2000}]{1,20}").boxed(), 0.3),
        member("subscriber_identifier", text("[0-9]{11}").boxed(), 0.3),
        member("status", text("SUCCESSFUL|FAILED|PENDING").boxed(), 0.3),
        member("from", text(moment).boxed(), 0.2),
        member("to", text(moment).boxed(), 0.2),
    ];
    let object = Vec::from(members).prop_map(|members| {
        let named = members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value));
        Value::Object(named.collect()).to_string()
    });
    prop_oneof![20 => object, 1 => anything().prop_map(|value| value.to_string()), 1 => any::<String>()]
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "-?\\+?[0-9]{1,6}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}".prop_map(Value::from),
        Just(Value::Null),
        Just(json!("\0")),
        Just(json!([{}])),
    ]
}
