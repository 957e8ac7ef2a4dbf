//! The behaviour of every named meter.

use crate::counter::{Counter, meter};

const FIXED_CHARGE_LINE: &str = r#"<r:tx xsi:type="r:ServiceChrgTx"><r:amt value="5.00" symbol="BWP"/><r:accDesc>Fixed charge</r:accDesc></r:tx>"#;

#[tokio::test]
async fn active_meters_vend_a_token_that_their_meter_takes_once() {
    let counter = Counter::open();
    for name in
        ["active_11_digit", "active_13_digit", "tariff_charge", "tariff_charge_sub_account", "maximum_vend"]
    {
        let number = meter(name);
        assert!(counter.check(number).await.says("<r:canVend>true</r:canVend>"), "{name}");
        let sale = counter.vend(number, "100.00").await;
        assert_eq!(sale.status, 200, "{name}");
        let [token] = sale.ciphers()[..] else { panic!("{name}: {}", sale.text) };
        let grouped = format!("{} {}", &token[..4], &token[4..]);
        let first = counter.enter(number, &grouped).await;
        assert_eq!((&first["accepted"], &first["kind"]), (&true.into(), &"credit".into()), "{name}");
        let again = counter.enter(number, token).await;
        assert_eq!((&again["accepted"], &again["reason"]), (&false.into(), &"already_used".into()), "{name}");
        assert_eq!(first["units_total"], again["units_total"]);
    }
}

#[tokio::test]
async fn the_meter_is_credited_with_what_the_receipt_prints() {
    let counter = Counter::open();
    let sale = counter.vend(meter("active_11_digit"), "100.00").await;
    assert!(sale.says(r#"<b:units value="66.6" siUnit="kWh"/>"#));
    let verdict = counter.enter(meter("active_11_digit"), sale.ciphers()[0]).await;
    assert_eq!(verdict["units_total"], "66.6");
}

#[tokio::test]
async fn charges_are_lines_of_their_own_and_all_lines_add_up() {
    let counter = Counter::open();
    let charged = counter.vend(meter("tariff_charge"), "100.00").await;
    assert!(charged.says(FIXED_CHARGE_LINE));
    // The fixed charge leaves 95.00. Of this, 2% is a levy and 1% a fee. Of the remaining 92.15, 14/114 is tax.
    for (line, amount) in [("Electrification levy", "1.90"), ("Regulatory fee", "0.95")] {
        let expected =
            format!(r#"<r:amt value="{amount}" symbol="BWP"/><r:accDesc>{line}</r:accDesc></r:tx>"#);
        assert!(charged.says(&expected), "{line}");
    }
    assert!(charged.says(r#"<r:amt value="92.15" symbol="BWP"/><r:tax xsi:type="b:VAT" rate="14"><b:amt value="11.32" symbol="BWP"/>"#));
    assert!(charged.says(r#"<r:tenderAmt value="100.00" symbol="BWP"/>"#));

    let split = counter.vend(meter("tariff_charge_sub_account"), "100.00").await;
    assert!(split.says(FIXED_CHARGE_LINE));
    assert!(split.says(r#"<r:tx xsi:type="r:DebtRecoveryTx"><r:amt value="9.50" symbol="BWP"/>"#));
    assert!(split.says(r#"<r:amt value="82.94" symbol="BWP"/>"#));
}

#[tokio::test]
async fn a_customer_is_turned_away_at_the_stage_that_the_scenario_names() {
    let counter = Counter::open();
    // Whether the check, the quote and the vend are refused.
    for (name, kind, refused) in [
        ("blocked_customer", "BlockedMeterEx", [true, true, true]),
        ("purchases_blocked", "BlockedMeterEx", [false, true, true]),
        ("debt_unpaid", "DebtEx", [false, true, true]),
        ("account_blocked", "BlockedMeterEx", [false, false, true]),
        ("not_found", "UnknownMeterEx", [true, true, true]),
        ("disconnected", "UnknownMeterEx", [true, true, true]),
        ("unsupported_meter", "STSDataEx", [false, true, true]),
        ("credit_exhausted", "VendorCreditEx", [false, false, true]),
        ("duplicate", "BusinessRuleEx", [false, false, true]),
        ("busy", "BusinessRuleEx", [false, false, true]),
    ] {
        let number = meter(name);
        let answers = [
            counter.check(number).await,
            counter.quote(number, "50.00").await,
            counter.vend(number, "50.00").await,
        ];
        for (answer, refused) in answers.iter().zip(refused) {
            let expected = refused.then_some(kind);
            assert_eq!(answer.fault().map(|(kind, _)| kind), expected, "{name}: {}", answer.text);
            assert_eq!(answer.status, if refused { 500 } else { 200 }, "{name}");
        }
    }
    assert!(counter.check(meter("purchases_blocked")).await.says("<r:canVend>false</r:canVend>"));
}

#[tokio::test]
async fn refusals_carry_the_words_that_a_client_goes_by() {
    let counter = Counter::open();
    for (name, words) in [("busy", "Service busy, please try again"), ("disconnected", "Meter disconnected")]
    {
        assert_eq!(counter.vend(meter(name), "50.00").await.fault().unwrap().1, words);
    }
    assert!(counter.vend(meter("duplicate"), "50.00").await.fault().unwrap().1.starts_with("Duplicate sale"));
}

#[tokio::test]
async fn fixed_charge_meters_refuse_what_is_not_above_their_charge() {
    let counter = Counter::open();
    for name in ["fixed_charge", "key_change"] {
        let number = meter(name);
        assert!(counter.check(number).await.says(r#"<r:minVendAmt value="1000.01" symbol="BWP"/>"#));
        for amount in ["10.00", "1000.00"] {
            let refusal = counter.vend(number, amount).await;
            let words = "Amount below minimum vend: the purchase amount is too low";
            assert_eq!(refusal.fault(), Some(("BusinessRuleEx", words)), "{name} {amount}");
        }
        let sale = counter.vend(number, "1000.01").await;
        assert_eq!(sale.status, 200);
        assert!(sale.says(r#"<r:amt value="1000.00" symbol="BWP"/><r:accDesc>Fixed charge"#));
    }
    assert_eq!(counter.vend(meter("fixed_charge"), "1500.00").await.ciphers().len(), 1);
}

#[tokio::test]
async fn the_maximum_vend_meter_sells_up_to_its_maximum() {
    let counter = Counter::open();
    let number = meter("maximum_vend");
    assert!(counter.check(number).await.says(r#"<r:maxVendAmt value="100000.00" symbol="BWP"/>"#));
    assert_eq!(counter.vend(number, "100000.00").await.status, 200);
    let words = "The purchase amount cannot exceed 100000";
    for refusal in [counter.quote(number, "100000.01").await, counter.vend(number, "100000.01").await] {
        assert_eq!(refusal.fault(), Some(("BusinessRuleEx", words)));
    }
}

#[tokio::test]
async fn busy_then_ok_refuses_every_other_vend() {
    let counter = Counter::open();
    for _purchase in 0..2 {
        assert!(counter.vend(meter("busy_then_ok"), "50.00").await.fault().unwrap().1.contains("busy"));
        assert_eq!(counter.vend(meter("busy_then_ok"), "50.00").await.status, 200);
    }
}

#[tokio::test]
async fn a_lost_reply_leaves_a_vend_behind_and_a_lost_request_does_not() {
    let counter = Counter::open();
    let lost_reply = counter.fresh();
    assert!(counter.try_vend_as(lost_reply, meter("lost_reply"), "50.00").await.is_err());
    assert_eq!(counter.vends(meter("lost_reply")).await.len(), 1);
    assert_eq!(counter.enquire(lost_reply).await.ciphers().len(), 1);

    let lost_request = counter.fresh();
    for _time in 0..2 {
        assert!(counter.try_vend_as(lost_request, meter("lost_request"), "50.00").await.is_err());
    }
    assert_eq!(counter.vends(meter("lost_request")).await.len(), 0);
    assert_eq!(counter.enquire(lost_request).await.fault().unwrap().0, "LastResponseEx");
}

#[tokio::test]
async fn an_unanswered_vend_is_in_the_log_and_no_question_about_it_is_answered() {
    let counter = Counter::open();
    let number = counter.fresh();
    for _time in 0..2 {
        assert!(counter.try_vend_as(number, meter("unanswered"), "50.00").await.is_err());
    }
    assert_eq!(counter.vends(meter("unanswered")).await.len(), 1);
    assert!(counter.try_enquire(number).await.is_err());
    assert_eq!(
        counter.quote(meter("unanswered"), "50.00").await.status,
        200,
        "what moves no money is answered"
    );
}

#[tokio::test]
async fn a_delayed_vend_is_found_by_enquiry_while_its_caller_waits() {
    let counter = Counter::open_with(|settings| settings.delayed_ms = 600_000);
    let number = counter.fresh();
    let waiting = counter.try_vend_as(number, meter("delayed"), "50.00");
    let asking = async {
        while counter.enquire(number).await.status != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _early = waiting => panic!("the delayed meter answered at once"),
        () = asking => {}
    }
    assert_eq!(counter.vends(meter("delayed")).await.len(), 1);
}

#[tokio::test]
async fn a_delayed_vend_is_answered_in_the_end() {
    let counter = Counter::open_with(|settings| settings.delayed_ms = 50);
    assert_eq!(counter.vend(meter("delayed"), "50.00").await.ciphers().len(), 1);
}

#[tokio::test]
async fn a_number_with_a_wrong_check_digit_is_not_an_unknown_meter() {
    let counter = Counter::open();
    assert_eq!(counter.check("07000010011").await.fault().unwrap().0, "MSNOCheckDigitEx");
    assert_eq!(counter.check("04257670465").await.fault().unwrap().0, "UnknownMeterEx");
}

#[tokio::test]
async fn a_population_of_ordinary_meters_can_be_sold_to() {
    let counter = Counter::open_with(|settings| settings.population = 3);
    for number in utility_sim::population(3) {
        assert_eq!(counter.vend(&number, "50.00").await.status, 200);
    }
}

#[tokio::test]
async fn an_exhausted_float_refuses_every_sale() {
    let counter = Counter::open_with(|settings| settings.vendor_credit = "120.00".to_owned());
    let number = meter("active_11_digit");
    assert!(counter.vend(number, "100.00").await.says(r#"<b:availCredit value="20.00" symbol="BWP"/>"#));
    assert_eq!(counter.vend(number, "20.01").await.fault().unwrap().0, "VendorCreditEx");
    assert_eq!(counter.vend(number, "20.00").await.status, 200);
}
