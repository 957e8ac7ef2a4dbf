//! The paths of this surface.

mod accounts;
mod auth;
mod batches;
mod certificate;
mod deliveries;
mod events;
mod look_up;
mod message;
mod products;
mod purchase_reads;
mod purchases;
mod receipt;
mod sales;
mod statement;
mod strict;
mod webhooks;

use actix_web::{FromRequest, Handler, Resource, Responder, web::ServiceConfig};

use web::get;

use crate::{BatchCall, Endpoint, WebhookCall};
pub(crate) use strict::is_csv;

/// Adds every path below `/public/v1`, and the keys of certificates, to an application, which must be wrapped in [`web::intake`] and
/// hold a [`web::SharedState`], an [`identity::Identity`], a [`vending::Vending`], the [`webhook::DestinationRules`] and the
/// [`vending::CertificateKeys`] as its data.
pub fn routes(config: &mut ServiceConfig) {
    config.service(get(certificate::KEYS_PATH, certificate::keys));
    for endpoint in Endpoint::ALL {
        config.service(resource(endpoint));
    }
}

fn resource(endpoint: Endpoint) -> Resource {
    match endpoint {
        Endpoint::Login => at(endpoint, auth::login),
        Endpoint::Refresh => at(endpoint, auth::refresh),
        Endpoint::Me => at(endpoint, auth::me),
        Endpoint::Accounts => at(endpoint, accounts::list),
        Endpoint::Account => at(endpoint, accounts::one),
        Endpoint::Products => at(endpoint, products::list),
        Endpoint::Validate => at(endpoint, purchases::validate),
        Endpoint::Confirm => at(endpoint, purchases::confirm),
        Endpoint::Retry => at(endpoint, purchases::retry),
        Endpoint::Purchases => at(endpoint, purchase_reads::list),
        Endpoint::Purchase => at(endpoint, purchase_reads::one),
        Endpoint::Statement => at(endpoint, statement::statement),
        Endpoint::Sales => at(endpoint, sales::sales),
        Endpoint::Receipt => at(endpoint, receipt::receipt),
        Endpoint::Certificate => at(endpoint, certificate::certificate),
        Endpoint::LookUp => at(endpoint, look_up::look_up),
        Endpoint::Message => at(endpoint, message::again),
        Endpoint::Events => at(endpoint, events::list),
        Endpoint::Webhooks(call) => match call {
            WebhookCall::List => at(endpoint, webhooks::list),
            WebhookCall::Create => at(endpoint, webhooks::create),
            WebhookCall::One => at(endpoint, webhooks::one),
            WebhookCall::Update => at(endpoint, webhooks::update),
            WebhookCall::RotateSecret => at(endpoint, webhooks::rotate_secret),
            WebhookCall::Delete => at(endpoint, webhooks::delete),
            WebhookCall::Test => at(endpoint, deliveries::test),
            WebhookCall::Redeliver => at(endpoint, deliveries::redeliver),
            WebhookCall::Attempts => at(endpoint, deliveries::attempts),
        },
        Endpoint::Batches(call) => match call {
            BatchCall::List => at(endpoint, batches::list),
            BatchCall::Create => at(endpoint, batches::create),
            BatchCall::One => at(endpoint, batches::one),
            BatchCall::Lines => at(endpoint, batches::lines),
            BatchCall::Pause => at(endpoint, batches::pause),
            BatchCall::Resume => at(endpoint, batches::resume),
            BatchCall::Cancel => at(endpoint, batches::cancel),
        },
    }
}

/// The endpoint with its handler. A request with something that the endpoint would ignore is refused.
fn at<F, Args>(endpoint: Endpoint, handler: F) -> Resource
where
    F: Handler<Args>,
    F::Output: Responder + 'static,
    Args: FromRequest + 'static,
{
    web::checked(endpoint.method(), endpoint.path(), move |head| strict::checked(endpoint, head), handler)
}
