//! What the pages load: our own style and script, and Swagger UI as its crate brings it along.

use std::sync::Arc;

use utoipa_swagger_ui::Config;

use web::Document;

/// The file of this name.
pub(crate) fn find(name: &str) -> Option<Document> {
    match name {
        "handbook.css" => Some(Document::new("text/css", include_str!("../assets/handbook.css"))),
        "reference.js" => Some(Document::new("text/javascript", include_str!("../assets/reference.js"))),
        "favicon.svg" => Some(Document::new("image/svg+xml", include_str!("../assets/favicon.svg"))),
        "swagger-ui.css" => vendored(name, "text/css"),
        "swagger-ui-bundle.js" => vendored(name, "text/javascript"),
        _nothing_of_ours => None,
    }
}

/// The crate holds its files packed, and every browser unpacks them.
fn vendored(name: &str, content_type: &'static str) -> Option<Document> {
    let file = utoipa_swagger_ui::serve(name, Arc::new(Config::from("/public/v1/openapi.json"))).ok()??;
    Some(Document::new(content_type, file.bytes.into_owned()).packed())
}
