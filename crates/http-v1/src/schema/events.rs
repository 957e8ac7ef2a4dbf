//! The form of events. The feed writes them (`feed::Body`); a test compares the two.

use std::borrow::Cow;

use feed::EventType;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, Discriminator, ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema, Type,
        schema::{KnownFormat, SchemaFormat},
    },
};

/// An event of the feed: one schema for each thing that it can be about, told apart by `type`.
pub struct Event;

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        one_of_the_feed([]).into()
    }
}

impl ToSchema for Event {
    fn name() -> Cow<'static, str> {
        "Event".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.extend(About::ALL.map(|about| (about.name().to_owned(), about.event().into())));
    }
}

/// The events of the feed, and others by the name of their type and of their schema.
pub fn one_of_the_feed<const N: usize>(others: [(&'static str, &'static str); N]) -> OneOfBuilder {
    let schemas = About::ALL.map(About::name).into_iter().chain(others.map(|(_, schema)| schema));
    let types = EventType::ALL.map(|kind| (kind.as_str(), about(kind).name())).into_iter().chain(others);
    let mapping = types.map(|(kind, schema)| (kind, format!("#/components/schemas/{schema}")));
    schemas
        .fold(OneOfBuilder::new(), |one, schema| one.item(Ref::from_schema_name(schema)))
        .discriminator(Some(Discriminator::with_mapping("type", mapping)))
        .description(Some(
            "Something that happened. Branch on `type` before you read `data`, and ignore a type that you do not know: there \
             will be more.",
        ))
}

/// What an event is about. Types that are about the same thing have the same `data`.
#[derive(Clone, Copy, PartialEq)]
enum About {
    Purchase,
    MovedWallet,
    LowWallet,
    Secret,
    Endpoint,
    Batch,
    Provider,
}

const fn about(kind: EventType) -> About {
    match kind {
        EventType::PurchaseAccepted
        | EventType::PurchaseSucceeded
        | EventType::PurchaseFailed
        | EventType::PurchasePending
        | EventType::PurchaseInReview => About::Purchase,
        EventType::WalletLow => About::LowWallet,
        EventType::WalletToppedUp | EventType::WalletAdjusted => About::MovedWallet,
        EventType::ClientSecretExpiring => About::Secret,
        EventType::WebhookEndpointSwitchedOff => About::Endpoint,
        EventType::BatchFinished => About::Batch,
        EventType::ProviderPaused | EventType::ProviderResumed => About::Provider,
    }
}

impl About {
    const ALL: [Self; 7] = [
        Self::Purchase,
        Self::MovedWallet,
        Self::LowWallet,
        Self::Secret,
        Self::Endpoint,
        Self::Batch,
        Self::Provider,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Purchase => "PurchaseEvent",
            Self::MovedWallet => "WalletMovedEvent",
            Self::LowWallet => "WalletLowEvent",
            Self::Secret => "ClientSecretExpiringEvent",
            Self::Endpoint => "WebhookEndpointSwitchedOffEvent",
            Self::Batch => "BatchFinishedEvent",
            Self::Provider => "ProviderPauseEvent",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Purchase => "Something happened to a purchase.",
            Self::MovedWallet => "A payment was added to an account, or the operator corrected its balance.",
            Self::LowWallet => "The balance fell below the amount that the operator has set for the account.",
            Self::Secret => "A secret of a client ends soon.",
            Self::Endpoint => "An endpoint accepted nothing any more, and nothing more is sent to it.",
            Self::Batch => "The last line of a batch has ended.",
            Self::Provider => {
                "`provider.paused`: validate and confirm are refused until the pause ends. `provider.resumed`: it has ended."
            }
        }
    }

    fn event(self) -> ObjectBuilder {
        let types: Vec<&str> =
            EventType::ALL.into_iter().filter(|kind| about(*kind) == self).map(EventType::as_str).collect();
        event(&types, self.description(), self.data())
    }

    fn data(self) -> ObjectBuilder {
        match self {
            Self::Purchase => with(ObjectBuilder::new(), "purchase", purchase()),
            Self::MovedWallet => {
                let entry = number("The number of the journal entry, as in the statement.");
                let reference = text("The operator's reference of the payment, if it has one.");
                let moved = with(account(), "entry", entry).property("reference", reference);
                with_amount(with_amount(moved, "amount"), "balance")
            }
            Self::LowWallet => with_amount(with_amount(account(), "balance"), "low_balance"),
            Self::Secret => secret(),
            Self::Endpoint => with(ObjectBuilder::new(), "webhook_endpoint", webhook_endpoint()),
            Self::Batch => with(ObjectBuilder::new(), "batch", batch()),
            Self::Provider => pause_of_a_provider(),
        }
    }
}

/// The schema of the events of some types.
pub fn event(types: &[&str], description: &str, data: ObjectBuilder) -> ObjectBuilder {
    let id = text("It names the event for ever: use it to recognise an event that you have had.");
    let kind = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(types.iter().copied()))
        .description(Some("What happened."));
    let at = moment("When it happened. Events are not in the order of these times.");
    let event = with(ObjectBuilder::new().description(Some(description)), "id", id);
    with(with(with(event, "type", kind), "occurred_at", at), "data", data.description(Some(DATA)))
}

const DATA: &str = "What it happened to. In the feed it never holds a token.";

fn secret() -> ObjectBuilder {
    let client = with(ObjectBuilder::new(), "client_id", text("The OAuth client."));
    let client = with(client, "name", text("Its name for people."));
    let secret = with(ObjectBuilder::new(), "created_at", moment("When the secret was made."));
    let secret = with(secret, "expires_at", moment("When it ends."));
    with(with(ObjectBuilder::new(), "client", client), "secret", secret)
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
        moment("When it ends, if that is planned. Absent: it is not known yet, or it has ended."),
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

fn account() -> ObjectBuilder {
    let account = with(ObjectBuilder::new(), "id", number("The account."));
    let account = with(account, "name", text("The label for people."));
    with(ObjectBuilder::new(), "account", account)
}

/// An amount as text, and the same in minor units.
fn with_amount(object: ObjectBuilder, name: &'static str) -> ObjectBuilder {
    let minor = format!("{name}_minor");
    let object = object.property(name, Ref::from_schema_name("SignedMoney")).required(name);
    object.property(minor.clone(), number("The same in minor units.")).required(minor)
}

pub fn with(object: ObjectBuilder, name: &'static str, field: ObjectBuilder) -> ObjectBuilder {
    object.property(name, field).required(name)
}

fn text(description: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description))
}

pub fn number(description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .description(Some(description))
}

fn moment(description: &str) -> ObjectBuilder {
    text(&format!("{description} RFC 3339, always in UTC."))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
}
