//! The meter that changes its key with each larger purchase.

use crate::counter::{Answer, Counter, meter};

#[tokio::test]
async fn three_tokens_entered_in_order_are_accepted_and_credit_the_meter() {
    let counter = Counter::open();
    let number = meter("key_change");
    for total in ["333.3", "666.6"] {
        let sale = counter.vend(number, "1500.00").await;
        // In the answer the credit token is first. It must be entered last.
        let [credit, first, second] = sale.ciphers()[..] else { panic!("{}", sale.text) };
        let mut kinds = Vec::new();
        for token in [first, second, credit] {
            let verdict = counter.enter(number, token).await;
            kinds.push(verdict["kind"].as_str().unwrap().to_owned());
            if token == credit {
                assert_eq!(verdict["units_total"], total);
            }
        }
        assert_eq!(kinds, ["key_section", "key_changed", "credit"]);
    }
}

#[tokio::test]
async fn a_trial_shows_the_three_tokens_of_the_vend_as_zeros_and_changes_no_key() {
    let counter = Counter::open();
    let number = meter("key_change");
    let trial = counter.quote(number, "1500.00").await;
    assert_eq!(trial.ciphers(), ["00000000000000000000"; 3]);
    assert_eq!(counter.vends(number).await.len(), 0);
    let vend = counter.vend(number, "1500.00").await;
    let keys = |answer: &Answer| {
        let (_, keys) = answer.text.split_once("<b:kctData").unwrap();
        keys.split_once('>').unwrap().0.to_owned()
    };
    assert_eq!(keys(&trial), keys(&vend));
}

#[tokio::test]
async fn out_of_order_is_refused() {
    let counter = Counter::open();
    let number = meter("key_change");
    let sale = counter.vend(number, "1500.00").await;
    let [credit, first, second] = sale.ciphers()[..] else { panic!("{}", sale.text) };
    for (token, accepted, reason) in [
        (credit, false, Some("wrong_key")),
        (second, false, Some("out_of_order")),
        (first, true, None),
        (credit, false, Some("wrong_key")),
        (second, true, None),
        (credit, true, None),
        (credit, false, Some("already_used")),
    ] {
        let verdict = counter.enter(number, token).await;
        assert_eq!((verdict["accepted"].as_bool(), verdict["reason"].as_str()), (Some(accepted), reason));
    }
}

#[tokio::test]
async fn the_answer_says_from_which_key_to_which() {
    let counter = Counter::open();
    let sale = counter.vend(meter("key_change"), "1500.00").await;
    let change =
        r#"<b:kctData fromSGC="123457" fromKRN="4" fromTI="01" toSGC="123457" toKRN="4" toTI="02"/>"#;
    assert!(sale.says(change), "{}", sale.text);
    assert!(sale.says(r#"<b:token xsi:type="b:KCToken"><b:set1stMeterKey><b:stsCipher>"#));
    assert!(sale.says(r#"<b:meterType at="09" tt="02"/>"#));
}

#[tokio::test]
async fn the_log_has_the_tokens_in_the_order_of_entry() {
    let counter = Counter::open();
    let sale = counter.vend(meter("key_change"), "1500.00").await;
    let [credit, first, second] = sale.ciphers()[..] else { panic!("{}", sale.text) };
    let vends = counter.vends(meter("key_change")).await;
    assert_eq!(vends[0]["tokens"], serde_json::json!([first, second, credit]));
}
