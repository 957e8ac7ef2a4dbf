//! The links of an answer: which of its values the next request takes.

use utoipa::openapi::link::Link;

use http_v1::Endpoint;

use crate::{Documented, batches, webhooks};

/// The links of an endpoint's answer, with their names.
pub(crate) fn from(endpoint: Endpoint) -> Vec<(&'static str, Link)> {
    match endpoint {
        Endpoint::Accounts => vec![
            ("account", with_id(Endpoint::Account, "$response.body#/0/id")),
            ("statement", with_id(Endpoint::Statement, "$response.body#/0/id")),
        ],
        Endpoint::Account => vec![("statement", with_id(Endpoint::Statement, "$response.body#/id"))],
        Endpoint::Validate => vec![("confirm", with_same_body(Endpoint::Confirm))],
        Endpoint::Confirm => vec![
            ("purchase", with_id(Endpoint::Purchase, "$response.body#/id")),
            ("receipt", with_id(Endpoint::Receipt, "$response.body#/id")),
            ("certificate", with_id(Endpoint::Certificate, "$response.body#/id")),
            ("retry", with_same_body(Endpoint::Retry)),
        ],
        Endpoint::Retry => vec![("purchase", with_id(Endpoint::Purchase, "$response.body#/id"))],
        Endpoint::Purchases => {
            vec![("purchase", with_id(Endpoint::Purchase, "$response.body#/data/0/id"))]
        }
        Endpoint::Events => {
            vec![("next", next_page("$response.body#/next_cursor"))]
        }
        Endpoint::Webhooks(call) => webhooks::links(call),
        Endpoint::Batches(call) => batches::links(call),
        Endpoint::Login
        | Endpoint::Refresh
        | Endpoint::Me
        | Endpoint::Products
        | Endpoint::Purchase
        | Endpoint::Statement
        | Endpoint::Sales
        | Endpoint::Receipt
        | Endpoint::Certificate
        | Endpoint::LookUp
        | Endpoint::Message => Vec::new(),
    }
}

pub(crate) fn with_id(to: Endpoint, id: &str) -> Link {
    Link::builder().operation_id(to.operation_id()).parameter("id", id).build()
}

fn next_page(cursor: &str) -> Link {
    Link::builder().operation_id(Endpoint::Events.operation_id()).parameter("cursor", cursor).build()
}

/// The target's fields are among those of this request. The other fields are ignored.
fn with_same_body(to: Endpoint) -> Link {
    Link::builder().operation_id(to.operation_id()).request_body(Some("$request.body")).build()
}
