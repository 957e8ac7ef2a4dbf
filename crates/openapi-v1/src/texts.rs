//! The forms of texts that are accepted, as the code that reads requests defines them.

use utoipa::openapi::{ObjectBuilder, Type};

use http_v1::requests::limits;

/// All characters except control characters and the marks that reorder displayed text.
const VISIBLE: &str = r"^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$";

/// The parts of a BCP 47 tag in their order (RFC 5646, section 2.1): language, script, region, variants, extensions,
/// private use. It contains hyphens only; the pattern of the document also allows underscores.
const LANGUAGE_TAG: &str = "([A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}|[A-Za-z]{4,8})(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?\
    (-([0-9A-Za-z]{5,8}|[0-9][0-9A-Za-z]{3}))*(-[0-9A-WY-Za-wy-z](-[0-9A-Za-z]{2,8})+)*(-[Xx](-[0-9A-Za-z]{1,8})+)?";

/// A tag that consists of private use only.
const PRIVATE_TAG: &str = "[Xx](-[0-9A-Za-z]{1,8})+";

/// The grandfathered tags with an irregular form.
const IRREGULAR_TAGS: [&str; 17] = [
    "en-gb-oed",
    "i-ami",
    "i-bnn",
    "i-default",
    "i-enochian",
    "i-hak",
    "i-klingon",
    "i-lux",
    "i-mingo",
    "i-navajo",
    "i-pwn",
    "i-tao",
    "i-tay",
    "i-tsu",
    "sgn-be-fr",
    "sgn-be-nl",
    "sgn-ch-de",
];

/// As [`VISIBLE`], with line breaks and tabs.
const PROSE: &str = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$";

/// The part of a name's rule that fits into a pattern for every reader of the document: no invisible characters of the
/// Basic Multilingual Plane. The description states the rest.
const NAME: &str = r"^[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]*$";

/// A text of 1 to `max` visible characters.
pub(crate) fn required(max: usize, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(max))
        .pattern(Some(VISIBLE))
        .description(Some(description))
}

/// A text of at most `max` visible characters. Null and an empty text are the same as an absent one.
pub(crate) fn optional(max: usize, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type([Type::String, Type::Null].into_iter().collect::<utoipa::openapi::schema::SchemaType>())
        .max_length(Some(max))
        .pattern(Some(VISIBLE))
        .description(Some(description))
}

/// A text of at most `max` characters that may have several lines.
pub(crate) fn prose(max: usize, description: &str) -> ObjectBuilder {
    optional(max, description).pattern(Some(PROSE))
}

/// A name of 1 to `max` characters, none of them invisible.
pub(crate) fn required_name(max: usize, description: &str) -> ObjectBuilder {
    required(max, description).pattern(Some(NAME))
}

/// A name of at most `max` characters, none of them invisible.
pub(crate) fn optional_name(max: usize, description: &str) -> ObjectBuilder {
    optional(max, description).pattern(Some(NAME))
}

/// A language tag.
pub(crate) fn language() -> ObjectBuilder {
    of_form(
        &language_tag(),
        "Locale tag such as `en-BW`: any well-formed BCP 47 tag, extensions and private use included. Errors are told in \
        this language where it is spoken here (English, French, Portuguese), and a phone number without country code is \
        read by the customs of its region.",
    )
    .max_length(Some(limits::LANGUAGE_MAX))
    .examples(["en-BW"])
}

/// A pattern for every well-formed language tag. Patterns in a document have no flags, so both cases of every letter
/// are spelled out.
fn language_tag() -> String {
    let both_cases = |letter: char| match letter {
        'a'..='z' => format!("[{}{letter}]", letter.to_ascii_uppercase()),
        other => other.to_string(),
    };
    let irregular = IRREGULAR_TAGS.map(|tag| tag.chars().map(both_cases).collect::<String>());
    let hyphened = format!("({LANGUAGE_TAG}|{PRIVATE_TAG}|{})", irregular.join("|"));
    // Between tokens, a hyphen follows a bracket. Within a class, it is between two characters.
    let separated = hyphened.replace("(-", "([-_]").replace("]-[", "][-_][");
    format!("^{separated}$")
}

/// A text of this form.
pub(crate) fn of_form(pattern: &str, description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).description(Some(description))
}
