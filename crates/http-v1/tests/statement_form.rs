//! The exact forms of a statement: JSON, CSV and camt.053. `just interop` compares camt.053 with the schema of ISO 20022.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of their functions")]

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Africa::Gaborone;
use clock::ManualClock;
use http_v1::{requests::Days, wire};
use ledger::AccountId;
use money::{Currency, Money};
use purchase::{
    AfterLine, Extent, MovementKind, MovementPart, PurchaseId, StatedPurchase, Statement, StatementLine,
    StatementPage,
};
use test_kit::wire_form::{assert_json, noon};
use vend::Product;
use web::{SharedState, WebSettings};

fn shared() -> SharedState {
    SharedState::new(&WebSettings::default(), Arc::new(ManualClock::at(noon()))).unwrap()
}

fn bwp(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").unwrap())
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn days() -> Days {
    Days { first: "2026-11-20".parse().unwrap(), last: "2026-11-20".parse().unwrap() }
}

/// A top-up, and the two lines of a purchase with a reference that needs escapes and is longer than camt.053 holds.
fn page(is_complete: bool) -> StatementPage {
    let purchase = StatedPurchase {
        id: PurchaseId(42),
        external_reference: Some("a \"reference\", & one of more than <35> characters".to_owned()),
        subscriber: "04257670465".to_owned(),
        product: Product::Electricity,
        provider_code: "BPC".to_owned(),
    };
    let line = |entry, other, kind, part, amount, balance| StatementLine {
        entry,
        other: AccountId(other),
        posted_at: at("2026-11-20T10:00:00.000123Z"),
        kind,
        part,
        amount: bwp(amount),
        balance: bwp(balance),
        reference: Some("BANK-1".to_owned()),
        purchase: None,
    };
    let of_purchase = |line: StatementLine| StatementLine {
        reference: Some("TOP/2026/11/0000000042".to_owned()),
        purchase: Some(purchase.clone()),
        ..line
    };
    StatementPage {
        statement: Statement {
            account: AccountId(17),
            name: "Main & other".to_owned(),
            currency: bwp(0).currency(),
            extent: Extent {
                after_entry: 3,
                opening: 1_000,
                until_entry: 8,
                closing: 50_800,
                as_of: at(if is_complete { "2026-11-20T22:00:00Z" } else { "2026-11-20T12:00:00.5Z" }),
                is_complete,
            },
        },
        opening: bwp(1_000),
        lines: vec![
            line(7, 1, MovementKind::TopUp, MovementPart::Payment, 60_000, 61_000),
            of_purchase(line(8, 2, MovementKind::Purchase, MovementPart::Net, -10_000, 51_000)),
            of_purchase(line(8, 3, MovementKind::Purchase, MovementPart::Charge, -200, 50_800)),
        ],
        next: None,
    }
}

#[test]
fn a_statement_in_json_leaves_out_what_a_line_does_not_have() {
    let mut page = page(true);
    page.lines.truncate(2);
    assert_json(
        &wire::Statement::new(&page, &days(), Some("c".to_owned()), &shared()),
        r#"{"account_id":17,"account_name":"Main & other","currency":"BWP","from":"2026-11-20","to":"2026-11-20",
        "from_time":"2026-11-20T00:00:00+02:00","to_time":"2026-11-21T00:00:00+02:00",
        "as_of":"2026-11-21T00:00:00+02:00","complete":true,"opening_balance":"BWP 10.00","opening_balance_minor":1000,
        "closing_balance":"BWP 508.00","closing_balance_minor":50800,"data":[
        {"entry":7,"date":"2026-11-20 12:00:00","posted_at":"2026-11-20T12:00:00.000123+02:00","kind":"TOP_UP",
        "part":"PAYMENT","amount":"BWP 600.00","amount_minor":60000,"balance":"BWP 610.00","balance_minor":61000,
        "reference":"BANK-1"},
        {"entry":8,"date":"2026-11-20 12:00:00","posted_at":"2026-11-20T12:00:00.000123+02:00","kind":"PURCHASE",
        "part":"NET","amount":"BWP -100.00","amount_minor":-10000,"balance":"BWP 510.00","balance_minor":51000,
        "reference":"TOP/2026/11/0000000042","purchase_id":42,
        "external_reference":"a \"reference\", & one of more than <35> characters",
        "subscriber_identifier":"04257670465","product_type":"ELECTRICITY","provider_code":"BPC"}],
        "next_cursor":"c"}"#,
    );
}

#[test]
fn a_statement_in_csv_has_its_balances_in_the_first_and_the_last_row() {
    let of = |is_complete, cursor, is_first| {
        let statement = wire::Statement::new(&page(is_complete), &days(), cursor, &shared());
        String::from_utf8(statement.to_csv(is_first).unwrap()).unwrap()
    };
    let lines = "7,2026-11-20 12:00:00,2026-11-20T12:00:00.000123+02:00,TOP_UP,PAYMENT,BWP 600.00,60000,BWP 610.00,61000,BANK-1,,,,,\r\n\
        8,2026-11-20 12:00:00,2026-11-20T12:00:00.000123+02:00,PURCHASE,NET,BWP -100.00,-10000,BWP 510.00,51000,TOP/2026/11/0000000042,42,\"a \"\"reference\"\", & one of more than <35> characters\",04257670465,ELECTRICITY,BPC\r\n\
        8,2026-11-20 12:00:00,2026-11-20T12:00:00.000123+02:00,PURCHASE,CHARGE,BWP -2.00,-200,BWP 508.00,50800,TOP/2026/11/0000000042,42,\"a \"\"reference\"\", & one of more than <35> characters\",04257670465,ELECTRICITY,BPC\r\n";
    let head = "entry,date,posted_at,kind,part,amount,amount_minor,balance,balance_minor,reference,purchase_id,\
        external_reference,subscriber_identifier,product_type,provider_code\r\n";
    let opening = ",,2026-11-20T00:00:00+02:00,OPENING_BALANCE,,,,BWP 10.00,1000,,,,,,\r\n";
    let closing = ",,2026-11-21T00:00:00+02:00,CLOSING_BALANCE,,,,BWP 508.00,50800,,,,,,\r\n";
    let interim = ",,2026-11-20T14:00:00.500+02:00,INTERIM_BALANCE,,,,BWP 508.00,50800,,,,,,\r\n";
    assert_eq!(of(true, None, true), format!("{head}{opening}{lines}{closing}"));
    assert_eq!(of(false, None, false), format!("{head}{lines}{interim}"));
    assert_eq!(of(true, Some("c".to_owned()), true), format!("{head}{opening}{lines}"));
}

/// The message with each element on a line of its own.
fn camt(page: &StatementPage, number: u32) -> String {
    let message = wire::Camt053 { page, days: &days(), number, at: noon() };
    let xml = String::from_utf8(message.to_xml(&shared()).unwrap()).unwrap();
    xml.replace("><", ">\n<")
}

#[test]
fn a_statement_in_camt_053_has_the_elements_of_the_schema_in_their_order() {
    let expected = include_str!("statement_form/camt.053.xml");
    assert_eq!(camt(&page(true), 1), expected.trim_end());
}

#[test]
fn a_page_between_others_and_a_day_that_has_not_ended_have_balances_of_their_own_kind() {
    let mut first = page(false);
    first.next = Some(AfterLine { entry: 8, other: AccountId(3), balance: 50_800 });
    let text = camt(&first, 1);
    assert!(text.contains("<PgNb>1</PgNb>\n<LastPgInd>false</LastPgInd>"), "{text}");
    assert!(text.contains("<Cd>ITBD</Cd>") && !text.contains("<Cd>CLBD</Cd>"), "{text}");
    assert_eq!(text.matches("<Cd>INTM</Cd>").count(), 1);
    assert_eq!(camt(&first, 2).matches("<Cd>INTM</Cd>").count(), 2);
    let posted =
        at("2026-11-20T10:00:00.000123Z").with_timezone(&Gaborone).format("%Y-%m-%dT%H:%M:%S").to_string();
    let closing = text.split("<Bal>").nth(2).unwrap();
    assert!(closing.contains(&posted), "a page reaches to its last line: {closing}");
}
