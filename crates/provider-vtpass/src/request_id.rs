//! Our reference in the form that the vendor requires.
//!
//! The vendor wants a `request_id` that begins with the date and the minute in Nigeria, twelve digits, and may go on with
//! any letters and digits. Our reference is a second in UTC and a number, so it only has to be written in another way.

use chrono::FixedOffset;
use vend::ProviderReference;

/// Nigeria is one hour ahead of UTC, all year.
const SECONDS_EAST: i32 = 60 * 60;

/// The `request_id` of an order: date and time in Nigeria to the second, the six digits of our number, and the letters and
/// digits of the service. Two connections to one account sell different services, so their ids differ even if their
/// references are equal.
pub(crate) fn request_id(reference: ProviderReference, service: &str) -> String {
    let nigeria = FixedOffset::east_opt(SECONDS_EAST).expect("an hour is less than a day");
    let call = reference.call();
    let at = call.at().with_timezone(&nigeria).format("%Y%m%d%H%M%S");
    format!("{at}{:06}{}", call.number(), letters_and_digits(service))
}

/// The part of a service's name that a `request_id` can have.
pub(crate) fn letters_and_digits(service: &str) -> String {
    service.chars().filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeZone, Utc};
    use proptest::prelude::*;
    use vend::CallId;

    use super::*;

    fn reference(number: u32, at: DateTime<Utc>) -> ProviderReference {
        ProviderReference::new(CallId::new(number, at).unwrap())
    }

    #[test]
    fn an_id_begins_with_the_date_and_the_minute_in_nigeria() {
        let late = Utc.with_ymd_and_hms(2026, 11, 20, 23, 30, 5).unwrap();
        assert_eq!(request_id(reference(42, late), "ikeja-electric"), "20261121003005000042ikejaelectric");
    }

    proptest! {
        #[test]
        fn two_references_never_have_one_id(
            first in (1_u32..=CallId::NUMBER_MAX, 0_i64..4_000_000_000),
            second in (1_u32..=CallId::NUMBER_MAX, 0_i64..4_000_000_000),
        ) {
            let [first, second] = [first, second]
                .map(|(number, second)| reference(number, Utc.timestamp_opt(second, 0).unwrap()));
            let ids = [first, second].map(|reference| request_id(reference, "eko-electric"));
            prop_assert_eq!(first == second, ids[0] == ids[1]);
            prop_assert!(ids[0].bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
    }
}
