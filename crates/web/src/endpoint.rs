//! One path with its only method.

use std::future::ready;

use actix_web::{
    FromRequest, Handler, HttpRequest, HttpResponse, Resource, Responder, Route, dev::RequestHead,
    guard::fn_guard, http::Method, web,
};

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

/// A path that accepts this method only. A request that does not pass the `check` is refused with its error, before
/// its handler is called.
pub fn checked<F, Args>(
    method: Method,
    path: &str,
    check: impl Fn(&RequestHead) -> Result<(), ApiError> + Clone + 'static,
    handler: F,
) -> Resource
where
    F: Handler<Args>,
    F::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    let (only, again) = (method.clone(), check.clone());
    // Actix's own guard of a method allocates, and this one is asked for every request.
    let is_wrong = fn_guard(move |context| {
        let head = context.head();
        head.method == only && check(head).is_err()
    });
    let refuse = move |request: HttpRequest| {
        let why = again(request.head()).err();
        let error = why.unwrap_or_else(|| ApiError::new(ErrorCode::InvalidArgument));
        ready(Err::<HttpResponse, ApiError>(error))
    };
    // The first route whose guards hold is taken.
    let refusal = web::route().guard(is_wrong).to(refuse);
    let others = not_allowed(&method);
    web::resource(path.to_owned())
        .route(refusal)
        .route(web::method(method).to(handler))
        .default_service(others)
}

fn endpoint<F, Args>(method: Method, path: &str, handler: F) -> Resource
where
    F: Handler<Args>,
    F::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    let others = not_allowed(&method);
    web::resource(path.to_owned()).route(web::method(method).to(handler)).default_service(others)
}

/// The answer to every other method.
fn not_allowed(method: &Method) -> Route {
    let allowed = method.clone();
    web::to(move |request: HttpRequest| {
        let error = ApiError::new(ErrorCode::MethodNotAllowed)
            .with("method", request.method())
            .with("allowed", &allowed);
        ready(Err::<HttpResponse, ApiError>(error))
    })
}
