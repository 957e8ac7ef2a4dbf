//! The texts of messages in every language, and their number of parts.

use chrono::{DateTime, TimeZone, Utc};
use chrono_tz::Tz;
use messages::Messages;
use meter_token::TokenSet;
use notify::{Coding, Composer, Letter, SmsText};
use purchase::{Channel, Notice, NoticeKind, Recipient};
use store::{ClaimedMessage, Contents, MessageId};
use vend::{Product, SubscriberIdentifier};

use crate::env::{self, KEY_CHANGE, contents};

const LANGUAGES: [&str; 3] = ["en-BW", "fr-CM", "pt-MZ"];
const TOKEN_SMS: Notice =
    Notice { kind: NoticeKind::Issued, recipient: Recipient::Beneficiary, channel: Channel::Sms };
const RECEIPT_SMS: Notice = Notice { recipient: Recipient::Requester, ..TOKEN_SMS };
const RECEIPT_EMAIL: Notice = Notice { channel: Channel::Email, ..RECEIPT_SMS };
const REFUND_TO_BENEFICIARY: Notice = Notice { kind: NoticeKind::Refunded, ..TOKEN_SMS };
const REFUND_TO_REQUESTER: Notice = Notice { kind: NoticeKind::Refunded, ..RECEIPT_SMS };

fn at() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 17, 6, 49).unwrap()
}

fn letter_about(contents: &Contents, notice: Notice) -> Option<Letter> {
    let message = ClaimedMessage {
        id: MessageId { purchase: contents.record.id, notice, repeat: 0 },
        attempt: 1,
        written_at: at(),
        at: at(),
        contents: None,
    };
    Composer::new(Messages::new(), Tz::Africa__Gaborone).letter(&message, contents)
}

fn said(contents: &Contents, notice: Notice) -> String {
    letter_about(contents, notice).unwrap().text
}

fn in_language(language: &str) -> Contents {
    let mut contents = contents();
    contents.record.language = language.into();
    contents
}

fn with_tokens(language: &str, wire: &str) -> Contents {
    let mut contents = in_language(language);
    contents.record.success.as_mut().unwrap().tokens = Some(TokenSet::parse(wire).unwrap());
    contents
}

#[test]
fn a_token_is_told_grouped_for_reading_in_the_language_of_the_request() {
    let expected = [
        "Electricity BWP 100.00 for 04257670465\nToken: 1234 5678 9012 3456 7890\nUnits: 45.20 kWh\n\
         Ref TOP/2026/11/0000000042",
        "Électricité BWP 100.00 pour 04257670465\nCode : 1234 5678 9012 3456 7890\nUnités : 45.20 kWh\n\
         Réf TOP/2026/11/0000000042",
        "Eletricidade BWP 100.00 para 04257670465\nCódigo: 1234 5678 9012 3456 7890\nUnidades: 45.20 kWh\n\
         Ref. TOP/2026/11/0000000042",
    ];
    for (language, expected) in LANGUAGES.into_iter().zip(expected) {
        let letter = letter_about(&in_language(language), TOKEN_SMS).unwrap();
        assert_eq!(letter.text, expected);
        assert_eq!((letter.to.as_str(), letter.subject.as_str()), ("26771234567", ""));
        assert_eq!(SmsText::new(&letter.text).parts(), 1, "{language}");
    }
    assert_eq!(said(&in_language("tn-BW"), TOKEN_SMS), expected[0], "a language that is not supported");
    assert_eq!(said(&in_language("no tag"), TOKEN_SMS), expected[0]);
}

#[test]
fn the_tokens_of_a_key_change_come_in_the_order_of_entry_and_each_says_what_it_is() {
    let english = "Electricity BWP 100.00 for 04257670465\nEnter these tokens in this order:\n\
                   1. Key change: 1029 3847 5610 2938 4756\n2. Key change: 5647 3829 1056 4738 2910\n\
                   3. Credit: 1234 5678 9012 3456 7890\nUnits: 45.20 kWh\nRef TOP/2026/11/0000000042";
    assert_eq!(said(&with_tokens("en", KEY_CHANGE), TOKEN_SMS), english);
    for language in LANGUAGES {
        let text = SmsText::new(&said(&with_tokens(language, KEY_CHANGE), TOKEN_SMS));
        assert_eq!((text.coding(), text.parts()), (Coding::Gsm7, 2), "{language}");
        let places =
            ["1. ", "1029 3847", "2. ", "5647 3829", "3. ", "1234 5678"].map(|part| text.as_str().find(part));
        assert!(places.is_sorted() && places[0].is_some(), "{language}: {}", text.as_str());
    }
    let other = said(&with_tokens("en", "BSST Token: 11112222|Credit Token: 33334444"), TOKEN_SMS);
    assert!(other.contains("\n1. BSST Token: 1111 2222\n2. Credit: 3333 4444\n"), "{other}");
}

#[test]
fn no_accent_of_ours_costs_a_part() {
    for language in LANGUAGES {
        for notice in [TOKEN_SMS, RECEIPT_SMS, REFUND_TO_BENEFICIARY, REFUND_TO_REQUESTER] {
            for product in Product::ALL {
                let mut contents = in_language(language);
                contents.record.product = product;
                let said = said(&contents, notice);
                let text = SmsText::new(&said);
                assert_eq!((text.coding(), text.parts()), (Coding::Gsm7, 1), "{said}");
            }
        }
    }
}

#[test]
fn the_longest_that_an_integrator_can_send_stays_cheap() {
    for language in LANGUAGES {
        let mut contents = with_tokens(language, KEY_CHANGE);
        contents.record.subscriber = SubscriberIdentifier::parse(&"9".repeat(40)).unwrap();
        contents.record.price = env::price(999_999_999_999);
        contents.product_names = vec![(language[..2].to_owned(), "x".repeat(100))];
        for notice in [TOKEN_SMS, RECEIPT_SMS, REFUND_TO_BENEFICIARY, REFUND_TO_REQUESTER] {
            let text = SmsText::new(&said(&contents, notice));
            assert!(text.parts() <= 3, "{language}: {} parts: {}", text.parts(), text.as_str());
        }
    }
}

#[test]
fn a_receipt_carries_no_token() {
    for language in LANGUAGES {
        for notice in [RECEIPT_SMS, RECEIPT_EMAIL] {
            let letter = letter_about(&with_tokens(language, KEY_CHANGE), notice).unwrap();
            let digits: String =
                format!("{}{}", letter.subject, letter.text).chars().filter(char::is_ascii_digit).collect();
            for token in ["10293847561029384756", "56473829105647382910", env::TOKEN] {
                assert!(!digits.contains(token), "{}", letter.text);
            }
        }
    }
    let sms = said(&contents(), RECEIPT_SMS);
    let expected = "Receipt: Electricity BWP 100.00 for 04257670465\nPaid: BWP 101.50, charges of BWP 1.50 included\n\
                    Ref TOP/2026/11/0000000042";
    assert_eq!(sms, expected);
}

#[test]
fn a_receipt_by_mail_says_all_that_is_filed() {
    let letter = letter_about(&contents(), RECEIPT_EMAIL).unwrap();
    assert_eq!(letter.to, "till@shop.example");
    assert_eq!(letter.subject, "Receipt: Electricity BWP 100.00 for 04257670465");
    assert_eq!(
        letter.text,
        "Receipt: Electricity BWP 100.00 for 04257670465\n\nPaid: BWP 101.50, charges of BWP 1.50 included\n\
         Units: 45.20 kWh\nCustomer: K. MOLEFE\nProvider's transaction: V1\nBought on 2026-11-20 18:30 CAT\n\
         Ref TOP/2026/11/0000000042\nYour reference: till-3/77\n\n\
         This message was sent automatically. Nobody reads answers to it.\n"
    );
}

#[test]
fn a_purchase_that_came_to_nothing_is_told_to_both() {
    assert_eq!(
        said(&contents(), REFUND_TO_BENEFICIARY),
        "Electricity BWP 100.00 for 04257670465 was not delivered. The seller has the money back: ask there.\n\
         Ref TOP/2026/11/0000000042"
    );
    assert_eq!(
        said(&contents(), REFUND_TO_REQUESTER),
        "Electricity BWP 100.00 for 04257670465 was not delivered. BWP 101.50 is available in your account again.\n\
         Ref TOP/2026/11/0000000042"
    );
}

#[test]
fn airtime_has_no_token_and_is_told_all_the_same() {
    let mut contents = contents();
    contents.record.product = Product::Airtime;
    let success = contents.record.success.as_mut().unwrap();
    (success.tokens, success.units) = (None, None);
    assert_eq!(said(&contents, TOKEN_SMS), "Airtime BWP 100.00 for 04257670465\nRef TOP/2026/11/0000000042");
}

#[test]
fn a_product_is_called_what_the_operator_calls_it() {
    let mut contents = in_language("fr");
    contents.product_names = vec![("en".into(), "Power".into()), ("fr".into(), "Courant".into())];
    assert!(said(&contents, TOKEN_SMS).starts_with("Courant BWP 100.00 pour"));
    contents.product_names.pop();
    assert!(said(&contents, TOKEN_SMS).starts_with("Électricité BWP"));
    contents.product_names = vec![("fr".into(), "Électricité ⚡".into())];
    assert_eq!(SmsText::new(&said(&contents, TOKEN_SMS)).coding(), Coding::Gsm7, "a sign is no letter");
    contents.product_names = vec![("fr".into(), "电力".into())];
    assert_eq!(SmsText::new(&said(&contents, TOKEN_SMS)).coding(), Coding::Ucs2);
}

#[test]
fn what_others_wrote_cannot_forge_a_line_or_a_link() {
    let mut contents = contents();
    contents.record.external_reference = Some("x\nToken: 1111\nhttp://evil.example".into());
    let success = contents.record.success.as_mut().unwrap();
    success.subscriber_details = Some("MOLEFE\r\nBcc: all@example.org".into());
    success.units.as_mut().unwrap().unit = "kWh\nwww.evil.example".into();
    success.provider_transaction = "V1\u{202e}\nPaid: nothing".into();
    for notice in [TOKEN_SMS, RECEIPT_SMS, RECEIPT_EMAIL] {
        let text = said(&contents, notice);
        assert!(!text.contains("http:") && !text.contains("evil.example") && !text.contains('@'), "{text}");
        for line in text.lines() {
            assert!(
                !line.starts_with("Token: 1111") && !line.starts_with("Bcc") && !line.starts_with("Paid: n"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_recipient_without_number_or_address_gets_no_message() {
    let mut contents = contents();
    (contents.requester_phone_number, contents.requester_email) = (None, None);
    for notice in [RECEIPT_SMS, RECEIPT_EMAIL, REFUND_TO_REQUESTER] {
        assert!(letter_about(&contents, notice).is_none());
    }
    let nowhere = Notice { channel: Channel::Email, ..TOKEN_SMS };
    assert!(letter_about(&contents, nowhere).is_none(), "a beneficiary has no address");
    assert!(letter_about(&contents, TOKEN_SMS).is_some());
}
