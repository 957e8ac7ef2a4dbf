//! The envelope of every error (specification, section 7.1).

use utoipa::{
    ToSchema,
    openapi::{AllOfBuilder, ObjectBuilder, Ref, RefOr, Schema, Type, schema::SchemaType},
};

use error_codes::{ErrorCode, ErrorType};

use super::examples;
use crate::wire::Recovery;

/// The name of the schema below.
pub(super) const NAME: &str = "Error";

/// An error of any code.
pub(super) fn envelope() -> RefOr<Schema> {
    let param: SchemaType = [Type::String, Type::Null].into_iter().collect();
    let fields = [
        ("type", one_of(ErrorType::ALL.map(ErrorType::as_str)), "The broad category."),
        ("code", one_of(ErrorCode::ALL.map(ErrorCode::as_str)), "What happened; stable."),
        ("message", of(Type::String), "A sentence that can be shown, in the language of the request."),
        ("param", of(param), "The field of the request that it is about, where there is one."),
        ("retryable", of(Type::Boolean), "Whether the very same request may be sent again."),
        ("doc_url", of(Type::String), "The page about the code."),
        ("request_id", of(Type::String), "As in the header X-Request-Id."),
    ];
    let error = fields.into_iter().fold(ObjectBuilder::new(), |error, (name, schema, description)| {
        error.property(name, schema.description(Some(description))).required(name)
    });
    let error =
        error.property("recovery", Ref::from_schema_name(Recovery::name())).property("failure", failure());
    ObjectBuilder::new()
        .description(Some(
            "What every error looks like. Branch on `type`, then on `code`, and trust `retryable`.",
        ))
        .property("error", error)
        .required("error")
        .examples([examples::error(ErrorCode::InsufficientBalance)])
        .into()
}

/// The part of an error that says that a purchase has failed.
fn failure() -> ObjectBuilder {
    ObjectBuilder::new()
        .description(Some("Where a purchase has failed for good."))
        .property(
            "buy_again",
            of(Type::Boolean).description(Some("Whether a new purchase of the same may succeed.")),
        )
        .required("buy_again")
}

/// An error of one of these codes.
pub(super) fn envelope_of(codes: &[ErrorCode]) -> RefOr<Schema> {
    let mut types: Vec<&str> = codes.iter().map(|code| code.error_type().as_str()).collect();
    types.dedup();
    let error = ObjectBuilder::new()
        .property("type", one_of(types))
        .property("code", one_of(codes.iter().map(|code| code.as_str())));
    AllOfBuilder::new()
        .item(Ref::from_schema_name(NAME))
        .item(ObjectBuilder::new().property("error", error))
        .into()
}

fn of(kind: impl Into<SchemaType>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind)
}

fn one_of(values: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    of(Type::String).enum_values(Some(values))
}
