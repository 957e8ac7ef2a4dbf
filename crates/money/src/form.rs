//! The text forms of an amount.

use core::fmt::{self, Write as _};
use core::str::FromStr;

use alloc::borrow::ToOwned;
use alloc::format;

use crate::{Currency, Money, MoneyError};

/// A text form of an amount. Every form has exactly the minor digits of the currency.
///
/// ```
/// use money::{Form, Money};
///
/// let amount: Money = "BHD 1.250".parse()?;
/// assert_eq!(amount.in_form(Form::CodeFirst).to_string(), "BHD 1.250");
/// assert_eq!(amount.in_form(Form::CodeLast).to_string(), "1.250 BHD");
/// assert_eq!(amount.in_form(Form::MinorUnits).to_string(), "BHD 1250");
/// # Ok::<(), money::MoneyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// `BWP 100.00`, as [`Display`](fmt::Display) and [`FromStr`] have it.
    #[default]
    CodeFirst,
    /// `100.00 BWP`.
    CodeLast,
    /// `BWP 10000`: the number of minor units.
    MinorUnits,
}

impl Money {
    /// The amount in this form.
    pub fn in_form(self, form: Form) -> impl fmt::Display {
        InForm { money: self, form }
    }

    /// Reads a text of this form, in a currency of ISO 4217. Nothing else is accepted: no other number of decimals, no plus,
    /// no blanks around it.
    ///
    /// # Errors
    /// [`MoneyError::BadWireForm`], [`MoneyError::BadCurrency`], or [`MoneyError::Overflow`].
    pub fn parse_form(text: &str, form: Form) -> Result<Self, MoneyError> {
        read(text, form, Currency::parse)
    }

    /// Reads the form `BWP 100.00` with two decimals, whatever the currency: it is [counted in
    /// hundredths](Currency::in_hundredths). It is for systems in which every amount has two decimals.
    pub fn parse_wire(text: &str) -> Result<Self, MoneyError> {
        read(text, Form::CodeFirst, Currency::in_hundredths)
    }
}

/// Reads a text. `currency` says what a code means.
fn read(
    text: &str,
    form: Form,
    currency: fn(&str) -> Result<Currency, MoneyError>,
) -> Result<Money, MoneyError> {
    let bad = || MoneyError::BadWireForm(text.to_owned());
    let (first, last) = text.split_once(' ').ok_or_else(bad)?;
    let (code, amount) = match form {
        Form::CodeFirst | Form::MinorUnits => (first, last),
        Form::CodeLast => (last, first),
    };
    let (digits, negative) = amount.strip_prefix('-').map_or((amount, false), |rest| (rest, true));
    let (units, fraction) =
        digits.split_once('.').map_or((digits, None), |(units, rest)| (units, Some(rest)));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(units) || !fraction.is_none_or(all_digits) {
        return Err(bad());
    }
    let currency = currency(code)?;
    let fraction = fraction.unwrap_or_default();
    let expected = if form == Form::MinorUnits { 0 } else { usize::from(currency.minor_digits()) };
    if fraction.len() != expected {
        return Err(bad());
    }
    let magnitude: i64 = format!("{units}{fraction}").parse().map_err(|_overflow| MoneyError::Overflow)?;
    let minor = if negative { magnitude.checked_neg().ok_or(MoneyError::Overflow)? } else { magnitude };
    Ok(Money::from_minor(minor, currency))
}

struct InForm {
    money: Money,
    form: Form,
}

impl fmt::Display for InForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(width) = out.width() else { return self.write_to(out) };
        let mut length = Length(0);
        self.write_to(&mut length)?;
        let missing = width.saturating_sub(length.0);
        let before = match out.align() {
            Some(fmt::Alignment::Right) => missing,
            Some(fmt::Alignment::Center) => missing / 2,
            Some(fmt::Alignment::Left) | None => 0,
        };
        let fill = out.fill();
        repeat(out, fill, before)?;
        self.write_to(out)?;
        repeat(out, fill, missing.saturating_sub(before))
    }
}

impl InForm {
    fn write_to(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let Self { money, form } = self;
        match form {
            Form::CodeFirst => write!(out, "{} {}", money.currency(), money.amount()),
            Form::CodeLast => write!(out, "{} {}", money.amount(), money.currency()),
            Form::MinorUnits => write!(out, "{} {}", money.currency(), money.minor()),
        }
    }
}

/// Counts the characters that are written. All are ASCII.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.saturating_add(text.len());
        Ok(())
    }
}

fn repeat(out: &mut fmt::Formatter<'_>, character: char, times: usize) -> fmt::Result {
    (0..times).try_for_each(|_| out.write_char(character))
}

/// The form [`Form::CodeFirst`]: currency, one space, as many decimals as the currency has. A width pads it, to the left unless the
/// format says otherwise. A precision is ignored, because an amount is never cut off.
///
/// ```
/// let amount: money::Money = "BWP 9.50".parse()?;
/// assert_eq!(format!("{amount:>12}|{amount:12}|{amount:*^12}|{amount:.1}"), "    BWP 9.50|BWP 9.50    |**BWP 9.50**|BWP 9.50");
/// # Ok::<(), money::MoneyError>(())
/// ```
impl fmt::Display for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.in_form(Form::CodeFirst).fmt(out)
    }
}

/// Reads the form [`Form::CodeFirst`].
impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        Self::parse_form(text, Form::CodeFirst)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORMS: [Form; 3] = [Form::CodeFirst, Form::CodeLast, Form::MinorUnits];

    fn of(minor: i64, code: &str) -> Money {
        Money::from_minor(minor, Currency::parse(code).unwrap())
    }

    #[test]
    fn each_currency_has_its_own_decimals() {
        for (minor, code, text) in [
            (10_000, "BWP", "BWP 100.00"),
            (5, "BWP", "BWP 0.05"),
            (-5, "BWP", "BWP -0.05"),
            (i64::MAX, "BWP", "BWP 92233720368547758.07"),
            (100, "JPY", "JPY 100"),
            (100, "UGX", "UGX 100"),
            (-100, "XAF", "XAF -100"),
            (100, "TND", "TND 0.100"),
            (1_234, "BHD", "BHD 1.234"),
            (1, "CLF", "CLF 0.0001"),
        ] {
            assert_eq!(of(minor, code).to_string(), text);
            assert_eq!(text.parse(), Ok(of(minor, code)));
        }
    }

    #[test]
    fn an_amount_stands_in_its_column_and_is_never_cut_off() {
        for (money, text) in [(of(950, "BWP"), "BWP 9.50"), (of(-5, "JPY"), "JPY -5")] {
            for width in 0..16 {
                assert_eq!(format!("{money:width$}|"), format!("{text:width$}|"));
                assert_eq!(format!("{money:>width$}|"), format!("{text:>width$}|"));
                assert_eq!(format!("{money:#^width$.1}|"), format!("{text:#^width$}|"));
            }
            for form in FORMS {
                let short = money.in_form(form).to_string();
                assert_eq!(format!("{:>14}", money.in_form(form)), format!("{short:>14}"));
            }
        }
        assert_eq!(format!("{:>5}|{:5}|", of(1, "BWP").currency(), of(1, "JPY").currency()), "  BWP|JPY  |");
    }

    #[test]
    fn the_wire_form_has_two_decimals_in_every_currency() {
        for code in ["BWP", "JPY", "BHD", "ABC"] {
            let money = Money::from_minor(10_005, Currency::in_hundredths(code).unwrap());
            assert_eq!(money.to_string(), format!("{code} 100.05"));
            assert_eq!(Money::parse_wire(&money.to_string()), Ok(money));
        }
        assert!(Money::parse_wire("JPY 100").is_err());
        assert!("JPY 100.00".parse::<Money>().is_err());
    }

    #[test]
    fn a_malformed_text_is_refused_in_every_form() {
        for text in
            ["", "BWP", "BWP 1", "BWP 1.0", "BWP 1.000", "BWP +1.00", "bwp 1.00", "BWP  1.00", "BWP 1,00"]
        {
            assert!(Money::parse_wire(text).is_err(), "{text:?}");
            assert!(text.parse::<Money>().is_err(), "{text:?}");
            assert!(Money::parse_form(text, Form::CodeLast).is_err(), "{text:?}");
        }
        for text in
            ["JPY 1.", "JPY 1.0", "JPY .0", "BWP --1.00", "BWP 1.00 ", "BWP 1.0.0", "BWP -", "BWP 1.-0"]
        {
            assert!(text.parse::<Money>().is_err(), "{text:?}");
        }
        assert!(Money::parse_form("BWP 1.00", Form::MinorUnits).is_err());
        assert_eq!("BWP 92233720368547758.08".parse::<Money>(), Err(MoneyError::Overflow));
    }

    proptest! {
        #[test]
        fn every_form_round_trips(minor: i64, code in prop::sample::select(vec!["BWP", "JPY", "BHD", "CLF"])) {
            prop_assume!(minor != i64::MIN);
            for form in FORMS {
                let text = of(minor, code).in_form(form).to_string();
                prop_assert_eq!(Money::parse_form(&text, form).unwrap(), of(minor, code));
            }
        }

        #[test]
        fn any_text_is_read_without_panic(text in "[A-Z]{3} [-+0-9. ]{0,24}") {
            for form in FORMS {
                let _outcome = Money::parse_form(&text, form);
            }
        }
    }
}
