//! The paths of this surface.

mod accounts;
mod auth;
mod products;
mod purchases;

use actix_web::web::ServiceConfig;

use web::{get, post};

/// Adds every path below `/public/v1` to an application, which must be wrapped in [`web::intake`] and hold
/// a [`web::Front`], an [`identity::Identity`] and a [`vending::Vending`] as its data.
pub fn routes(config: &mut ServiceConfig) {
    config
        .service(post("/public/v1/auth/login", auth::login))
        .service(post("/public/v1/auth/refresh", auth::refresh))
        .service(get("/public/v1/auth/me", auth::me))
        .service(get("/public/v1/accounts", accounts::list))
        .service(get("/public/v1/accounts/{id}", accounts::one))
        .service(get("/public/v1/vas-products", products::list))
        .service(post("/public/v1/purchases/validate", purchases::validate))
        .service(post("/public/v1/purchases/confirm", purchases::confirm))
        .service(post("/public/v1/purchases/retry", purchases::retry));
}
