//! The published conformance tokens of edition 2 (STS 531-1-11, edition 2.2: DKGA04 with EA11), compared digit by digit.

use chrono::NaiveDateTime;
use sts::{
    BaseDate, CreditAmount, CreditKind, CreditRegisters, CurrencyAmount, EncryptionAlgorithm, Instruction,
    KeyExpiry, KeyParameters, KeyRevision, KeyType, MeterPan, MeterTest, PowerLimit, Rnd, StsToken,
    SupplyGroupCode, TariffIndex, Tid, TokenContent, TokenIssuer, VendingKey,
};

use CreditKind::{Electricity, Gas, Time, Water};

const KINDS: [CreditKind; 4] = [Electricity, Water, Gas, Time];
const FIRST_PAN: &str = "600727000000000009";
const SECOND_PAN: &str = "000001000000000082";

/// A key of the conformance test: the account number, the supply group, the revision, the tariff and the base date.
fn issuer(pan: &str, group: &str, revision: u8, tariff: u8, base_date: BaseDate) -> TokenIssuer {
    let vending_key = hex::decode("abababababababab949494949494949401234567").expect("hexadecimal");
    let parameters = KeyParameters {
        supply_group: SupplyGroupCode::parse(group).expect("six digits"),
        tariff_index: TariffIndex::try_new(tariff).expect("two digits"),
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

fn first() -> TokenIssuer {
    issuer(FIRST_PAN, "201457", 1, 1, BaseDate::Year2014)
}

fn second() -> TokenIssuer {
    issuer(SECOND_PAN, "201457", 1, 1, BaseDate::Year2014)
}

fn of_2035(tariff: u8) -> TokenIssuer {
    issuer(FIRST_PAN, "203557", 6, tariff, BaseDate::Year2035)
}

fn local(at: &str) -> NaiveDateTime {
    NaiveDateTime::parse_from_str(&format!("{at}:00"), "%Y-%m-%d %H:%M:%S").expect("a date and a time")
}

fn tid(issuer: &TokenIssuer, at: &str) -> Tid {
    Tid::at(local(at), issuer.parameters().base_date).expect("within the range of the base date")
}

fn rnd() -> Rnd {
    Rnd::from_byte(5)
}

/// Compares the token with the published one, and reads it back.
fn is_published(issuer: &TokenIssuer, token: StsToken, expected: &str) {
    assert_eq!(token.grouped(), expected);
    let content = TokenContent::decode(&token, issuer.decoder_key()).expect("our own token");
    assert_eq!(content.encode(issuer.decoder_key()), token);
}

#[test]
fn a_tenth_of_every_kind_of_credit_is_the_published_token() {
    let on_2014 = ["2014-03-01 13:00", "2014-03-01 13:05", "2014-03-01 13:10", "2014-03-01 13:15"];
    let later = ["2014-03-01 13:40", "2014-03-01 13:45", "2014-03-01 13:50", "2014-03-01 13:55"];
    let on_2035 = ["2035-01-01 08:00", "2035-01-01 08:05", "2035-01-01 08:10", "2035-01-01 08:15"];
    for (issuer, times, tokens) in [
        (
            first(),
            on_2014,
            [
                "5862 5789 9869 9135 7486",
                "5113 2789 4367 8786 1315",
                "2142 7168 5439 8849 7677",
                "5631 5517 0196 4181 8580",
            ],
        ),
        (
            second(),
            later,
            [
                "1316 5821 0064 0727 9478",
                "2816 8470 1473 2058 0432",
                "1563 2590 8517 9990 5715",
                "5340 4104 5344 4817 3435",
            ],
        ),
        (
            of_2035(1),
            on_2035,
            [
                "5993 6545 0505 5030 8168",
                "5503 0884 2515 9891 3292",
                "1406 4537 3119 1633 7013",
                "6462 2162 7715 3760 4642",
            ],
        ),
    ] {
        let amount = CreditAmount::rounding_up(1).unwrap();
        for ((kind, at), expected) in KINDS.into_iter().zip(times).zip(tokens) {
            is_published(&issuer, issuer.credit(kind, amount, tid(&issuer, at), rnd()).unwrap(), expected);
        }
    }
}

/// The amounts, in tenths, of the tokens below, and when they were made.
const AMOUNTS: [(u64, &str); 9] = [
    (256, "2026-07-11 00:30"),
    (16_383, "2026-07-11 00:35"),
    (16_384, "2026-07-11 00:40"),
    (20_000, "2026-07-11 00:45"),
    (180_223, "2026-07-11 00:50"),
    (180_224, "2026-07-11 00:55"),
    (1_818_623, "2026-07-11 01:44"),
    (1_818_624, "2026-07-11 02:49"),
    (18_201_624, "2026-07-11 03:54"),
];

#[test]
fn amounts_of_every_exponent_are_the_published_tokens() {
    let electricity = [
        "2364 1553 6653 9815 4702",
        "2589 1865 0802 0361 7683",
        "2761 5769 0590 1211 0139",
        "6633 4093 5690 9327 5152",
        "5446 9257 3741 5949 6590",
        "3215 2659 9491 3797 0265",
        "5173 7434 3056 3514 4582",
        "0370 4036 2700 7495 5413",
        "2758 9639 2484 6008 7544",
    ];
    let issuer = first();
    for ((tenths, at), expected) in AMOUNTS.into_iter().zip(electricity) {
        let amount = CreditAmount::rounding_up(tenths).unwrap();
        is_published(&issuer, issuer.credit(Electricity, amount, tid(&issuer, at), rnd()).unwrap(), expected);
    }
}

#[test]
fn limits_of_power_are_the_published_tokens() {
    let issuer = first();
    let maximum: fn(PowerLimit) -> Instruction = Instruction::MaximumPower;
    let unbalance: fn(PowerLimit) -> Instruction = Instruction::PhaseUnbalance;
    for (instruction, watts, at, expected) in [
        (maximum, 1_000, "2024-03-28 09:01", "3449 4889 4753 7886 6499"),
        (maximum, 256, "2027-12-15 07:00", "0869 6877 1074 8977 2342"),
        (maximum, 16_383, "2027-12-15 07:05", "1298 1641 7617 7049 0283"),
        (maximum, 16_384, "2027-12-15 07:10", "7046 6640 4584 9784 4971"),
        (maximum, 20_000, "2027-12-15 07:15", "0609 6117 3895 0988 1002"),
        (maximum, 180_223, "2027-12-15 07:20", "2022 0432 6213 9191 3192"),
        (maximum, 180_224, "2027-12-15 07:25", "1821 3277 1304 0981 9867"),
        (maximum, 1_818_623, "2027-12-15 07:30", "6359 1892 7560 6959 8223"),
        (maximum, 1_818_624, "2027-12-15 07:35", "0850 2056 5962 6768 7018"),
        (maximum, 18_201_624, "2027-12-15 07:40", "4681 0404 5146 2659 1449"),
        (unbalance, 10, "2024-03-28 10:20", "3606 1906 1324 6121 0546"),
        (unbalance, 256, "2027-12-15 08:00", "3365 9574 9387 0204 9734"),
        (unbalance, 16_383, "2027-12-15 08:05", "3786 5901 1754 6043 5734"),
        (unbalance, 16_384, "2027-12-15 08:10", "1494 5501 1906 3537 0267"),
        (unbalance, 20_000, "2027-12-15 08:15", "6658 7780 6874 6200 0679"),
        (unbalance, 180_223, "2027-12-15 08:20", "3952 5526 5094 2578 5956"),
        (unbalance, 180_224, "2027-12-15 08:25", "1330 6442 6388 2810 7790"),
        (unbalance, 1_818_623, "2027-12-15 08:30", "0322 3893 0485 5078 6553"),
        (unbalance, 1_818_624, "2027-12-15 08:35", "3905 9189 0299 9562 5564"),
        (unbalance, 18_201_624, "2027-12-15 08:40", "1167 8265 9824 6226 9502"),
    ] {
        let instruction = instruction(PowerLimit::rounding_up(watts).unwrap());
        is_published(&issuer, issuer.instruction(instruction, tid(&issuer, at), rnd()).unwrap(), expected);
    }
}

#[test]
fn clearing_credit_and_tampering_are_the_published_tokens() {
    let (first, second) = (first(), second());
    for (issuer, registers, at, expected) in [
        (&first, CreditRegisters::All, "2024-03-28 09:15", "1808 7553 1137 0143 9362"),
        (&second, CreditRegisters::All, "2016-08-30 09:20", "5278 4471 9678 3922 6516"),
        (&first, CreditRegisters::One(Electricity), "2034-07-03 09:00", "5080 1913 3186 4462 6174"),
        (&first, CreditRegisters::One(Water), "2034-07-03 09:01", "3583 6988 0587 5379 3602"),
        (&first, CreditRegisters::One(Gas), "2034-07-03 09:02", "5526 5472 2168 4538 6252"),
        (&first, CreditRegisters::One(Time), "2034-07-03 09:03", "6610 2829 9128 1151 1687"),
        (&first, CreditRegisters::All, "2034-07-03 09:05", "4364 0653 4192 0264 3137"),
        (&first, CreditRegisters::Currency(Electricity), "2034-07-03 09:10", "2734 1708 3515 1923 1651"),
    ] {
        is_published(issuer, issuer.clear_credit(registers, tid(issuer, at), rnd()).unwrap(), expected);
    }
    let made_at = tid(&first, "2024-03-28 10:00");
    let clear_tamper = first.instruction(Instruction::ClearTamper, made_at, rnd()).unwrap();
    is_published(&first, clear_tamper, "0719 4127 7291 9986 2502");
}

#[test]
fn key_changes_of_four_sections_are_the_published_tokens() {
    let to_tariff_2 = |pan| issuer(pan, "201457", 1, 2, BaseDate::Year2014);
    for (old, new, expected) in [
        (
            first(),
            to_tariff_2(FIRST_PAN),
            [
                "0385 4447 0864 5345 1911",
                "0279 1799 4362 4246 1152",
                "6711 8070 3293 5397 7190",
                "1901 9128 6909 0293 2218",
            ],
        ),
        (
            first(),
            of_2035(2),
            [
                "3953 6809 2146 4154 4852",
                "2326 3472 8840 1643 3225",
                "4526 8691 9859 3933 4940",
                "6538 9277 4068 8124 2890",
            ],
        ),
        (
            second(),
            to_tariff_2(SECOND_PAN),
            [
                "4283 8173 4768 4983 3694",
                "1625 3835 8667 2353 0086",
                "5337 7655 6515 3668 8781",
                "1049 8195 1487 7232 0798",
            ],
        ),
    ] {
        for (token, expected) in old.key_change_to(&new).unwrap().into_iter().zip(expected) {
            is_published(&old, token, expected);
        }
    }
}

#[test]
fn tests_of_every_meter_are_the_published_tokens() {
    for (control, two_digits, four_digits) in [
        (0x1, "0000 0000 0001 5099 7584", "0115 2921 5090 3605 4672"),
        (0x2, "0000 0000 0001 6777 4880", "0115 2921 5133 3104 2448"),
        (0x4, "0000 0000 0002 0132 8896", "0115 2921 5219 2095 2465"),
        (0x8, "1844 6744 0738 4377 2416", "0115 2921 5391 0083 8034"),
        (0x10, "3689 3488 1475 5332 2496", "0115 2921 5734 6054 3637"),
        (0x20, "0000 0000 0006 7109 3248", "0115 2921 6421 8002 0378"),
        (0x40, "0000 0000 0012 0797 4400", "0115 2921 7796 1897 3828"),
        (0x80, "0000 0000 0022 8172 8512", "0115 2922 0544 9688 0824"),
        (0x100, "0000 0000 0044 2920 8064", "0115 2922 6042 5269 4700"),
        (0x200, "0000 0000 0087 2419 5840", "0115 2923 7037 6432 2536"),
        (0x400, "0000 0000 0173 1410 5857", "0115 2925 9027 8757 7952"),
        (0x2000, "0000 0000 1375 7317 3770", "0115 2956 6891 1315 4192"),
        (0x4000, "0000 0000 2750 1212 7252", "0115 2991 8734 8524 9680"),
        (0x8000, "0000 0000 5498 9003 4216", "0115 3062 2422 2942 8368"),
        (0x1_0000, "0000 0001 0996 4584 8124", "0115 3202 9797 1778 8816"),
        (0x2_0000, "0000 0002 1991 5747 5960", "0115 3484 4546 9451 4832"),
    ] {
        assert_eq!(MeterTest::for_two_digits(control, 0).unwrap().token().grouped(), two_digits);
        assert_eq!(MeterTest::for_four_digits(control, 0).unwrap().token().grouped(), four_digits);
    }
    let all = MeterTest::for_two_digits(0xF_FFFF_FFFF, 0).unwrap();
    assert_eq!(all.token().grouped(), "5649 3153 7254 5031 3471");
    assert_eq!(
        TokenContent::decode(&all.token(), first().decoder_key()),
        Ok(TokenContent::MeterTest(all)),
        "a test is read without regard to the key"
    );
    let all = MeterTest::for_four_digits(0xFFF_FFFF, 0).unwrap();
    assert_eq!(all.token().grouped(), "0230 5843 0050 5295 1967");
}

#[test]
fn credit_in_currency_is_the_published_token() {
    let issuer = first();
    for (units, at, expected) in [
        (1_i128, "2027-08-21 12:01", "7250 3171 5014 6492 5869"),
        (16_383, "2027-08-21 12:02", "5250 5389 0637 5815 9292"),
        (16_384, "2027-08-21 12:03", "3653 5899 4982 5029 6222"),
        (180_224, "2027-08-21 12:04", "6731 6201 5786 4924 0766"),
        (1_818_624, "2027-08-21 12:05", "2910 0783 7496 5687 8839"),
        (18_202_624, "2027-08-21 12:06", "2495 9219 4719 6603 6989"),
        (182_042_624, "2027-08-21 12:07", "1788 7120 2192 1303 5288"),
        (1_820_442_624, "2027-08-21 13:03", "3618 8384 2056 6492 9478"),
        (18_204_442_624, "2027-08-21 13:04", "6894 4298 4882 3910 4097"),
        (-1, "2027-08-21 13:12", "4015 6929 5960 1947 8780"),
        (-180_224, "2027-08-21 13:14", "6775 1816 0553 7582 3218"),
    ] {
        let amount = CurrencyAmount::rounding_up(units * 100_000).unwrap();
        let token = issuer.currency_credit(Electricity, amount, tid(&issuer, at)).unwrap();
        is_published(&issuer, token, expected);
    }
    // The published list gives these amounts with six digits only. The last one is -1.82044e14 there: a debit of a little less
    // than the start of an exponent, which is rounded up by one step of the exponent below.
    for (near, expected) in [
        ("1.82044e14", "5059 6393 7549 5546 9432"),
        ("1.82044e20", "0314 5904 2928 5937 6346"),
        ("1.82044e29", "4074 1014 0130 3472 5556"),
        ("-1.82034e14", "6169 8173 4580 8228 4427"),
    ] {
        let token = StsToken::parse_grouped(expected).unwrap();
        let content = TokenContent::decode(&token, issuer.decoder_key()).unwrap();
        let TokenContent::CurrencyCredit(credit) = content else {
            panic!("{expected} is credit in currency")
        };
        let digits = credit.amount.hundred_thousandths().to_string();
        let exponent = digits.trim_start_matches('-').len() - 1 - 5;
        let sign = if digits.starts_with('-') { "-" } else { "" };
        let first_six = digits.trim_start_matches('-').get(1..6).unwrap();
        assert_eq!(format!("{sign}1.{first_six}e{exponent}"), near);
    }
}

#[test]
fn no_mistyped_digit_is_taken_for_another_class() {
    let issuer = first();
    let amount = CreditAmount::rounding_up(452).unwrap();
    let token = issuer.credit(Electricity, amount, tid(&issuer, "2026-11-20 09:30"), rnd()).unwrap();
    let mut typos = 0;
    for place in 0..20 {
        for by in 1..10 {
            let mut digits = token.digits().as_bytes().to_vec();
            digits[place] = b'0' + (digits[place] - b'0' + by) % 10;
            let Ok(typo) = StsToken::parse(std::str::from_utf8(&digits).unwrap()) else { continue };
            assert_eq!(
                TokenContent::decode(&typo, issuer.decoder_key()),
                Err(sts::DecodeError::WrongChecksum)
            );
            typos += 1;
        }
    }
    assert!(typos > 150, "{typos}");
}

#[test]
fn the_check_digits_of_the_conformance_test_are_refused() {
    for wrong in ["12345678904", "11111111113"] {
        assert!(sts::MeterNumber::parse(wrong).is_err());
    }
}
