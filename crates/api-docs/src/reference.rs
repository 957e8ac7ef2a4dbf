//! The reference of every endpoint: Swagger UI with the OpenAPI document of this server.

use maud::html;

use http_v1::Endpoint;
use openapi_v1::Documented;

use crate::page::Page;

pub(crate) fn page() -> Page {
    let in_head = html! {
        link rel="stylesheet" href="/docs/assets/swagger-ui.css";
        script src="/docs/assets/swagger-ui-bundle.js" defer {}
        script src="/docs/assets/reference.js" defer {}
    };
    let content = html! {
        div id="reference" {}
        noscript {
            main {
                p { "The reference needs JavaScript. Without it, read " a href="/public/v1/openapi.json" { "the OpenAPI document" } ". These are the endpoints:" }
                ul {
                    @for endpoint in Endpoint::ALL {
                        li { code { (endpoint.method()) " " (endpoint.path()) } " " (endpoint.summary()) }
                    }
                }
            }
        }
    };
    Page::to_try("Reference", &in_head, &content)
}

/// The address at which the reference describes an endpoint.
pub(crate) fn address_of(endpoint: Endpoint) -> String {
    format!("/docs#/{}/{}", endpoint.group(), endpoint.operation_id())
}
