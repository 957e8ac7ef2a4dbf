//! Texts of other parties as one line. They may be shown, and must control nothing.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// The first `length_max` characters of a text as one line, composed (NFC). Line breaks and everything invisible or
/// unassigned become blanks, and several blanks become one.
pub(crate) fn one_line(text: &str, length_max: usize) -> String {
    let visible: String = text.nfc().map(|letter| if is_visible(letter) { letter } else { ' ' }).collect();
    let words = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(length_max).collect::<String>().trim_end().to_owned()
}

/// Control, format, private and unassigned characters are one group of Unicode, "other".
fn is_visible(letter: char) -> bool {
    letter.general_category_group() != GeneralCategoryGroup::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_visible_line_and_a_long_one_is_cut() {
        assert_eq!(one_line("K. MOLEFE\r\n\u{1b}@\u{202e}\u{200b} \u{0}Ltd", 40), "K. MOLEFE @ Ltd");
        assert_eq!(one_line("Jose\u{301}", 4), "José");
        assert_eq!(one_line("abc def", 4), "abc");
        assert_eq!(one_line(" \n\t ", 4), "");
    }
}
