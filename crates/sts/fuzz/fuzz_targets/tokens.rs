//! Any text under any key: nothing panics, what is read is written back as the same digits, and a meter gives credit only for a token
//! that it accepts, and once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sts::{
    Acceptance, BaseDate, CreditKind, DecoderKey, Entry, EntryRefusal, KeyExpiry, KeyParameters, KeyRevision,
    KeyType, MeterNumber, StsToken, SupplyGroupCode, TariffIndex, TokenContent, VirtualMeter,
};

const KINDS: [CreditKind; 4] =
    [CreditKind::Electricity, CreditKind::Water, CreditKind::Gas, CreditKind::Time];

fn parameters(byte: u8) -> Option<KeyParameters> {
    Some(KeyParameters {
        supply_group: SupplyGroupCode::parse("123457").ok()?,
        tariff_index: TariffIndex::try_new(byte % 100).ok()?,
        revision: KeyRevision::try_new(1 + byte % 9).ok()?,
        key_type: KeyType::Unique,
        base_date: BaseDate::Year2014,
        expiry: KeyExpiry::NEVER,
    })
}

fn credit(meter: &VirtualMeter) -> u64 {
    KINDS.iter().filter_map(|kind| meter.tenths(*kind)).sum()
}

fn enters(key: &DecoderKey, parameters: KeyParameters, digits: &str) {
    let mut meter = VirtualMeter::new(key.clone(), parameters, &KINDS);
    let entry = meter.enter(digits);
    let gives = match entry {
        Entry::Accepted(Acceptance::Credit { tenths, .. }) => u64::from(tenths),
        _ => 0,
    };
    assert_eq!(credit(&meter), gives, "credit without a token, or a token without credit");
    if gives > 0 {
        assert_eq!(meter.enter(digits), Entry::Refused(EntryRefusal::AlreadyUsed));
        assert_eq!(credit(&meter), gives, "credit twice");
    }
}

fn reads(key: &DecoderKey, text: &str) {
    let Ok(token) = StsToken::parse_grouped(text) else { return };
    assert_eq!(StsToken::parse_grouped(&token.grouped()).as_ref(), Ok(&token));
    if let Ok(content) = TokenContent::decode(&token, key) {
        assert_eq!(TokenContent::decode(&content.encode(key), key).as_ref(), Ok(&content));
    }
}

fuzz_target!(|input: ([u8; 16], u8, u128, String)| {
    let (key, byte, number, text) = input;
    let _any_text = MeterNumber::parse(&text);
    let Some(parameters) = parameters(byte) else { return };
    let Some(eight) = key.first_chunk::<8>() else { return };
    // Most random texts are no digits, so a number is read too.
    let digits = format!("{:020}", number % (1 << 66));
    for key in [DecoderKey::from_ea11_bytes(key), DecoderKey::from_ea09_bytes(*eight)] {
        for text in [&text, &digits] {
            reads(&key, text);
            enters(&key, parameters, text);
        }
    }
});
