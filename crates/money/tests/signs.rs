//! What is something, what is nothing, and what is owed; and how a currency shows itself in a failed test.

use std::cmp::Ordering;

use money::{Currency, Money};

fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").expect("a currency"))
}

#[test]
fn one_thebe_is_something_and_neither_nothing_nor_a_debt_is() {
    for (minor, is_positive, is_zero) in [(1, true, false), (0, false, true), (-1, false, false)] {
        assert_eq!((pula(minor).is_positive(), pula(minor).is_zero()), (is_positive, is_zero), "{minor}");
    }
}

#[test]
fn the_sum_of_nothing_is_nothing_and_the_larger_amount_is_the_larger() {
    let currency = pula(0).currency();
    assert_eq!(Money::sum(currency, []), Ok(pula(0)));
    assert_eq!(Money::sum(currency, [pula(40), pula(-15), pula(2)]), Ok(pula(27)));
    assert_eq!(pula(1).compare(pula(2)), Ok(Ordering::Less));
    assert_eq!(pula(2).compare(pula(1)), Ok(Ordering::Greater));
    assert_eq!(pula(2).compare(pula(2)), Ok(Ordering::Equal));
}

#[test]
fn a_currency_shows_its_three_letters() {
    let currency = pula(0).currency();
    assert_eq!((format!("{currency}"), format!("{currency:?}")), ("BWP".to_owned(), "BWP".to_owned()));
}
