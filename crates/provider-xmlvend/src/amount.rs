//! The protocol's numbers. They are read exactly or not at all.

use money::{Currency, Money, Rounding};
use rust_decimal::Decimal;

use crate::tree::{Element, Malformed};

/// The maximum length of a number: more than any valid number needs, and short enough for an exact decimal.
const CHARACTERS_MAX: usize = 24;

/// An amount, with its currency if the gateway states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    value: Decimal,
    symbol: Option<Symbol>,
}

/// The currency that a gateway states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Code([u8; 3]),
    /// A sign or a word, which is the code of no currency.
    NoCode,
}

impl Symbol {
    fn of(text: &str) -> Self {
        text.as_bytes().try_into().map_or(Self::NoCode, Self::Code)
    }
}

impl Amount {
    /// Reads an element's `value` and `symbol`.
    pub(crate) fn read(element: &Element<'_>) -> Result<Self, Malformed> {
        let value = element.attribute("value").ok_or(Malformed::Missing("amount"))?;
        let value = decimal(value).ok_or(Malformed::BadValue("amount"))?;
        Ok(Self { value, symbol: element.attribute("symbol").map(Symbol::of) })
    }

    /// The amount as money of this currency. `None` if the gateway states another currency, or if the amount is
    /// negative or finer than a minor unit. Live gateways often omit the symbol.
    pub(crate) fn in_currency(&self, currency: Currency) -> Option<Money> {
        let money = Money::try_from_decimal(self.value, currency).ok()?;
        (self.may_be_in(currency) && money.minor() >= 0).then_some(money)
    }

    /// The largest money of this currency that is not above the amount, which may be negative. `None` if the gateway states another
    /// currency.
    pub(crate) fn rounded_down(&self, currency: Currency) -> Option<Money> {
        let money = Money::rounded(self.value, currency, Rounding::Floor).ok()?;
        self.may_be_in(currency).then_some(money)
    }

    /// Whether the gateway states this currency or none.
    pub(crate) fn may_be_in(&self, currency: Currency) -> bool {
        match self.symbol {
            None => true,
            Some(Symbol::Code(code)) => code.eq_ignore_ascii_case(currency.as_str().as_bytes()),
            Some(Symbol::NoCode) => false,
        }
    }
}

/// Reads digits with at most one point and one leading minus. The decimal crate would accept more forms.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (units, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (text.len() <= CHARACTERS_MAX && plain(units) && plain(fraction)).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_numbers() {
        assert_eq!(decimal("100.00"), Some(Decimal::new(10_000, 2)));
        assert_eq!(decimal("-0.5"), Some(Decimal::new(-5, 1)));
        for text in
            ["", "-", ".5", "5.", "1e3", "1_000", "+5", "1,5", "NaN", "1 ", "1234567890123456789012345"]
        {
            assert_eq!(decimal(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_amount_of_another_currency_or_finer_than_a_minor_unit_is_none() {
        let pula = Currency::parse("BWP").unwrap();
        let amount = |value: &str, symbol: Option<&str>| Amount {
            value: decimal(value).unwrap(),
            symbol: symbol.map(Symbol::of),
        };
        let five = Some(Money::from_minor(500, pula));
        assert_eq!(amount("5.000", Some("BWP")).in_currency(pula), five);
        assert_eq!(amount("5", Some("bwp")).in_currency(pula), five);
        assert_eq!(amount("5", None).in_currency(pula), five);
        assert_eq!(amount("5", Some("ZAR")).in_currency(pula), None);
        assert_eq!(amount("5.001", None).in_currency(pula), None);
        assert_eq!(amount("-5", None).in_currency(pula), None);
    }
}
