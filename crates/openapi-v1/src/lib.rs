//! The OpenAPI 3.1 document of the versioned surface. It is made from the endpoints, the wire types and the limits that apply to
//! requests.

mod batches;
mod bodies;
mod certificate;
mod delivered;
mod error;
mod examples;
mod headers;
mod links;
mod operation;
mod parameters;
mod prose;
mod responses;
mod route;
mod texts;
mod webhooks;

pub use route::routes;

use actix_web::http::Method;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Components, ComponentsBuilder, ContactBuilder, Info, InfoBuilder, OpenApi, OpenApiBuilder, PathItem,
        Paths, PathsBuilder, RefOr, Schema, ServerBuilder,
        path::HttpMethod,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
        tag::TagBuilder,
    },
};

use http_v1::{Endpoint, schema::values, wire};

/// The document's name for access tokens.
const ACCESS_TOKEN: &str = "access_token";

/// The document's name for clients that prove themselves by HTTP Basic.
const CLIENT: &str = "client";

/// The document of the server that integrators reach at `public_url`.
pub fn document(public_url: &str) -> OpenApi {
    let server = ServerBuilder::new().url(public_url).description(Some("This server."));
    let tags = prose::TAGS
        .map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build());
    OpenApiBuilder::new()
        .info(info(public_url))
        .servers(Some([server.build()]))
        .paths(paths())
        .webhooks(Some(delivered::all()))
        .components(Some(components()))
        .tags(Some(tags))
        .build()
}

/// What the document says about an endpoint.
pub trait Documented {
    /// Its operation id in the document.
    fn operation_id(self) -> &'static str;
    /// Its group in the document.
    fn group(self) -> &'static str;
    /// A short description of what it does.
    fn summary(self) -> &'static str;
}

impl Documented for Endpoint {
    fn operation_id(self) -> &'static str {
        prose::about(self).operation_id
    }

    fn group(self) -> &'static str {
        prose::about(self).tag
    }

    fn summary(self) -> &'static str {
        prose::about(self).summary
    }
}

fn info(public_url: &str) -> Info {
    let operator = ContactBuilder::new().name(Some("The operator of this server")).url(Some(public_url));
    InfoBuilder::new()
        .contact(Some(operator.build()))
        .title("Vendgate")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(prose::OVERVIEW))
        .build()
}

fn paths() -> Paths {
    let paths = Endpoint::ALL.into_iter().fold(PathsBuilder::new(), |paths, endpoint| {
        let method = if endpoint.method() == Method::POST { HttpMethod::Post } else { HttpMethod::Get };
        paths.path(endpoint.path(), PathItem::new(method, operation::of(endpoint)))
    });
    paths.build()
}

fn components() -> Components {
    let mut schemas = bodies::all();
    schemas.extend(error::all());
    add::<values::ErrorType>(&mut schemas);
    add::<values::ErrorCode>(&mut schemas);
    add::<values::ProductType>(&mut schemas);
    add::<values::SourceChannel>(&mut schemas);
    add::<wire::Session>(&mut schemas);
    add::<wire::Me<'_>>(&mut schemas);
    add::<wire::Account>(&mut schemas);
    add::<wire::Product>(&mut schemas);
    add::<wire::Purchase<'_>>(&mut schemas);
    add::<wire::Recovery>(&mut schemas);
    add::<wire::ListedPurchase<'_>>(&mut schemas);
    add::<wire::PurchasePage<'_>>(&mut schemas);
    add::<wire::SubscriberPurchases<'_>>(&mut schemas);
    add::<wire::QueuedMessage<'_>>(&mut schemas);
    add::<wire::Certificate<'_>>(&mut schemas);
    add::<wire::Statement>(&mut schemas);
    add::<wire::Sales>(&mut schemas);
    add::<wire::EventPage<'_>>(&mut schemas);
    add::<delivered::DeliveredEvent>(&mut schemas);
    add::<wire::WebhookEndpoint>(&mut schemas);
    add::<wire::WebhookEndpointWithSecret>(&mut schemas);
    add::<wire::DeletedWebhookEndpoint>(&mut schemas);
    add::<wire::WebhookTest>(&mut schemas);
    add::<wire::Redelivery>(&mut schemas);
    add::<wire::WebhookAttemptPage>(&mut schemas);
    add::<wire::BatchPage>(&mut schemas);
    add::<wire::BatchLinePage>(&mut schemas);
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(prose::ACCESS_TOKEN));
    let basic = HttpBuilder::new().scheme(HttpAuthScheme::Basic).description(Some(prose::CLIENT));
    let components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme(CLIENT, SecurityScheme::Http(basic.build()))
        .security_scheme(ACCESS_TOKEN, SecurityScheme::Http(bearer.build()));
    let components = examples::all()
        .into_iter()
        .fold(components, |components, (name, example)| components.example(name, example));
    headers::all()
        .into_iter()
        .fold(components, |components, (name, header)| components.header(name, header))
        .build()
}

/// Adds a type of the wire, and every type that it consists of.
fn add<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((T::name().into_owned(), <T as PartialSchema>::schema()));
    T::schemas(schemas);
}
