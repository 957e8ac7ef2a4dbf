//! The forms that texts must have to be accepted, as the readers of requests have them.

use utoipa::openapi::{ObjectBuilder, Type};

use crate::requests::limits;

/// Everything but control characters and the marks that reorder what a person reads.
const VISIBLE: &str = r"^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$";

/// A BCP 47 tag: language, script, region, variants.
const LANGUAGE_TAG: &str = "^([A-Za-z]{2,3}|[A-Za-z]{5,8})([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?([-_]([0-9A-Za-z]{5,8}|[0-9][0-9A-Za-z]{3}))*$";

/// A text of 1 to `max` visible characters.
pub(super) fn required(max: usize, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(max))
        .pattern(Some(VISIBLE))
        .description(Some(description))
}

/// A text of at most `max` visible characters; null and an empty one are the same as none.
pub(super) fn optional(max: usize, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type([Type::String, Type::Null].into_iter().collect::<utoipa::openapi::schema::SchemaType>())
        .max_length(Some(max))
        .pattern(Some(VISIBLE))
        .description(Some(description))
}

/// A language tag.
pub(super) fn language() -> ObjectBuilder {
    of_form(
        LANGUAGE_TAG,
        "Locale tag such as `en-BW`. Errors are told in this language where it is spoken \
        here (English, French, Portuguese), and a phone number without country code is read by the customs \
        of its region.",
    )
    .max_length(Some(limits::LANGUAGE_MAX))
    .examples(["en-BW"])
}

/// A text of this form.
pub(super) fn of_form(pattern: &str, description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).description(Some(description))
}
