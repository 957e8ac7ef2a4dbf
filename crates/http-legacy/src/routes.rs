//! The paths of this surface.

mod auth;
mod topup;

use actix_web::{Resource, web::ServiceConfig};

use web::{get, post};

use crate::Endpoint;

/// Adds every path of this surface to an application. The application must be wrapped in [`web::intake`]. Its data must
/// be a [`web::SharedState`] with the surface [`crate::Current`], an [`identity::Identity`] and a [`vending::Vending`].
pub fn routes(config: &mut ServiceConfig) {
    for endpoint in Endpoint::ALL {
        config.service(resource(endpoint));
    }
}

fn resource(endpoint: Endpoint) -> Resource {
    let path = endpoint.path();
    match endpoint {
        Endpoint::Login => post(path, auth::login),
        Endpoint::Refresh => post(path, auth::refresh),
        Endpoint::Me => get(path, auth::me),
        Endpoint::Validate => post(path, topup::validate),
        Endpoint::Confirm => post(path, topup::confirm),
        Endpoint::Retry => post(path, topup::retry),
    }
}
