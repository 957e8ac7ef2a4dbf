//! A text as the mobile network carries it: its alphabet and its number of parts.

use crate::gsm7;

/// The alphabets of a text message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// The GSM 7 bit default alphabet: 160 septets, or 153 in each of several parts.
    Gsm7,
    /// UCS-2: 70 units, or 67 in each of several parts.
    Ucs2,
}

/// A text message. Accents never cost an additional part: if GSM 7 bit can spell the text, the accents that it lacks
/// are dropped. A text in another script is sent unchanged in UCS-2.
#[derive(Clone, PartialEq, Eq)]
pub struct SmsText {
    text: String,
    coding: Coding,
}

impl SmsText {
    /// Spells a text in the cheapest alphabet that can carry it.
    pub fn new(text: &str) -> Self {
        match gsm7::spelt(text) {
            Some(text) => Self { text, coding: Coding::Gsm7 },
            None => Self { text: text.to_owned(), coding: Coding::Ucs2 },
        }
    }

    /// The text that is sent.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text that is sent, owned.
    pub fn into_string(self) -> String {
        self.text
    }

    /// The alphabet.
    pub const fn coding(&self) -> Coding {
        self.coding
    }

    /// The number of parts, each of which costs one message.
    pub fn parts(&self) -> usize {
        let (alone, each) = match self.coding {
            Coding::Gsm7 => (160, 153),
            Coding::Ucs2 => (70, 67),
        };
        let sizes: Vec<usize> = self.text.chars().map(|letter| self.size(letter)).collect();
        if sizes.iter().sum::<usize>() <= alone {
            return 1;
        }
        let mut parts = 1;
        let mut used: usize = 0;
        for size in sizes {
            used = used.saturating_add(size);
            // A character of two units is not split between two parts.
            if used > each {
                parts += 1;
                used = size;
            }
        }
        parts
    }

    fn size(&self, letter: char) -> usize {
        match self.coding {
            Coding::Gsm7 => gsm7::septets(letter).unwrap_or(1),
            Coding::Ucs2 => letter.len_utf16(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Coding, usize) {
        let text = SmsText::new(text);
        (text.coding(), text.parts())
    }

    #[test]
    fn a_text_costs_as_many_parts_as_its_alphabet_needs() {
        for (text, coding, expected) in [
            (String::new(), Coding::Gsm7, 1),
            ("a".repeat(160), Coding::Gsm7, 1),
            ("a".repeat(161), Coding::Gsm7, 2),
            ("a".repeat(306), Coding::Gsm7, 2),
            ("a".repeat(307), Coding::Gsm7, 3),
            ("€".repeat(80), Coding::Gsm7, 1),
            ("€".repeat(81), Coding::Gsm7, 2),
            ("ж".repeat(70), Coding::Ucs2, 1),
            ("ж".repeat(71), Coding::Ucs2, 2),
            ("ж".repeat(134), Coding::Ucs2, 2),
            ("ж".repeat(135), Coding::Ucs2, 3),
            ("😀".repeat(35), Coding::Ucs2, 1),
            ("😀".repeat(36), Coding::Ucs2, 2),
        ] {
            assert_eq!(
                parts(&text),
                (coding, expected),
                "{} x {:?}",
                text.chars().count(),
                text.chars().next()
            );
        }
    }

    #[test]
    fn a_letter_of_two_halves_is_not_torn_between_two_parts() {
        // 152 + 2: the brace moves to the second part and pushes the last character into a third.
        let text = format!("{}{{{}", "a".repeat(152), "b".repeat(151));
        assert_eq!(parts(&text), (Coding::Gsm7, 2));
        let text = format!("{}{{{}", "a".repeat(152), "b".repeat(152));
        assert_eq!(parts(&text), (Coding::Gsm7, 3));
        let text = format!("{}😀{}", "ж".repeat(66), "ж".repeat(66));
        assert_eq!(parts(&text), (Coding::Ucs2, 3));
    }

    #[test]
    fn an_accent_does_not_double_the_price_and_another_script_keeps_its_accents() {
        let accented = SmsText::new(&"ção ".repeat(40));
        assert_eq!((accented.coding(), accented.parts()), (Coding::Gsm7, 1));
        assert_eq!(&accented.as_str()[..8], "cao cao ");
        let foreign = SmsText::new("Électricité reçue: 電気");
        assert_eq!((foreign.coding(), foreign.as_str()), (Coding::Ucs2, "Électricité reçue: 電気"));
    }
}
