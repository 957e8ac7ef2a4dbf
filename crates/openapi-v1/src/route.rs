//! Serves the OpenAPI document.

use std::sync::OnceLock;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, ServiceConfig},
};

use web::{ApiError, Document, SharedState, get};

/// The path of the document.
const PATH: &str = "/public/v1/openapi.json";

/// Made at the first request, because it names the address under which the server is reached.
type DocumentOnce = OnceLock<Document>;

/// Adds `GET /public/v1/openapi.json` to an application, which must hold a [`web::SharedState`].
pub fn routes(config: &mut ServiceConfig) {
    config.app_data(Data::new(DocumentOnce::new())).service(get(PATH, openapi));
}

async fn openapi(request: HttpRequest, made: Data<DocumentOnce>) -> Result<HttpResponse, ApiError> {
    let document = made.get_or_init(|| {
        let document = crate::document(SharedState::of(&request).public_url());
        let json = document.to_json().expect("names, texts and numbers always serialise");
        Document::new("application/json", json)
    });
    Ok(document.answer(&request))
}
