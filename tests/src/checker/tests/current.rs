//! The same invariants over the Current surface, which has other fields, and across both surfaces.

use super::*;

#[test]
fn books_in_order_of_both_surfaces_violate_no_invariant() {
    assert_eq!(check(&over_current()), Vec::new());
    assert_eq!(check(&over_both()), Vec::new());
}

#[test]
fn i3_another_token_than_was_vended() {
    breaks_over_current("I3", |evidence| answer(evidence, 1).body["token"] = "98765432109876543210".into());
    breaks_over_current("I3", |evidence| {
        let wire = format!("KeyChange Token1: 98765432109876543210|Credit Token: {TOKEN}");
        answer(evidence, 1).body["token"] = wire.into();
    });
}

#[test]
fn i7_answers_that_are_not_true() {
    breaks_over_current("I7", |evidence| answer(evidence, 1).body["id"] = FAILED.into());
    for (status, code) in [(422, "provider_error"), (404, "transaction_not_found")] {
        breaks_over_current("I7", |evidence| {
            let untrue = retry(MERCHANT, "first", 6_000, refused(status, code));
            evidence.history.exchanges.push(in_current_words(untrue));
        });
    }
}

#[test]
fn i8_another_answer_over_the_same_surface_or_over_the_other() {
    breaks_over_current("I8", |evidence| answer(evidence, 1).body["beneficiary"] = json!({ "address": "" }));
    for (place, other) in [
        ("/token", json!("98765432109876543210")),
        ("/electricity_units", json!("53.3 kWh")),
        ("/meter_number", json!("04000000002")),
        ("/meter_details", json!("T. MODISE")),
        ("/reference", json!("TOP/2026/11/0000000009")),
        ("/total", json!("BWP 101.51")),
        ("/metadata/cost", json!("BWP 99.99")),
        ("/commission", Value::Null),
    ] {
        breaks_in(over_both(), "I8", |evidence| *last(evidence).body.pointer_mut(place).unwrap() = other);
    }
    breaks_in(over_both(), "I8", |evidence| {
        last(evidence).body.as_object_mut().unwrap().remove("electricity_units");
    });
    breaks_in(over_both(), "I8", |evidence| last(evidence).body["operator"] = json!({ "id": 3 }));
}

#[test]
fn i8_another_reason_over_the_other_surface() {
    let told = |code| retry(MERCHANT, "second", 6_000, refused(422, code));
    breaks("I8", |evidence| {
        evidence.history.exchanges.extend([told("meter_blocked"), in_current_words(told("provider_error"))]);
    });
    let mut same = sound();
    same.history.exchanges.extend([told("meter_blocked"), in_current_words(told("meter_blocked"))]);
    assert_eq!(check(&same), Vec::new());
}

#[test]
fn i9_a_success_that_the_other_surface_forgets_and_a_balance_that_cannot_be() {
    breaks("I9", |evidence| {
        let forgotten = retry(MERCHANT, "first", 6_000, refused(409, "transaction_pending"));
        evidence.history.exchanges.push(in_current_words(forgotten));
    });
    for impossible in ["BWP 1000.00", "BWP 796.99"] {
        breaks_over_current("I9", |evidence| {
            evidence.history.exchanges.push(in_current_words(balance(impossible)));
        });
    }
}

#[test]
fn i11_pending_where_nothing_was() {
    breaks_over_current("I11", |evidence| {
        let untrue = confirm(MERCHANT, "third", 9_000_000, Some(refused(409, "transaction_pending")));
        evidence.history.exchanges.push(in_current_words(untrue));
    });
}

#[test]
fn i14_a_neighbours_token() {
    breaks_over_current("I14", |evidence| evidence.history.exchanges[1].organisation = 8);
}

#[test]
fn i16_amounts_that_do_not_add_up() {
    breaks_over_current("I16", |evidence| answer(evidence, 1).body["net"] = "BWP 100.01".into());
    breaks_over_current("I16", |evidence| answer(evidence, 1).body["metadata"]["vat"] = "BWP 0.01".into());
}

#[test]
fn i17_errors_that_are_not_the_five_fields_of_one_row_of_the_table() {
    let wrong: [(&str, Value); 13] = [
        ("response_code", json!("oops")),
        ("response_code", json!("provider_unavailable")),
        ("response_message", json!("")),
        ("response_message", Value::Null),
        ("timestamp", json!("2026-11-20 09:30:00")),
        ("timestamp", json!(0.5)),
        ("timestamp", json!(70_000)),
        ("developer_message", json!("meter_blocked; request id r-2")),
        ("developer_message", json!("provider_error; request id r-1")),
        ("developer_message", json!("meter_blocked")),
        ("errors", json!([])),
        ("errors", json!({ "meter_number": "Another sentence." })),
        ("error", json!({ "code": "meter_blocked" })),
    ];
    for (field, value) in wrong {
        breaks_over_current("I17", |evidence| answer(evidence, 2).body[field] = value);
    }
    for field in ["response_code", "response_message", "timestamp", "developer_message", "errors"] {
        breaks_over_current("I17", |evidence| {
            answer(evidence, 2).body.as_object_mut().unwrap().remove(field);
        });
    }
    breaks_over_current("I17", |evidence| answer(evidence, 2).status = 400);
    breaks_over_current("I17", |evidence| answer(evidence, 1).request_id = None);
    // An error in the form of the other surface.
    breaks_over_current("I17", |evidence| *answer(evidence, 2) = refused(422, "meter_blocked"));
    breaks("I17", |evidence| {
        let frozen = in_current_words(evidence.history.exchanges[2].clone());
        evidence.history.exchanges[2].reply = frozen.reply;
    });
}

#[track_caller]
fn breaks_over_current(invariant: &str, how: impl FnOnce(&mut Evidence)) {
    breaks_in(over_current(), invariant, how);
}

/// The sound evidence, with every request over the Current surface.
fn over_current() -> Evidence {
    let mut evidence = sound();
    let exchanges = std::mem::take(&mut evidence.history.exchanges);
    evidence.history.exchanges = exchanges.into_iter().map(in_current_words).collect();
    evidence
}

/// The sound evidence over both surfaces: the last exchange is a retry over the Current surface that shows the bought
/// purchase.
fn over_both() -> Evidence {
    let mut evidence = sound();
    let later = [balance("BWP 898.50"), retry(MERCHANT, "first", 9_000, bought_reply(BOUGHT))];
    evidence.history.exchanges.extend(later.map(in_current_words));
    evidence
}

fn answer(evidence: &mut Evidence, number: usize) -> &mut Reply {
    evidence.history.exchanges[number].reply.as_mut().unwrap()
}

fn last(evidence: &mut Evidence) -> &mut Reply {
    evidence.history.exchanges.last_mut().unwrap().reply.as_mut().unwrap()
}

/// The same request over the Current surface, and the same answer in its form.
fn in_current_words(exchange: Exchange) -> Exchange {
    let translated = |told: Reply| {
        let body = &told.body;
        let body = if let Some(code) = body["error"]["code"].as_str() {
            error(code)
        } else if body["balance"].is_string() {
            accounts(&body["balance"])
        } else {
            purchase_shown(body)
        };
        reply(told.status, body)
    };
    Exchange { surface: Surface::Current, reply: exchange.reply.map(translated), ..exchange }
}

fn error(code: &str) -> Value {
    let sentence = "A sentence.";
    json!({
        "response_code": code, "response_message": sentence, "timestamp": 1,
        "developer_message": format!("{code}; request id r-1"), "errors": { "meter_number": sentence },
    })
}

fn accounts(balance: &Value) -> Value {
    json!({ "accounts": [{ "id": WALLET + 1, "balance": "BWP 0.00" }, { "id": WALLET, "balance": balance }] })
}

fn purchase_shown(versioned: &Value) -> Value {
    let mut shown = versioned.clone();
    let fields = shown.as_object_mut().unwrap();
    for name in ["date", "subscriber_identifier", "product"] {
        fields.remove(name);
    }
    fields.insert("meter_number".to_owned(), versioned["subscriber_identifier"].clone());
    // If the provider does not name the consumer, the versioned surface omits the field.
    fields.insert("meter_details".to_owned(), "".into());
    fields.insert("token".to_owned(), versioned["product"]["token"].clone());
    fields.insert("electricity_units".to_owned(), versioned["product"]["units"].clone());
    shown
}
