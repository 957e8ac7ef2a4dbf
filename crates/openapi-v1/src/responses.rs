//! The answers of an endpoint: its success, and one answer for each status that its codes have.

use utoipa::{
    ToSchema,
    openapi::{
        ArrayBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, Responses,
        ResponsesBuilder, Schema, Type,
        schema::{KnownFormat, SchemaFormat},
    },
};

use error_codes::{Decision, ErrorCode, ErrorType};

use crate::{batches, error, examples, headers, links, webhooks};
use http_v1::{
    BatchCall, Endpoint,
    requests::{Format, ReceiptFormat},
    wire,
};

/// Every answer of an endpoint.
pub(crate) fn of(endpoint: Endpoint) -> Responses {
    let responses = ResponsesBuilder::new().response("200", success(endpoint));
    error::codes_by_status(endpoint)
        .into_iter()
        .fold(responses, |responses, (status, codes)| {
            responses.response(status.to_string(), refusal(endpoint, status, &codes))
        })
        .build()
}

fn success(endpoint: Endpoint) -> Response {
    let answer = ResponseBuilder::new().description("Done.");
    let answer = match schema(endpoint) {
        Some(schema) => {
            let content = ContentBuilder::new().schema(Some(schema));
            let examples = examples::success(endpoint).map(examples::reference);
            answer.content("application/json", content.examples_from_iter(examples).build())
        }
        None => answer,
    };
    let answer = other_formats(endpoint).into_iter().fold(answer, |answer, (media_type, schema)| {
        answer.content(media_type, ContentBuilder::new().schema(Some(schema)).build())
    });
    let answer = if matches!(endpoint, Endpoint::Statement | Endpoint::Batches(BatchCall::Lines)) {
        headers::carrying(answer, wire::NEXT_CURSOR, "NextCursor")
    } else {
        answer
    };
    // Of a purchase that is `PENDING`.
    let answer = if endpoint == Endpoint::Confirm {
        headers::carrying(answer, "Retry-After", "RetryAfter")
    } else {
        answer
    };
    let answer = headers::carrying_limits(headers::carrying_the_usual(answer, endpoint));
    links::from(endpoint).into_iter().fold(answer, |answer, (name, link)| answer.link(name, link)).build()
}

/// The answer in JSON, if the endpoint has one.
fn schema(endpoint: Endpoint) -> Option<RefOr<Schema>> {
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
        Endpoint::LookUp => one::<wire::SubscriberPurchases<'_>>(),
        Endpoint::Message => one::<wire::QueuedMessage<'_>>(),
        Endpoint::Receipt => return None,
        Endpoint::Certificate => one::<wire::Certificate<'_>>(),
        Endpoint::Events => one::<wire::EventPage<'_>>(),
        Endpoint::Webhooks(call) => webhooks::success(call),
        Endpoint::Batches(call) => batches::success(call),
    };
    Some(schema)
}

/// The formats beside JSON in which an endpoint can answer: media type and schema.
fn other_formats(endpoint: Endpoint) -> Vec<(&'static str, Schema)> {
    let text = |format: &Format| (format.media_type(), text().into());
    match endpoint {
        Endpoint::Statement => [Format::Csv, Format::Camt053].iter().map(text).collect(),
        Endpoint::Sales | Endpoint::Batches(BatchCall::Lines) => [Format::Csv].iter().map(text).collect(),
        Endpoint::Receipt => ReceiptFormat::ALL.map(receipt).into(),
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
        | Endpoint::Purchase
        | Endpoint::Certificate
        | Endpoint::LookUp
        | Endpoint::Message
        | Endpoint::Events
        | Endpoint::Webhooks(_)
        | Endpoint::Batches(_) => Vec::new(),
    }
}

fn receipt(format: ReceiptFormat) -> (&'static str, Schema) {
    let schema = match format {
        ReceiptFormat::Text | ReceiptFormat::Html => text(),
        ReceiptFormat::EscPos | ReceiptFormat::Pdf => {
            text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
        }
    };
    (format.media_type(), schema.into())
}

pub(crate) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// One answer for all codes with the same status.
fn refusal(endpoint: Endpoint, status: u16, codes: &[ErrorCode]) -> Response {
    let schema = Ref::from_schema_name(error::name_of(endpoint, status, codes));
    let examples = codes.iter().map(|code| examples::reference(code.as_str()));
    let content = ContentBuilder::new().schema(Some(schema)).examples_from_iter(examples).build();
    let answer =
        ResponseBuilder::new().description(explained(endpoint, codes)).content("application/json", content);
    let answer = headers::carrying_limits(headers::carrying_the_usual(answer, endpoint));
    codes.iter().fold(answer, |answer, code| with_headers_of(answer, endpoint, *code)).build()
}

fn with_headers_of(answer: ResponseBuilder, endpoint: Endpoint, code: ErrorCode) -> ResponseBuilder {
    match code.error_type() {
        ErrorType::Authentication => headers::carrying(answer, "WWW-Authenticate", "WwwAuthenticate"),
        ErrorType::Conflict | ErrorType::ProviderTimeout | ErrorType::RateLimit => {
            headers::carrying(answer, "Retry-After", "RetryAfter")
        }
        // Of a pause whose end is known. A retry never meets one.
        ErrorType::ProviderUnavailable if endpoint != Endpoint::Retry => {
            headers::carrying(answer, "Retry-After", "RetryAfter")
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

/// The codes with their meaning, for people. After confirm and retry, they also say what to do now.
fn explained(endpoint: Endpoint, codes: &[ErrorCode]) -> String {
    let lines: Vec<String> = codes
        .iter()
        .map(|code| {
            let decision = endpoint.decision(*code).map(|Decision { money, action }| {
                format!(" **The money:** {} **Now:** {}", money.sentence(), action.sentence())
            });
            format!("* [`{code}`](/docs/errors/{code}): {}{}", code.meaning(), decision.unwrap_or_default())
        })
        .collect();
    lines.join("\n")
}

pub(crate) fn one<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

pub(crate) fn list_of<T: ToSchema>() -> RefOr<Schema> {
    ArrayBuilder::new().items(Ref::from_schema_name(T::name())).into()
}
