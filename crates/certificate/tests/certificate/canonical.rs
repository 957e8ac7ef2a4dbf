//! The canonical form, by the samples of RFC 8785.

use certificate::canonical_json;
use serde_json::{Value, json};

fn canonical(text: &str) -> String {
    canonical_json(&serde_json::from_str::<Value>(text).unwrap()).unwrap()
}

/// Sections 3.2.2 and 3.2.4, without the fractions of the sample.
#[test]
fn the_sample_of_the_standard_is_written_as_it_is_there() {
    let sample = r#"{
        "numbers": [],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b5d2c22737472696e67223a22\
        e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d";
    assert_eq!(hex::encode(canonical(sample)), expected);
}

/// Section 3.2.3: names are sorted by their UTF-16 units.
#[test]
fn names_are_sorted_as_the_standard_sorts_them() {
    let sample = r#"{
        "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let written = canonical(sample);
    let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"];
    let places: Vec<usize> = order.iter().map(|word| written.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{written}");
}

/// Appendix B: whole numbers are exact up to 2^53 - 1. Nothing else is signed, because readers would not agree on it.
#[test]
fn a_number_that_readers_may_round_is_refused() {
    for (value, expected) in [
        (json!(0), Some("0")),
        (json!(-1), Some("-1")),
        (json!(9_007_199_254_740_991_i64), Some("9007199254740991")),
        (json!(-9_007_199_254_740_991_i64), Some("-9007199254740991")),
        (json!(9_007_199_254_740_992_i64), None),
        (json!(u64::MAX), None),
        (json!(4.5), None),
    ] {
        assert_eq!(canonical_json(&value).ok().as_deref(), expected, "{value}");
    }
}
