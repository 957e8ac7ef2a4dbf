//! The page behind `doc_url`, made from the same table as the errors themselves.

use actix_web::{HttpResponse, http::header::CACHE_CONTROL, web};

use error_codes::{ErrorCode, Retryable};

use crate::{ApiError, endpoint};

/// Adds `GET /docs/errors/{code}` to an application.
pub fn error_pages(config: &mut web::ServiceConfig) {
    config.service(endpoint::get("/docs/errors/{code}", error_page));
}

async fn error_page(name: web::Path<String>) -> Result<HttpResponse, ApiError> {
    let code = ErrorCode::parse(&name).ok_or_else(|| ApiError::new(ErrorCode::ResourceNotFound))?;
    Ok(HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((CACHE_CONTROL, "max-age=3600"))
        .body(page(code)))
}

fn page(code: ErrorCode) -> String {
    let retryable = match code.retryable() {
        Retryable::Always => "true",
        Retryable::Never => "false",
        Retryable::WhenProviderHinted => "true where the provider hinted that its refusal is passing",
    };
    let param = code.usual_param().map_or_else(
        || "the field concerned, where there is one".to_owned(),
        |param| format!("<code>{param}</code>"),
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{code}</title>\n\
         <h1><code>{code}</code></h1>\n<p>{meaning}</p>\n<h2>What to do</h2>\n<p>{remedy}</p>\n\
         <dl>\n<dt>type</dt><dd><code>{kind}</code></dd>\n<dt>HTTP status</dt><dd>{status}</dd>\n\
         <dt>retryable</dt><dd>{retryable}</dd>\n<dt>param</dt><dd>{param}</dd>\n</dl>\n</html>\n",
        meaning = escaped(code.meaning()),
        remedy = escaped(code.remedy()),
        kind = code.error_type(),
        status = code.status(),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
