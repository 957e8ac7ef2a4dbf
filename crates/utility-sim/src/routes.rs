//! The routes of the simulator: for each protocol, and for the control of the simulator.

mod broken_body;
mod control;
mod delivery;
mod messages;
mod queue;
mod reloadly;
mod vtpass;
mod xmlvend;

use actix_web::web::{ServiceConfig, delete, get, post, put};

pub(crate) fn configure(services: &mut ServiceConfig) {
    services
        .route("/xmlvend", post().to(xmlvend::xmlvend))
        .service(reloadly::auth())
        .service(reloadly::topups())
        .service(vtpass::api())
        .route("/cgi-bin/sendsms", get().to(messages::sendsms))
        .route("/cgi-bin/sendsms", post().to(messages::sendsms))
        .route("/messages", get().to(messages::inbox))
        .route("/vends", get().to(control::vends))
        .route("/statement", get().to(control::statement))
        .route("/meters/{number}/enter", post().to(control::enter))
        .route("/meters/{number}/reset", post().to(control::reset))
        .route("/faults", post().to(control::script))
        .route("/faults", delete().to(control::clear))
        .route("/load", get().to(control::load))
        .route("/load", delete().to(control::count_anew))
        .route("/memory", put().to(control::habits))
        .route("/memory", delete().to(control::forget))
        .route("/healthz", get().to(control::healthz));
}
