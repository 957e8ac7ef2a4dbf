//! The answers of an endpoint: its success, and one answer for each status that its codes have.

use std::collections::BTreeMap;

use utoipa::{
    ToSchema,
    openapi::{
        ArrayBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, Responses,
        ResponsesBuilder, Schema, Type,
    },
};

use error_codes::{ErrorCode, ErrorType};

use super::{error, examples, headers, links};
use crate::{Endpoint, requests::Format, wire};

/// Every answer of an endpoint.
pub(super) fn of(endpoint: Endpoint) -> Responses {
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in endpoint.codes() {
        by_status.entry(endpoint.status(code)).or_default().push(code);
    }
    let responses = ResponsesBuilder::new().response("200", success(endpoint));
    by_status
        .into_iter()
        .fold(responses, |responses, (status, codes)| {
            responses.response(status.to_string(), refusal(endpoint, &codes))
        })
        .build()
}

fn success(endpoint: Endpoint) -> Response {
    let schema: RefOr<Schema> = match endpoint {
        Endpoint::Login | Endpoint::Refresh => one::<wire::Session>(),
        Endpoint::Me => one::<wire::Me<'_>>(),
        Endpoint::Accounts => list_of::<wire::Account>(),
        Endpoint::Account => one::<wire::Account>(),
        Endpoint::Products => list_of::<wire::Product>(),
        Endpoint::Validate | Endpoint::Confirm | Endpoint::Retry => one::<wire::Purchase<'_>>(),
        Endpoint::Purchases => one::<wire::PurchasePage<'_>>(),
        Endpoint::Purchase => one::<wire::ListedPurchase<'_>>(),
        Endpoint::Statement => one::<wire::Statement>(),
        Endpoint::Sales => one::<wire::Sales>(),
    };
    let content = ContentBuilder::new().schema(Some(schema)).example(examples::success(endpoint));
    let answer = ResponseBuilder::new().description("Done.").content("application/json", content.build());
    let answer = other_formats(endpoint).iter().fold(answer, |answer, format| {
        let text = ObjectBuilder::new().schema_type(Type::String);
        answer.content(format.media_type(), ContentBuilder::new().schema(Some(text)).build())
    });
    let answer = if endpoint == Endpoint::Statement {
        headers::carrying(answer, headers::NEXT_CURSOR, "NextCursor")
    } else {
        answer
    };
    let answer = headers::carrying_limits(headers::carrying_the_usual(answer, endpoint));
    links::from(endpoint).into_iter().fold(answer, |answer, (name, link)| answer.link(name, link)).build()
}

/// The formats beside JSON in which an endpoint can answer.
fn other_formats(endpoint: Endpoint) -> &'static [Format] {
    match endpoint {
        Endpoint::Statement => &[Format::Csv, Format::Camt053],
        Endpoint::Sales => &[Format::Csv],
        Endpoint::Login
        | Endpoint::Refresh
        | Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Validate
        | Endpoint::Confirm
        | Endpoint::Retry
        | Endpoint::Purchases
        | Endpoint::Purchase => &[],
    }
}

/// One answer for all codes with the same status.
fn refusal(endpoint: Endpoint, codes: &[ErrorCode]) -> Response {
    let example = codes.first().map(|code| examples::error(*code));
    let content = ContentBuilder::new().schema(Some(error::envelope_of(codes))).example(example).build();
    let answer = ResponseBuilder::new().description(explained(codes)).content("application/json", content);
    codes.iter().copied().fold(headers::carrying_the_usual(answer, endpoint), with_headers_of).build()
}

fn with_headers_of(answer: ResponseBuilder, code: ErrorCode) -> ResponseBuilder {
    match code.error_type() {
        ErrorType::Authentication => headers::carrying(answer, "WWW-Authenticate", "WwwAuthenticate"),
        ErrorType::Conflict | ErrorType::ProviderTimeout => {
            headers::carrying(answer, "Retry-After", "RetryAfter")
        }
        ErrorType::RateLimit => {
            headers::carrying_limits(headers::carrying(answer, "Retry-After", "RetryAfter"))
        }
        ErrorType::Validation if code == ErrorCode::MethodNotAllowed => {
            headers::carrying(answer, "Allow", "Allow")
        }
        ErrorType::Permission
        | ErrorType::Validation
        | ErrorType::NotFound
        | ErrorType::InsufficientFunds
        | ErrorType::Provider
        | ErrorType::ProviderUnavailable
        | ErrorType::Internal => answer,
    }
}

/// The codes with their meaning, for people.
fn explained(codes: &[ErrorCode]) -> String {
    let lines: Vec<String> =
        codes.iter().map(|code| format!("* [`{code}`](/docs/errors/{code}): {}", code.meaning())).collect();
    lines.join("\n")
}

fn one<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

fn list_of<T: ToSchema>() -> RefOr<Schema> {
    ArrayBuilder::new().items(Ref::from_schema_name(T::name())).into()
}
