//! The language of an answer, read from the tag that a request carries.

use language_tags::LanguageTag;

/// Longest subtag (RFC 5646, section 2.1).
const SUBTAG_MAX: usize = 8;

/// A language in which the service has texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English. Also used if the service does not have the caller's language.
    #[default]
    English,
    /// French.
    French,
    /// Portuguese.
    Portuguese,
}

/// Not a well-formed language tag (BCP 47).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a language tag")]
pub struct MalformedTag(pub String);

/// A parsed language tag: the language of the answer, and the region of the tag, if any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locale {
    language: Language,
    region: Option<String>,
}

impl Language {
    /// Every language, the fallback first.
    pub const ALL: [Self; 3] = [Self::English, Self::French, Self::Portuguese];

    /// The primary subtag.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
            Self::Portuguese => "pt",
        }
    }

    /// The language of this tag. English if the service does not have it.
    pub fn negotiate(tag: &str) -> Result<Self, MalformedTag> {
        Locale::parse(tag).map(|locale| locale.language)
    }

    /// The first available language of an `Accept-Language` header, by weight; otherwise English. Malformed parts are
    /// ignored (RFC 9110, section 12.5.4).
    pub fn accepted(header: &str) -> Self {
        let mut choices: Vec<(u16, Self)> = header.split(',').filter_map(weighted).collect();
        choices.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        choices.first().map_or_else(Self::default, |(_, language)| *language)
    }

    fn spoken(primary: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == primary)
    }
}

impl Locale {
    /// Reads a tag such as `en-BW`. Any well-formed tag is accepted (RFC 5646, section 2.2.9), in any language: with
    /// extensions, for private use, or grandfathered. Underscores are read as hyphens.
    pub fn parse(tag: &str) -> Result<Self, MalformedTag> {
        let read = well_formed(tag).ok_or_else(|| MalformedTag(tag.to_owned()))?;
        Ok(Self {
            language: Language::spoken(read.primary_language()).unwrap_or_default(),
            region: read.region().map(str::to_owned),
        })
    }

    /// The language of the answer.
    pub const fn language(&self) -> Language {
        self.language
    }

    /// The region subtag in capitals, such as `BW`.
    pub fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }
}

/// The tag, if it is well-formed.
fn well_formed(tag: &str) -> Option<LanguageTag> {
    let tag = tag.replace('_', "-");
    // The parser does not check the length of subtags in a tag that consists of private use only.
    let fits = tag.split('-').all(|subtag| (1..=SUBTAG_MAX).contains(&subtag.len()));
    LanguageTag::parse(&tag).ok().filter(|_| fits)
}

/// One choice of an `Accept-Language` header with its weight in thousandths. `None` if its weight is zero or the
/// service does not have the language.
fn weighted(choice: &str) -> Option<(u16, Language)> {
    let (tag, weight) = choice.split_once(';').unwrap_or((choice, "q=1"));
    let read = well_formed(tag.trim())?;
    let thousandths = thousandths(weight.trim().strip_prefix("q=")?)?;
    Language::spoken(read.primary_language())
        .filter(|_| thousandths > 0)
        .map(|language| (thousandths, language))
}

fn thousandths(quality: &str) -> Option<u16> {
    let (whole, fraction) = quality.split_once('.').unwrap_or((quality, ""));
    if fraction.len() > 3 {
        return None;
    }
    format!("{whole}{fraction:0<3}").parse().ok().filter(|thousandths| *thousandths <= 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_language_falls_back_and_a_malformed_tag_is_refused() {
        for (tag, language) in [
            ("en-BW", Language::English),
            ("fr", Language::French),
            ("FR-cm", Language::French),
            ("pt-MZ", Language::Portuguese),
            ("tn-BW", Language::English),
            ("xx-XX", Language::English),
        ] {
            assert_eq!(Language::negotiate(tag), Ok(language), "{tag}");
        }
        for tag in
            ["", "e", "english-please-now-yes", "12", "en BW", "en-", "fr;q=1", "en\u{0}", "fr--CM", "é"]
        {
            assert_eq!(Language::negotiate(tag), Err(MalformedTag(tag.to_owned())), "{tag:?}");
        }
    }

    #[test]
    fn every_well_formed_tag_is_accepted() {
        for (tag, language, region) in [
            ("en-US-u-hc-h12", Language::English, Some("US")),
            ("fr-CM-x-till-7", Language::French, Some("CM")),
            ("pt-Latn-MZ-1990-a-bbb-u-nu-latn-x-a", Language::Portuguese, Some("MZ")),
            ("fr_CM", Language::French, Some("CM")),
            ("fr-419", Language::French, Some("419")),
            ("x-whatever-1", Language::English, None),
            ("i-klingon", Language::English, None),
            ("I-DEFAULT", Language::English, None),
            ("zh-min-nan", Language::English, None),
            ("zh-cmn-Hans-CN", Language::English, Some("CN")),
            ("en-a-bbb-a-ccc", Language::English, None),
            ("abcd", Language::English, None),
        ] {
            let read = Locale::parse(tag).unwrap();
            assert_eq!((read.language(), read.region()), (language, region), "{tag}");
        }
    }

    #[test]
    fn an_extension_or_a_private_part_that_is_incomplete_or_too_long_is_refused() {
        for tag in [
            "en-u",
            "en-u-",
            "en-a-b",
            "en-x",
            "x",
            "x-",
            "x-a-",
            "x-a--b",
            "x-123456789",
            "en-x-123456789",
            "en-a-123456789",
            "i-nothing",
            "en-US-GB",
            "x-é",
        ] {
            assert_eq!(Locale::parse(tag), Err(MalformedTag(tag.to_owned())), "{tag:?}");
        }
    }

    #[test]
    fn the_region_of_a_tag_is_kept_in_capitals() {
        assert_eq!(Locale::parse("en-bw").unwrap().region(), Some("BW"));
        assert_eq!(Locale::parse("en").unwrap().region(), None);
    }

    #[test]
    fn the_header_is_read_by_weight_and_never_refused() {
        for (header, language) in [
            ("fr-FR, en;q=0.8", Language::French),
            ("en;q=0.2, pt;q=0.9", Language::Portuguese),
            ("tn-BW, fr;q=0.5", Language::French),
            ("fr;q=0, pt;q=0.1", Language::Portuguese),
            ("*", Language::English),
            ("", Language::English),
            ("fr;q=abc;;, ,", Language::English),
            ("fr;q=2, pt", Language::Portuguese),
            ("i-klingon, fr-u-ca-gregory;q=0.9, pt;q=0.8", Language::French),
        ] {
            assert_eq!(Language::accepted(header), language, "{header:?}");
        }
    }
}
