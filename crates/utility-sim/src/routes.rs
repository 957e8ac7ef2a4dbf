//! The doors of the simulator: one for the protocol, some for whoever runs the world.

mod broken_body;
mod control;
mod delivery;
mod xmlvend;

use actix_web::web::{ServiceConfig, delete, get, post};

/// Everything that is served.
pub(crate) fn configure(services: &mut ServiceConfig) {
    services
        .route("/xmlvend", post().to(xmlvend::xmlvend))
        .route("/vends", get().to(control::vends))
        .route("/meters/{number}/enter", post().to(control::enter))
        .route("/faults", post().to(control::script))
        .route("/faults", delete().to(control::clear))
        .route("/healthz", get().to(control::healthz));
}
