//! Headers of requests and answers.

use utoipa::openapi::{
    Header, HeaderBuilder, ObjectBuilder, Ref, ResponseBuilder, Type,
    path::{Parameter, ParameterBuilder, ParameterIn},
};

use purchase::IdempotencyKey;

use http_v1::Endpoint;

const REQUEST_ID: &str = "X-Request-Id";
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// The headers that answers share, by the names under which answers refer to them.
pub(crate) fn all() -> Vec<(&'static str, Header)> {
    vec![
        (
            "RequestId",
            of_text(
                "The name of the request: the caller's own, or a fresh one. Quote it when you report something.",
            ),
        ),
        ("RetryAfter", of_number("How many seconds to wait before the next try.")),
        (
            "RateLimitLimit",
            of_number("On every answer to a counted request: how many requests may come in a burst."),
        ),
        ("RateLimitRemaining", of_number("How many of them are left.")),
        ("RateLimitReset", of_number("In how many seconds all of them are there again.")),
        ("Allow", of_text("With `method_not_allowed`: the method that the path has.")),
        ("WwwAuthenticate", of_text("`Bearer` (RFC 6750, section 3); `Basic` to a refresh that used it.")),
        (
            "IdempotentReplayed",
            of_text("`true` where an earlier result is told again for the same `Idempotency-Key`."),
        ),
        (
            "NextCursor",
            of_text("What to send as `cursor` for the next page, in every format; absent on the last one."),
        ),
    ]
}

/// Adds one of the headers above to an answer.
pub(crate) fn carrying(answer: ResponseBuilder, header: &str, component: &str) -> ResponseBuilder {
    answer.header_ref(header, Ref::new(format!("#/components/headers/{component}")))
}

/// Adds the rate-limit headers. Every answer to a request that was counted for a client, a login or a refresh has them,
/// whatever its status.
pub(crate) fn carrying_limits(answer: ResponseBuilder) -> ResponseBuilder {
    [
        ("RateLimit-Limit", "RateLimitLimit"),
        ("RateLimit-Remaining", "RateLimitRemaining"),
        ("RateLimit-Reset", "RateLimitReset"),
    ]
    .into_iter()
    .fold(answer, |answer, (header, name)| carrying(answer, header, name))
}

/// Adds the headers that every answer of an endpoint may have.
pub(crate) fn carrying_the_usual(answer: ResponseBuilder, endpoint: Endpoint) -> ResponseBuilder {
    let answer = carrying(answer, REQUEST_ID, "RequestId");
    match endpoint {
        Endpoint::Confirm => carrying(answer, "Idempotent-Replayed", "IdempotentReplayed"),
        Endpoint::Login
        | Endpoint::Refresh
        | Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Validate
        | Endpoint::Retry
        | Endpoint::Purchases
        | Endpoint::Purchase
        | Endpoint::Statement
        | Endpoint::Sales
        | Endpoint::Receipt
        | Endpoint::Certificate
        | Endpoint::LookUp
        | Endpoint::Message
        | Endpoint::Events
        | Endpoint::Webhooks(_)
        | Endpoint::Batches(_) => answer,
    }
}

/// The caller's own id for a request. Any text is accepted, so that no request fails because of its id.
pub(crate) fn request_id() -> Parameter {
    ParameterBuilder::new()
        .name(REQUEST_ID)
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "Your own name for the request, echoed in the answer if it has 1 to 128 visible ASCII characters or blanks \
             between them, and replaced otherwise.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

/// The header that makes a repeated confirm the same confirm.
pub(crate) fn idempotency_key() -> Parameter {
    ParameterBuilder::new()
        .name(IDEMPOTENCY_KEY)
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "A text that you choose for one sale and never use for another. A confirm that is sent again with \
             the same key and the same body buys nothing: it tells what became of the first, with \
             `Idempotent-Replayed: true` once that is final. Another body under the same key is \
             `invalid_argument`. A confirm that was refused before money was set aside, or that failed for a \
             passing reason, frees its key. Keys are kept for 7 days.",
        ))
        .schema(Some(
            ObjectBuilder::new()
                .schema_type(Type::String)
                .min_length(Some(1))
                .max_length(Some(IdempotencyKey::LENGTH_MAX))
                .pattern(Some("^[!-~]+$")),
        ))
        .build()
}

fn of_text(description: &str) -> Header {
    HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .description(Some(description))
        .build()
}

fn of_number(description: &str) -> Header {
    HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0))))
        .description(Some(description))
        .build()
}
