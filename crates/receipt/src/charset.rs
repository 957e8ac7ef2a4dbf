//! Which characters a printer has, and their bytes.
//!
//! A receipt printer has one byte for each letter. Which letter, its code page says, and the page is chosen by a command
//! (`ESC t`). There is no page that every printer has; nearly all have one of these two, and both have all letters of
//! French and Portuguese, except `œ` and `Œ` in the older one. A printer with neither of them prints ASCII.

use unicode_normalization::UnicodeNormalization;

/// A code page of a receipt printer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodePage {
    /// Windows-1252 (Western European), page 16.
    #[default]
    Windows1252,
    /// PC 850 (Multilingual), page 2.
    Pc850,
    /// ASCII only. Accents are left out, and no code page is chosen.
    Ascii,
}

/// The characters that a format can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    /// All of them.
    Unicode,
    /// Those of one page.
    Of(CodePage),
}

/// Replaces a character that a page does not have.
const UNKNOWN: char = '?';

/// The bytes 0x80 to 0x9f of Windows-1252. A blank is a byte without a letter. From 0xa0 on, the page is Latin-1.
const WINDOWS_1252: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/// The bytes 0x80 to 0xff of PC 850. A blank is a byte that is left out: a line or block, or an invisible character.
const PC_850: &str = concat!(
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒ",
    "áíóúñÑªº¿®¬½¼¡«»     ÁÂÀ©    ¢¥ ",
    "      ãÃ       ¤ðÐÊËÈıÍÎÏ    ¦Ì ",
    "ÓßÔÒõÕµþÞÚÛÙýÝ¯´ ±‗¾¶§÷¸°¨·¹³²  "
);

impl CodePage {
    /// Every page, the usual one first.
    pub const ALL: [Self; 3] = [Self::Windows1252, Self::Pc850, Self::Ascii];

    /// Its name in requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Windows1252 => "windows-1252",
            Self::Pc850 => "pc850",
            Self::Ascii => "ascii",
        }
    }

    /// The number by which printers know it, if it has to be chosen.
    pub(crate) const fn number(self) -> Option<u8> {
        match self {
            Self::Windows1252 => Some(16),
            Self::Pc850 => Some(2),
            Self::Ascii => None,
        }
    }

    /// The byte of a printable character, if the page has it.
    pub(crate) fn byte(self, letter: char) -> Option<u8> {
        match (self, u8::try_from(letter)) {
            (_, Ok(ascii @ 0x20..=0x7e)) => Some(ascii),
            (Self::Windows1252, Ok(0xad)) | (Self::Ascii, _) => None,
            (Self::Windows1252, Ok(latin @ 0xa1..=0xff)) => Some(latin),
            (Self::Windows1252, _) => upper_half(WINDOWS_1252, letter),
            (Self::Pc850, _) => upper_half(PC_850, letter),
        }
    }
}

fn upper_half(page: &str, letter: char) -> Option<u8> {
    (0x80..=0xff)
        .zip(page.chars())
        .find(|(_, of_page)| *of_page == letter && letter != ' ')
        .map(|(byte, _)| byte)
}

impl Charset {
    /// The text with only those characters that can be shown.
    pub(crate) fn fit(self, text: &str) -> String {
        match self {
            Self::Unicode => text.to_owned(),
            Self::Of(page) => text.chars().map(|letter| nearest(page, letter)).collect(),
        }
    }
}

/// The character itself, or what people write in its place: a letter without its accent, two letters for one.
fn nearest(page: CodePage, letter: char) -> String {
    if page.byte(letter).is_some() {
        return letter.to_string();
    }
    let other = match letter {
        'œ' => "oe",
        'Œ' => "OE",
        'æ' => "ae",
        'Æ' => "AE",
        'ß' => "ss",
        'ø' | '°' => "o",
        'Ø' => "O",
        '‘' | '’' => "'",
        '“' | '”' | '«' | '»' => "\"",
        '–' | '—' => "-",
        '€' => "EUR",
        _ => return decomposed(page, letter),
    };
    other.to_owned()
}

fn decomposed(page: CodePage, letter: char) -> String {
    let parts: String = letter.nfkd().filter(|part| page.byte(*part).is_some()).collect();
    if parts.is_empty() { UNKNOWN.to_string() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRENCH: &str = "àâäæçéèêëîïôöùûüÿÀÂÄÆÇÉÈÊËÎÏÔÖÙÛÜ«»°";
    const PORTUGUESE: &str = "áâãàçéêíóôõúüÁÂÃÀÇÉÊÍÓÔÕÚÜªº";

    #[test]
    fn both_pages_have_the_letters_of_french_and_portuguese() {
        for page in [CodePage::Windows1252, CodePage::Pc850] {
            for letter in [FRENCH, PORTUGUESE].concat().chars() {
                assert!(page.byte(letter).is_some_and(|byte| byte >= 0x80), "{letter} in {page:?}");
            }
        }
        assert_eq!(CodePage::Windows1252.byte('œ'), Some(0x9c));
        assert_eq!(Charset::Of(CodePage::Pc850).fit("cœur"), "coeur");
    }

    #[test]
    fn the_pages_are_whole_and_have_their_known_bytes() {
        assert_eq!((WINDOWS_1252.chars().count(), PC_850.chars().count()), (32, 128));
        for (page, letter, byte) in [
            (CodePage::Windows1252, '€', 0x80),
            (CodePage::Windows1252, 'Ÿ', 0x9f),
            (CodePage::Windows1252, 'ã', 0xe3),
            (CodePage::Pc850, 'Ç', 0x80),
            (CodePage::Pc850, 'É', 0x90),
            (CodePage::Pc850, 'á', 0xa0),
            (CodePage::Pc850, 'À', 0xb7),
            (CodePage::Pc850, 'ã', 0xc6),
            (CodePage::Pc850, 'Ê', 0xd2),
            (CodePage::Pc850, 'Ó', 0xe0),
            (CodePage::Pc850, 'õ', 0xe4),
            (CodePage::Pc850, '°', 0xf8),
            (CodePage::Pc850, '²', 0xfd),
        ] {
            assert_eq!(page.byte(letter), Some(byte), "{letter} in {page:?}");
        }
    }

    #[test]
    fn a_printer_without_accents_gets_the_letters_below_them() {
        let ascii = Charset::Of(CodePage::Ascii);
        assert_eq!(ascii.fit("Reçu n° 7 – São João, Œuvre 5 m³"), "Recu no 7 - Sao Joao, OEuvre 5 m3");
        assert_eq!(ascii.fit("李 Ω"), "? ?");
        for page in CodePage::ALL {
            for control in ['\u{1b}', '\u{1d}', '\n', '\u{7f}', '\u{85}', '\u{a0}', '\u{ad}'] {
                assert_eq!(page.byte(control), None, "{control:?} in {page:?}");
            }
        }
    }
}
