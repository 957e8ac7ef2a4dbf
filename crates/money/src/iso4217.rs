//! The minor digits of the currencies of ISO 4217.
//!
//! The lists are those of the crate `iso_currency` 0.7.1 (MIT). A test compares them with it. They are written out here, so that
//! a user of this crate does not build a crate and its build script for four short lists. Currencies that were superseded
//! are kept, because amounts in them are still stored.

/// Codes without a minor unit, such as the yen.
const NONE: &str = "\
    BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF \
";

/// Codes whose minor unit is a hundredth.
const HUNDREDTHS: &str = "\
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD \
    CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS \
    GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD \
    LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN \
    PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL \
    THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG ZWL \
";

/// Codes whose minor unit is a thousandth, such as the dinar of Bahrain.
const THOUSANDTHS: &str = "\
    BHD IQD JOD KWD LYD OMR TND \
";

/// Units of account of four digits.
const TEN_THOUSANDTHS: &str = "\
    CLF UYW \
";

/// The number of minor digits of this code. `None` if ISO 4217 has no such code, or one without money behind it (`XXX`, gold).
pub(crate) fn minor_digits(code: [u8; 3]) -> Option<u8> {
    let lists = [(HUNDREDTHS, 2), (NONE, 0), (THOUSANDTHS, 3), (TEN_THOUSANDTHS, 4)];
    let has = |list: &str| list.as_bytes().chunks(4).any(|listed| listed.starts_with(&code));
    lists.into_iter().find(|(list, _)| has(list)).map(|(_, digits)| digits)
}

/// Every code with its minor digits.
#[cfg(any(test, feature = "proptest"))]
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    [NONE, HUNDREDTHS, THOUSANDTHS, TEN_THOUSANDTHS].into_iter().flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use iso_currency::IntoEnumIterator as _;

    use super::*;

    #[test]
    fn the_lists_are_those_of_the_maintained_source() {
        let maintained: BTreeMap<String, Option<u8>> = iso_currency::Currency::iter()
            .map(|one| (one.code().to_owned(), one.exponent().and_then(|digits| u8::try_from(digits).ok())))
            .collect();
        for (code, digits) in &maintained {
            let bytes = code.as_bytes().try_into().expect("three letters");
            assert_eq!(minor_digits(bytes), *digits, "{code}");
        }
        assert!(all().all(|code| maintained.contains_key(code)));
        assert_eq!(all().count(), maintained.values().flatten().count());
    }
}
