//! The purchases of the fabricated history: who bought what, and how each ended.

use store::{Aad, SealError, SealingKeys, TOKEN_COLUMN};

use crate::chance::{mixed, one_of};

/// The organisations.
pub const MERCHANTS: u64 = 20;
/// This organisation has a third of all purchases.
pub const BIG: usize = 0;
/// This organisation gives all its purchases the same external reference.
pub const CARELESS: usize = 1;
/// Its reference.
pub const SAME_REFERENCE: &str = "POS-7";
/// Each subscriber buys so often in a year, on average.
const TIMES: u64 = 24;
/// Of the newest purchases, each of this number is in review.
const OPEN_EACH: u64 = 100;
const OPEN_AMONG: u64 = 2_000;
const REPLY: &str = include_str!("../../../crates/provider-xmlvend/tests/fixtures/vend_reply.xml");

/// How a purchase ended, in the words of the statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Vended,
    /// After a doubt that the worker ended.
    VendedLater,
    Refused,
    /// It is in review.
    Open,
}

/// A purchase.
#[derive(Debug)]
pub struct Past {
    pub id: i64,
    /// Its organisation's place.
    pub merchant: usize,
    pub product: &'static str,
    pub provider: &'static str,
    pub subscriber: String,
    /// In hundredths.
    pub net: i64,
    pub ending: Ending,
    pub reference: Option<String>,
    pub key: Option<String>,
    pub token: Option<Vec<u8>>,
    pub reply: Vec<u8>,
}

/// A year of purchases.
#[derive(Clone, Copy, Debug)]
pub struct History {
    pub purchases: u64,
    /// The number before the first purchase.
    pub before: i64,
}

impl Ending {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vended => "VENDED",
            Self::VendedLater => "VENDED_LATER",
            Self::Refused => "REFUSED",
            Self::Open => "OPEN",
        }
    }

    pub const fn is_success(self) -> bool {
        matches!(self, Self::Vended | Self::VendedLater)
    }
}

impl History {
    /// The purchase at this place, from 1.
    ///
    /// # Errors
    /// [`SealError`], if there is no randomness.
    pub fn at(&self, place: u64, keys: &SealingKeys) -> Result<Past, SealError> {
        let id = self.before.saturating_add_unsigned(place);
        let ending = self.ending(place);
        let merchant = merchant(place);
        let (product, provider) = product(place);
        let subscriber = self.subscriber(place, product, ending);
        let digits = format!("{:020}", u128::from(mixed(place, 11)).wrapping_mul(7_919));
        let has_token = ending.is_success() && product != "AIRTIME";
        let token = has_token.then(|| keys.seal(digits.as_bytes(), Aad { row_id: id, column: TOKEN_COLUMN }));
        let net =
            i64::try_from(one_of(400, place, 5)).unwrap_or_default().saturating_add(20).saturating_mul(100);
        let reply = keys.seal_reply(reply(id, &subscriber, net, &digits).as_bytes(), id)?;
        Ok(Past {
            id,
            merchant,
            product,
            provider,
            subscriber,
            net,
            ending,
            reference: reference(place, id, merchant),
            key: (one_of(10, place, 7) < 7)
                .then(|| format!("{:016x}{:016x}", mixed(place, 8), mixed(place, 9))),
            token: token.transpose()?.map(|sealed| sealed.bytes),
            reply: reply.bytes,
        })
    }

    fn ending(&self, place: u64) -> Ending {
        let from_the_end = self.purchases.saturating_sub(place);
        if from_the_end < OPEN_AMONG && from_the_end.is_multiple_of(OPEN_EACH) {
            return Ending::Open;
        }
        match one_of(100, place, 1) {
            0..=2 => Ending::Refused,
            3 => Ending::VendedLater,
            _ => Ending::Vended,
        }
    }

    /// Some buy more often than others. A purchase in review has a subscriber of its own.
    fn subscriber(&self, place: u64, product: &str, ending: Ending) -> String {
        if ending == Ending::Open {
            return format!("06{place:09}");
        }
        let count = (self.purchases / TIMES).max(200);
        let number = one_of(count, place, 2).min(one_of(count, place, 3));
        match product {
            "AIRTIME" => format!("26773{number:06}"),
            "WATER" => format!("29{number:09}"),
            _ => format!("05{number:09}"),
        }
    }
}

fn merchant(place: u64) -> usize {
    let chosen = match one_of(100, place, 4) {
        0..=32 => 0,
        33..=47 => 1,
        _ => one_of(MERCHANTS, place, 6),
    };
    usize::try_from(chosen).unwrap_or_default()
}

fn product(place: u64) -> (&'static str, &'static str) {
    match one_of(10, place, 10) {
        0 => ("WATER", "WUC"),
        1 | 2 => ("AIRTIME", "RELOADLY"),
        _ => ("ELECTRICITY", "BPC"),
    }
}

fn reference(place: u64, id: i64, merchant: usize) -> Option<String> {
    if merchant == CARELESS {
        return Some(SAME_REFERENCE.to_owned());
    }
    (one_of(10, place, 12) > 0).then(|| format!("till-{}-{id:07}", one_of(30, place, 13)))
}

/// What the provider said: no two replies have the same numbers.
fn reply(id: i64, subscriber: &str, net: i64, digits: &str) -> String {
    let token: String = digits.chars().rev().take(20).collect();
    REPLY
        .replace("\n        ", "\n")
        .replace("61722405118890034471", &token)
        .replace("14301118432", subscriber)
        .replace("V-77120", &format!("V-{id}"))
        .replace("\"42\"", &format!("\"{}\"", id.rem_euclid(999_999)))
        .replace("48211.10", &format!("{}.{:02}", mixed(id.unsigned_abs(), 14) % 99_999, net.rem_euclid(100)))
        .replace("100.00", &format!("{}.{:02}", net.div_euclid(100), net.rem_euclid(100)))
}

#[cfg(test)]
mod tests {
    use store::SealingKey;

    use super::*;

    #[test]
    fn nearly_all_purchases_have_ended_and_most_were_vended() {
        let keys = SealingKeys::try_new(SealingKey::new(1, &[1; 32]), Vec::new()).unwrap();
        let history = History { purchases: 20_000, before: 100 };
        let of = |ending| (1..=20_000).filter(|place| history.ending(*place) == ending).count();
        let [vended, later, refused, open] =
            [Ending::Vended, Ending::VendedLater, Ending::Refused, Ending::Open].map(of);
        assert_eq!(open, 20);
        assert!((18_900..19_400).contains(&vended) && (100..300).contains(&later) && refused > 400);
        let (one, again) = (history.at(7, &keys).unwrap(), history.at(7, &keys).unwrap());
        assert_eq!((one.id, &one.subscriber, one.net), (107, &again.subscriber, again.net));
        assert!(keys.open_reply(&store::Sealed { key_id: 1, bytes: one.reply }, 107).is_ok());
    }
}
