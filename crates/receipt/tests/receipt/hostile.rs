//! Names from other parties do no harm, and every token is there whole, once.

use messages::Language;
use meter_token::TokenSet;
use proptest::prelude::*;
use receipt::{CodePage, Columns};
use unicode_width::UnicodeWidthStr;

use crate::sales::{Texts, with_receipt};

/// Any text, and often one with what commands a printer, a browser or a PDF reader. It has no digits, so that it cannot
/// repeat a token.
fn foreign() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\u{1b}@".to_owned()),
        Just("\u{1d}V\0".to_owned()),
        Just("\r\n\u{0c}".to_owned()),
        Just("<script>alert()</script>".to_owned()),
        Just("\"'><img src=x>&amp;".to_owned()),
        Just(") Tj ET (\\".to_owned()),
        Just("\u{202e}\u{200b}\u{85}\u{9b}".to_owned()),
        Just("São José, l'Œuvre".to_owned()),
        Just("李小龍मीटर".to_owned()),
        Just("W".repeat(50)),
        "\\PC{0,20}",
    ];
    let without_digits =
        |text: String| text.chars().filter(|letter| !letter.is_numeric()).collect::<String>();
    proptest::collection::vec(part, 0..5).prop_map(move |parts| without_digits(parts.concat()))
}

fn texts() -> impl Strategy<Value = Texts> {
    (foreign(), foreign(), foreign(), foreign(), foreign(), foreign(), foreign()).prop_map(
        |(seller, footer, provider, subscriber, customer, reference, unit)| Texts {
            seller,
            footer,
            provider,
            subscriber,
            customer,
            reference,
            unit,
        },
    )
}

/// One to four tokens of twenty digits, all different.
fn tokens() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[0-9]{19}", 1..5).prop_map(|tokens| {
        (1..).zip(tokens).map(|(number, token)| format!("{number}{token}")).collect::<Vec<String>>()
    })
}

fn set(tokens: &[String]) -> TokenSet {
    match tokens {
        [only] => TokenSet::parse(only).unwrap(),
        several => {
            let pairs: Vec<String> = several.iter().map(|token| format!("Bonus Token: {token}")).collect();
            TokenSet::parse(&pairs.join("|")).unwrap()
        }
    }
}

fn grouped(token: &str) -> String {
    [&token[..4], &token[4..8], &token[8..12], &token[12..16], &token[16..]].join(" ")
}

/// The printable bytes of a job, if it has no commands but those that a receipt needs.
fn printed(job: &[u8], page: CodePage) -> Option<Vec<Vec<u8>>> {
    let commands: [&[u8]; 8] = [
        b"\x1b@",
        b"\x1bt\x10",
        b"\x1bt\x02",
        b"\x1bE\x00",
        b"\x1bE\x01",
        b"\x1d!\x00",
        b"\x1d!\x01",
        b"\x1dVA\x18",
    ];
    let (mut rest, mut text) = (job, Vec::new());
    while let [first, after @ ..] = rest {
        if let Some(command) = commands.iter().find(|command| rest.starts_with(command)) {
            rest = &rest[command.len()..];
        } else if matches!(first, b'\n' | 0x20..=0x7e) || (*first >= 0x80 && page != CodePage::Ascii) {
            text.push(*first);
            rest = after;
        } else {
            return None;
        }
    }
    Some(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}

proptest! {
    #[test]
    fn no_line_exceeds_its_paper_and_every_token_is_whole_once(texts in texts(), tokens in tokens()) {
        for columns in Columns::ALL {
            for language in Language::ALL {
                let text = with_receipt(&texts, Some(&set(&tokens)), language, |receipt| receipt.text(columns));
                for line in text.lines() {
                    prop_assert!(line.width() <= columns.count(), "{line:?}");
                    prop_assert!(!line.chars().any(char::is_control), "{line:?}");
                }
                for token in &tokens {
                    let whole = grouped(token);
                    prop_assert_eq!(text.lines().filter(|line| **line == whole).count(), 1, "{}", text);
                }
                let order: Vec<usize> = tokens.iter().map(|token| text.find(&grouped(token)).unwrap()).collect();
                prop_assert!(order.is_sorted());
            }
        }
    }

    #[test]
    fn no_name_sends_a_command_to_the_printer(texts in texts(), tokens in tokens()) {
        for page in CodePage::ALL {
            let job = with_receipt(&texts, Some(&set(&tokens)), Language::French, |receipt| {
                receipt.escpos(Columns::Narrow, page)
            });
            prop_assert_eq!(job.windows(2).filter(|two| *two == b"\x1b@").count(), 1);
            prop_assert_eq!(job.windows(2).filter(|two| *two == b"\x1dV").count(), 1);
            let lines = printed(&job, page);
            prop_assert!(lines.is_some(), "a stray control byte: {job:?}");
            let lines = lines.unwrap();
            prop_assert!(lines.iter().all(|line| line.len() <= 32));
            for token in &tokens {
                let whole = grouped(token).into_bytes();
                prop_assert_eq!(lines.iter().filter(|line| **line == whole).count(), 1);
            }
        }
    }

    #[test]
    fn no_name_adds_markup_to_the_page(texts in texts(), tokens in tokens()) {
        let page = with_receipt(&texts, Some(&set(&tokens)), Language::English, |receipt| receipt.html());
        for markup in ["<script", "<img", "alert()</script"] {
            prop_assert!(!page.contains(markup), "{page}");
        }
        let opened = page.matches("<td").count() + page.matches("<th").count();
        prop_assert_eq!(page.matches("</t").count() - page.matches("</tr").count()
            - page.matches("</table").count() - page.matches("</title").count(), opened);
        for token in &tokens {
            prop_assert_eq!(page.matches(&grouped(token)).count(), 1);
        }
    }

    #[test]
    fn no_name_ends_the_text_of_a_pdf(texts in texts(), tokens in tokens()) {
        let file = with_receipt(&texts, Some(&set(&tokens)), Language::English, |receipt| receipt.pdf());
        let latin: String = file.iter().map(|byte| char::from(*byte)).collect();
        prop_assert_eq!(latin.matches("\nendstream").count(), 1);
        prop_assert_eq!(latin.lines().filter(|line| *line == "ET").count(), 1);
        for token in &tokens {
            prop_assert_eq!(latin.matches(&format!("({}) Tj", grouped(token))).count(), 1);
        }
    }
}
