//! Tests of the checker: each invariant gets a small history that violates it, and must report it.

mod current;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::surface::Surface;

const MERCHANT: i64 = 7;
const WALLET: i64 = 70;
const BOUGHT: i64 = 1;
const FAILED: i64 = 2;
const TOKEN: &str = "12345678901234567890";
const METER: &str = "04000000001";

#[test]
fn books_in_order_violate_no_invariant() {
    assert_eq!(check(&sound()), Vec::new());
}

#[test]
fn an_account_with_the_number_of_a_purchase_is_not_taken_for_the_purchase() {
    let mut evidence = sound();
    let body = json!({ "id": BOUGHT, "balance": "BWP 898.50" });
    let of_account = Exchange { reply: Some(reply(200, body)), ..balance("BWP 898.50") };
    evidence.history.exchanges.push(of_account);
    assert_eq!(check(&evidence), Vec::new());
}

#[test]
fn invariants_are_numbered_from_one_to_twenty() {
    let ids: Vec<String> = INVARIANTS.iter().map(|invariant| invariant.id.to_owned()).collect();
    let expected: Vec<String> = (1..=20).map(|number| format!("I{number}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn i1_two_vends_under_one_reference_or_for_one_purchase() {
    breaks("I1", |evidence| evidence.vends.0.push(evidence.vends.0[0].clone()));
    breaks("I1", |evidence| {
        let second = VendLine { reference: "R1b".to_owned(), ..evidence.vends.0[0].clone() };
        evidence.vends.0.push(second);
        evidence.books.attempts.insert(1, attempt(BOUGHT, 2, "R1b"));
    });
}

#[test]
fn i2_a_vend_of_what_was_given_back_and_an_incident() {
    breaks("I2", |evidence| {
        let vend = VendLine { reference: "R2".to_owned(), ..evidence.vends.0[0].clone() };
        evidence.vends.0.push(vend);
    });
    breaks("I2", |evidence| {
        evidence.books.incidents.push(Incident { purchase: BOUGHT, kind: "SECOND_VEND".to_owned() });
    });
}

#[test]
fn i3_paid_for_and_not_vended_vended_and_not_ordered_or_something_else_vended() {
    breaks("I3", |evidence| evidence.vends.0.clear());
    breaks("I3", |evidence| {
        let orphan = VendLine { reference: "R9".to_owned(), ..evidence.vends.0[0].clone() };
        evidence.vends.0.push(orphan);
    });
    breaks("I3", |evidence| evidence.vends.0[0].amount = "100.01".to_owned());
    breaks("I3", |evidence| evidence.vends.0[0].subscriber = "04000000002".to_owned());
    breaks("I3", |evidence| evidence.vends.0[0].currency = "ZAR".to_owned());
    breaks("I3", |evidence| evidence.vends.0[0].tokens = vec!["98765432109876543210".to_owned()]);
}

#[test]
fn i4_settled_twice_or_not_at_all_moved_as_no_table_has_it_or_changed_after_the_end() {
    breaks("I4", |evidence| {
        let again = Posting { entry: 99, ..evidence.books.postings[1].clone() };
        evidence.books.postings.push(again);
    });
    breaks("I4", |evidence| evidence.books.postings.retain(|posting| posting.kind != "SETTLE"));
    breaks("I4", |evidence| evidence.books.events[1].fact = "NO_RECORD".to_owned());
    breaks("I4", |evidence| evidence.earlier.purchases[0].state = "FAILED".to_owned());
}

#[test]
fn i5_balances_that_are_not_their_postings_overdrawn_or_settled_wrongly() {
    breaks("I5", |evidence| evidence.books.wallets[0].posted += 1);
    breaks("I5", |evidence| evidence.books.carried.push(Carried { account: 2, balance: 9_999 }));
    breaks("I5", |evidence| evidence.books.postings.rotate_left(1));
    breaks("I5", |evidence| evidence.books.postings[1].amount += 1);
    breaks("I5", |evidence| evidence.books.postings[1].currencies[2] = "ZAR".to_owned());
}

#[test]
fn i6_holds_without_purchases_and_purchases_without_holds() {
    breaks("I6", |evidence| evidence.books.wallets[0].held = 1);
    breaks("I6", |evidence| evidence.holds.push(HoldSample { account: WALLET, held: 0, open: 10_150 }));
}

#[test]
fn i7_answers_that_are_not_true() {
    // Answered as bought, but failed.
    breaks("I7", |evidence| evidence.history.exchanges[2].reply = Some(bought_reply(FAILED)));
    // Answered as failed, but bought.
    breaks("I7", |evidence| {
        evidence.history.exchanges.push(retry(MERCHANT, "first", 6_000, refused(422, "provider_error")));
    });
    // Answered as nothing bought, but bought.
    breaks("I7", |evidence| {
        evidence.history.exchanges[0].reply = Some(refused(502, "provider_unavailable"));
        evidence.history.exchanges.remove(1);
    });
    // Answered as absent, but it exists.
    breaks("I7", |evidence| {
        evidence.history.exchanges.push(retry(
            MERCHANT,
            "second",
            6_000,
            refused(404, "transaction_not_found"),
        ));
    });
    // Answered as absent while a confirm that made a purchase was in flight.
    breaks("I7", |evidence| {
        let absent = retry(MERCHANT, "first", 50, refused(404, "transaction_not_found"));
        evidence.history.exchanges[0].invoked_at = 40;
        evidence.history.exchanges.push(absent);
    });
    // Answered as pending, but unknown.
    breaks("I7", |evidence| {
        let body = json!({ "id": 99, "status": "PENDING" });
        evidence.history.exchanges[2].reply = Some(reply(200, body));
    });
}

#[test]
fn i8_another_answer_about_the_same_purchase() {
    // Another reason.
    breaks("I8", |evidence| {
        evidence.history.exchanges.push(retry(MERCHANT, "second", 6_000, refused(422, "meter_blocked")));
        evidence.history.exchanges.push(retry(MERCHANT, "second", 7_000, refused(422, "provider_error")));
    });
    // The refusal of the confirm itself is not compared.
    let mut told_once_more = sound();
    told_once_more.history.exchanges.push(retry(MERCHANT, "second", 6_000, refused(422, "provider_error")));
    assert!(!violations(&told_once_more).contains("I8"));
    breaks("I8", |evidence| {
        let mut other = bought_body(BOUGHT);
        other["date"] = "tomorrow".into();
        evidence.history.exchanges[1].reply = Some(reply(200, other));
    });
}

#[test]
fn i9_a_success_that_is_forgotten_and_a_balance_that_cannot_be() {
    breaks("I9", |evidence| evidence.history.exchanges[1].reply = Some(refused(409, "transaction_pending")));
    breaks("I9", |evidence| evidence.history.exchanges.push(balance("BWP 1000.00")));
    breaks("I9", |evidence| evidence.history.exchanges.push(balance("BWP 796.99")));
}

#[test]
fn i10_a_purchase_without_a_confirm_or_two_of_one_confirm() {
    breaks("I10", |evidence| {
        evidence.history.exchanges.remove(0);
    });
    breaks("I10", |evidence| {
        evidence.history.exchanges[2].call = evidence.history.exchanges[0].call.clone();
        let second = evidence.books.purchases[1].clone();
        evidence.books.purchases[1] = Purchase { external_reference: Some("first".to_owned()), ..second };
        evidence.history.exchanges.remove(2);
    });
}

#[test]
fn i10_two_successes_under_one_key() {
    breaks("I10", |evidence| {
        for purchase in &mut evidence.books.purchases {
            purchase.idempotency_key = Some("key".to_owned());
            purchase.state = "SUCCESSFUL".to_owned();
        }
    });
}

#[test]
fn i11_two_open_at_once_and_pending_where_none_was() {
    breaks("I11", |evidence| {
        evidence.books.purchases[1].subscriber = METER.to_owned();
        evidence.books.purchases[1].created_at = 150;
    });
    breaks("I11", |evidence| {
        evidence.history.exchanges.push(confirm(
            MERCHANT,
            "third",
            9_000_000,
            Some(refused(409, "transaction_pending")),
        ));
    });
}

#[test]
fn i11_a_key_that_another_confirm_under_it_closed_makes_pending_true() {
    let keyed = |invoked_at, status, code| {
        let refused = confirm(MERCHANT, "third", invoked_at, Some(refused(status, code)));
        let external_reference = Some("third".to_owned());
        let call = Call::Confirm { subscriber: METER.to_owned(), external_reference, is_keyed: true };
        Exchange { call, ..refused }
    };
    let pending = keyed(9_000_000, 409, "transaction_pending");
    breaks("I11", |evidence| evidence.history.exchanges.push(pending.clone()));
    // A confirm whose outcome was not answered, and which was refused later.
    let mut closed = sound();
    closed.history.exchanges.extend([keyed(8_900_000, 504, "provider_timeout"), pending.clone()]);
    assert_eq!(check(&closed), Vec::new());
    // A confirm that ended long before.
    breaks("I11", |evidence| {
        evidence.history.exchanges.extend([keyed(6_000_000, 504, "provider_timeout"), pending]);
    });
}

#[test]
fn i12_too_many_requests_attempts_after_the_window_and_a_new_name_amid_doubt() {
    breaks("I12", |evidence| {
        evidence.books.purchases[0].handling = "MANAGED".to_owned();
        evidence.books.purchases[0].requests = 6;
    });
    breaks("I12", |evidence| evidence.books.attempts[0].started_at = 100_000_001);
    breaks("I12", |evidence| evidence.books.events[1].attempt = 2);
    breaks("I12", |evidence| {
        evidence.books.attempts.remove(1);
    });
}

#[test]
fn i13_messages_twice_untrue_unwanted_or_about_nothing() {
    breaks("I13", |evidence| evidence.books.outbox.push(evidence.books.outbox[0].clone()));
    breaks("I13", |evidence| evidence.books.outbox[0].purchase = FAILED);
    breaks("I13", |evidence| evidence.books.outbox[0].kind = "REFUNDED".to_owned());
    breaks("I13", |evidence| evidence.books.outbox.clear());
    breaks("I13", |evidence| evidence.inbox = Some(Vec::new()));
    breaks("I13", |evidence| {
        let letters = evidence.inbox.as_mut().unwrap();
        letters.push(letters[0].clone());
    });
    breaks("I13", |evidence| evidence.inbox.as_mut().unwrap()[0].to = "26770000000".to_owned());
    // The key change token, which must be entered first, is missing.
    breaks("I13", |evidence| evidence.vends.0[0].tokens.insert(0, "98765432109876543210".to_owned()));
    // Both tokens arrived, in the wrong order.
    breaks("I13", |evidence| {
        evidence.vends.0[0].tokens.insert(0, "98765432109876543210".to_owned());
        evidence.inbox.as_mut().unwrap()[0].text.push_str(" 9876 5432 1098 7654 3210");
    });
    // The purchase was refunded after its confirm was answered, but no message is owed.
    breaks("I13", |evidence| {
        evidence.books.purchases[1].handling = "MANAGED".to_owned();
        evidence.books.events[2].state = "IN_DOUBT".to_owned();
    });
    breaks("I13", |evidence| evidence.books.purchases[0].wishes = [true, false, true]);
    breaks("I13", |evidence| evidence.books.outbox[0].purchase = 99);
}

#[test]
fn i14_a_neighbours_token_or_reference() {
    breaks("I14", |evidence| {
        let other = Exchange { organisation: 8, ..balance("BWP 1.00") };
        let shown = json!({ "token": TOKEN });
        evidence.history.exchanges.push(Exchange { reply: Some(reply(200, shown)), ..other });
    });
    breaks("I14", |evidence| {
        let other = Exchange { organisation: 8, ..balance("BWP 1.00") };
        let shown = json!({ "comment": "as TOP/2026/11/0000000001" });
        evidence.history.exchanges.push(Exchange { reply: Some(reply(200, shown)), ..other });
    });
}

#[test]
fn i15_a_token_or_a_secret_in_a_log() {
    breaks("I15", |evidence| evidence.logs[0].text = format!("vended \"{TOKEN}\""));
    for parted in ["1234 5678 9012 3456 7890", "1234+5678+9012+3456+7890", "1234%205678%209012%203456%207890"]
    {
        breaks("I15", |evidence| evidence.logs[0].text = format!("to 26771234567 {parted} 100"));
    }
    breaks("I15", |evidence| evidence.logs[0].text = "(1,1234-5678-9012-3456-7890)".to_owned());
    breaks("I15", |evidence| evidence.logs[0].text = "login with hunter2!".to_owned());
}

#[test]
fn i16_amounts_that_do_not_add_up() {
    breaks("I16", |evidence| {
        evidence.earlier.purchases[0].charge += 1;
        evidence.books.purchases[0].charge += 1;
    });
    breaks("I16", |evidence| {
        evidence.history.exchanges[0].reply = Some(with(|body| body["net"] = "BWP 100.01".into()));
    });
    breaks("I16", |evidence| {
        evidence.history.exchanges[0].reply = Some(with(|body| body["metadata"]["vat"] = "BWP 0.01".into()));
    });
}

#[test]
fn i17_answers_of_no_table() {
    breaks("I17", |evidence| evidence.history.exchanges[2].reply = Some(refused(500, "oops")));
    breaks("I17", |evidence| {
        evidence.history.exchanges[2].reply = Some(refused(503, "provider_unavailable"));
    });
    breaks("I17", |evidence| {
        let mut nameless = bought_reply(BOUGHT);
        nameless.request_id = None;
        evidence.history.exchanges[1].reply = Some(nameless);
    });
}

#[test]
fn i18_moves_without_a_line_skipped_fences_and_rewritten_lines() {
    breaks("I18", |evidence| {
        evidence.books.events.pop();
    });
    breaks("I18", |evidence| {
        evidence.books.events[1].fence = 3;
        evidence.books.purchases[0].fence = 3;
    });
    breaks("I18", |evidence| evidence.earlier.events[0].at += 1);
    breaks("I18", |evidence| evidence.earlier.postings[0].amount += 1);
}

#[test]
fn i19_open_purchases_leases_messages_and_unpaid_vends_at_rest() {
    let open = |evidence: &mut Evidence, state: &str, is_leased: bool| {
        let purchase = &mut evidence.books.purchases[1];
        (purchase.state, purchase.ended_at) = (state.to_owned(), None);
        purchase.is_leased = is_leased;
    };
    breaks("I19", |evidence| open(evidence, "IN_DOUBT", false));
    breaks("I19", |evidence| open(evidence, "REVIEW", true));
    breaks("I19", |evidence| evidence.books.outbox[0].is_sent = false);
    let mut amid = sound();
    amid.moment = Moment::Amid;
    open(&mut amid, "IN_DOUBT", true);
    assert!(!violations(&amid).contains("I19"));
    breaks("I19", |evidence| {
        let purchase = &mut evidence.books.purchases[0];
        (purchase.state, purchase.ended_at) = ("REVIEW".to_owned(), None);
    });
    let mut review = sound();
    open(&mut review, "REVIEW", false);
    assert!(!violations(&review).contains("I19"));
}

/// A history may violate other invariants too, but it must violate this one.
#[track_caller]
fn breaks(invariant: &str, how: impl FnOnce(&mut Evidence)) {
    breaks_in(sound(), invariant, how);
}

#[track_caller]
fn breaks_in(mut evidence: Evidence, invariant: &str, how: impl FnOnce(&mut Evidence)) {
    how(&mut evidence);
    let broken = violations(&evidence);
    assert!(broken.contains(invariant), "{invariant} was not reported, only {broken:?}");
}

fn violations(evidence: &Evidence) -> BTreeSet<&'static str> {
    check(evidence).into_iter().map(|violation| violation.invariant).collect()
}

#[test]
fn i20_an_end_that_is_not_told_told_twice_or_told_otherwise() {
    breaks("I20", |evidence| evidence.books.told[0].succeeded = 0);
    breaks("I20", |evidence| evidence.books.told[0].accepted = 2);
    breaks("I20", |evidence| {
        evidence.books.told[1] = Told { purchase: FAILED, accepted: 1, succeeded: 1, failed: 0 }
    });
}

/// BWP 1000.00 paid in. One purchase succeeded, one failed.
fn sound() -> Evidence {
    let books = Books {
        purchases: vec![
            purchase(BOUGHT, METER, "first", 200, "SUCCESSFUL"),
            purchase(FAILED, "04000000002", "second", 2_000, "FAILED"),
        ],
        attempts: vec![attempt(BOUGHT, 1, "R1"), attempt(FAILED, 1, "R2")],
        events: vec![
            event(1, BOUGHT, "RESERVED", "IN_FLIGHT"),
            event(2, BOUGHT, "VENDED", "SUCCESSFUL"),
            event(3, FAILED, "RESERVED", "IN_FLIGHT"),
            event(4, FAILED, "REFUSED", "FAILED"),
        ],
        postings: vec![
            posting(1, ("TOP_UP", None), (1, Some("FUNDING")), (WALLET, None), 100_000),
            posting(2, ("SETTLE", Some(BOUGHT)), (WALLET, None), (2, Some("PROVIDER_PAYABLE")), 10_000),
            posting(2, ("SETTLE", Some(BOUGHT)), (WALLET, None), (3, Some("FEE_INCOME")), 150),
        ],
        wallets: vec![Wallet { id: WALLET, organisation: MERCHANT, posted: 89_850, held: 0 }],
        outbox: vec![Message {
            purchase: BOUGHT,
            kind: "ISSUED".to_owned(),
            recipient: "BENEFICIARY".to_owned(),
            channel: "SMS".to_owned(),
            attempts: 1,
            is_sent: true,
            is_given_up: false,
        }],
        told: vec![
            Told { purchase: BOUGHT, accepted: 1, succeeded: 1, failed: 0 },
            Told { purchase: FAILED, accepted: 1, succeeded: 0, failed: 1 },
        ],
        ..Books::default()
    };
    let vend = VendLine {
        product_type: "ELECTRICITY".to_owned(),
        reference: "R1".to_owned(),
        subscriber: METER.to_owned(),
        amount: "100.00".to_owned(),
        currency: "BWP".to_owned(),
        tokens: vec![TOKEN.to_owned()],
        outcome: "vended".to_owned(),
    };
    let exchanges = vec![
        confirm(MERCHANT, "first", 100, None),
        retry(MERCHANT, "first", 5_000, bought_reply(BOUGHT)),
        Exchange {
            call: Call::Confirm {
                subscriber: "04000000002".to_owned(),
                external_reference: Some("second".to_owned()),
                is_keyed: false,
            },
            ..confirm(MERCHANT, "second", 1_500, Some(refused(422, "meter_blocked")))
        },
        balance("BWP 898.50"),
    ];
    Evidence {
        moment: Moment::AtRest,
        earlier: books.clone(),
        vends: VendLog(vec![vend]),
        books,
        holds: vec![HoldSample { account: WALLET, held: 10_150, open: 10_150 }],
        history: History { exchanges, complete_for: BTreeSet::from([MERCHANT]) },
        inbox: Some(vec![Letter {
            channel: "sms".to_owned(),
            to: "26771234567".to_owned(),
            text: "Your token: 1234 5678 9012 3456 7890".to_owned(),
        }]),
        logs: vec![Log { name: "api-server.log".to_owned(), text: "reference 20261120093000".to_owned() }],
        secrets: vec![Secret { name: "the password".to_owned(), value: "hunter2".to_owned() }],
    }
}

fn purchase(id: i64, subscriber: &str, external_reference: &str, created_at: i64, state: &str) -> Purchase {
    Purchase {
        id,
        reference: format!("TOP/2026/11/{id:010}"),
        organisation: MERCHANT,
        account: WALLET,
        commission_account: None,
        product: "ELECTRICITY".to_owned(),
        provider: "BPC".to_owned(),
        subscriber: subscriber.to_owned(),
        beneficiary: "26771234567".to_owned(),
        currency: "BWP".to_owned(),
        entry: 10_000,
        charge: 150,
        net: 10_000,
        total: 10_150,
        commission: 0,
        external_reference: Some(external_reference.to_owned()),
        idempotency_key: None,
        created_at,
        state: state.to_owned(),
        handling: "SELF_MANAGED".to_owned(),
        fence: 1,
        is_leased: false,
        attempt: 1,
        requests: 0,
        window_closes_at: 100_000_000,
        provider_reference: format!("R{id}"),
        ended_at: Some(created_at + 500),
        has_token: state == "SUCCESSFUL",
        wishes: [true; 3],
    }
}

fn attempt(purchase: i64, number: i64, provider_reference: &str) -> Attempt {
    Attempt { purchase, number, provider_reference: provider_reference.to_owned(), started_at: 200 }
}

fn event(id: i64, purchase: i64, fact: &str, state: &str) -> Event {
    Event { id, purchase, at: id, fact: fact.to_owned(), state: state.to_owned(), fence: 1, attempt: 1 }
}

fn posting(
    entry: i64,
    (kind, purchase): (&str, Option<i64>),
    (debit, debited_account): (i64, Option<&str>),
    (credit, credited_account): (i64, Option<&str>),
    amount: i64,
) -> Posting {
    Posting {
        entry,
        kind: kind.to_owned(),
        purchase,
        debit,
        credit,
        currencies: ["BWP", "BWP", "BWP"].map(str::to_owned),
        amount,
        system_accounts: [debited_account, credited_account]
            .map(|system_account| system_account.map(str::to_owned)),
    }
}

/// A confirm that is answered with success unless another reply is given.
fn confirm(organisation: i64, external_reference: &str, invoked_at: i64, reply: Option<Reply>) -> Exchange {
    let external_reference = Some(external_reference.to_owned());
    Exchange {
        organisation,
        surface: Surface::V1,
        call: Call::Confirm { subscriber: METER.to_owned(), external_reference, is_keyed: false },
        invoked_at,
        returned_at: invoked_at + 1_000,
        reply: Some(reply.unwrap_or_else(|| bought_reply(BOUGHT))),
    }
}

fn retry(organisation: i64, external_reference: &str, invoked_at: i64, reply: Reply) -> Exchange {
    let subscriber = if external_reference == "first" { METER } else { "04000000002" }.to_owned();
    let call = Call::Retry { subscriber, external_reference: external_reference.to_owned() };
    Exchange {
        organisation,
        surface: Surface::V1,
        call,
        invoked_at,
        returned_at: invoked_at + 100,
        reply: Some(reply),
    }
}

fn balance(shown: &str) -> Exchange {
    Exchange {
        organisation: MERCHANT,
        surface: Surface::V1,
        call: Call::Balance { account: WALLET },
        invoked_at: 8_000,
        returned_at: 8_100,
        reply: Some(reply(200, json!({ "balance": shown }))),
    }
}

fn bought_body(id: i64) -> Value {
    json!({
        "id": id, "status": "SUCCESSFUL", "reference": format!("TOP/2026/11/{id:010}"), "date": "today",
        "total": "BWP 101.50", "net": "BWP 100.00", "charge": "BWP 1.50", "commission": "BWP 0.00", "entry": "BWP 100.00",
        "subscriber_identifier": METER, "product": { "type": "ELECTRICITY", "token": TOKEN, "units": "53.2 kWh" },
        "metadata": { "cost": "BWP 100.00" },
    })
}

fn bought_reply(id: i64) -> Reply {
    reply(200, bought_body(id))
}

fn with(change: impl FnOnce(&mut Value)) -> Reply {
    let mut body = bought_body(BOUGHT);
    change(&mut body);
    reply(200, body)
}

fn refused(status: u16, code: &str) -> Reply {
    let known = error_codes::ErrorCode::parse(code);
    let error_type = known.map_or("unknown", |code| code.error_type().as_str());
    let retryable = known.is_some_and(|code| code.retryable() == error_codes::Retryable::Always);
    let error = json!({ "code": code, "type": error_type, "retryable": retryable, "request_id": "r-1" });
    reply(status, json!({ "error": error }))
}

fn reply(status: u16, body: Value) -> Reply {
    Reply { status, request_id: Some("r-1".to_owned()), text: body.to_string(), body }
}
