//! The description of this surface for programs.

use std::sync::OnceLock;

use actix_web::{HttpRequest, HttpResponse, web::Data};

use web::{ApiError, Document, Front};

/// Where it is.
pub const PATH: &str = "/public/v1/openapi.json";

/// Made when it is first asked for: it names the address that the server is reached at.
pub type DocumentOnce = OnceLock<Document>;

/// `GET /public/v1/openapi.json`
pub async fn openapi(request: HttpRequest, made: Data<DocumentOnce>) -> Result<HttpResponse, ApiError> {
    let document = made.get_or_init(|| {
        let document = crate::openapi(Front::of(&request).public_url());
        let json = document.to_json().expect("names, texts and numbers always serialise");
        Document::new("application/json", json)
    });
    Ok(document.answer(&request))
}
