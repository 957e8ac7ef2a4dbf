//! The document's operation for one endpoint.

use serde_json::{Value, json};
use utoipa::openapi::{
    ContentBuilder, Ref, Required, SecurityRequirement,
    extensions::Extensions,
    path::{Operation, OperationBuilder},
    request_body::{RequestBody, RequestBodyBuilder},
};

use crate::{ACCESS_TOKEN, CLIENT, bodies, parameters, prose, responses};
use http_v1::{Access, BatchCall, Endpoint};

pub(crate) fn of(endpoint: Endpoint) -> Operation {
    let texts = prose::about(endpoint);
    OperationBuilder::new()
        .operation_id(Some(texts.operation_id))
        .tag(texts.tag)
        .summary(Some(texts.summary))
        .description(Some(description(endpoint, texts.description)))
        .parameters(Some(parameters::of(endpoint)))
        .request_body(bodies::name_of(endpoint).map(|schema| body(endpoint, schema)))
        .responses(responses::of(endpoint))
        .securities(Some(security(endpoint)))
        .extensions(decisions(endpoint))
        .build()
}

fn description(endpoint: Endpoint, text: &str) -> String {
    let table = endpoint.decision_table();
    let table = if table.is_empty() { table } else { format!("\n\n{table}") };
    match endpoint.permission() {
        Some(permission) => format!("{text}{table}\n\nPermission: `{}`.", permission.code()),
        None => format!("{text}{table}"),
    }
}

/// The decision table for programs: an object for each code.
fn decisions(endpoint: Endpoint) -> Option<Extensions> {
    endpoint.money_call()?;
    let rows: Vec<Value> = endpoint
        .codes()
        .into_iter()
        .filter_map(|code| {
            let decision = endpoint.decision(code)?;
            Some(json!({
                "status": endpoint.status(code), "code": code.as_str(), "money": decision.money.as_str(),
                "action": decision.action.as_str(), "reference": decision.reference().as_str(),
            }))
        })
        .collect();
    Some(Extensions::builder().add("x-decisions", rows).build())
}

fn body(endpoint: Endpoint, schema: &str) -> RequestBody {
    let json = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let body = RequestBodyBuilder::new().content("application/json", json).required(Some(Required::True));
    if endpoint != Endpoint::Batches(BatchCall::Create) {
        return body.description(Some(prose::BODY)).build();
    }
    let table = ContentBuilder::new().schema(Some(responses::text())).build();
    body.content("text/csv", table).description(Some(prose::LARGE_BODY)).build()
}

fn security(endpoint: Endpoint) -> Vec<SecurityRequirement> {
    let by = |scheme| SecurityRequirement::new(scheme, Vec::<String>::new());
    match endpoint.access() {
        Access::WithCredentials if endpoint == Endpoint::Refresh => {
            // The first one requires nothing, because the credentials are in the body.
            vec![SecurityRequirement::default(), by(CLIENT), by(ACCESS_TOKEN)]
        }
        // Stated, because an operation without any would need what the whole document needs.
        Access::WithCredentials => Vec::new(),
        Access::WithToken | Access::Permitted(_) => vec![by(ACCESS_TOKEN)],
    }
}
