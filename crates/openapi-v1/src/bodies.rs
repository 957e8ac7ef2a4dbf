//! The bodies of requests, field by field in the order of the specification.

use utoipa::openapi::{
    ObjectBuilder, Ref, RefOr, Schema, Type,
    schema::{KnownFormat, SchemaFormat, SchemaType},
};

use vend::SubscriberIdentifier;

use crate::{batches, examples, texts, webhooks};
use http_v1::{Endpoint, requests::limits};

/// The name of the body's schema, if the endpoint has one.
pub(crate) const fn name_of(endpoint: Endpoint) -> Option<&'static str> {
    match endpoint {
        Endpoint::Login => Some("LoginRequest"),
        Endpoint::Refresh => Some("RefreshRequest"),
        Endpoint::Validate | Endpoint::Confirm => Some("PurchaseRequest"),
        Endpoint::Retry => Some("RetryRequest"),
        Endpoint::Message => Some("MessageRequest"),
        Endpoint::Me
        | Endpoint::Accounts
        | Endpoint::Account
        | Endpoint::Products
        | Endpoint::Purchases
        | Endpoint::Purchase
        | Endpoint::Statement
        | Endpoint::Sales
        | Endpoint::Receipt
        | Endpoint::Certificate
        | Endpoint::LookUp
        | Endpoint::Events => None,
        Endpoint::Webhooks(call) => webhooks::body_name(call),
        Endpoint::Batches(call) => batches::body_name(call),
    }
}

/// The schemas of all bodies, by name.
pub(crate) fn all() -> Vec<(String, RefOr<Schema>)> {
    [
        ("LoginRequest", login().examples([examples::login()])),
        ("RefreshRequest", refresh().examples([examples::refresh()])),
        ("PurchaseRequest", purchase().examples([examples::purchase()])),
        ("RetryRequest", retry().examples([examples::retry()])),
        ("MessageRequest", message().examples([examples::message()])),
    ]
    .into_iter()
    .chain(webhooks::bodies())
    .chain(batches::bodies())
    .map(|(name, body)| (name.to_owned(), body.into()))
    .collect()
}

fn login() -> ObjectBuilder {
    let body = client(
        ObjectBuilder::new().description(Some("The OAuth 2.0 password grant (RFC 6749, section 4.3).")),
    );
    let body = with(body, "grant_type", constant("password"));
    let body = with(body, "identifier", credential("The integration user's name."));
    let body = with(body, "secret_pass", credential("The integration user's password."));
    let body = with(body, "org_code", credential("The code of the organisation."));
    let channels = limits::CHANNELS.map(|channel| Some(channel.as_str())).into_iter().chain([None]);
    let channel = ObjectBuilder::new()
        .schema_type(or_null(Type::String))
        .enum_values(Some(channels))
        .description(Some("Where the login is made; nothing depends on it."));
    body.property("source_channel", channel)
}

fn refresh() -> ObjectBuilder {
    let body = ObjectBuilder::new()
        .description(Some(REFRESH))
        .property(
            "client_id",
            optional_credential("The OAuth client. Beside a header, it must be the same one."),
        )
        .property("client_secret", optional_credential("Its secret, where no header proves the client."));
    let body = with(body, "grant_type", constant("refresh_token"));
    with(body, "refresh_token", credential("As the last login or refresh gave it. It can be used once."))
}

fn client(body: ObjectBuilder) -> ObjectBuilder {
    let body = with(body, "client_id", credential("The OAuth client."));
    with(body, "client_secret", credential("Its secret, shown once when the client was made."))
}

fn purchase() -> ObjectBuilder {
    let body =
        ObjectBuilder::new().description(Some("What is to be bought, for whom, and from which account."));
    let body = with_ref(body, "source_channel", "SourceChannel");
    let body = with(body, "language", texts::language());
    let body = with_ref(body, "product_type", "ProductType");
    let body = with(body, "provider_code", texts::required(limits::PROVIDER_CODE_MAX, PROVIDER_CODE));
    let body = with(body, "debited_account_id", account());
    let body = with(body, "beneficiary_phone_number", phone_number());
    let body = with(body, "subscriber_identifier", subscriber());
    let body = with(body, "amount", amount());
    let body = with(body, "currency", texts::of_form("^[A-Z]{3}$", CURRENCY));
    options(body, EXTERNAL_REFERENCE)
}

/// A line of a batch.
pub(crate) fn batch_line() -> ObjectBuilder {
    let body = ObjectBuilder::new().description(Some("One purchase. What all lines share is in the batch."));
    let body = with_ref(body, "product_type", "ProductType");
    let body = with(body, "provider_code", texts::required(limits::PROVIDER_CODE_MAX, PROVIDER_CODE));
    let body = with(body, "beneficiary_phone_number", phone_number());
    let body = with(body, "subscriber_identifier", subscriber());
    options(with(body, "amount", amount()), LINE_REFERENCE)
}

/// The fields of a purchase that may be left out.
fn options(body: ObjectBuilder, external_reference: &str) -> ObjectBuilder {
    body.property("charges_on_top_flag", flag(CHARGES_ON_TOP))
        .property(
            "comment",
            texts::prose(limits::COMMENT_MAX, "Kept with the purchase. Line breaks and tabs are allowed."),
        )
        .property(
            "external_reference",
            texts::optional_name(limits::EXTERNAL_REFERENCE_MAX, external_reference),
        )
        .property("send_requester_sms", flag("A text message to the integration user."))
        .property("send_beneficiary_sms", flag("A text message with the token to the beneficiary."))
        .property("send_requester_email", flag("An e-mail receipt to the integration user."))
        .property("send_beneficiary_email", flag("Accepted; no beneficiary has an e-mail address."))
}

fn retry() -> ObjectBuilder {
    let body =
        ObjectBuilder::new().description(Some("Which purchase is asked about: the newest of these two."));
    let body = with_ref(body, "source_channel", "SourceChannel");
    let body = with(body, "language", texts::language());
    let body = with(body, "subscriber_identifier", subscriber());
    with(
        body,
        "external_reference",
        texts::required_name(limits::EXTERNAL_REFERENCE_MAX, "As in the confirm that is asked about."),
    )
}

fn message() -> ObjectBuilder {
    let number = phone_number().description(Some(
        "The corrected number: digits with the country code first (E.164). Without it, the number of the purchase.",
    ));
    let language = texts::language()
        .description(Some("The region by which a number without country code is read, as in confirm."));
    ObjectBuilder::new()
        .description(Some("To whom the message with the token is sent again."))
        .property("phone_number", or_absent(number))
        .property("language", or_absent(language))
}

/// The same, or null, which is the same as absent.
fn or_absent(text: ObjectBuilder) -> ObjectBuilder {
    text.schema_type(or_null(Type::String))
}

const PROVIDER_CODE: &str = "`code` of one of the product's `providers`.";
const CURRENCY: &str = "ISO 4217 code: the currency of the account.";
const CHARGES_ON_TOP: &str =
    "`true`: the charges are paid on top of `amount`. `false`: they are taken out of it.";
const EXTERNAL_REFERENCE: &str = "Your own reference, new for every sale. Without one, a purchase whose answer was \
    lost cannot be asked about through retry. No invisible characters: no format character, private use or unassigned \
    code point (Unicode general category C), no variation selector.";

const LINE_REFERENCE: &str = "Your own reference of the purchase, unique in the batch. Without one, the reference of the batch, a \
    slash and the number of the line.";

const REFRESH: &str = "The OAuth 2.0 refresh grant (RFC 6749, section 6). The client proves itself by `client_id` and \
    `client_secret` here, by the same two in HTTP Basic, or by a live access token of the same session.";

fn optional_credential(description: &str) -> ObjectBuilder {
    texts::optional(limits::CREDENTIAL_MAX, description)
}

fn credential(description: &str) -> ObjectBuilder {
    texts::required(limits::CREDENTIAL_MAX, description)
}

pub(crate) fn account() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(1))
        .maximum(Some(isize::MAX))
        .description(Some("`id` of the account that pays; its category is `CURRENT` or `TOPUP`."))
}

fn phone_number() -> ObjectBuilder {
    texts::of_form(
        r"^\+?[0-9]{1,16}$",
        "The phone that receives the token: digits with the country code first (E.164), such as `26771234567`.",
    )
    .format(Some(SchemaFormat::Custom("msisdn".to_owned())))
    .max_length(Some(16))
}

/// The subscriber identifier of a purchase.
pub(crate) fn subscriber() -> ObjectBuilder {
    texts::of_form(
        "^[0-9A-Za-z+._/-]+$",
        "Meter, phone or account number, always spelled alike: a phone number in digits, country code first, no `+`. \
         `GET /public/v1/vas-products` gives length and pattern for each product.",
    )
    .min_length(Some(1))
    .max_length(Some(SubscriberIdentifier::LENGTH_MAX))
}

fn amount() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Number)
        .exclusive_minimum(Some(0))
        .maximum(Some(999_999_999_999.99))
        .description(Some(
            "In units of the currency. The value counts, not the spelling: `1E2` is one hundred. It has at most two \
            decimals and twelve digits before the point, and is read exactly, never as a binary float.",
        ))
}

fn flag(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(or_null(Type::Boolean))
        .description(Some(format!("{description} Absent is the same as `true`.")))
}

fn constant(value: &'static str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some([value]))
}

pub(crate) fn with(body: ObjectBuilder, name: &'static str, field: ObjectBuilder) -> ObjectBuilder {
    body.property(name, field).required(name)
}

fn with_ref(body: ObjectBuilder, name: &'static str, schema: &'static str) -> ObjectBuilder {
    body.property(name, Ref::from_schema_name(schema)).required(name)
}

pub(crate) fn or_null(of: Type) -> SchemaType {
    [of, Type::Null].into_iter().collect()
}
