//! The paths of this surface.

mod accounts;
mod auth;
mod document;
mod products;
mod purchase_reads;
mod purchases;
mod sales;
mod statement;

use actix_web::{
    Resource,
    web::{Data, ServiceConfig},
};

use web::{get, post};

use crate::Endpoint;
use document::DocumentOnce;

/// Adds every path below `/public/v1` to an application, which must be wrapped in [`web::intake`] and hold
/// a [`web::SharedState`], an [`identity::Identity`] and a [`vending::Vending`] as its data.
pub fn routes(config: &mut ServiceConfig) {
    config.app_data(Data::new(DocumentOnce::new())).service(get(document::PATH, document::openapi));
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
        Endpoint::Accounts => get(path, accounts::list),
        Endpoint::Account => get(path, accounts::one),
        Endpoint::Products => get(path, products::list),
        Endpoint::Validate => post(path, purchases::validate),
        Endpoint::Confirm => post(path, purchases::confirm),
        Endpoint::Retry => post(path, purchases::retry),
        Endpoint::Purchases => get(path, purchase_reads::list),
        Endpoint::Purchase => get(path, purchase_reads::one),
        Endpoint::Statement => get(path, statement::statement),
        Endpoint::Sales => get(path, sales::sales),
    }
}
