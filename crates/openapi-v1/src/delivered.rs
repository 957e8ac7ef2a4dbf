//! What the service posts to webhook endpoints: the requests that an integrator's receiver reads.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ContentBuilder, ObjectBuilder, PathItem, Paths, PathsBuilder, Ref, RefOr, Required, Response,
        ResponseBuilder, Schema, Type,
        path::{HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
        request_body::RequestBodyBuilder,
    },
};

use http_v1::schema::events::{event, number, one_of_the_feed, with};

use crate::prose::WEBHOOKS;

/// The type of a test, which is in no feed.
const TEST: &str = "webhook.test";

/// The name of its schema.
const TEST_EVENT: &str = "WebhookTestEvent";

/// What a webhook delivers: an event of the feed, or a test.
pub(crate) struct DeliveredEvent;

impl PartialSchema for DeliveredEvent {
    fn schema() -> RefOr<Schema> {
        one_of_the_feed([(TEST, TEST_EVENT)]).into()
    }
}

impl ToSchema for DeliveredEvent {
    fn name() -> Cow<'static, str> {
        "DeliveredEvent".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let endpoint = with(ObjectBuilder::new(), "id", number("The `id` of the endpoint."));
        let data = with(ObjectBuilder::new(), "webhook_endpoint", endpoint);
        schemas.push((TEST_EVENT.to_owned(), event(&[TEST], "The test that you asked for.", data).into()));
    }
}

/// The only kind of request that the service sends to an integrator.
pub(crate) fn all() -> Paths {
    PathsBuilder::new().path("event", PathItem::new(HttpMethod::Post, delivery())).build()
}

fn delivery() -> Operation {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(DeliveredEvent::name()))).build();
    let body = RequestBodyBuilder::new()
        .content("application/json", content)
        .description(Some("The event. The signature covers it byte for byte, so verify before you parse."))
        .required(Some(Required::True))
        .build();
    OperationBuilder::new()
        .operation_id(Some("receiveEvent"))
        .tag(WEBHOOKS)
        .summary(Some("An event is delivered"))
        .description(Some(DELIVERY))
        .parameters(Some(HEADERS.map(header)))
        .request_body(Some(body))
        .response("2XX", answer("You have stored the event. The body of your answer is not read."))
        .response("410", answer("Switches the endpoint off: nothing more is sent to it."))
        .response(
            "default",
            answer("Any other answer, also a redirect, is a failure: the event is sent again later."),
        )
        .securities(Some([]))
        .build()
}

const DELIVERY: &str = "The service posts this to the `url` of your endpoint, as the [Standard \
    Webhooks](https://www.standardwebhooks.com) specification says. Verify the signature, store the event, and answer 2xx within 15 \
    seconds. The same event may come more than once, and two events may arrive in the other order.";

const HEADERS: [(&str, &str); 3] = [
    ("webhook-id", "The `id` of the event, the same each time it is sent."),
    (
        "webhook-timestamp",
        "When it was sent, in seconds since 1970. Refuse one that is more than five minutes off.",
    ),
    (
        "webhook-signature",
        "The signatures, separated by blanks: `v1,` by each secret and `v1a,` by each key pair.",
    ),
];

fn header((name, description): (&'static str, &'static str)) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn answer(description: &'static str) -> Response {
    ResponseBuilder::new().description(description).build()
}
