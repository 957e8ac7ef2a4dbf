//! Parses arguments. Each error says what would have been valid; clap adds the name of the argument.

use std::{ops::RangeInclusive, time::Duration};

use chrono::TimeDelta;
use money::{AmountError, Currency, Money, Rate};
use purchase::PurchaseId;
use rust_decimal::Decimal;
use vend::{Capabilities, SubscriberIdentifier, Units};

/// How long a provider may still act on an order, in whole seconds, as the database stores it.
pub fn settling(text: &str) -> Result<Duration, String> {
    let bounds = Capabilities::SETTLES_WITHIN_MIN..=Capabilities::SETTLES_WITHIN_MAX;
    let length = humantime::parse_duration(text).ok();
    length
        .filter(|length| bounds.contains(length) && length.subsec_nanos() == 0)
        .ok_or_else(|| "write whole seconds, from 1s to 24h: 90s or 10m".to_owned())
}

/// The time whose calls a circuit breaker counts.
pub fn breaker_within(text: &str) -> Result<Duration, String> {
    whole_seconds(text, 10..=600).ok_or_else(|| "write whole seconds, from 10s to 10m".to_owned())
}

/// How long a circuit breaker pauses the sales before it tries the provider.
pub fn breaker_pause(text: &str) -> Result<Duration, String> {
    whole_seconds(text, 1..=3_600).ok_or_else(|| "write whole seconds, from 1s to 1h".to_owned())
}

fn whole_seconds(text: &str, bounds: RangeInclusive<u64>) -> Option<Duration> {
    let length = humantime::parse_duration(text).ok()?;
    (bounds.contains(&length.as_secs()) && length.subsec_nanos() == 0).then_some(length)
}

/// A positive amount. Another argument names its currency.
#[derive(Clone, Copy, Debug)]
pub struct Amount(i64);

impl Amount {
    pub const fn of(self, currency: Currency) -> Money {
        Money::from_minor(self.0, currency)
    }

    /// In hundredths.
    pub const fn minor(self) -> i64 {
        self.0
    }
}

/// The longest overlap of two secrets.
const OVERLAP_MAX: Duration = Duration::from_hours(90 * 24);

const TOLERANCE_MAX: TimeDelta = TimeDelta::hours(12);

const LABEL_MAX: usize = 100;
const FOOTER_LINE_MAX: usize = 80;
const NAME_MAX: usize = 200;
const SENTENCE_MAX: usize = 500;
const PART_OF_IDENTITY_MAX: usize = 255;

/// Decimals of a rate as they are stored.
const RATE_DECIMALS_MAX: u32 = 6;

/// How an operator names a purchase: by its number, or by its reference, which ends in the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseName {
    pub id: PurchaseId,
    /// The reference, if the purchase was named by it.
    pub reference: Option<String>,
}

pub fn amount(text: &str) -> Result<Amount, String> {
    read_amount(text).map_err(|error| format!("{error}; write it like 100.00"))
}

/// An amount that may be zero.
pub fn charge(text: &str) -> Result<Amount, String> {
    match read_amount(text) {
        Err(AmountError::NotPositive) => Ok(Amount(0)),
        Err(error) => Err(format!("{error}; write it like 1.50")),
        Ok(amount) => Ok(amount),
    }
}

/// The grammar is the same for every currency. `XXX` stands for no currency (ISO 4217).
fn read_amount(text: &str) -> Result<Amount, AmountError> {
    let none = Currency::in_hundredths("XXX").expect("three upper-case letters are a currency");
    money::parse_amount(text, none).map(|amount| Amount(amount.minor()))
}

pub fn rate(text: &str) -> Result<Rate, String> {
    let rate = Rate::parse(text).ok().filter(|rate| {
        let decimal = rate.to_decimal();
        decimal < Decimal::ONE && decimal.normalize().scale() <= RATE_DECIMALS_MAX
    });
    rate.ok_or_else(|| {
        "a rate is below 1, which is 100 %, and has at most 6 decimals; write 1.5% as 0.015".to_owned()
    })
}

/// Amounts have two decimals on the wire and in the database, whatever their currency.
pub fn currency(text: &str) -> Result<Currency, String> {
    Currency::in_hundredths(text)
        .map_err(|_malformed| "a currency is three capital letters (ISO 4217), such as BWP".to_owned())
}

/// The currency of a new wallet. A currency whose minor unit is not a hundredth is refused, because an integrator would take
/// a hundredth of a shilling for a shilling. Wallets that were opened in one before stay as they are.
pub fn currency_of_a_wallet(text: &str) -> Result<Currency, String> {
    let currency = currency(text)?;
    match Currency::parse(text) {
        Ok(listed) if listed != currency => Err(format!(
            "{text} has {} decimals (ISO 4217), and a wallet's amounts have two; use a currency with two",
            listed.minor_digits()
        )),
        Ok(_) | Err(_) => Ok(currency),
    }
}

pub fn organisation_code(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err("a code has 1 to 64 letters, digits, `_` and `-`".to_owned())
}

pub fn provider_code(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if (2..=32).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err("a provider's code has 2 to 32 capital letters, digits and `_`".to_owned())
}

pub fn client_id(text: &str) -> Result<String, String> {
    let is_one = text.starts_with("vg_test_") || text.starts_with("vg_live_");
    if is_one && text.len() <= 80 {
        return Ok(text.to_owned());
    }
    Err("a client id begins with vg_test_ or vg_live_; `vendctl client list` shows them".to_owned())
}

pub fn name(text: &str) -> Result<String, String> {
    line(text, NAME_MAX)
}

/// A label on a screen.
pub fn label(text: &str) -> Result<String, String> {
    line(text, LABEL_MAX)
}

pub fn actor(text: &str) -> Result<String, String> {
    line(text, NAME_MAX)
}

/// A sentence, such as a reason.
pub fn sentence(text: &str) -> Result<String, String> {
    line(text, SENTENCE_MAX)
}

/// The reason of a change. The audit log keeps it for ever, and every operator reads it, so it must not have a meter token.
pub fn reason(text: &str) -> Result<String, String> {
    if has_token(text) {
        return Err(
            "it is kept for ever and every operator reads it, so it must not have a meter token".to_owned()
        );
    }
    sentence(text)
}

/// Whether a text has the 20 digits of a token, together or in groups of four.
fn has_token(text: &str) -> bool {
    let is_of_token = |letter: char| letter.is_ascii_digit() || letter == ' ' || letter == '-';
    text.split(|letter| !is_of_token(letter)).any(|digits| {
        let groups: Vec<&str> = digits.split([' ', '-']).filter(|group| !group.is_empty()).collect();
        groups.iter().any(|group| group.len() >= 20)
            || groups.windows(5).any(|five| five.iter().all(|group| group.len() == 4))
    })
}

/// The issuer or the subject of an identity at an OpenID provider. Both are compared exactly.
pub fn part_of_identity(text: &str) -> Result<String, String> {
    line(text, PART_OF_IDENTITY_MAX)
}

/// A line of a receipt's footer.
pub fn footer_line(text: &str) -> Result<String, String> {
    line(text, FOOTER_LINE_MAX)
}

pub fn phone_number(text: &str) -> Result<String, String> {
    if (6..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.to_owned());
    }
    Err("a phone number is its E.164 digits without the plus, such as 26771234567".to_owned())
}

/// A number to which something is sent: one that exists in the numbering plan of its country. Without its country code it would be
/// another person's, or of no person.
pub fn international_number(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let number = phone_number(digits).ok().filter(|digits| {
        let read = phonenumber::parse(None, format!("+{digits}"));
        read.is_ok_and(|number| phonenumber::is_valid(&number))
    });
    number.ok_or_else(|| {
        "it is no phone number with its country code; write it like 26771234567 (E.164, with or without the plus)".to_owned()
    })
}

pub fn email(text: &str) -> Result<String, String> {
    let (user, host) = text.rsplit_once('@').unwrap_or_default();
    let plain = text.chars().all(|character| !character.is_control() && !character.is_whitespace());
    if plain && !user.is_empty() && !host.is_empty() && text.len() <= 254 {
        return Ok(text.to_owned());
    }
    Err("an e-mail address is like till@kgale.example".to_owned())
}

pub fn reference(text: &str) -> Result<String, String> {
    if (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err("a payment's id has 1 to 64 visible ASCII characters, such as FNB-20261120-4711".to_owned())
}

/// A meter or a phone, also in groups of digits.
pub fn subscriber(text: &str) -> Result<SubscriberIdentifier, String> {
    SubscriberIdentifier::parse(&text.replace(' ', "")).map_err(|error| error.to_string())
}

/// Small letters will do, and a reference without the zeros before its number.
pub fn purchase(text: &str) -> Result<PurchaseName, String> {
    let text = whole_reference(text.trim().to_ascii_uppercase());
    let number = text.strip_prefix("TOP/").and_then(|rest| rest.rsplit('/').next()).unwrap_or(&text);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let id = number.parse().ok().filter(|_| is_number).map(PurchaseId);
    let id = id.ok_or("name it by its number, or by its reference such as TOP/2026/11/0000004217")?;
    Ok(PurchaseName { id, reference: (number != text).then(|| text.clone()) })
}

/// A reference such as `TOP/2026/11/4217` with the zeros that it is stored with. Any other text as it is.
pub(crate) fn whole_reference(text: String) -> String {
    let parts: Vec<&str> = text.split('/').collect();
    match parts[..] {
        ["TOP", year, month, number] if !number.is_empty() => format!("TOP/{year}/{month:0>2}/{number:0>10}"),
        _ => text,
    }
}

/// A quantity and its unit.
pub fn units(text: &str) -> Result<Units, String> {
    let help = || "write quantity and unit, such as \"45.2 kWh\"".to_owned();
    let (quantity, unit) = text.trim().split_once(' ').ok_or_else(help)?;
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if quantity.is_empty()
        || !quantity.bytes().all(plain)
        || !quantity.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(help());
    }
    let quantity: Decimal = quantity.parse().map_err(|_not_a_number| help())?;
    let unit = unit.trim();
    let is_unit = (1..=10).contains(&unit.len()) && unit.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if quantity.is_zero() || !is_unit {
        return Err(help());
    }
    Ok(Units { quantity, unit: unit.to_owned() })
}

pub(crate) fn age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it like 10m or 24h"))
}

/// How far two clocks may be apart. It is less than half of the shortest usual period, a day.
pub fn tolerance(text: &str) -> Result<TimeDelta, String> {
    let read = age(text)?;
    let seconds = i64::try_from(read.as_secs()).unwrap_or(i64::MAX);
    if read.subsec_nanos() == 0 && seconds <= TOLERANCE_MAX.num_seconds() {
        return Ok(TimeDelta::seconds(seconds));
    }
    Err("a tolerance is of whole seconds, at most 12h; write it like 5m".to_owned())
}

pub fn overlap(text: &str) -> Result<Duration, String> {
    let read =
        humantime::parse_duration(text).map_err(|error| format!("{error}; write it like 24h or 30m"))?;
    if read <= OVERLAP_MAX { Ok(read) } else { Err("an overlap lasts 90 days at most".to_owned()) }
}

pub fn language(text: &str) -> Result<String, String> {
    if (2..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Ok(text.to_owned());
    }
    Err("a language is two or three small letters, such as fr".to_owned())
}

/// One line of text that is not empty.
fn line(text: &str, max: usize) -> Result<String, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.chars().count() > max || trimmed.chars().any(char::is_control) {
        return Err(format!("one line of 1 to {max} characters is expected"));
    }
    Ok(trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_parsed_strictly_and_a_charge_may_be_zero() {
        let pula = currency("BWP").unwrap();
        assert_eq!(amount("100.50").unwrap().of(pula).to_string(), "BWP 100.50");
        assert_eq!(charge("0").unwrap().of(pula).to_string(), "BWP 0.00");
        for wrong in ["0", "-1", "1e3", "1,000.00", "1.005", "BWP 1.00"] {
            assert!(amount(wrong).unwrap_err().ends_with("write it like 100.00"), "{wrong}");
        }
    }

    #[test]
    fn a_rate_that_the_database_would_round_or_refuse_is_refused_here() {
        assert_eq!(rate("0.0150000").unwrap().to_decimal().normalize().to_string(), "0.015");
        for wrong in ["1.01", "0.0000001", "1.5%", "-0.1", ".5"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_reason_has_no_token_and_may_have_other_numbers() {
        for token in ["3666 6415 0950 8673 0872", "read 36666415095086730872", "(3666-6415-0950-8673-0872)"] {
            assert!(reason(token).unwrap_err().ends_with("it must not have a meter token"), "{token}");
        }
        for fine in ["FNB 2026-11-26, 26771234567", "R1795666349061", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"] {
            assert_eq!(reason(fine).as_deref(), Ok(fine));
        }
    }

    #[test]
    fn a_malformed_value_is_refused() {
        for wrong in ["", "  ", "two\nlines", &"x".repeat(501)] {
            assert!(sentence(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(sentence(" contract 17 ").unwrap(), "contract 17");
        assert!(organisation_code("KGALE STORES").is_err());
        assert!(provider_code("bpc").is_err());
        assert!(phone_number("+26771234567").is_err());
        assert!(email("till").is_err() && email("@kgale.example").is_err());
        assert!(reference("two words").is_err());
        assert!(overlap("91d").is_err() && overlap("a day").is_err());
        assert!(currency("bwp").is_err() && currency_of_a_wallet("bwp").is_err());
        assert!(age("long").is_err());
    }

    #[test]
    fn a_wallet_is_not_opened_in_a_currency_without_two_decimals() {
        for code in ["BWP", "ZAR", "ABC"] {
            assert_eq!(currency_of_a_wallet(code), currency(code));
        }
        for code in ["UGX", "XAF", "JPY", "TND", "BHD"] {
            let refused = currency_of_a_wallet(code).unwrap_err();
            assert!(refused.contains("a wallet's amounts have two"), "{refused}");
            assert!(currency(code).is_ok(), "{code}: a wallet that was opened before");
        }
    }

    #[test]
    fn a_purchase_is_named_by_its_number_or_by_the_reference_that_ends_in_it() {
        let by_number = PurchaseName { id: PurchaseId(4_217), reference: None };
        assert_eq!(purchase("4217"), Ok(by_number.clone()));
        assert_eq!(purchase("top/2026/11/4217"), purchase("TOP/2026/11/0000004217"));
        let reference = "TOP/2026/11/0000004217";
        assert_eq!(
            purchase(reference),
            Ok(PurchaseName { reference: Some(reference.to_owned()), ..by_number.clone() })
        );
        assert_eq!(purchase(" top/2026/11/0000004217"), purchase(reference));
        for wrong in ["", "TOP", "TOP/2026/11/", "-1", "4217x", "TOP/2026/11/+17", "99999999999999999999"] {
            assert!(purchase(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn units_are_a_quantity_and_a_unit() {
        assert_eq!(units("45.20 kWh").unwrap().to_string(), "45.20 kWh");
        for wrong in ["45.2", "kWh", "0 kWh", "-1 kWh", "1e3 kWh", ".5 kWh", "45.2 k/Wh", "1_0 kWh"] {
            assert!(units(wrong).is_err(), "{wrong}");
        }
    }
}
