//! Serves the OpenAPI document of this surface.

use std::sync::OnceLock;

use actix_web::{HttpRequest, HttpResponse, web::Data};

use web::{ApiError, Document, SharedState};

/// The path of the document.
pub const PATH: &str = "/public/v1/openapi.json";

/// Made at the first request, because it names the address under which the server is reached.
pub type DocumentOnce = OnceLock<Document>;

/// `GET /public/v1/openapi.json`
pub async fn openapi(request: HttpRequest, made: Data<DocumentOnce>) -> Result<HttpResponse, ApiError> {
    let document = made.get_or_init(|| {
        let document = crate::openapi(SharedState::of(&request).public_url());
        let json = document.to_json().expect("names, texts and numbers always serialise");
        Document::new("application/json", json)
    });
    Ok(document.answer(&request))
}
