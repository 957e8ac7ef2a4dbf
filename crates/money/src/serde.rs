//! Amounts, currencies and rates in the formats of serde, as texts. The implementations say which, because this module is private.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use ::serde::de::{Error, Visitor};
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Currency, Money, Rate};

/// Reads a text by `FromStr`.
struct Text<T>(&'static str, PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// As the text `BWP 100.00`, in every format: a number would be read as a float by many programs, and would not say its currency. The
/// text will not change. An amount whose currency is not one of ISO 4217 is written, and refused when it is read.
///
/// ```
/// let amount: money::Money = "BWP 100.00".parse()?;
/// assert_eq!(serde_json::to_string(&amount)?, "\"BWP 100.00\"");
/// assert_eq!(serde_json::from_str::<money::Money>("\"BWP 100.00\"")?, amount);
/// assert!(serde_json::from_str::<money::Money>("100.00").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From the text that [`Serialize`] writes, and from nothing else.
impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text("an amount such as BWP 100.00", PhantomData))
    }
}

/// As its code, `BWP`. The text will not change.
impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// From a code of ISO 4217 only.
impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text("a currency code such as BWP", PhantomData))
    }
}

/// As the text `0.015`. It will not change.
impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From the text that [`Serialize`] writes, and from nothing else: a number is refused.
impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text("a rate such as 0.015", PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T>(text: &str)
    where
        T: FromStr<Err: fmt::Debug> + Serialize + for<'de> Deserialize<'de> + PartialEq + fmt::Debug,
    {
        let value: T = text.parse().unwrap();
        let json = format!("\"{text}\"");
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(&json).unwrap(), value);
        assert_eq!(serde_json::from_value::<T>(json.trim_matches('"').into()).unwrap(), value);
    }

    #[test]
    fn every_value_is_the_text_that_a_person_reads() {
        for text in ["BWP 100.00", "JPY -5", "BHD 1.234"] {
            round_trip::<Money>(text);
        }
        round_trip::<Currency>("BWP");
        round_trip::<Rate>("0.0150");
    }

    #[test]
    fn nothing_else_is_read() {
        for json in ["100", "100.00", "null", "\"100.00\"", "\"BWP 100\"", "\"JPY 100.00\"", "{\"minor\":1}"]
        {
            assert!(serde_json::from_str::<Money>(json).is_err(), "{json}");
        }
        for json in ["\"ABC\"", "\"bwp\"", "72"] {
            assert!(serde_json::from_str::<Currency>(json).is_err(), "{json}");
        }
        assert!(serde_json::from_str::<Rate>("0.5").is_err());
        let wrong = serde_json::from_str::<Money>("5").unwrap_err().to_string();
        assert!(wrong.contains("expected an amount such as BWP 100.00"), "{wrong}");
    }

    #[test]
    fn an_amount_that_is_counted_in_another_unit_is_not_taken_for_an_iso_amount() {
        let hundredths = Money::from_minor(10_000, Currency::in_hundredths("UGX").unwrap());
        let json = serde_json::to_string(&hundredths).unwrap();
        assert!(serde_json::from_str::<Money>(&json).is_err());
    }
}
