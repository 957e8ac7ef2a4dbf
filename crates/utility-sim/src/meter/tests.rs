//! Meters and the tokens that they take.

use chrono::NaiveDate;
use sts::EntryRefusal;

use super::*;

fn key_change_meter() -> Meter {
    Meter::new(MeterNumber::parse("07000010111").unwrap(), Service::Electricity, Scenario::KeyChange)
}

fn buy(meter: &Meter) -> Vec<String> {
    let at = NaiveDate::from_ymd_opt(2026, 11, 20).unwrap().and_hms_opt(9, 30, 0).unwrap();
    let issue = meter.issue(CreditAmount::rounding_up(452).unwrap(), at, Rnd::from_byte(5)).unwrap();
    issue.digits()
}

fn all_accepted(meter: &Meter, digits: &[String]) -> bool {
    digits.iter().all(|token| meter.enter(token).0.is_accepted())
}

#[test]
fn an_ordinary_meter_takes_the_token_of_the_published_example() {
    let number = MeterNumber::parse("07040904562").unwrap();
    let meter = Meter::new(number, Service::Electricity, Scenario::Active);
    let digits = buy(&meter);
    assert_eq!(digits, ["08086259498974263587"]);
    assert_eq!(meter.enter(&digits[0]).1, 452);
    assert_eq!(meter.enter(&digits[0]), (Entry::Refused(EntryRefusal::AlreadyUsed), 452));
}

#[test]
fn a_water_meter_takes_water_tokens_and_no_others() {
    let number = || MeterNumber::parse("07040904562").unwrap();
    let water = Meter::new(number(), Service::Water, Scenario::Active);
    let electricity = Meter::new(number(), Service::Electricity, Scenario::Active);
    let other_kind = EntryRefusal::WrongCreditKind { kind: Service::Electricity.credit_kind() };
    assert_eq!(water.enter(&buy(&electricity)[0]), (Entry::Refused(other_kind), 0));
    let credited = Acceptance::Credit { kind: Service::Water.credit_kind(), tenths: 452 };
    assert_eq!(water.enter(&buy(&water)[0]), (Entry::Accepted(credited), 452));
}

#[test]
fn key_change_purchases_entered_in_order_work_one_after_another() {
    let meter = key_change_meter();
    for _purchase in 0..250 {
        assert!(all_accepted(&meter, &buy(&meter)));
    }
}

#[test]
fn a_purchase_that_was_never_typed_in_does_not_spoil_the_next() {
    let meter = key_change_meter();
    let _forgotten = buy(&meter);
    assert!(all_accepted(&meter, &buy(&meter)));
}

#[test]
fn a_key_change_given_up_half_way_does_not_spoil_the_next() {
    let meter = key_change_meter();
    let abandoned = buy(&meter);
    assert!(meter.enter(&abandoned[0]).0.is_accepted());
    assert!(all_accepted(&meter, &buy(&meter)));
}

#[test]
fn out_of_order_is_refused_and_in_order_still_works_after() {
    let meter = key_change_meter();
    let digits = buy(&meter);
    assert_eq!(meter.enter(&digits[2]).0, Entry::Refused(EntryRefusal::WrongChecksum));
    assert!(matches!(meter.enter(&digits[1]).0, Entry::Refused(EntryRefusal::OutOfOrder { .. })));
    assert!(all_accepted(&meter, &digits));
}

#[test]
fn of_purchases_that_waited_together_the_later_credit_works_at_once() {
    let meter = key_change_meter();
    let (first, second) = (buy(&meter), buy(&meter));
    assert!(all_accepted(&meter, &first));
    assert!(meter.enter(&second[2]).0.is_accepted());
}
