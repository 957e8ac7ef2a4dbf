//! One path with its only method.

use std::future::ready;

use actix_web::{FromRequest, Handler, HttpRequest, HttpResponse, Resource, Responder, http::Method, web};

use error_codes::ErrorCode;

use crate::ApiError;

/// A path that accepts GET only.
pub fn get<F, Args>(path: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    F::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    endpoint(Method::GET, path, handler)
}

/// A path that accepts POST only.
pub fn post<F, Args>(path: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    F::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    endpoint(Method::POST, path, handler)
}

fn endpoint<F, Args>(method: Method, path: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    F::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    let allowed = method.clone();
    let refuse = move |request: HttpRequest| {
        let error = ApiError::new(ErrorCode::MethodNotAllowed)
            .with("method", request.method())
            .with("allowed", &allowed);
        ready(Err::<HttpResponse, ApiError>(error))
    };
    web::resource(path.to_owned()).route(web::method(method).to(handler)).default_service(web::to(refuse))
}
