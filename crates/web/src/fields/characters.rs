//! Which characters a text of a request may contain.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// The use of a text, which decides the characters that it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// One line that a person reads: no control characters, and no characters that reorder the displayed text.
    Line,
    /// A text that a person has written, possibly in several lines: as [`Use::Line`], with line breaks and tabs.
    Prose,
    /// A name that identifies something: as [`Use::Line`], without invisible characters.
    Name,
}

impl Use {
    pub(super) fn allows(self, character: char) -> bool {
        match self {
            Self::Line => !is_command(character),
            Self::Prose => matches!(character, '\t' | '\n' | '\r') || !is_command(character),
            Self::Name => !is_command(character) && !is_invisible(character),
        }
    }
}

/// Control characters, line and paragraph separators, the byte order mark, and the marks that reorder
/// what a person reads (Unicode Standard Annex 9).
fn is_command(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}'
        )
}

/// Format characters, private use, and characters that the available Unicode version does not assign. Also characters
/// of other categories that are drawn as nothing (the property `Default_Ignorable_Code_Point`): fillers and variation
/// selectors. Two names that differ in these alone look the same.
fn is_invisible(character: char) -> bool {
    if character.is_ascii() {
        return false;
    }
    matches!(
        character.general_category(),
        GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::Surrogate
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::Control
    ) || matches!(
        character,
        '\u{034F}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFA0}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_lines_and_tabs_and_no_other_command() {
        assert!("one\r\ntwo\tthree".chars().all(|character| Use::Prose.allows(character)));
        for command in
            ['\0', '\u{8}', '\u{b}', '\u{1b}', '\u{7f}', '\u{85}', '\u{202e}', '\u{2028}', '\u{feff}']
        {
            assert!(!Use::Prose.allows(command) && !Use::Line.allows(command), "{command:?}");
        }
        assert!(!Use::Line.allows('\n') && !Use::Name.allows('\t'));
    }

    #[test]
    fn a_name_holds_letters_of_every_script_and_nothing_that_cannot_be_seen() {
        for seen in "INV-1 äẞ Ж 中 ไทย हिन्दी العربية 🧾 №5 e\u{301}".chars()
        {
            assert!(Use::Name.allows(seen), "{seen:?}");
        }
        let unseen = "\u{ad}\u{34f}\u{115f}\u{180e}\u{200b}\u{200c}\u{200d}\u{2060}\u{2064}\u{206f}\u{3164}\u{fe0f}\u{fff9}\
            \u{ffa0}\u{e000}\u{f8ff}\u{f0000}\u{10fffd}\u{378}\u{ffff}\u{e0001}\u{e0041}\u{e0100}\u{1d173}\u{2028}\u{feff}";
        for unseen in unseen.chars() {
            assert!(!Use::Name.allows(unseen), "{unseen:?}");
        }
    }
}
