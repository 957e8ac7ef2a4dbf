//! The document's operation for one endpoint.

use utoipa::openapi::{
    ContentBuilder, Ref, Required, SecurityRequirement,
    path::{Operation, OperationBuilder},
    request_body::{RequestBody, RequestBodyBuilder},
};

use super::{ACCESS_TOKEN, CLIENT, bodies, parameters, prose, responses};
use crate::{Access, Endpoint};

pub(super) fn of(endpoint: Endpoint) -> Operation {
    let texts = prose::about(endpoint);
    OperationBuilder::new()
        .operation_id(Some(texts.operation_id))
        .tag(texts.tag)
        .summary(Some(texts.summary))
        .description(Some(description(endpoint, texts.description)))
        .parameters(Some(parameters::of(endpoint)))
        .request_body(bodies::name_of(endpoint).map(body))
        .responses(responses::of(endpoint))
        .securities(security(endpoint))
        .build()
}

fn description(endpoint: Endpoint, text: &str) -> String {
    match endpoint.permission() {
        Some(permission) => format!("{text}\n\nPermission: `{}`.", permission.code()),
        None => text.to_owned(),
    }
}

fn body(schema: &str) -> RequestBody {
    RequestBodyBuilder::new()
        .content(
            "application/json",
            ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build(),
        )
        .required(Some(Required::True))
        .description(Some(prose::BODY))
        .build()
}

fn security(endpoint: Endpoint) -> Option<Vec<SecurityRequirement>> {
    let by = |scheme| SecurityRequirement::new(scheme, Vec::<String>::new());
    match endpoint.access() {
        Access::WithCredentials if endpoint == Endpoint::Refresh => {
            // The first one requires nothing, because the credentials are in the body.
            Some(vec![SecurityRequirement::default(), by(CLIENT), by(ACCESS_TOKEN)])
        }
        Access::WithCredentials => None,
        Access::WithToken | Access::Permitted(_) => Some(vec![by(ACCESS_TOKEN)]),
    }
}
