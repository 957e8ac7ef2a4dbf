//! Amounts as people write them.

use money::{Currency, Money};

/// Code and amount. A currency without a minor unit has no decimals, unless the amount has some.
pub(crate) fn written(amount: Money) -> String {
    let usual = Currency::parse(amount.currency().as_str()).map(Currency::minor_digits);
    let whole = amount.to_decimal();
    if usual == Ok(0) && whole.fract().is_zero() {
        format!("{} {}", amount.currency(), whole.trunc())
    } else {
        amount.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decimals_are_those_of_the_currency() {
        for (code, minor, said) in [
            ("BWP", 10_050, "BWP 100.50"),
            ("XAF", 500_000, "XAF 5000"),
            ("XAF", 500_050, "XAF 5000.50"),
            ("MZN", 0, "MZN 0.00"),
        ] {
            let currency = Currency::in_hundredths(code).unwrap();
            assert_eq!(written(Money::from_minor(minor, currency)), said);
        }
    }
}
