//! The envelope of every error (specification, section 7.1), and its form for each status of an endpoint.

use std::collections::BTreeMap;

use utoipa::{
    ToSchema,
    openapi::{AllOfBuilder, ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema, Type, schema::SchemaType},
};

use error_codes::ErrorCode;

use http_v1::{
    Endpoint,
    schema::values::{self, types_of},
    wire::Recovery,
};

use crate::Documented;

/// The names of the schemas below.
const DETAIL: &str = "ErrorDetail";
const FAILURE: &str = "ErrorFailure";

/// The schemas of all errors, by name.
pub(crate) fn all() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = vec![(DETAIL.to_owned(), detail().into()), (FAILURE.to_owned(), failure().into())];
    let narrowed: BTreeMap<String, RefOr<Schema>> = Endpoint::ALL
        .into_iter()
        .flat_map(|endpoint| codes_by_status(endpoint).into_iter().map(move |codes| (endpoint, codes)))
        .map(|(endpoint, (status, codes))| (name_of(endpoint, status, &codes), envelope_of(&codes)))
        .collect();
    schemas.extend(narrowed);
    schemas
}

/// The codes of an endpoint by their status.
pub(crate) fn codes_by_status(endpoint: Endpoint) -> BTreeMap<u16, Vec<ErrorCode>> {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in endpoint.codes() {
        by_status.entry(endpoint.status(code)).or_default().push(code);
    }
    by_status
}

/// The name of the schema for these codes: that of the only code, or that of the endpoint and the status.
pub(crate) fn name_of(endpoint: Endpoint, status: u16, codes: &[ErrorCode]) -> String {
    match codes {
        [code] => {
            let words = code.as_str().split('_').filter(|word| *word != "error").map(capital);
            format!("{}Error", words.collect::<String>())
        }
        _several => format!("{}{status}Error", capital(endpoint.operation_id())),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn detail() -> ObjectBuilder {
    let param: SchemaType = [Type::String, Type::Null].into_iter().collect();
    let fields = [
        ("message", of(Type::String), "A sentence that can be shown, in the language of the request."),
        ("param", of(param), "The field, query parameter or header that it is about, where there is one."),
        ("retryable", of(Type::Boolean), "Whether the very same request may be sent again."),
        ("doc_url", of(Type::String), "The page about the code."),
        ("request_id", of(Type::String), "As in the header X-Request-Id."),
    ];
    let named = ObjectBuilder::new()
        .description(Some(
            "What every error looks like. Branch on `type`, then on `code`, and trust `retryable`.",
        ))
        .property("type", Ref::from_schema_name(values::ErrorType::name()))
        .required("type")
        .property("code", Ref::from_schema_name(values::ErrorCode::name()))
        .required("code");
    let error = fields.into_iter().fold(named, |error, (name, schema, description)| {
        error.property(name, schema.description(Some(description))).required(name)
    });
    error
        .property("recovery", Ref::from_schema_name(Recovery::name()))
        .property("failure", Ref::from_schema_name(FAILURE))
        .property("lines", lines())
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

/// The part of an error that says what is wrong with the lines of a batch.
fn lines() -> ArrayBuilder {
    let line = of(Type::Integer).minimum(Some(1)).description(Some("The number of the line, from 1."));
    let param: SchemaType = [Type::String, Type::Null].into_iter().collect();
    let mistake = ObjectBuilder::new()
        .property("line", line)
        .required("line")
        .property("code", Ref::from_schema_name(values::ErrorCode::name()))
        .required("code")
        .property("param", of(param).description(Some("The field of the line, where there is one.")))
        .required("param")
        .property("message", of(Type::String).description(Some("As in the error of one purchase.")))
        .required("message");
    ArrayBuilder::new()
        .items(mistake)
        .description(Some("Of a batch: the first mistake of each line that is wrong."))
}

/// An error of one of these codes.
fn envelope_of(codes: &[ErrorCode]) -> RefOr<Schema> {
    let narrowed = ObjectBuilder::new()
        .property("type", one_of(types_of(codes)))
        .required("type")
        .property("code", one_of(codes.iter().map(|code| code.as_str())))
        .required("code");
    let error = AllOfBuilder::new().item(Ref::from_schema_name(DETAIL)).item(narrowed);
    ObjectBuilder::new().property("error", error).required("error").into()
}

fn of(kind: impl Into<SchemaType>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind)
}

fn one_of(values: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    of(Type::String).enum_values(Some(values))
}
