//! The characters of the GSM 7 bit default alphabet (3GPP TS 23.038, section 6.2.1), and how other characters are spelt
//! with them.

use std::iter;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// One septet each.
const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
                     ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";

/// Two septets each: an escape precedes them.
const EXTENSION: &str = "\u{c}^{}\\[~]|€";

/// Characters that the alphabet lacks and that have no base character in Unicode, with their replacements.
const SPELLINGS: [(&str, &str); 16] = [
    ("đ", "d"),
    ("Đ", "D"),
    ("ı", "i"),
    ("ł", "l"),
    ("Ł", "L"),
    ("ŋ", "n"),
    ("Ŋ", "N"),
    ("œ", "oe"),
    ("Œ", "OE"),
    ("’‘‚ʼ´`", "'"),
    ("“”„«»", "\""),
    ("–—‐‑−", "-"),
    ("\t", " "),
    ("°", "o"),
    ("·•", "."),
    ("⁄", "/"),
];

/// The septets of a character. `None` if the alphabet lacks it.
pub(crate) fn septets(letter: char) -> Option<usize> {
    if BASIC.contains(letter) {
        Some(1)
    } else if EXTENSION.contains(letter) {
        Some(2)
    } else {
        None
    }
}

/// The text in the characters of the alphabet. It loses only accents and typographic forms of signs. `None` if a
/// character has no replacement.
pub(crate) fn spelt(text: &str) -> Option<String> {
    let mut spelt = String::with_capacity(text.len());
    for letter in text.nfc() {
        if septets(letter).is_some() {
            spelt.push(letter);
        } else if let Some(spelling) = spelling(letter) {
            spelt.push_str(spelling);
        } else {
            push_base(letter, &mut spelt)?;
        }
    }
    Some(spelt)
}

fn spelling(letter: char) -> Option<&'static str> {
    SPELLINGS.iter().find(|(letters, _)| letters.contains(letter)).map(|(_, spelling)| *spelling)
}

/// Appends the base characters of a letter: its compatibility decomposition (Unicode Standard Annex 15) without the
/// combining marks.
fn push_base(letter: char, spelt: &mut String) -> Option<()> {
    for base in iter::once(letter).nfkd().filter(|part| !is_combining_mark(*part)) {
        if septets(base).is_some() {
            spelt.push(base);
        } else {
            spelt.push_str(spelling(base)?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_alphabet_has_its_127_letters_and_ten_more_behind_the_escape() {
        let basic: BTreeSet<char> = BASIC.chars().collect();
        assert_eq!((BASIC.chars().count(), basic.len()), (127, 127));
        let extension: BTreeSet<char> = EXTENSION.chars().collect();
        assert_eq!(extension.len(), 10);
        assert!(basic.is_disjoint(&extension));
    }

    #[test]
    fn only_letters_that_are_missing_are_respelt_and_only_with_letters_that_are_there() {
        let mut seen = BTreeSet::new();
        for (letters, spelling) in SPELLINGS {
            for letter in letters.chars() {
                assert_eq!(septets(letter), None, "{letter} needs no spelling");
                assert!(seen.insert(letter), "{letter} is spelt twice");
            }
            assert!(spelling.chars().all(|letter| septets(letter) == Some(1)), "{spelling}");
        }
    }

    #[test]
    fn accents_are_kept_if_the_alphabet_has_them_and_dropped_otherwise() {
        for (written, expected) in [
            ("Électricité à où", "Électricité à où"),
            ("reçu, prêt, Noël, cœur", "recu, pret, Noel, coeur"),
            ("Água, código, não, operações, três", "Agua, codigo, nao, operacoes, tres"),
            ("l’eau – “5 m³”…", "l'eau - \"5 m3\"..."),
            ("Łódź, ďábel, İstanbul, ½\u{a0}l", "Lodz, dabel, Istanbul, 1/2 l"),
            ("cafe\u{301}, garc\u{327}on", "café, garcon"),
        ] {
            assert_eq!(spelt(written).as_deref(), Some(expected));
        }
        for foreign in ["Жетон", "й", "电", "⚡", "한"] {
            assert_eq!(spelt(foreign), None);
        }
    }
}
