//! The pages that the server itself serves, so that an integrator needs nothing else: the reference of every endpoint,
//! the guides, what has changed, a page for every error code, a search in them, and a collection for Postman. Everything is
//! in the binary. Nothing is loaded from another host.

mod assets;
mod error_page;
mod facts;
mod guide;
mod page;
mod postman;
mod reference;
mod search;
mod tabs;

use std::sync::OnceLock;

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::LOCATION,
    web::{Data, Path, ServiceConfig},
};

use error_codes::ErrorCode;
use web::{ApiError, Document, get};

use guide::Guide;
use page::Page;

pub use facts::ServerFacts;

/// The pages that are the same for all clients, made once.
struct StaticPages {
    reference: Page,
    guide: Page,
    migrating: Page,
    changes: Page,
    error_index: Page,
    search: Page,
    facts: ServerFacts,
    /// Made at the first request, because few ask for it and it needs the whole OpenAPI document.
    postman: OnceLock<Document>,
    /// In the same way.
    search_index: OnceLock<Document>,
}

/// Adds the pages below `/docs` of a server with these settings to an application, which must be wrapped in
/// [`web::intake`]. `/` leads to them.
pub fn pages(config: &mut ServiceConfig, facts: &ServerFacts) {
    let pages = StaticPages {
        reference: reference::page(),
        guide: Guide::Integrating.page(facts),
        migrating: Guide::Migrating.page(facts),
        changes: Guide::Changes.page(facts),
        error_index: error_page::index(),
        search: search::page(),
        facts: facts.clone(),
        postman: OnceLock::new(),
        search_index: OnceLock::new(),
    };
    config
        .app_data(Data::new(pages))
        .service(get("/", to_reference_for_now))
        .service(get("/docs", show_reference))
        .service(get("/docs/", to_reference))
        .service(get(Guide::Integrating.address(), show_guide))
        .service(get(Guide::Migrating.address(), show_migrating))
        .service(get(Guide::Changes.address(), show_changes))
        .service(get("/docs/search", show_search))
        .service(get(search::INDEX_PATH, show_search_index))
        .service(get(postman::PATH, show_postman))
        .service(get("/docs/errors", show_error_index))
        .service(get("/docs/errors/{code}", show_error))
        .service(get(guide::CLIENT_PATH, show_client))
        .service(get("/docs/assets/{file}", show_asset));
}

async fn show_reference(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.reference.answer(&request)
}

async fn to_reference() -> HttpResponse {
    HttpResponse::PermanentRedirect().insert_header((LOCATION, "/docs")).finish()
}

/// Not for ever: an operator may put something else there.
async fn to_reference_for_now() -> HttpResponse {
    HttpResponse::TemporaryRedirect().insert_header((LOCATION, "/docs")).finish()
}

async fn show_guide(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.guide.answer(&request)
}

async fn show_migrating(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.migrating.answer(&request)
}

async fn show_changes(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.changes.answer(&request)
}

async fn show_search(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.search.answer(&request)
}

async fn show_search_index(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.search_index.get_or_init(|| search::index(&pages.facts)).answer(&request)
}

async fn show_postman(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.postman.get_or_init(|| postman::collection(&pages.facts.public_url)).answer(&request)
}

async fn show_error_index(request: HttpRequest, pages: Data<StaticPages>) -> HttpResponse {
    pages.error_index.answer(&request)
}

async fn show_error(request: HttpRequest, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let code = ErrorCode::parse(&name).ok_or_else(nothing_here)?;
    Ok(error_page::of(code).answer(&request))
}

async fn show_client(request: HttpRequest) -> HttpResponse {
    Document::new("text/plain; charset=utf-8", guide::CLIENT).answer(&request)
}

async fn show_asset(request: HttpRequest, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let asset = assets::find(&name).ok_or_else(nothing_here)?;
    Ok(asset.answer(&request))
}

fn nothing_here() -> ApiError {
    ApiError::new(ErrorCode::ResourceNotFound)
}
