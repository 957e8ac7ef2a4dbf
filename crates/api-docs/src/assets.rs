//! The files that the pages load: our own style and script, and the Swagger UI files of its crate.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use utoipa_swagger_ui::Config;

use web::Document;

/// Made once, because the largest file has some hundred kilobytes.
static ASSETS: LazyLock<BTreeMap<&str, Document>> = LazyLock::new(|| {
    let ours = [
        ("handbook.css", Document::new("text/css", include_str!("../assets/handbook.css"))),
        ("reference.js", Document::new("text/javascript", include_str!("../assets/reference.js"))),
        ("search.js", Document::new("text/javascript", include_str!("../assets/search.js"))),
        ("favicon.svg", Document::new("image/svg+xml", include_str!("../assets/favicon.svg"))),
    ];
    let vendored = [("swagger-ui.css", "text/css"), ("swagger-ui-bundle.js", "text/javascript")];
    let vendored = vendored
        .into_iter()
        .filter_map(|(name, content_type)| Some((name, vendored_file(name, content_type)?)));
    ours.into_iter().chain(vendored).collect()
});

/// The file with this name.
pub(crate) fn find(name: &str) -> Option<&'static Document> {
    ASSETS.get(name)
}

/// The crate contains its files compressed with gzip. Every browser can decompress them.
fn vendored_file(name: &str, content_type: &'static str) -> Option<Document> {
    let file = utoipa_swagger_ui::serve(name, Arc::new(Config::from("/public/v1/openapi.json"))).ok()??;
    Some(Document::new(content_type, file.bytes.into_owned()).packed())
}
