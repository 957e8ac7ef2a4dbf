//! The published conformance tokens (CTSA 531-1-0-04), compared digit by digit through the public interface.

use chrono::{NaiveDate, NaiveDateTime};
use sts::{
    BaseDate, CreditAmount, CreditKind, EncryptionAlgorithm, KeyExpiry, KeyParameters, KeyRevision, KeyType,
    MeterPan, Rnd, StsToken, SupplyGroupCode, TariffIndex, Tid, TokenContent, TokenIssuer, VendingKey,
};

use CreditKind::{Electricity, Gas, Water};

const FIRST_PAN: &str = "600727000000000009";
const SECOND_PAN: &str = "000001000000000082";

fn issuer(pan: &str, base_date: BaseDate, revision: u8, tariff_index: u8) -> TokenIssuer {
    let vending_key = hex::decode("abababababababab949494949494949401234567").expect("hexadecimal");
    let parameters = KeyParameters {
        supply_group: SupplyGroupCode::parse("123457").expect("six digits"),
        tariff_index: TariffIndex::try_new(tariff_index).expect("two digits"),
        revision: KeyRevision::try_new(revision).expect("one digit"),
        key_type: KeyType::Unique,
        base_date,
        expiry: KeyExpiry::NEVER,
    };
    TokenIssuer::new(
        &VendingKey::from_bytes(vending_key.try_into().expect("160 bits")),
        EncryptionAlgorithm::Ea11,
        parameters,
        MeterPan::parse(pan).expect("a valid account number"),
    )
}

fn local(year: i32, month: u32, day: u32, hour: u32, minute: u32) -> NaiveDateTime {
    NaiveDate::from_ymd_opt(year, month, day)
        .and_then(|day| day.and_hms_opt(hour, minute, 0))
        .expect("a valid date and time")
}

fn credit(issuer: &TokenIssuer, kind: CreditKind, tenths: u64, made_at: NaiveDateTime) -> StsToken {
    let tid = Tid::at(made_at, issuer.parameters().base_date).expect("within the range of the base date");
    let amount = CreditAmount::rounding_up(tenths).expect("within the range of the field");
    issuer.credit(kind, amount, tid, Rnd::from_byte(5)).expect("the key does not expire")
}

fn digits(tokens: &[StsToken]) -> Vec<&str> {
    tokens.iter().map(StsToken::digits).collect()
}

#[test]
fn every_published_credit_token_is_made_and_read() {
    use BaseDate::{Year1993, Year2014, Year2035};
    let on_1993 = |minute| local(2004, 3, 1, 13, minute);
    let on_2014 = |minute| local(2014, 1, 1, 8, minute);
    for (pan, base_date, revision, kind, made_at, expected) in [
        (FIRST_PAN, Year1993, 1, Electricity, on_1993(0), "59386323472137426967"),
        (FIRST_PAN, Year1993, 1, Water, on_1993(5), "47186281207955155808"),
        (FIRST_PAN, Year1993, 1, Gas, on_1993(10), "52059556253782091701"),
        (SECOND_PAN, Year1993, 1, Electricity, on_1993(20), "25453597494250138964"),
        (SECOND_PAN, Year1993, 1, Water, on_1993(25), "41136669315054818626"),
        (SECOND_PAN, Year1993, 1, Gas, on_1993(30), "22735221987748758248"),
        (FIRST_PAN, Year2014, 4, Electricity, on_2014(0), "13444522537517076834"),
        (FIRST_PAN, Year2014, 4, Water, on_2014(5), "03477912490596695895"),
        (FIRST_PAN, Year2014, 4, Gas, on_2014(10), "06094571069413075467"),
        (FIRST_PAN, Year2035, 5, Electricity, local(2035, 1, 1, 8, 0), "11907826947753213480"),
    ] {
        let issuer = issuer(pan, base_date, revision, 1);
        let token = credit(&issuer, kind, 1, made_at);
        assert_eq!(token.digits(), expected);

        let content = TokenContent::decode(&token, issuer.decoder_key()).unwrap();
        let TokenContent::Credit(read) = content else { panic!("{expected} is a credit token") };
        assert_eq!((read.kind, read.amount.tenths()), (kind, 1));
        assert_eq!((read.tid.local_time(base_date), read.rnd), (made_at, Rnd::from_byte(5)));
    }
}

#[test]
fn the_published_key_change_takes_the_meter_to_another_tariff() {
    let old = issuer(FIRST_PAN, BaseDate::Year1993, 1, 1);
    let new = issuer(FIRST_PAN, BaseDate::Year1993, 1, 2);
    assert_eq!(
        digits(&old.key_change_to(&new).unwrap()),
        ["34812744915211133004", "46903925208523674737", "71464563847088610152", "67904239402617643990"]
    );
}

#[test]
fn the_published_roll_over_takes_the_meter_from_1993_to_2014() {
    let old = issuer(FIRST_PAN, BaseDate::Year1993, 1, 1);
    let new = issuer(FIRST_PAN, BaseDate::Year2014, 4, 2);
    assert_eq!(
        digits(&old.key_change_to(&new).unwrap()),
        ["56493341861242437581", "51757380361191578258", "24449874799474536920", "26457813643172095162"]
    );
}

#[test]
fn a_sale_of_45_2_kwh_is_this_token() {
    let issuer = issuer("600727070409045624", BaseDate::Year2014, 4, 1);
    let token = credit(&issuer, Electricity, 452, local(2026, 11, 20, 9, 30));
    assert_eq!(token.digits(), "08086259498974263587");
}
