//! The sign of an amount, sums and comparisons, and the text form of a currency.

use std::cmp::Ordering;

use money::{Currency, Money};

fn pula(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("BWP").expect("a currency"))
}

#[test]
fn only_an_amount_above_zero_is_positive() {
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
