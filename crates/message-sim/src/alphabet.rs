//! How the bytes of an SMS become characters on a telephone: the gateway's parameters and what a network can carry.

/// The default alphabet of GSM 03.38 and its extension. A character beyond them arrives as a question mark.
const GSM: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡\
                   ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà^{}\\[~]|€";

/// The encoding that `coding` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Seven bits per character, in the default alphabet.
    SevenBit,
    /// Sixteen bits per character, for almost every character.
    Ucs2,
}

impl Coding {
    /// Reads the parameter. The default is seven bits.
    pub(crate) fn parse(parameter: Option<&str>) -> Option<Self> {
        match parameter {
            None | Some("0") => Some(Self::SevenBit),
            Some("2") => Some(Self::Ucs2),
            Some(_) => None,
        }
    }

    /// The text that the telephone shows. `None` if the bytes are not valid in that character set.
    pub(crate) fn shown(self, bytes: &[u8], charset: Option<&str>) -> Option<String> {
        let usual = match self {
            Self::SevenBit => "UTF-8",
            Self::Ucs2 => "UTF-16BE",
        };
        let text = match charset.unwrap_or(usual).to_ascii_uppercase().as_str() {
            "UTF-8" => String::from_utf8(bytes.to_vec()).ok()?,
            "UTF-16BE" => from_utf16_be(bytes)?,
            "ISO-8859-1" | "LATIN1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
            _unknown => return None,
        };
        Some(match self {
            Self::SevenBit => text.chars().map(|c| if GSM.contains(c) { c } else { '?' }).collect(),
            Self::Ucs2 => text,
        })
    }
}

fn from_utf16_be(bytes: &[u8]) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_bits_carry_the_default_alphabet_and_nothing_else() {
        assert_eq!(GSM.chars().count(), 127 + 9);
        let shown = Coding::SevenBit.shown("Réf. [7] €5 não ê".as_bytes(), None);
        assert_eq!(shown.unwrap(), "Réf. [7] €5 n?o ?");
    }

    #[test]
    fn sixteen_bits_carry_what_the_character_set_says() {
        assert_eq!(Coding::Ucs2.shown("não".as_bytes(), Some("utf-8")).unwrap(), "não");
        assert_eq!(Coding::Ucs2.shown(&[0, b'n', 0, 0xe3, 0, b'o'], None).unwrap(), "não");
        assert_eq!(Coding::Ucs2.shown(&[0, b'n', 0], None), None);
        assert_eq!(Coding::Ucs2.shown(b"n", Some("EBCDIC")), None);
    }
}
