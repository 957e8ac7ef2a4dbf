//! Tests of the virtual meter: which tokens it accepts and which it refuses.

use sts::{
    Acceptance, BaseDate, CreditAmount, CreditKind, CreditRegisters, CurrencyAmount, EncryptionAlgorithm,
    Entry, EntryRefusal, Instruction, IssueError, KeyChangeError, KeyExpiry, KeyParameters, KeyRevision,
    KeyType, MalformedToken, MeterNumber, MeterPan, MeterTest, PowerLimit, Rnd, SectionNumber, StsToken,
    SupplyGroupCode, TariffIndex, Tid, TokenContent, TokenIssuer, VendingKey, VirtualMeter,
};

use CreditKind::{Electricity, Water};
use EncryptionAlgorithm::{Ea09, Ea11};

fn parameters() -> KeyParameters {
    KeyParameters {
        supply_group: SupplyGroupCode::parse("123457").expect("six digits"),
        tariff_index: TariffIndex::try_new(1).expect("two digits"),
        revision: KeyRevision::try_new(4).expect("one digit"),
        key_type: KeyType::Unique,
        base_date: BaseDate::Year2014,
        expiry: KeyExpiry::NEVER,
    }
}

fn issuer(algorithm: EncryptionAlgorithm, parameters: KeyParameters) -> TokenIssuer {
    let pan = MeterPan::of(&MeterNumber::parse("07040904562").expect("a valid meter number"));
    TokenIssuer::new(&VendingKey::from_bytes([7; 20]), algorithm, parameters, pan)
}

fn revised(parameters: KeyParameters) -> KeyParameters {
    KeyParameters { revision: KeyRevision::try_new(5).expect("one digit"), ..parameters }
}

fn meter_of(issuer: &TokenIssuer) -> VirtualMeter {
    VirtualMeter::new(issuer.decoder_key().clone(), *issuer.parameters(), &[Electricity])
}

fn credit(issuer: &TokenIssuer, tenths: u64, minute: u64) -> StsToken {
    credit_of(Electricity, issuer, tenths, minute)
}

fn credit_of(kind: CreditKind, issuer: &TokenIssuer, tenths: u64, minute: u64) -> StsToken {
    let tid = Tid::try_new(minute).expect("24 bits");
    let amount = CreditAmount::rounding_up(tenths).expect("within the range of the field");
    issuer.credit(kind, amount, tid, Rnd::from_byte(3)).expect("the key has not expired")
}

fn credited(tenths: u32) -> Entry {
    Entry::Accepted(Acceptance::Credit { kind: Electricity, tenths })
}

fn refused(refusal: EntryRefusal) -> Entry {
    Entry::Refused(refusal)
}

#[test]
fn credit_adds_up_and_a_repeated_token_adds_nothing() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    let (first, second) = (credit(&issuer, 452, 6_777_210), credit(&issuer, 100, 6_777_211));
    assert_eq!(meter.enter(second.digits()), credited(100));
    assert_eq!(meter.enter(first.digits()), credited(452));
    assert_eq!(meter.enter(first.digits()), refused(EntryRefusal::AlreadyUsed));
    assert_eq!(meter.enter(second.digits()), refused(EntryRefusal::AlreadyUsed));
    assert_eq!(meter.tenths(Electricity), Some(552));
}

#[test]
fn another_token_of_the_same_minute_is_taken_for_the_same() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    assert_eq!(meter.enter(credit(&issuer, 452, 9).digits()), credited(452));
    assert_eq!(meter.enter(credit(&issuer, 100, 9).digits()), refused(EntryRefusal::AlreadyUsed));
}

#[test]
fn what_is_no_token_is_refused_as_such() {
    let mut meter = meter_of(&issuer(Ea11, parameters()));
    assert_eq!(
        meter.enter("0808-6259-4989-7426-3587"),
        refused(EntryRefusal::Malformed(MalformedToken::NotTwentyDigits))
    );
    assert_eq!(
        meter.enter("99999999999999999999"),
        refused(EntryRefusal::Malformed(MalformedToken::OutOfRange))
    );
    assert_eq!(meter.enter("00000000000134217728"), refused(EntryRefusal::WrongChecksum), "a wrong checksum");
    assert_eq!(meter.enter("02305843009347914912"), refused(EntryRefusal::Unsupported), "an extended token");
}

#[test]
fn a_token_for_another_meter_is_refused() {
    let neighbour = TokenIssuer::new(
        &VendingKey::from_bytes([7; 20]),
        Ea11,
        parameters(),
        MeterPan::of(&MeterNumber::parse("04257670465").unwrap()),
    );
    let mut meter = meter_of(&issuer(Ea11, parameters()));
    assert_eq!(meter.enter(credit(&neighbour, 452, 9).digits()), refused(EntryRefusal::WrongChecksum));
    assert_eq!(meter.tenths(Electricity), Some(0));
}

#[test]
fn a_meter_takes_only_the_kinds_it_gives_out_and_the_token_is_not_used_up() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    let water = credit_of(Water, &issuer, 10, 9);
    let refusal = refused(EntryRefusal::WrongCreditKind { kind: Water });
    assert_eq!(meter.enter(water.digits()), refusal);
    assert_eq!(meter.enter(water.digits()), refusal);
    assert_eq!(meter.tenths(Water), None);
    assert_eq!(meter.enter(credit(&issuer, 10, 9).digits()), credited(10));
}

#[test]
fn a_token_older_than_everything_remembered_is_refused() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    for minute in 1_000..1_050 {
        assert_eq!(meter.enter(credit(&issuer, 1, minute).digits()), credited(1));
    }
    assert_eq!(meter.enter(credit(&issuer, 1, 999).digits()), refused(EntryRefusal::TooOld));
    assert_eq!(meter.enter(credit(&issuer, 1, 1_050).digits()), credited(1));
}

#[test]
fn an_expired_key_takes_no_credit_and_its_issuer_makes_none() {
    let expiring = KeyParameters { expiry: KeyExpiry::after_period(0), ..parameters() };
    let careless = issuer(Ea11, parameters());
    let mut meter = VirtualMeter::new(careless.decoder_key().clone(), expiring, &[Electricity]);
    assert_eq!(meter.enter(credit(&careless, 1, 0x0_FFFF).digits()), credited(1));
    assert_eq!(meter.enter(credit(&careless, 1, 0x1_0000).digits()), refused(EntryRefusal::KeyExpired));

    let tid = Tid::try_new(0x1_0000).unwrap();
    assert_eq!(
        issuer(Ea11, expiring).credit(Electricity, CreditAmount::MAX, tid, Rnd::from_byte(0)),
        Err(IssueError::KeyExpired { tid })
    );
}

#[test]
fn clearing_takes_the_credit_away_once() {
    let issuer = issuer(Ea11, parameters());
    let mut meter =
        VirtualMeter::new(issuer.decoder_key().clone(), *issuer.parameters(), &[Electricity, Water]);
    let clear = |registers, minute| {
        issuer.clear_credit(registers, Tid::try_new(minute).unwrap(), Rnd::from_byte(1)).unwrap()
    };
    meter.enter(credit(&issuer, 70, 1).digits());
    meter.enter(credit_of(Water, &issuer, 80, 2).digits());

    let water_only = clear(CreditRegisters::One(Water), 3);
    assert_eq!(meter.enter(water_only.digits()), Entry::Accepted(Acceptance::CreditCleared));
    assert_eq!((meter.tenths(Electricity), meter.tenths(Water)), (Some(70), Some(0)));

    let all = clear(CreditRegisters::All, 4);
    assert_eq!(meter.enter(all.digits()), Entry::Accepted(Acceptance::CreditCleared));
    assert_eq!(meter.tenths(Electricity), Some(0));
    assert_eq!(meter.enter(all.digits()), refused(EntryRefusal::AlreadyUsed));

    let gas = clear(CreditRegisters::One(CreditKind::Gas), 5);
    assert_eq!(meter.enter(gas.digits()), refused(EntryRefusal::WrongCreditKind { kind: CreditKind::Gas }));
}

#[test]
fn an_instruction_changes_a_setting_once_and_a_test_changes_nothing() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    let limit = Instruction::MaximumPower(PowerLimit::rounding_up(4_600).unwrap());
    let token = issuer.instruction(limit, Tid::try_new(7).unwrap(), Rnd::from_byte(2)).unwrap();
    assert_eq!(meter.enter(token.digits()), Entry::Accepted(Acceptance::Instruction(limit)));
    assert_eq!(meter.enter(token.digits()), refused(EntryRefusal::AlreadyUsed));
    assert_eq!(meter.settings().maximum_power.map(PowerLimit::watts), Some(4_600));
    let same_minute =
        issuer.instruction(Instruction::ClearTamper, Tid::try_new(7).unwrap(), Rnd::from_byte(2));
    assert_eq!(meter.enter(same_minute.unwrap().digits()), refused(EntryRefusal::AlreadyUsed));

    let test = MeterTest::for_two_digits(1, 0).unwrap();
    for _ in 0..2 {
        assert_eq!(meter.enter(test.token().digits()), Entry::Accepted(Acceptance::Test(test)));
    }
}

#[test]
fn a_meter_of_units_takes_no_money() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    let (amount, tid) = (CurrencyAmount::rounding_up(100_000).unwrap(), Tid::try_new(7).unwrap());
    let token = issuer.currency_credit(Electricity, amount, tid).unwrap();
    assert_eq!(meter.enter(token.digits()), refused(EntryRefusal::Unsupported));
}

#[test]
fn two_tokens_change_a_des_key_and_only_then_the_new_credit_is_taken() {
    let old = issuer(Ea09, parameters());
    let new = issuer(Ea09, revised(parameters()));
    let mut meter = meter_of(&old);
    let fresh = credit(&new, 452, 6_777_210);
    let [first, second] = old.key_change_to(&new).unwrap().try_into().unwrap();

    assert_eq!(meter.enter(fresh.digits()), refused(EntryRefusal::WrongChecksum));
    let out_of_order =
        EntryRefusal::OutOfOrder { expected: SectionNumber::First, entered: SectionNumber::Second };
    assert_eq!(meter.enter(second.digits()), refused(out_of_order));
    assert_eq!(meter.enter(first.digits()), Entry::Accepted(Acceptance::KeySection(SectionNumber::First)));
    assert_eq!(meter.enter(first.digits()), refused(EntryRefusal::AlreadyUsed));
    assert_eq!(meter.enter(fresh.digits()), refused(EntryRefusal::WrongChecksum));
    assert_eq!(meter.enter(second.digits()), Entry::Accepted(Acceptance::KeyChanged { rolled_over: false }));
    assert_eq!(meter.enter(fresh.digits()), credited(452));
    assert_eq!(meter.parameters(), new.parameters());

    for spent in [first, second, fresh] {
        assert_eq!(meter.enter(spent.digits()), refused(EntryRefusal::AlreadyUsed));
    }
}

#[test]
fn four_tokens_change_a_misty1_key_and_the_supply_group_with_it() {
    let old = issuer(Ea11, parameters());
    let moved = KeyParameters {
        supply_group: SupplyGroupCode::parse("600042").unwrap(),
        tariff_index: TariffIndex::try_new(99).unwrap(),
        key_type: KeyType::Common,
        expiry: KeyExpiry::after_period(200),
        ..revised(parameters())
    };
    let new = issuer(Ea11, moved);
    let mut meter = meter_of(&old);
    let tokens = old.key_change_to(&new).unwrap();
    for (token, number) in tokens.iter().zip(SectionNumber::ALL).take(3) {
        assert!(!meter.enter(tokens[3].digits()).is_accepted(), "before the {number} section");
        assert_eq!(meter.enter(token.digits()), Entry::Accepted(Acceptance::KeySection(number)));
    }
    assert_eq!(
        meter.enter(tokens[3].digits()),
        Entry::Accepted(Acceptance::KeyChanged { rolled_over: false })
    );
    assert_eq!(meter.parameters(), &moved);
    assert_eq!(meter.enter(credit(&new, 10, 9).digits()), credited(10));
}

#[test]
fn credit_under_the_old_key_is_good_until_the_last_section() {
    let old = issuer(Ea09, parameters());
    let new = issuer(Ea09, revised(parameters()));
    let mut meter = meter_of(&old);
    let [first, second] = old.key_change_to(&new).unwrap().try_into().unwrap();
    assert!(meter.enter(first.digits()).is_accepted());
    assert_eq!(meter.enter(credit(&old, 10, 8).digits()), credited(10));
    assert!(meter.enter(second.digits()).is_accepted());
    assert_eq!(meter.enter(credit(&old, 10, 9).digits()), refused(EntryRefusal::WrongChecksum));
    assert_eq!(meter.tenths(Electricity), Some(10));
}

#[test]
fn another_key_change_begins_again_with_its_own_first_section() {
    let old = issuer(Ea09, parameters());
    let abandoned =
        issuer(Ea09, KeyParameters { tariff_index: TariffIndex::try_new(7).unwrap(), ..parameters() });
    let new = issuer(Ea09, revised(parameters()));
    let mut meter = meter_of(&old);
    assert!(meter.enter(old.key_change_to(&abandoned).unwrap()[0].digits()).is_accepted());
    for token in old.key_change_to(&new).unwrap() {
        assert!(meter.enter(token.digits()).is_accepted());
    }
    assert_eq!(meter.enter(credit(&new, 10, 9).digits()), credited(10));
}

#[test]
fn sections_meant_for_a_longer_key_are_not_supported() {
    let short = issuer(Ea09, parameters());
    let long = issuer(Ea11, parameters());
    let mut meter = meter_of(&short);
    for token in &long.key_change_to(&issuer(Ea11, revised(parameters()))).unwrap()[2..] {
        let section = TokenContent::decode(token, long.decoder_key()).unwrap();
        let misdirected = section.encode(short.decoder_key());
        assert_eq!(meter.enter(misdirected.digits()), refused(EntryRefusal::Unsupported));
    }
}

#[test]
fn a_roll_over_moves_the_base_date_and_forgets_identifiers() {
    let before = KeyParameters { base_date: BaseDate::Year1993, ..parameters() };
    let (old, new) = (issuer(Ea09, before), issuer(Ea09, revised(parameters())));
    let mut meter = meter_of(&old);
    for minute in 16_000_000..16_000_050 {
        assert_eq!(meter.enter(credit(&old, 1, minute).digits()), credited(1));
    }
    let [first, second] = old.key_change_to(&new).unwrap().try_into().unwrap();
    assert!(meter.enter(first.digits()).is_accepted());
    assert_eq!(meter.enter(second.digits()), Entry::Accepted(Acceptance::KeyChanged { rolled_over: true }));
    assert_eq!(meter.parameters().base_date, BaseDate::Year2014);
    assert_eq!(meter.enter(credit(&new, 5, 6_777_210).digits()), credited(5));
    assert_eq!(meter.enter(credit(&new, 5, 16_000_007).digits()), credited(5));
    assert_eq!(meter.tenths(Electricity), Some(60));
}

#[test]
fn an_ordinary_key_change_remembers_identifiers() {
    let old = issuer(Ea09, parameters());
    let new = issuer(Ea09, revised(parameters()));
    let mut meter = meter_of(&old);
    assert_eq!(meter.enter(credit(&old, 10, 9).digits()), credited(10));
    for token in old.key_change_to(&new).unwrap() {
        assert!(meter.enter(token.digits()).is_accepted());
    }
    assert_eq!(meter.enter(credit(&new, 10, 9).digits()), refused(EntryRefusal::AlreadyUsed));
    assert_eq!(meter.enter(credit(&new, 10, 10).digits()), credited(10));
}

#[test]
fn a_key_change_that_no_meter_could_follow_is_not_made() {
    let here = issuer(Ea09, parameters());
    let elsewhere = TokenIssuer::new(
        &VendingKey::from_bytes([7; 20]),
        Ea09,
        parameters(),
        MeterPan::of(&MeterNumber::parse("04257670465").unwrap()),
    );
    assert_eq!(
        here.key_change_to(&elsewhere),
        Err(KeyChangeError::AnotherMeter { from: here.pan().clone(), to: elsewhere.pan().clone() })
    );
    assert_eq!(here.key_change_to(&issuer(Ea11, parameters())), Err(KeyChangeError::AnotherAlgorithm));
    let on = |base_date| issuer(Ea09, KeyParameters { base_date, ..parameters() });
    assert_eq!(here.key_change_to(&on(BaseDate::Year1993)), Err(KeyChangeError::BaseDate));
    assert_eq!(on(BaseDate::Year1993).key_change_to(&on(BaseDate::Year2035)), Err(KeyChangeError::BaseDate));
}

#[test]
fn nothing_secret_reaches_debug_output() {
    let issuer = issuer(Ea11, parameters());
    let mut meter = meter_of(&issuer);
    let token = credit(&issuer, 452, 9);
    meter.enter(token.digits());
    for shown in [format!("{issuer:?}"), format!("{meter:?}"), format!("{token:?}")] {
        assert!(shown.contains("redacted"), "{shown}");
        assert!(!shown.contains(token.digits()), "{shown}");
    }
}
