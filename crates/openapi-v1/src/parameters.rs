//! The parameters in paths and queries.

use utoipa::openapi::{
    ObjectBuilder, Required, Type,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::{KnownFormat, SchemaFormat},
};

use purchase::PurchaseStatus;
use receipt::{CodePage, Columns};

use crate::{batches, bodies, headers, texts, webhooks};
use http_v1::{
    Endpoint,
    requests::{Format, ReceiptFormat, limits},
};

/// The parameters of an endpoint.
pub(crate) fn of(endpoint: Endpoint) -> Vec<Parameter> {
    let mut parameters = match endpoint {
        Endpoint::Account => vec![id("The account.")],
        Endpoint::Purchase | Endpoint::Certificate | Endpoint::Message => vec![id("The purchase.")],
        Endpoint::Confirm => vec![headers::idempotency_key()],
        Endpoint::Purchases => filters(),
        Endpoint::Statement => statement(),
        Endpoint::Receipt => receipt(),
        Endpoint::LookUp => look_up(),
        Endpoint::Sales => [days(), vec![format(&Format::OF_REPORT)]].concat(),
        Endpoint::Events => events(),
        Endpoint::Webhooks(call) => webhooks::parameters(call),
        Endpoint::Batches(call) => batches::parameters(call),
        Endpoint::Login
        | Endpoint::Refresh
        | Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Products
        | Endpoint::Validate
        | Endpoint::Retry => Vec::new(),
    };
    parameters.push(headers::request_id());
    parameters
}

/// The filters of the list of purchases, and the parameters of its pages.
fn filters() -> Vec<Parameter> {
    let status = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(PurchaseStatus::ALL.map(PurchaseStatus::as_str)));
    let limit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(limits::PAGE_MAX))
        .default(Some(limits::PAGE_DEFAULT.into()));
    let reference = texts::required(limits::EXTERNAL_REFERENCE_MAX, "As in the confirm.");
    let cursor = texts::required(limits::CURSOR_MAX, CURSOR);
    [
        ("external_reference", reference),
        ("subscriber_identifier", bodies::subscriber()),
        ("status", status.description(Some("Only purchases that stand so."))),
        ("from", moment("Only purchases made then or later")),
        ("to", moment("Only purchases made earlier")),
        ("cursor", cursor),
        ("limit", limit.description(Some("At most so many on a page."))),
    ]
    .map(|(name, value)| parameter(name, ParameterIn::Query, Required::False, value))
    .into()
}

/// The parameters of a statement and its pages.
fn statement() -> Vec<Parameter> {
    let limit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(limits::LINES_MAX))
        .default(Some(limits::LINES_DEFAULT.into()))
        .description(Some("At most so many lines on a page."));
    let cursor = texts::required(limits::CURSOR_MAX, STATEMENT_CURSOR);
    let mut parameters = vec![id("The account.")];
    parameters.extend(days());
    parameters.push(parameter("cursor", ParameterIn::Query, Required::False, cursor));
    parameters.push(parameter("limit", ParameterIn::Query, Required::False, limit));
    parameters.push(format(&Format::OF_STATEMENT));
    parameters
}

/// The parameters of a receipt.
fn receipt() -> Vec<Parameter> {
    let format = one_of(&ReceiptFormat::ALL.map(ReceiptFormat::as_str), RECEIPT_FORMAT);
    let columns = one_of(&Columns::ALL.map(Columns::as_str), COLUMNS);
    let code_page = one_of(&CodePage::ALL.map(CodePage::as_str), CODE_PAGE);
    let language = texts::language().description(Some(RECEIPT_LANGUAGE));
    let optional = |name, value| parameter(name, ParameterIn::Query, Required::False, value);
    vec![
        id("The purchase."),
        optional("format", format),
        optional("language", language),
        optional("columns", columns),
        optional("code_page", code_page),
    ]
}

/// The parameters of a look at a subscriber.
fn look_up() -> Vec<Parameter> {
    let limit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(limits::LOOK_UP_MAX))
        .default(Some(limits::LOOK_UP_DEFAULT.into()))
        .description(Some("At most so many purchases."));
    vec![
        parameter("id", ParameterIn::Path, Required::True, bodies::subscriber()),
        parameter("limit", ParameterIn::Query, Required::False, limit),
    ]
}

fn one_of(names: &[&'static str], description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names.iter().copied()))
        .description(Some(description))
}

/// The parameters of the feed.
fn events() -> Vec<Parameter> {
    let whole = |max: u16, description: &str| {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(max))
            .description(Some(description))
    };
    let limit = whole(limits::EVENTS_MAX, "At most so many events on a page.");
    [
        ("types", texts::required(limits::CURSOR_MAX, EVENT_TYPES)),
        ("cursor", texts::required(limits::CURSOR_MAX, EVENT_CURSOR)),
        ("limit", limit.default(Some(limits::EVENTS_DEFAULT.into()))),
        ("wait", whole(limits::EVENT_WAIT_MAX_S, EVENT_WAIT)),
    ]
    .map(|(name, value)| parameter(name, ParameterIn::Query, Required::False, value))
    .into()
}

/// The days of a statement or a report.
fn days() -> Vec<Parameter> {
    [
        ("from", "The first day, `YYYY-MM-DD` in the time zone of the service. Without it: `to`, or else yesterday."),
        ("to", "The last day, which is included. Without it: the first day."),
    ]
    .map(|(name, description)| {
        let day = texts::of_form(r"^(19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}$", description);
        parameter(name, ParameterIn::Query, Required::False, day)
    })
    .into()
}

pub(crate) fn format(formats: &[Format]) -> Parameter {
    let names = formats.iter().map(|format| format.as_str()).collect::<Vec<_>>();
    let value = one_of(
        &names,
        "The format of the answer. Without it, the first known type of `Accept` counts, or else JSON.",
    );
    parameter("format", ParameterIn::Query, Required::False, value)
}

const RECEIPT_FORMAT: &str =
    "The format of the receipt. Without it, the first known type of `Accept` counts, or else text.";
const RECEIPT_LANGUAGE: &str = "The language of the receipt: English, French or Portuguese, and English for any other. Without it, \
    the language of the purchase.";
const COLUMNS: &str =
    "The width of a text or printer line: `32` for paper of 58 mm, which is the default, or `42` for 80 mm.";
const CODE_PAGE: &str = "How a receipt printer gets its accents: `windows-1252`, which is the default, or `pc850`, or `ascii`, \
    which leaves them out.";

const EVENT_TYPES: &str =
    "Only events of these types: names, with commas between them. Without it, all types.";
const EVENT_CURSOR: &str =
    "`next_cursor` of the page before. Without it, the oldest events that are kept. It carries no filters.";
const EVENT_WAIT: &str = "If there is no event, wait for one, at most so many seconds. Without it, the answer comes at once. It may \
    also come early and empty, when very many callers wait.";

const STATEMENT_CURSOR: &str = "`next_cursor` or `X-Next-Cursor` of the page before. It carries the days; they may be \
    repeated, but not changed.";

const CURSOR: &str =
    "`next_cursor` of the page before. It carries the filters; they may be repeated, but not changed.";

fn moment(what: &str) -> ObjectBuilder {
    let description = format!(
        "{what}: RFC 3339 with an offset, as in `created_at`, or `YYYY-MM-DD HH:MM:SS` in the time zone of the \
         service, as in `date`; not before the year 1970. A blank before the offset is read as `+`."
    );
    texts::of_form(
        r"^(19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}|T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[-+ ][0-9]{2}:[0-9]{2}))$",
        &description,
    )
}

pub(crate) fn id(description: &str) -> Parameter {
    let number = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .description(Some(description));
    parameter("id", ParameterIn::Path, Required::True, number)
}

pub(crate) fn parameter(
    name: &str,
    place: ParameterIn,
    required: Required,
    value: ObjectBuilder,
) -> Parameter {
    let value = value.build();
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(value.description.clone())
        .schema(Some(value))
        .build()
}
