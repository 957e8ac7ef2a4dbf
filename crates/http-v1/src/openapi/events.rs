//! The form of events. The feed writes them (`feed::Body`); a test compares the two.

use std::borrow::Cow;

use feed::EventType;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type,
        schema::{KnownFormat, SchemaFormat},
    },
};

/// An event.
pub(crate) struct Event;

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        let types = EventType::ALL.map(EventType::as_str).map(|name| format!("`{name}`")).join(", ");
        let event = ObjectBuilder::new().description(Some("Something that happened."));
        let event = with(
            event,
            "id",
            text("It names the event for ever: use it to recognise an event that you have had."),
        );
        let event = with(
            event,
            "type",
            text(&format!("{types}. Ignore a type that you do not know: there will be more.")),
        );
        let event = with(
            event,
            "occurred_at",
            moment("When it happened. Events are not in the order of these times."),
        );
        event.property("data", data()).required("data").into()
    }
}

impl ToSchema for Event {
    fn name() -> Cow<'static, str> {
        "Event".into()
    }
}

/// What an event is about, by its type.
fn data() -> OneOfBuilder {
    let purchase = with(ObjectBuilder::new(), "purchase", purchase());
    let moved =
        account("`wallet.topped_up` and `wallet.adjusted`: a payment, or a correction by the operator.");
    let moved = with(moved, "entry", number("The number of the journal entry, as in the statement."));
    let moved = moved.property("reference", text("The operator's reference of the payment, if it has one."));
    let moved = with_amount(with_amount(moved, "amount"), "balance");
    let low =
        account("`wallet.low`: the balance fell below the amount that the operator has set for the account.");
    let low = with_amount(with_amount(low, "balance"), "low_balance");
    let client = with(ObjectBuilder::new(), "client_id", text("The OAuth client."));
    let client = with(client, "name", text("Its name for people."));
    let secret = with(ObjectBuilder::new(), "created_at", moment("When the secret was made."));
    let secret = with(secret, "expires_at", moment("When it ends."));
    let expiring = with(ObjectBuilder::new(), "client", client);
    let expiring = with(expiring, "secret", secret);
    let finished = with(ObjectBuilder::new(), "batch", batch());
    let endpoint = with(ObjectBuilder::new(), "webhook_endpoint", webhook_endpoint());
    OneOfBuilder::new()
        .item(purchase.description(Some("`purchase.*`: a purchase.")))
        .item(moved)
        .item(low)
        .item(expiring.description(Some("`client.secret_expiring`: a secret of a client ends soon.")))
        .item(finished.description(Some("`batch.finished`: the last line of a batch has ended.")))
        .item(endpoint.description(Some(
            "`webhook_endpoint.switched_off`: an endpoint accepted nothing any more, and nothing more is sent to it.",
        )))
        .item(pause_of_a_provider().description(Some(
            "`provider.paused`: validate and confirm are refused until the pause ends. `provider.resumed`: it has ended.",
        )))
        .description(Some("What it happened to. In the feed it never holds a token."))
}

fn purchase() -> ObjectBuilder {
    let purchase = ObjectBuilder::new().description(Some(
        "What never changes about the purchase, and its status just after the event. Read the purchase for its token, or \
         for why it failed.",
    ));
    let purchase = with(purchase, "id", number("The `id` of the purchase."));
    let purchase = with(purchase, "reference", text("As in the purchase."));
    let purchase = purchase.property("external_reference", text("As in the confirm."));
    let status = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(purchase::PurchaseStatus::ALL.map(purchase::PurchaseStatus::as_str)));
    let purchase = purchase.property("status", status);
    let purchase = with(purchase, "account_id", number("The account that pays."));
    let purchase =
        purchase.property("product_type", Ref::from_schema_name("ProductType")).required("product_type");
    let purchase = with(purchase, "provider_code", text("As in the confirm."));
    let purchase = with(purchase, "subscriber_identifier", text("As in the confirm."));
    let purchase = purchase.property(
        "token",
        text("The customer's token: only in a webhook of `purchase.succeeded` whose endpoint has `include_tokens`."),
    );
    with_amount(with_amount(purchase, "entry"), "total")
}

fn batch() -> ObjectBuilder {
    let batch = with(ObjectBuilder::new(), "id", number("The `id` of the batch."));
    let batch = with(batch, "reference", text("Your own name for it."));
    let batch = with(batch, "lines", number("How many lines it had."));
    let batch = with(batch, "successful", number("How many of them were sold."));
    let batch = with(batch, "failed", number("How many were not."));
    let batch = with(batch, "cancelled", number("How many were never begun."));
    with_amount(with_amount(batch, "amount"), "successful_amount")
}

fn webhook_endpoint() -> ObjectBuilder {
    let endpoint = with(ObjectBuilder::new(), "id", number("The `id` of the endpoint."));
    let endpoint = endpoint.property("description", text("Your own words for it."));
    let because = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(webhook::SwitchedOff::ALL.map(webhook::SwitchedOff::as_str)));
    endpoint.property("switched_off_because", because).required("switched_off_because")
}

fn pause_of_a_provider() -> ObjectBuilder {
    let pause = with(ObjectBuilder::new(), "id", number("The number of the pause."));
    let pause = pause.property(
        "resumes_at",
        moment("When it ends, if that is planned. Absent: nobody knows yet, or it has ended."),
    );
    let pause = pause.property("notice", text("What the operator says about it."));
    let provider = with(ObjectBuilder::new(), "code", text("Its `provider_code` in a purchase."));
    let provider = with(provider, "name", text("Its name for people."));
    let products = product_types("The products that you can buy from it and that the pause covers.");
    let still = product_types("Only in `provider.resumed`: those of them that another pause still covers.");
    with(with(ObjectBuilder::new(), "provider", provider), "pause", pause)
        .property("product_types", products)
        .required("product_types")
        .property("still_paused", still)
}

fn product_types(description: &str) -> ArrayBuilder {
    ArrayBuilder::new().items(Ref::from_schema_name("ProductType")).description(Some(description))
}

fn account(description: &str) -> ObjectBuilder {
    let account = with(ObjectBuilder::new(), "id", number("The account."));
    let account = with(account, "name", text("The label for people."));
    with(ObjectBuilder::new().description(Some(description)), "account", account)
}

/// An amount as text, and the same in minor units.
fn with_amount(object: ObjectBuilder, name: &'static str) -> ObjectBuilder {
    let minor = format!("{name}_minor");
    let object = object.property(name, Ref::from_schema_name("SignedMoney")).required(name);
    object.property(minor.clone(), number("The same in minor units.")).required(minor)
}

fn with(object: ObjectBuilder, name: &'static str, field: ObjectBuilder) -> ObjectBuilder {
    object.property(name, field).required(name)
}

fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

fn number(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .description(Some(description))
}

fn moment(description: &str) -> ObjectBuilder {
    text(&format!("{description} RFC 3339, always in UTC."))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
}
