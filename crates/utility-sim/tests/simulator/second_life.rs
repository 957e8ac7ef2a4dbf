//! A simulator that was killed and restarted with the files of its earlier run.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use utility_sim::{OnRepeat, Product, SimulatorSettings, subscriber};

use crate::airtime::kiosk::{Kiosk, ORANGE, order, phone};
use crate::counter::{Counter, advice_request, meter};

/// The files of the simulators of one test. They are deleted with this value.
struct Files(PathBuf);

impl Files {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("second-life-{}-{number}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        Self(directory)
    }

    fn set(&self, settings: &mut SimulatorSettings) {
        settings.vend_log = Some(self.0.join("vends"));
        settings.event_log = Some(self.0.join("events"));
    }

    fn counter(&self) -> Counter {
        Counter::open_with(|settings| self.set(settings))
    }

    async fn kiosk(&self) -> Kiosk {
        Kiosk::open_with(|settings| self.set(settings)).await
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The answer without the identifiers of the request itself.
fn content(answer: &str) -> String {
    answer.split("<b:adviceReqMsgID").nth(1).unwrap_or(answer).to_owned()
}

/// The tokens of the latest vend, in the order of entry.
async fn tokens(counter: &Counter, name: &str) -> Vec<String> {
    let vends = counter.vends(meter(name)).await;
    let tokens = vends.last().unwrap()["tokens"].as_array().unwrap();
    tokens.iter().map(|token| token.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_answer_is_given_again_to_the_letter() {
    let files = Files::new();
    let first = files.counter();
    for (number, name) in
        [(11, "tariff_charge_sub_account"), (12, "key_change"), (13, "debt_unpaid"), (14, "active_11_digit")]
    {
        first.vend_as(number, meter(name), "1500.00").await;
    }
    assert!(first.try_vend_as(15, meter("lost_reply"), "50.00").await.is_err());
    let no_token = subscriber(Product::Water, "no_token").unwrap();
    assert_eq!(first.vend_water(no_token, "50.00").await.status, 200);
    let mut before = Vec::new();
    for number in 11..=15 {
        before.push(content(&first.ask(&advice_request(100 + number, number)).await.text));
    }
    let vends = first.vends(meter("key_change")).await;
    drop(first);

    let second = files.counter();
    for (number, before) in (11..=15).zip(before) {
        let after = second.ask(&advice_request(200 + number, number)).await;
        assert_eq!(content(&after.text), before, "{number}");
        assert!(before.contains("b:lastResponse"), "{before}");
    }
    assert_eq!(second.vends(meter("key_change")).await, vends);
    let repeated = second.vend_as(14, meter("active_11_digit"), "1500.00").await;
    assert!(repeated.says("duplicate unique value"), "{}", repeated.text);
    assert!(second.try_vend_as(15, meter("lost_reply"), "50.00").await.is_ok(), "a repeat gets a refusal");
    let fresh = second.vend_as(17, meter("active_11_digit"), "1500.00").await;
    let tokens: Vec<Value> = second.vends(meter("active_11_digit")).await;
    assert_eq!((fresh.status, tokens.len()), (200, 2));
    assert_ne!(tokens[0]["tokens"], tokens[1]["tokens"]);
}

#[tokio::test]
async fn what_was_typed_into_a_meter_stays_typed_in() {
    let files = Files::new();
    let first = files.counter();
    let change = first.vend(meter("key_change"), "1500.00").await;
    let plain = first.vend(meter("active_11_digit"), "50.00").await;
    assert_eq!(change.status, 200);
    for token in tokens(&first, "key_change").await {
        assert_eq!(first.enter(meter("key_change"), &token).await["accepted"], true);
    }
    let once = first.enter(meter("active_11_digit"), plain.ciphers()[0]).await;
    assert_eq!(once["accepted"], true);
    let no_token = subscriber(Product::Water, "no_token").unwrap();
    first.vend_water(no_token, "50.00").await;
    drop(first);

    let second = files.counter();
    let again = second.enter(meter("active_11_digit"), plain.ciphers()[0]).await;
    assert_eq!((&again["reason"], &again["units_total"]), (&json!("already_used"), &once["units_total"]));
    let next = second.vend_as(90, meter("key_change"), "1500.00").await;
    for token in tokens(&second, "key_change").await {
        assert_eq!(second.enter(meter("key_change"), &token).await["accepted"], true, "{}", next.text);
    }
    let total = second.enter(no_token, "00000000000000000000").await;
    assert_eq!(total["units_total"], "2000");
}

#[tokio::test]
async fn a_meter_that_is_busy_every_other_time_goes_on_counting_and_money_stays_spent() {
    let files = Files::new();
    let busy = meter("busy_then_ok");
    let first = Counter::open_with(|settings| {
        files.set(settings);
        settings.vendor_credit = "100.00".to_owned();
    });
    assert!(first.vend_as(1, busy, "60.00").await.says("busy"));
    drop(first);
    let second = Counter::open_with(|settings| {
        files.set(settings);
        settings.vendor_credit = "100.00".to_owned();
    });
    assert_eq!(second.vend_as(2, busy, "60.00").await.status, 200);
    drop(second);
    let third = Counter::open_with(|settings| {
        files.set(settings);
        settings.vendor_credit = "100.00".to_owned();
    });
    assert!(third.vend_as(3, meter("active_11_digit"), "60.00").await.says("Vendor credit is exhausted"));
}

#[tokio::test]
async fn what_it_was_told_of_its_memory_holds_in_the_next_life_too() {
    let files = Files::new();
    let first = files.counter();
    let active = meter("active_11_digit");
    first.vend_as(1, active, "10.00").await;
    let memory = format!("{}/memory", first.simulator.url());
    assert_eq!(first.http.delete(&memory).send().await.unwrap().status().as_u16(), 204);
    first.vend_as(2, active, "10.00").await;
    let habits = json!({ "remembers": "everything", "on_repeat": "replay" }).to_string();
    assert_eq!(first.http.put(&memory).body(habits).send().await.unwrap().status().as_u16(), 204);
    drop(first);

    let second = files.counter();
    assert!(!second.enquire(1).await.says("b:lastResponse"), "this answer was forgotten");
    assert_eq!(second.vend_as(2, active, "10.00").await.status, 200, "a repeat is replayed");
    assert_eq!(second.vends(active).await.len(), 2);
}

#[tokio::test]
async fn top_ups_are_found_again_with_how_they_ended() {
    let files = Files::new();
    let first = files.kiosk().await;
    first.buy("done", phone("active")).await;
    let slow = first.post(&order("under-way", ORANGE, phone("processing"), "10.00")).await.unwrap();
    assert_eq!(slow.state(), (200, "PROCESSING"));
    first.script(json!({ "fault": "refuse", "exception": "PHONE_RECENTLY_RECHARGED" })).await;
    first.buy("refused", phone("active")).await;
    let balance = first.balance().await;
    let mut before = Vec::new();
    for name in ["done", "under-way", "refused"] {
        before.push(first.report(name).await.text);
    }
    drop(first);

    let second = files.kiosk().await;
    for (name, before) in ["done", "under-way", "refused"].into_iter().zip(before) {
        assert_eq!(second.report(name).await.text, before, "{name}");
    }
    assert_eq!(second.balance().await, balance);
    let repeated = second.buy("done", phone("active")).await;
    assert_eq!(repeated.error().1, "CUSTOM_IDENTIFIER_ALREADY_USED");
    second.clock.advance(Duration::from_secs(31));
    assert_eq!(second.states("under-way").await, ["SUCCESSFUL"]);
}

#[tokio::test]
async fn a_line_that_was_being_written_when_it_was_killed_did_not_happen() {
    let files = Files::new();
    let first = files.counter();
    first.vend_as(1, meter("active_11_digit"), "10.00").await;
    first.vend_as(2, meter("active_11_digit"), "10.00").await;
    drop(first);
    let path = files.0.join("vends");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();

    let second = files.counter();
    assert!(!second.enquire(2).await.says("b:lastResponse"));
    second.vend_as(3, meter("active_11_digit"), "10.00").await;
    assert_eq!(second.vends(meter("active_11_digit")).await.len(), 2);
    drop(second);
    assert_eq!(files.counter().vends(meter("active_11_digit")).await.len(), 2);
}

#[test]
fn a_log_of_something_else_is_refused_with_the_number_of_its_line() {
    let files = Files::new();
    fs::write(files.0.join("vends"), "{\"reference\": \"1\"}\n").unwrap();
    let mut settings = SimulatorSettings { on_repeat: OnRepeat::Reject, ..SimulatorSettings::default() };
    files.set(&mut settings);
    let refused =
        utility_sim::Simulator::start(&settings, std::sync::Arc::new(clock::SystemClock)).unwrap_err();
    let why = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(why, "line 1 of the vend log cannot be understood");
}

#[tokio::test]
async fn a_meter_that_was_replaced_accepts_its_tokens_again_and_stays_replaced() {
    let files = Files::new();
    let name = "active_11_digit";
    let token = {
        let counter = files.counter();
        counter.vend(meter(name), "100.00").await;
        let token = tokens(&counter, name).await.remove(0);
        assert_eq!(counter.enter(meter(name), &token).await["accepted"], true);
        assert_eq!(counter.enter(meter(name), &token).await["reason"], "already_used");
        assert_eq!(counter.script(json!({ "fault": "busy", "subscriber": meter(name) })).await, 204);
        assert_eq!(counter.reset(meter(name)).await, 204);
        assert_eq!(counter.reset("no-such-meter").await, 404);
        let sold = counter.vend(meter(name), "100.00").await;
        assert!(sold.ciphers().len() == 1, "its faults are gone: {}", sold.text);
        token
    };
    let counter = files.counter();
    assert_eq!(counter.enter(meter(name), &token).await["accepted"], true, "nothing was entered since");
}
