//! The document's part about batches.

use serde_json::{Value, json};
use utoipa::openapi::{
    ArrayBuilder, ObjectBuilder, Ref, RefOr, Required, Schema, Type,
    link::Link,
    path::{Parameter, ParameterIn},
};
use vending::{LineState, REFERENCE_MAX};

use crate::{
    bodies::{self, with},
    links::with_id,
    parameters::{format, id, parameter},
    prose::{BATCHES, Texts},
    responses::one,
    texts,
};
use http_v1::{
    BatchCall, Endpoint,
    requests::{
        Format,
        limits::{BATCH_LINES_MAX, BATCHES_DEFAULT, BATCHES_MAX, LINES_DEFAULT, LINES_MAX, SHORT_TEXT_MAX},
    },
    wire,
};

/// The names and the description of a call.
pub(crate) const fn about(call: BatchCall) -> Texts {
    let (operation_id, summary, description) = match call {
        BatchCall::List => (
            "listBatches",
            "List batches",
            "The organisation's batches, the newest first. A batch is kept for 90 days after it is finished.",
        ),
        BatchCall::Create => ("createBatch", "Create a batch", CREATE),
        BatchCall::One => (
            "getBatch",
            "One batch",
            "How far it is: its lines and their amounts by status. Another organisation's batch does not exist for the caller.",
        ),
        BatchCall::Lines => (
            "listBatchLines",
            "The lines of a batch",
            "Each line with what has become of it: its purchase with the token, or why nothing was bought. As CSV, with a header, \
             one page may have all lines of a batch.",
        ),
        BatchCall::Pause => (
            "pauseBatch",
            "Pause a batch",
            "No line is begun from now on. A line that is being bought comes to its end. The request needs no body, and may be \
             repeated.",
        ),
        BatchCall::Resume => (
            "resumeBatch",
            "Resume a batch",
            "The lines that wait are bought. A batch that the service has paused (`NOT_AUTHORISED`) is paused again if its client, \
             its user or the organisation still may not buy. The request needs no body, and may be repeated.",
        ),
        BatchCall::Cancel => (
            "cancelBatch",
            "Cancel a batch",
            "What has not begun is never bought: its lines are `CANCELLED`. A line that is being bought comes to its end, and until \
             then the batch is `CANCELLING`. This is final. The request needs no body, and may be repeated.",
        ),
    };
    Texts { operation_id, tag: BATCHES, summary, description }
}

const CREATE: &str = "Up to 5,000 purchases in one request, as JSON, or as CSV (`text/csv`) with the same names in the first row and \
    `reference`, `language`, `debited_account_id` and `currency` in the query. Every line is checked first, as confirm does before it \
    asks the provider. If a line is wrong, nothing is stored, and `error.lines` has the first mistake of each wrong line. No money moves \
    in this request.\n\n\
    Then the service buys the lines one by one, at the pace of each provider. Each line is an ordinary purchase on the channel \
    `BATCH`: it takes its money from the account when it is bought, it has events and messages of its own, and retry finds it by its \
    `external_reference`. A line without one is named `reference/line`. No line is bought twice.\n\n\
    `reference` names the batch: the same batch sent again is answered as it is now, and buys nothing. Other content under the same \
    reference is `invalid_argument`. So if the answer is lost, send the same request again.\n\n\
    A refusal by the provider and an empty account are the outcome of a line, and the other lines go on. Lines wait while their provider \
    is paused, while another purchase for the same subscriber is open, and up to some forty minutes while a provider cannot be reached. \
    The event `batch.finished` says that the last line has ended. An organisation may have 20 unfinished batches.";

/// The name of the body's schema.
pub(crate) const fn body_name(call: BatchCall) -> Option<&'static str> {
    match call {
        BatchCall::Create => Some("BatchRequest"),
        BatchCall::List
        | BatchCall::One
        | BatchCall::Lines
        | BatchCall::Pause
        | BatchCall::Resume
        | BatchCall::Cancel => None,
    }
}

/// The schemas of the bodies, by name.
pub(crate) fn bodies() -> [(&'static str, ObjectBuilder); 2] {
    let lines = ArrayBuilder::new()
        .items(Ref::from_schema_name("BatchRequestLine"))
        .min_items(Some(1))
        .max_items(Some(BATCH_LINES_MAX))
        .description(Some("What is bought, in the order in which it is begun."));
    let body = ObjectBuilder::new().description(Some("What is to be bought, and from which account."));
    let body = with(body, "reference", reference());
    let body = with(body, "language", texts::language());
    let body = with(body, "debited_account_id", bodies::account());
    let body = with(body, "currency", currency());
    let body = body.property("lines", lines).required("lines");
    [
        ("BatchRequest", body.examples([wanted()])),
        ("BatchRequestLine", bodies::batch_line().examples([line_wanted()])),
    ]
}

fn reference() -> ObjectBuilder {
    texts::required_name(
        REFERENCE_MAX,
        "Your own name for the batch, new for every batch. It is the key that makes a repeated \
        request the same batch. The rules of `external_reference` apply.",
    )
}

fn currency() -> ObjectBuilder {
    texts::of_form("^[A-Z]{3}$", "ISO 4217 code: the currency of the account.")
}

/// The schema of a successful answer.
pub(crate) fn success(call: BatchCall) -> RefOr<Schema> {
    match call {
        BatchCall::List => one::<wire::BatchPage>(),
        BatchCall::Create | BatchCall::One | BatchCall::Pause | BatchCall::Resume | BatchCall::Cancel => {
            one::<wire::Batch>()
        }
        BatchCall::Lines => one::<wire::BatchLinePage>(),
    }
}

/// The parameters in the path and the query.
pub(crate) fn parameters(call: BatchCall) -> Vec<Parameter> {
    let query = |name, value| parameter(name, ParameterIn::Query, Required::False, value);
    let cursor = || texts::of_form("^[0-9]{1,18}$", "`next_cursor` or `X-Next-Cursor` of the page before.");
    match call {
        BatchCall::List => vec![
            query("cursor", cursor()),
            query("limit", limit(BATCHES_MAX, BATCHES_DEFAULT, "At most so many on a page.")),
        ],
        BatchCall::Create => vec![
            query("reference", reference().description(Some(WITH_CSV))),
            query("language", texts::language().description(Some(WITH_CSV))),
            query(
                "debited_account_id",
                texts::of_form("^[0-9]{1,18}$", WITH_CSV).max_length(Some(SHORT_TEXT_MAX)),
            ),
            query("currency", currency().description(Some(WITH_CSV))),
        ],
        BatchCall::Lines => {
            let status = ObjectBuilder::new()
                .schema_type(Type::String)
                .enum_values(Some(LineState::ALL.map(LineState::as_str)))
                .description(Some("Only lines with this status."));
            vec![
                id("The batch."),
                query("status", status),
                query("cursor", cursor()),
                query("limit", limit(LINES_MAX, LINES_DEFAULT, "At most so many lines on a page.")),
                format(&Format::OF_REPORT),
            ]
        }
        BatchCall::One | BatchCall::Pause | BatchCall::Resume | BatchCall::Cancel => vec![id("The batch.")],
    }
}

const WITH_CSV: &str = "The field of this name in the body, if the body is CSV. Beside JSON it is refused.";

fn limit(max: u16, default: u16, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(max))
        .default(Some(default.into()))
        .description(Some(description))
}

/// The links of a successful answer.
pub(crate) fn links(call: BatchCall) -> Vec<(&'static str, Link)> {
    let batch = |id| ("batch", with_id(Endpoint::Batches(BatchCall::One), id));
    let lines = |id| ("lines", with_id(Endpoint::Batches(BatchCall::Lines), id));
    match call {
        BatchCall::List => vec![batch("$response.body#/data/0/id")],
        BatchCall::Create => vec![batch("$response.body#/id"), lines("$response.body#/id")],
        BatchCall::One => vec![lines("$response.body#/id")],
        BatchCall::Lines | BatchCall::Pause | BatchCall::Resume | BatchCall::Cancel => Vec::new(),
    }
}

/// The name of the example of a successful answer.
pub(crate) const fn example_name(call: BatchCall) -> &'static str {
    match call {
        BatchCall::List => "batches",
        BatchCall::Lines => "batch_lines",
        BatchCall::Create | BatchCall::One | BatchCall::Pause | BatchCall::Resume | BatchCall::Cancel => {
            "batch"
        }
    }
}

/// The examples of successful answers: name, summary, value.
pub(crate) fn examples() -> [(&'static str, &'static str, Value); 3] {
    let page = json!({"data": [batch()], "next_cursor": null});
    [
        ("batches", "The batches", page),
        ("batch", "A batch that is being bought", batch()),
        ("batch_lines", "A line that was sold, and one that was not", lines()),
    ]
}

fn batch() -> Value {
    let share = |status, lines: u32, amount, minor: i64| json!({"status": status, "lines": lines, "amount": amount, "amount_minor": minor});
    json!({
        "id": 31, "reference": "SALARIES-2026-11", "status": "RUNNING",
        "status_since": "2026-11-20T13:00:00.000000+02:00", "paused_because": null,
        "created_at": "2026-11-20T13:00:00.000000+02:00", "account_id": 1, "lines": 3,
        "amount": "BWP 300.00", "amount_minor": 30_000,
        "progress": [
            share("WAITING", 1, "BWP 100.00", 10_000), share("BUYING", 0, "BWP 0.00", 0),
            share("PENDING", 0, "BWP 0.00", 0), share("SUCCESSFUL", 1, "BWP 100.00", 10_000),
            share("FAILED", 1, "BWP 100.00", 10_000), share("CANCELLED", 0, "BWP 0.00", 0),
        ],
    })
}

fn lines() -> Value {
    json!({
        "data": [
            {
                "line": 1, "status": "SUCCESSFUL", "external_reference": "SALARIES-2026-11/1",
                "product_type": "ELECTRICITY", "provider_code": "BPC", "subscriber_identifier": "07000010012",
                "amount": "BWP 100.00", "amount_minor": 10_000, "purchase_id": 4217,
                "reference": "TOP/2026/11/0000004217", "total": "BWP 101.50", "total_minor": 10_150,
                "token": "07179199761502576865", "failure": null, "ended_at": "2026-11-20T13:00:01.250000+02:00",
            },
            {
                "line": 2, "status": "FAILED", "external_reference": "SALARIES-2026-11/2",
                "product_type": "ELECTRICITY", "provider_code": "BPC", "subscriber_identifier": "07000010020",
                "amount": "BWP 100.00", "amount_minor": 10_000, "purchase_id": null, "reference": null,
                "total": null, "total_minor": null, "token": null,
                "failure": {
                    "type": "not_found_error", "code": "meter_not_found",
                    "message": "The provider knows no such meter. Check the number and ask the customer.",
                },
                "ended_at": "2026-11-20T13:00:02.000000+02:00",
            },
        ],
        "next_cursor": null,
    })
}

fn line_wanted() -> Value {
    json!({
        "product_type": "ELECTRICITY", "provider_code": "BPC", "beneficiary_phone_number": "26771234567",
        "subscriber_identifier": "07000010012", "amount": 100.00,
    })
}

fn wanted() -> Value {
    json!({
        "reference": "SALARIES-2026-11", "language": "en-BW", "debited_account_id": 1, "currency": "BWP",
        "lines": [line_wanted()],
    })
}
